/*
 * Metrics of the interface between libzeta and its backends: sets, symbols, streams, queries, and
 * tracers of events. Backends include zeta/plugin.h.
 */
#ifndef ZETA_PLUGIN_METRIC_H
#define ZETA_PLUGIN_METRIC_H

#include <zeta/plugin_base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Receives a text that a plugin makes at run time. The host copies it. */
struct zeta_plugin_text_sink {
    void *context;
    void (*write)(void *context, struct zeta_plugin_string name, struct zeta_plugin_string text);
};

/** A number that expressions refer to as $Name. */
struct zeta_plugin_symbol {
    uint64_t struct_size;
    struct zeta_plugin_string name; /**< without the dollar sign */
    uint32_t is_float;              /**< 1: f64, else u64 */
    uint32_t reserved;
    uint64_t u64;
    double f64;
};

/** One register write or one selection of a program. */
struct zeta_plugin_program_entry {
    uint64_t struct_size;
    uint32_t address; /**< of a register */
    uint32_t value;
    struct zeta_plugin_string
        select; /**< not empty: a selection that only the plugin understands */
    struct zeta_plugin_string
        register_class; /**< class of the register, as the set files list it for the unit
                             (units: registers); empty: they do not list it, or without class */
};

/** Opens a stream; in and out. */
struct zeta_plugin_stream_desc {
    uint64_t struct_size;
    struct zeta_plugin_string unit;   /**< name of the exclusive unit, from the set file */
    struct zeta_plugin_string set;    /**< name of the set, for messages */
    struct zeta_plugin_array program; /**< of struct zeta_plugin_program_entry */
    struct zeta_plugin_string digest; /**< identifies the program between processes */
    uint64_t period_ns;               /**< in: wanted; out: used, nearest supported one */
    uint64_t notify_records;          /**< N: the descriptor polls readable with N pending;
                                           0: nobody waits for it */
    uint64_t ring_records;            /**< in: wanted capacity; out: capacity */
    uint32_t record_bytes;            /**< record size of the layout; INVALID_ARGUMENT if wrong */
    uint32_t keeps;         /**< out: 1: no record is ever lost here, however late it is read, so
                                 the host takes no more than it has room for */
    uint64_t max_period_ns; /**< in: the period used is not longer, because the caller could not
                                 be told, or counters that the set reads could come around.
                                 NOT_AVAILABLE where none is as short. 0: any */
    uint64_t token; /**< out: names this stream among all that the unit ever had in any process,
                         for MARKER commands; 0: the unit has no markers */
    struct zeta_plugin_string uuid; /**< of the program, as the set file says it: 36 characters,
                                         lower case; empty: it has none */
};

/** What a program is used for. */
enum { ZETA_PLUGIN_USE_STREAM = 1, ZETA_PLUGIN_USE_QUERY = 2 };

/** A program and the unit that would run it. */
struct zeta_plugin_program_use {
    uint64_t struct_size;
    struct zeta_plugin_string unit;
    struct zeta_plugin_string set;    /**< name of the set, for messages */
    struct zeta_plugin_array entries; /**< of struct zeta_plugin_program_entry */
    uint32_t kind;                    /**< ZETA_PLUGIN_USE_* */
    uint32_t reserved;
};

/**
 * One number of a query record (zeta/query_record.h), as the layout of the set describes it in a
 * record of the unit. A view of some bits of another field has no place of its own.
 */
struct zeta_plugin_query_field {
    uint64_t struct_size;
    struct zeta_plugin_string name; /**< of a header field, or of the bank of a counter */
    uint32_t index;                 /**< of a counter in its bank, 0 for a header field */
    uint32_t low_bit, low_width;    /**< bits in the record of the unit */
    uint32_t high_bit, high_width; /**< the upper bits where they lie elsewhere; width 0: nowhere */
    uint32_t delta_bits; /**< a running count that wraps at that width; 0: the value at the end,
                              or, where each record of the unit is a row, that of the query */
    uint32_t is_float;   /**< 1: an IEEE double */
};

/** Makes a pool of queries. Everything it points to is valid during query_pool_create(). */
struct zeta_plugin_query_desc {
    uint64_t struct_size;
    struct zeta_plugin_string unit;
    struct zeta_plugin_string set;    /**< name of the set, for messages */
    struct zeta_plugin_array program; /**< of struct zeta_plugin_program_entry */
    struct zeta_plugin_string digest; /**< identifies the program between processes */
    uint32_t count;                   /**< of queries, above 0 */
    uint32_t report_bytes;            /**< record size of the unit's layout */
    uint32_t record_bytes;            /**< of the query records that query_collect() makes */
    uint32_t reserved;
    struct zeta_plugin_array fields; /**< of struct zeta_plugin_query_field, in order */
    struct zeta_plugin_string uuid;  /**< as of struct zeta_plugin_stream_desc */
};

/** What one read gave. */
struct zeta_plugin_read {
    uint64_t struct_size;
    uint64_t bytes;  /**< whole records, oldest first */
    uint64_t lost;   /**< records lost before the first of this read; 0 if unknown or none */
    uint32_t broken; /**< 1: the sequence is interrupted before the first record of this read */
    uint32_t reason; /**< of the break: ZETA_PLUGIN_BREAK_* */
};

/** Why a sequence of records is interrupted. */
enum {
    ZETA_PLUGIN_BREAK_NONE = 0,
    ZETA_PLUGIN_BREAK_OVERFLOW = 1, /**< ring was full */
    ZETA_PLUGIN_BREAK_LOST = 2,     /**< device says that reports were lost */
    ZETA_PLUGIN_BREAK_RESET = 3     /**< device was reset */
};

/** What a unit can do: range of its sampling periods, and its queries. */
struct zeta_plugin_limits {
    uint64_t struct_size;
    uint64_t min_period_ns;
    uint64_t max_period_ns; /**< in: what the host can use, 0: any; out: the longest up to that, or
                                 the longest of all */
    /** Not empty: the unit has no queries, for this reason (a sentence). Until finish(). */
    struct zeta_plugin_string no_queries;
    /** What users of its queries should know, such as that they count the whole GPU. May be empty.
     */
    struct zeta_plugin_string query_note;
    /** What users of its streams and tracers should know, such as that they see this process only,
     *  and not every process as they should. May be empty. */
    struct zeta_plugin_string stream_note;
    /** In, valid during the call: only the periods of streams of this program are asked for. NULL:
     *  those of any program that the unit can run. */
    const struct zeta_plugin_program_use *use;
    /** 1: streams and tracers of the unit see this process only. Whoever starts a program to see
     *  its work is refused then, with the reason. */
    uint32_t own_process;
    uint32_t reserved;
};

/** Sets and time-based streams. */
struct zeta_plugin_metric_ops {
    uint64_t struct_size;

    /**
     * Optional. Writes set files (YAML of the set format) beside those of the manifest. A sentence
     * that it leaves with host->fail(SUCCESS) says why the device lacks sets that it could have.
     */
    uint32_t (*get_sets)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                         const struct zeta_plugin_text_sink *sink);
    /** Array of struct zeta_plugin_symbol, valid until finish(). Required. */
    uint32_t (*symbols)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                        struct zeta_plugin_array *out_symbols);
    /**
     * Range of periods of a unit. NOT_AVAILABLE where none is as short as asked;
     * UNSUPPORTED_FEATURE where this device lacks the unit, so sets of it are no groups. Required.
     */
    uint32_t (*limits)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                       struct zeta_plugin_string unit, struct zeta_plugin_limits *out_limits);
    /** Process id that has the unit now, 0 if it is free. Optional. */
    uint32_t (*holder)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                       struct zeta_plugin_string unit, uint32_t *out_pid);

    /**
     * Starts sampling. The first record is taken at open (the baseline). Streams count what every
     * process does on the device, unless the unit's stream_note says otherwise.
     * HANDLE_OBJECT_IN_USE: this process has the unit; NOT_AVAILABLE: another process has it
     * (fail() names its pid). Required.
     */
    uint32_t (*stream_open)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_stream_desc *desc,
                            struct zeta_plugin_stream **out_stream);
    /**
     * Copies whole records, oldest first. Never blocks; nothing pending is SUCCESS with 0 bytes.
     * A read ends before a break, so a break is only ever before its first record. Required.
     */
    uint32_t (*stream_read)(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                            void *buffer, uint64_t capacity_bytes,
                            struct zeta_plugin_read *out_read);
    /** Records that a read would give now. Any time. Lock-free. Optional. */
    uint64_t (*stream_pending)(struct zeta_plugin *self, struct zeta_plugin_stream *stream);
    /** A descriptor that polls readable when notify_records are pending, or -1. Optional. */
    int32_t (*stream_descriptor)(struct zeta_plugin *self, struct zeta_plugin_stream *stream);
    /**
     * Stops sampling and gives up the unit; records stay readable until close.
     * After it no record is added. Optional.
     */
    void (*stream_stop)(struct zeta_plugin *self, struct zeta_plugin_stream *stream);
    /** Ends the stream. Required. */
    void (*stream_close)(struct zeta_plugin *self, struct zeta_plugin_stream *stream);

    /**
     * Makes a pool whose queries count what QUERY_BEGIN and QUERY_END of queues of the device (or
     * of its tiles) enclose: the work of that queue alone, where the device can tell, also while
     * other queues and processes run. Pools live side by side in any number and do not hold the
     * unit. NOT_AVAILABLE where queries need the whole unit and somebody has it. Optional, all or
     * none, from here to query_collect().
     */
    uint32_t (*query_pool_create)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                  const struct zeta_plugin_query_desc *desc,
                                  struct zeta_plugin_query_pool **out_pool);
    /** Frees a pool of which nothing is in a submission any more. */
    void (*query_pool_destroy)(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool);
    /** Back to the state before the first begin. Nothing of it is in a submission. */
    uint32_t (*query_reset)(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                            uint32_t index);
    /**
     * Writes the result of a query: record_bytes for each tile of the pool's device (once without
     * tiles), in the order of tiles. NOT_READY until the latest QUERY_END has run and its numbers
     * are there, and while a new QUERY_BEGIN waits for its end. May block to fetch the numbers of a
     * QUERY_END that has run, but never until one runs. Any time.
     */
    uint32_t (*query_collect)(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                              uint32_t index, void *records);

    /**
     * Whether the device can count with all these programs (an array of struct
     * zeta_plugin_program_use) at the same time; writes 1 or 0. Units that differ never exclude
     * each other, one unit never runs two programs: the host knows that and asks about more than
     * that only. Any time. Optional; absent: nothing else excludes anything.
     */
    uint32_t (*concurrent)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           const struct zeta_plugin_array *programs, uint32_t *out_possible);

    /**
     * 1 when no record will ever be added to the stream, because what it shows was recorded and
     * has an end; what it holds can still be read. Any time. Lock-free. Optional; absent: 0.
     */
    uint32_t (*stream_ended)(struct zeta_plugin *self, struct zeta_plugin_stream *stream);

    /**
     * How often the same work would have to run until the unit had counted everything that a
     * program asks for. Writes the number of passes, 0 if it never can, and unless it is 1 a
     * sentence to the sink about why ("sm__a and sm__b share a counter"; the name is ignored).
     * Streams and queries have one pass: groups that an application makes of metrics are refused
     * if they need another number, so this says what stream_open() and query_pool_create() would
     * refuse. Where the host sorts metrics into groups it asks up to some hundred times. A program
     * of one pass still has one without some of its entries. Any time; may take milliseconds.
     * Optional; absent: 1.
     */
    uint32_t (*program_check)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              const struct zeta_plugin_program_use *use, uint32_t *out_passes,
                              const struct zeta_plugin_text_sink *reason);
};

/* ------------------------------------------------------------------------------------------------
 * Metric tracers: events that a device reports when they happen
 * --------------------------------------------------------------------------------------------- */

/** Opens a tracer; in and out. */
struct zeta_plugin_tracer_desc {
    uint64_t struct_size;
    struct zeta_plugin_array units; /**< of struct zeta_plugin_string: the sources to trace */
    uint32_t record_bytes;          /**< record size of their layout; INVALID_ARGUMENT if wrong */
    uint32_t keeps;                 /**< out: as of struct zeta_plugin_stream_desc */
    uint64_t notify_bytes; /**< whole records; the descriptor polls readable with so many pending.
                                0: never */
    uint64_t ring_bytes;   /**< in: wanted capacity; out: capacity */
};

/** What a tracer does. */
enum {
    ZETA_PLUGIN_TRACER_OFF = 0,
    ZETA_PLUGIN_TRACER_STARTING = 1, /**< enabled asynchronously, takes effect within 10 ms */
    ZETA_PLUGIN_TRACER_ON = 2,
    ZETA_PLUGIN_TRACER_STOPPING = 3 /**< disabled asynchronously, records may still come */
};

/**
 * Event records of fixed size, for each source in the order of the time that they hold. That may be
 * the time at which the work that a record is about ended.
 */
struct zeta_plugin_tracer_ops {
    uint64_t struct_size;

    /**
     * Makes a tracer, which is off. Sees what every process does on the device, unless the
     * stream_note of its units says otherwise.
     * HANDLE_OBJECT_IN_USE: this process has one of the units; NOT_AVAILABLE: another process has
     * it (fail() names its pid). Required, as all here that is not said to be optional.
     */
    uint32_t (*open)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                     struct zeta_plugin_tracer_desc *desc, struct zeta_plugin_tracer **out_tracer);
    /**
     * Starts; writes an `enabled` record. synchronous 1: the tracer is on when it returns, and what
     * begins later is recorded; 0: returns at once. A pending stop is taken back.
     */
    uint32_t (*enable)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                       uint32_t synchronous);
    /** Ends; writes a `disabled` record with the time of the call, in both ways. */
    uint32_t (*disable)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                        uint32_t synchronous);
    /** ZETA_PLUGIN_TRACER_*. Any time. */
    uint32_t (*state)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer);
    /** As stream_read(): whole records, oldest first, a break only before the first. */
    uint32_t (*read)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer, void *buffer,
                     uint64_t capacity_bytes, struct zeta_plugin_read *out_read);
    /** Bytes that a read would give now. Any time. Lock-free. */
    uint64_t (*pending)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer);
    /** A descriptor that polls readable when notify_bytes are pending, or -1. Optional. */
    int32_t (*descriptor)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer);
    /** Ends the tracer, whatever it does, and gives up its units. */
    void (*close)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer);
    /** As stream_ended(): what was recorded is over. Any time. Lock-free. Optional; absent: 0. */
    uint32_t (*ended)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer);
    /**
     * Writes the name of an id to the sink, once; the sink's first argument is empty. Ids are the
     * values of metrics whose unit is "name" in the set files: of kernels, for instance. An id that
     * a record holds has its name as long as the tracer exists, and the same one in all tracers of
     * a root and its tiles. NOT_AVAILABLE for what is no id. Optional; absent: there are none.
     */
    uint32_t (*name)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer, uint64_t id,
                     const struct zeta_plugin_text_sink *sink);
};

#ifdef __cplusplus
}
#endif

#endif
