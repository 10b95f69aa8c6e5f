/*
 * The API of Zeta's own: what the ze and zet functions cannot say. For tools.
 *
 * Functions are exported by libzeta and can also be found by name with
 * zeDriverGetExtensionFunctionAddress. Structs start with struct_size, which the caller sets to
 * sizeof(); the library fills the members that fit. Strings belong to the library and stay valid
 * until the process ends. All functions may be called from any thread.
 *
 * Besides the errors that are named: INVALID_NULL_POINTER for a null argument, INVALID_NULL_HANDLE
 * for a handle that is none, INVALID_SIZE for a struct_size that is too small, and
 * OUT_OF_HOST_MEMORY.
 */
#ifndef ZETA_ZETA_H
#define ZETA_ZETA_H

#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ZETA_EXPORT __attribute__((visibility("default")))
#else
#define ZETA_EXPORT
#endif

/** Version of the library as "major.minor.patch". Needs no initialisation. */
ZETA_EXPORT const char *zetaGetVersion(void);

/**
 * The sentence about the last failed ze, zet or zeta call of this thread, "" if there is none.
 * Like zeDriverGetLastErrorDescription, but works before a driver exists.
 * Valid until the next failing call on this thread.
 */
ZETA_EXPORT const char *zetaGetLastError(void);

/** What became of a plugin. */
enum zeta_plugin_state {
    ZETA_PLUGIN_STATE_FOUND,        /**< manifest read, nothing else done yet */
    ZETA_PLUGIN_STATE_SHADOWED,     /**< another manifest with the same id came first */
    ZETA_PLUGIN_STATE_DISABLED,     /**< by settings, environment, or because hardware was found */
    ZETA_PLUGIN_STATE_NO_DEVICE,    /**< nothing on this machine matches, or it found no device */
    ZETA_PLUGIN_STATE_NOT_LOADABLE, /**< bad manifest, missing or unusable library */
    ZETA_PLUGIN_STATE_REFUSED,      /**< not trusted, or no common interface version */
    ZETA_PLUGIN_STATE_FAILED,       /**< returned an error */
    ZETA_PLUGIN_STATE_ACTIVE
};

/** One manifest that was found, usable or not. */
struct zeta_plugin_info {
    size_t struct_size;
    const char *id;       /**< "" when the manifest could not be read */
    const char *manifest; /**< path */
    const char *library;  /**< resolved path, "" if unknown */
    const char *version;
    const char *device_class; /**< "hardware", "replay", "software" or "" */
    const char *provides;     /**< comma separated: "compute,metric.stream" */
    uint32_t state;           /**< enum zeta_plugin_state */
    uint32_t device_count;
    const char *reason;    /**< sentence: why it is not active; of an active one what users should
                                know of it, or "" */
    uint32_t has_hardware; /**< 1: without a device, although the machine has hardware for it; the
                                reason says what is missing */
};

/**
 * Lists plugins in their order. count as in zeDriverGet: 0 asks for the number.
 * UNINITIALIZED before zeInit.
 */
ZETA_EXPORT ze_result_t zetaPluginGet(uint32_t *count, struct zeta_plugin_info *plugins);

/** A directory that is searched for manifests. */
struct zeta_search_path {
    size_t struct_size;
    const char *path;
    const char *origin; /**< "ZETA_PLUGIN_PATH", "beside libzeta", "XDG_CONFIG_HOME" ... */
    uint32_t exists;
    uint32_t used; /**< 0: skipped; note says why */
    const char *note;
};

/** Lists the search directories in order. count as in zeDriverGet. Works before zeInit. */
ZETA_EXPORT ze_result_t zetaSearchPathGet(uint32_t *count, struct zeta_search_path *paths);

/**
 * Checks one manifest in a child process: reads it, loads the library, negotiates, initialises,
 * lists devices, finishes. A crash of the plugin is reported, not suffered.
 * Writes the state reached and a sentence, cut to report_bytes with a terminator.
 */
ZETA_EXPORT ze_result_t zetaPluginCheck(const char *manifest_path, uint32_t *out_state,
                                        char *report, size_t report_bytes);

/** A setting and where its value came from. */
struct zeta_setting {
    size_t struct_size;
    const char *name;
    const char *value;
    const char *origin; /**< "default", "default of FILE:LINE" (a manifest), "default of the
                             program" (zetaSettingDefault), "environment ZETA_LOG",
                             "/etc/zeta/zeta.yaml:12" ... */
};

/**
 * Lists the settings in effect, sorted by name. count as in zeDriverGet. UNINITIALIZED before
 * zeInit.
 */
ZETA_EXPORT ze_result_t zetaSettingGet(uint32_t *count, struct zeta_setting *settings);

/**
 * Gives one of Zeta's own settings ("log.plugins") another default in this process: for a program
 * that tells users itself what the library would log. Files and the environment win over it.
 *
 * @value  copied; empty: the library's own default again
 *
 * INVALID_ARGUMENT: there is no such setting. NOT_AVAILABLE: settings were read already; call it
 * before everything else. Any thread.
 */
ZETA_EXPORT ze_result_t zetaSettingDefault(const char *name, const char *value);

/** Which plugin stands behind a device, and what for. */
struct zeta_device_info {
    size_t struct_size;
    const char *id;           /**< PCI address or virtual id, as "zeta -d" takes it */
    const char *device_class; /**< "hardware", "replay" or "software" */
    const char *compute;      /**< id of the plugin that provides it, "" if none */
    const char *stream;
    const char *query;
    const char *tracer;
    const char *debug;
    const char *metric_note; /**< once its groups were listed: a sentence about what keeps metrics
                                  away that it could have, or "" */
};

/** Says which plugins serve a device. */
ZETA_EXPORT ze_result_t zetaDeviceGetInfo(ze_device_handle_t device, struct zeta_device_info *info);

/** Range of sampling periods and the present holder of a group's unit. */
struct zeta_group_info {
    size_t struct_size;
    const char *plugin;
    const char *unit;
    const char *origin;     /**< set file and line */
    uint64_t min_period_ns; /**< both 0 for a group that is not time-based */
    uint64_t max_period_ns;
    uint32_t holder_pid; /**< 0: nobody samples it now */
    uint32_t record_bytes;
    const char *no_queries;  /**< a sentence: why its set has no event-based group; else "" */
    const char *query_note;  /**< of an event-based group: a sentence about what it counts, or "" */
    const char *stream_note; /**< of a streamed or traced one: a sentence about what it sees */
    uint32_t own_process;    /**< 1: a streamed or traced one that sees this process only */
    uint32_t reserved;
};

/** Asks the backend about a group. UNSUPPORTED_FEATURE when nobody samples its device. */
ZETA_EXPORT ze_result_t zetaMetricGroupGetInfo(zet_metric_group_handle_t group,
                                               struct zeta_group_info *info);

/** How often the same work would have to run until everything of a group was counted. */
struct zeta_group_passes {
    size_t struct_size;
    uint32_t count;   /**< 1: a stream or query counts it; more, or 0 (never): none does */
    char reason[256]; /**< a sentence unless the count is 1; may be empty */
};

/** Asks the backend about the program of a group, which may take milliseconds. */
ZETA_EXPORT ze_result_t zetaMetricGroupGetPasses(zet_metric_group_handle_t group,
                                                 struct zeta_group_passes *passes);

/** How a metric's value comes about. */
enum zeta_metric_class {
    ZETA_METRIC_CLASS_EXACT,     /**< counted */
    ZETA_METRIC_CLASS_SIMULATED, /**< result of a simulated structure fed with real addresses */
    ZETA_METRIC_CLASS_MODELLED,  /**< from a model of time */
    ZETA_METRIC_CLASS_MEASURED   /**< read from hardware */
};

/** What a metric says about itself beyond zet_metric_properties_t. */
struct zeta_metric_info {
    size_t struct_size;
    uint32_t metric_class; /**< enum zeta_metric_class */
    uint32_t reserved;
};

/** Says how the value of a metric comes about. */
ZETA_EXPORT ze_result_t zetaMetricGetInfo(zet_metric_handle_t metric,
                                          struct zeta_metric_info *info);

/** What a stream did so far. */
struct zeta_stream_info {
    size_t struct_size;
    uint64_t records;      /**< given to the application, without repeated ones */
    uint64_t lost;         /**< known to be lost */
    uint64_t breaks;       /**< interruptions of the sequence */
    uint64_t bytes;        /**< of the records */
    uint64_t period_ns;    /**< in use */
    uint64_t ring_records; /**< capacity of the backend's ring */
    uint32_t ended;        /**< 1: a recording is over; what is not read yet can still be read */
    uint32_t reserved;
};

/** Counts what a stream gave and lost since it was opened. */
ZETA_EXPORT ze_result_t zetaMetricStreamerGetInfo(zet_metric_streamer_handle_t streamer,
                                                  struct zeta_stream_info *info);

/** What is recorded by zetaTraceStart(). */
struct zeta_trace_desc {
    size_t struct_size;
    const char *path;     /**< of a file that is made, for its owner only; or of an empty one */
    const char *filter;   /**< globs of function names, comma separated; null: every function */
    uint64_t limit_bytes; /**< the file grows no larger, later records are lost; 0: 4 GiB */
};

/**
 * Starts to record every ze and zet call of the process, and the kernels, copies and fills of its
 * queues, as Chrome's JSON. What was written is in the file at once, whatever becomes of the
 * process. Works before zeInit. The same as ZETA_TRACE=FILE in the environment, for a part of a
 * program.
 *
 * NOT_AVAILABLE when a trace is being written or the file cannot be made; INVALID_ARGUMENT for a
 * name that ends with .pftrace, which only 'zeta trace' writes.
 */
ZETA_EXPORT ze_result_t zetaTraceStart(const struct zeta_trace_desc *desc);

/**
 * Ends the recording, whoever started it, and completes the file. Calls of other threads that are
 * under way stay in it as unfinished. NOT_AVAILABLE when nothing is recorded.
 */
ZETA_EXPORT ze_result_t zetaTraceStop(void);

/** The recording that is going on, or the last one. */
struct zeta_trace_info {
    size_t struct_size;
    const char *path; /**< "" if there was none; valid until the next zetaTraceStart() */
    uint64_t records; /**< calls and pieces of work of devices */
    uint64_t lost;    /**< records that found no room */
    uint64_t bytes;   /**< of the file */
    uint32_t is_on;
    uint32_t reserved;
};

/** Says what is or was recorded. Works before zeInit. */
ZETA_EXPORT ze_result_t zetaTraceGetInfo(struct zeta_trace_info *info);

/* Values over many rows ------------------------------------------------------------------------
 */

/**
 * Rows of raw data of one metric group, added up: for the values of its metrics over a run, a
 * kernel, or whatever the rows are of.
 *
 * The value of a metric over many rows is its formula over the sums of what the rows counted, as if
 * the hardware had counted once. It is no mean of rows: a hit rate of 0 in a row with one access
 * weighs as much as that access. A metric that is a state or a point in time (of another type than
 * DURATION, EVENT, EVENT_WITH_RANGE, THROUGHPUT and RATIO) has the value of the last row.
 *
 * A row has no value of a metric that was not measured, or whose formula divides by 0 in that row;
 * what calculation gives there as 0 means nothing. Nor have many rows a value then.
 *
 * One thread at a time for each sum; different threads may use different ones.
 */
struct zeta_metric_sum;

/** What a sum is of. */
struct zeta_metric_sum_desc {
    size_t struct_size;
    const struct zeta_metric_sum *like; /**< of the same as this one; null: of what follows */
    zet_metric_group_handle_t group;    /**< time-based or event-based; null: of data */
    const uint8_t *data;                /**< exported data that says what the group is; not kept */
    size_t data_size;
    zet_metric_group_calculation_type_t type; /**< measured values or largest ones */
};

/**
 * Makes a sum without rows. A group is kept as it is at that time; exported data needs no device,
 * but a driver that is initialised. The caller ends it with zetaMetricSumDestroy().
 *
 * INVALID_ARGUMENT for a group of tracers and for formulas that are too long, results of
 * zetaExportDataGetInfo() for exported data, INVALID_ENUMERATION for the type, UNSUPPORTED_FEATURE
 * for tiles with different formulas.
 */
ZETA_EXPORT ze_result_t zetaMetricSumCreate(const struct zeta_metric_sum_desc *desc,
                                            struct zeta_metric_sum **out_sum);

/** A row; it and what it points at last as long as the call that gives it. */
struct zeta_metric_row {
    size_t struct_size;
    uint32_t tile; /**< 0 on a device without tiles */
    uint32_t metric_count;
    const zet_typed_value_t *values; /**< as calculation gives them */
    const uint8_t *has_value;        /**< per metric; 0: the row has no value of it */
};

/** Looks at a row. Not 0: it is added to the sum, which it may neither add data to nor end. */
typedef uint32_t (*zeta_metric_row_fn)(void *user, const struct zeta_metric_row *row);

/** Raw data whose rows are added. */
struct zeta_metric_data {
    size_t struct_size;
    size_t raw_size;
    const uint8_t *raw; /**< any alignment; may be null if raw_size is 0 */
    uint32_t skip;      /**< records that are left out first, as rawReportSkipCount does */
    uint32_t reserved;
    zeta_metric_row_fn each; /**< gets each row, by tiles; null: all are added */
    void *user;              /**< handed to it */
};

/**
 * Adds the rows of raw data: a whole read of a stream, the data of a query, or several of them in
 * order. A stream that is read for hours is added read by read. No row crosses a break, and lost
 * time is in no value. Nothing is kept between calls but the sums: data that is cut elsewhere than
 * between reads loses the row of the cut, unless the last record comes again.
 *
 * OUT_OF_HOST_MEMORY; rows may have been added then. No content of the data is an error.
 */
ZETA_EXPORT ze_result_t zetaMetricSumAdd(struct zeta_metric_sum *sum,
                                         const struct zeta_metric_data *data);

/**
 * Adds a row to another sum while zeta_metric_data.each looks at it: to that of a kernel, for
 * instance. INVALID_ARGUMENT unless the sum was made like the one whose rows these are.
 */
ZETA_EXPORT ze_result_t zetaMetricSumAddRow(struct zeta_metric_sum *sum,
                                            const struct zeta_metric_row *row);

/**
 * Adds the rows of another sum, as if they came after its own ones. INVALID_ARGUMENT unless one was
 * made like the other.
 */
ZETA_EXPORT ze_result_t zetaMetricSumMerge(struct zeta_metric_sum *sum,
                                           const struct zeta_metric_sum *other);

/** A metric over the rows of a sum. */
struct zeta_metric_value {
    size_t struct_size;
    uint64_t rows;      /**< that have a value of it */
    uint32_t has_value; /**< 0: there is no value; without rows no other number either */
    uint32_t reserved;
    zet_typed_value_t value; /**< UINT64, FLOAT64 or BOOL8; of a state the type of the metric */
    zet_typed_value_t min;   /**< of the rows that have a value, and the type of the metric */
    zet_typed_value_t max;
    zet_typed_value_t last; /**< of the last such row */
};

/**
 * Calculates the values of all metrics, in the order of calculated values and in their units. More
 * rows may be added afterwards. Rows of all tiles count together: amounts are added up, and what is
 * divided is divided after that. count as in zeDriverGet.
 */
ZETA_EXPORT ze_result_t zetaMetricSumGetValues(const struct zeta_metric_sum *sum, uint32_t *count,
                                               struct zeta_metric_value *values);

/** Ends a sum; what was made like it stays. Null is allowed. */
ZETA_EXPORT void zetaMetricSumDestroy(struct zeta_metric_sum *sum);

/* Instrumentation -------------------------------------------------------------------------------
 */

/** The stype of struct zeta_profile_room. */
#define ZETA_STRUCTURE_TYPE_PROFILE_ROOM 0x5a455401u

/**
 * Says how much memory there is right behind a zet_profile_properties_t, where
 * zetKernelGetProfileInfo() writes tokens: the specification has no way to say it. pNext of the
 * properties points to it; nothing lies between them.
 *
 * A module that was built with -zet-profile-flags and the flag FREE_REGISTER_INFO has one token. It
 * is written when there is room for it, and numTokens is 1; else numTokens is 0. Its sequences are
 * bytes of the register file that neither the kernel nor what it calls uses: none of them where
 * code calls through pointers, or into other modules.
 */
struct zeta_profile_room {
    uint32_t stype; /**< ZETA_STRUCTURE_TYPE_PROFILE_ROOM */
    const void *pNext;
    size_t size_bytes; /**< in: of the memory; out: that all tokens need */
};

/* Metric tracers --------------------------------------------------------------------------------
 */

/** The unit of metrics of tracers whose values are ids of names. */
#define ZETA_NAME_UNIT "name"

/**
 * The name of an id, which is a value of a metric with that unit in entries of the tracer. Names of
 * ids that were read exist as long as the tracer.
 *
 * @size  in: room at name; out: what the name needs with its terminator. 0, or a null name, asks
 *
 * NOT_AVAILABLE if the id has no name, INVALID_SIZE if there is less room.
 */
ZETA_EXPORT ze_result_t zetaMetricTracerGetName(zet_metric_tracer_exp_handle_t tracer, uint64_t id,
                                                size_t *size, char *name);

/* Exported data and recordings ------------------------------------------------------------------
 */

/** What exported data (zetMetricGroupGetExportDataExp) says about its group. */
struct zeta_export_info {
    size_t struct_size;
    zet_metric_group_properties_t properties; /**< but for stype and pNext */
    uint64_t raw_bytes;                       /**< of the raw data in it */
    uint32_t record_bytes;
    uint32_t tile_count; /**< sets of values that calculation gives, at least 1 */
    const uint8_t *raw;  /**< where the raw data lies in the exported data */
};

/**
 * Reads what exported data is of. Needs a driver that is initialised, and no device.
 * INVALID_ARGUMENT for what is no exported data or damaged, UNSUPPORTED_VERSION for that of later
 * versions, UNSUPPORTED_FEATURE for that of tracers.
 */
ZETA_EXPORT ze_result_t zetaExportDataGetInfo(size_t data_size, const uint8_t *data,
                                              struct zeta_export_info *info);

/** A metric of exported data. */
struct zeta_exported_metric {
    size_t struct_size;
    zet_metric_properties_t properties; /**< but for stype and pNext */
    uint32_t metric_class;              /**< enum zeta_metric_class */
    uint32_t reserved;
};

/**
 * Lists the metrics of exported data in the order of calculated values. count as in zeDriverGet.
 * Results as zetaExportDataGetInfo().
 */
ZETA_EXPORT ze_result_t zetaExportDataGetMetrics(size_t data_size, const uint8_t *data,
                                                 uint32_t *count,
                                                 struct zeta_exported_metric *metrics);

/** A recording that is being written. One thread at a time. */
struct zeta_recording;

/** How a recording is written. */
struct zeta_recording_desc {
    size_t struct_size;
    const char *path;     /**< of a file that does not exist; it is made for its owner only */
    uint64_t limit_bytes; /**< the file grows no larger and loses its oldest data; 0: no bound */
};

/**
 * Makes the file of a recording; sdk/doc/formats.md describes it.
 * NOT_AVAILABLE if the file cannot be made, INVALID_SIZE for a bound below 64 KiB.
 */
ZETA_EXPORT ze_result_t zetaRecordingCreate(const struct zeta_recording_desc *desc,
                                            struct zeta_recording **out_recording);

/** What a recording says about one of its streams. */
struct zeta_recording_stream_desc {
    size_t struct_size;
    zet_metric_group_handle_t group; /**< time-based, event-based or tracer-based */
    uint64_t period_ns;              /**< in use, 0 for what has none */
};

/**
 * Adds the description of a stream, with its device and its sets, and gives its number.
 * Results as zetaRecordingAppend().
 */
ZETA_EXPORT ze_result_t zetaRecordingAddStream(struct zeta_recording *recording,
                                               const struct zeta_recording_stream_desc *desc,
                                               uint32_t *out_stream);

/** The number of a device in a recording, to which its description is added if it is not there. */
ZETA_EXPORT ze_result_t zetaRecordingAddDevice(struct zeta_recording *recording,
                                               ze_device_handle_t device, uint32_t *out_number);

/**
 * Adds a chunk: raw data of a stream, lines of a trace, kernels, clocks.
 *
 * @type    as in zeta/container.h: ZETA_CHUNK_META, DATA, CLOCK, TRACE, MODULE, NAMES
 * @number  of the stream or the device that it belongs to, 0 for none
 *
 * NOT_AVAILABLE if the file cannot be written (nothing more can be then), INVALID_SIZE if its bound
 * leaves no room or for more than 1 MiB of data or trace, INVALID_ARGUMENT for types that the other
 * functions write.
 */
ZETA_EXPORT ze_result_t zetaRecordingAppend(struct zeta_recording *recording, uint32_t type,
                                            uint32_t number, const void *payload, size_t size);

/** Hands everything to the system: what was flushed survives a kill. Results as Append. */
ZETA_EXPORT ze_result_t zetaRecordingFlush(struct zeta_recording *recording);

/** What became of a recording so far. */
struct zeta_recording_info {
    size_t struct_size;
    uint64_t bytes;       /**< of the file, also of what is not flushed */
    uint64_t lost_chunks; /**< that went because of the bound */
    uint64_t lost_bytes;  /**< of their payloads */
};

/** Counts what was written and what went. */
ZETA_EXPORT ze_result_t zetaRecordingGetInfo(const struct zeta_recording *recording,
                                             struct zeta_recording_info *info);

/**
 * Completes the file and closes it. The recording is gone whatever the result is; without this call
 * the file counts as cut. Null is allowed. Results as Append.
 */
ZETA_EXPORT ze_result_t zetaRecordingFinish(struct zeta_recording *recording);

/** A recording that is read. One thread at a time. */
struct zeta_recording_reader;

/** One chunk of a recording. */
struct zeta_recording_chunk {
    size_t struct_size;
    uint32_t type;       /**< enum zeta_chunk_type, also such as this version does not know */
    uint32_t number;     /**< of the stream, set or device */
    const void *payload; /**< valid until the next call for the reader */
    uint64_t payload_bytes;
    uint64_t offset; /**< in the file */
};

/**
 * Opens a recording or a file of exported data. NOT_AVAILABLE if the file cannot be read,
 * INVALID_ARGUMENT if it is neither, UNSUPPORTED_VERSION.
 */
ZETA_EXPORT ze_result_t zetaRecordingOpen(const char *path,
                                          struct zeta_recording_reader **out_reader);

/**
 * Goes to the next chunk and reads it. At the end the type is ZETA_CHUNK_END without a payload. A
 * recording whose program was killed ends with NOT_READY; what came before is in order, and the
 * next call tries again. INVALID_ARGUMENT for a damaged chunk: the next call goes on behind it if
 * that is possible, else it says the same again.
 */
ZETA_EXPORT ze_result_t zetaRecordingNext(struct zeta_recording_reader *reader,
                                          struct zeta_recording_chunk *chunk);

/**
 * Makes exported data of the DATA chunk that was read last, for
 * zetMetricGroupCalculateMetricExportDataExp. size as in zetMetricGroupGetExportDataExp.
 * INVALID_ARGUMENT if the last chunk is none or its stream is not described, UNSUPPORTED_FEATURE
 * for data of a tracer.
 */
ZETA_EXPORT ze_result_t zetaRecordingGetExportData(struct zeta_recording_reader *reader,
                                                   size_t *size, uint8_t *data);

/**
 * Lists the metrics of the tracer whose DATA chunk was read last, in the order in which entries
 * number them. count as in zeDriverGet. INVALID_ARGUMENT if the last chunk is no data of a tracer,
 * or its stream or device is not described.
 */
ZETA_EXPORT ze_result_t zetaRecordingGetEventMetrics(struct zeta_recording_reader *reader,
                                                     uint32_t *count,
                                                     struct zeta_exported_metric *metrics);

/**
 * Decodes the DATA chunk of a tracer that was read last, without a device: all its events, as
 * zetMetricTracerDecodeExp gives them; metricIndex is that of zetaRecordingGetEventMetrics.
 *
 * @set_count       room of counts_per_set; becomes the number of sets of entries, one per tile
 * @counts_per_set  entries of each set, which follow each other; null: not wanted
 * @entry_count     0 or null entries: becomes the number of entries; else room for that many
 *
 * Results as zetaRecordingGetEventMetrics(), and INVALID_SIZE if there is less room than entries,
 * whose number entry_count then becomes.
 */
ZETA_EXPORT ze_result_t zetaRecordingDecodeEvents(struct zeta_recording_reader *reader,
                                                  uint32_t *set_count, uint32_t *counts_per_set,
                                                  uint32_t *entry_count,
                                                  zet_metric_entry_exp_t *entries);

/**
 * The name of an id in the DATA chunk of a tracer that was read last, as the NAMES chunks before it
 * have it. Otherwise as zetaMetricTracerGetName(); INVALID_ARGUMENT if the last chunk is no data.
 */
ZETA_EXPORT ze_result_t zetaRecordingGetEventName(struct zeta_recording_reader *reader, uint64_t id,
                                                  size_t *size, char *name);

/** Closes the file. Null is allowed. */
ZETA_EXPORT void zetaRecordingClose(struct zeta_recording_reader *reader);

#ifdef __cplusplus
}
#endif

#endif
