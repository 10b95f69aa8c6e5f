#ifndef ZETA_PLUGINS_REPLAY_RECORDING_RECORDING_H
#define ZETA_PLUGINS_REPLAY_RECORDING_RECORDING_H

/*
 * What is in a recording, without the measured data themselves: those are read from the file, piece
 * by piece, by the streams that replay them (source.h).
 *
 *    recording --- devices (roots before their tiles), each with its numbers for expressions
 *              |-- sets: text of a set file, and what replaying has to know of it
 *              '-- streams: what one stream or tracer recorded, of a device and its sets
 *
 * A recording comes from a container or from a file of the recorder of intel-gpu-tools (igt/). It
 * does not change once it is loaded.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <zeta/plugin.h>

/** Bytes of a name of a device, a set or a unit with its terminator. */
#define ZETA_REPLAY_NAME_BYTES 256u
/** Most objects of one kind in a recording; a file that has more is refused. */
#define ZETA_REPLAY_OBJECTS 4096u
/** Most tiles of a device. */
#define ZETA_REPLAY_TILES 64u
/** Longest text of one set. */
#define ZETA_REPLAY_SET_BYTES (UINT32_C(1) << 20)
/** Sizes of records that a layout may have. */
#define ZETA_REPLAY_RECORD_MIN 32u
#define ZETA_REPLAY_RECORD_MAX 4096u

/** The reason of a failure, one sentence. */
struct zeta_replay_problem {
    char text[480];
};

/** Writes the reason. Always false, so that a function can return it. */
bool zeta_replay_fail(struct zeta_replay_problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What analyses a file alone cannot see what it returns. */
#ifdef __clang_analyzer__
#define zeta_replay_fail(problem, ...) ((void)zeta_replay_fail(problem, __VA_ARGS__), false)
#endif

/** How records become rows; as the kinds of layouts in set files. */
enum zeta_replay_kind { ZETA_REPLAY_DELTA, ZETA_REPLAY_SAMPLE, ZETA_REPLAY_EVENT };

/** Where a record holds its time, or its tile: bits of the record, little-endian. */
struct zeta_replay_field {
    uint32_t low_bit, low_width;
    uint32_t high_bit, high_width; /**< upper bits that are elsewhere; width 0: none */
    bool present;
};

/** The value of a field of a record; 0 where the layout has none. */
uint64_t zeta_replay_field_read(const struct zeta_replay_field *field, const unsigned char *record);

/** All bits of a field set: it wraps after this value. */
uint64_t zeta_replay_field_mask(const struct zeta_replay_field *field);

/** A set: its text, and the fields of it that replaying needs. */
struct zeta_replay_set {
    uint32_t number; /**< in the file */
    char *text;
    size_t text_bytes;
    char name[ZETA_REPLAY_NAME_BYTES];
    char unit[ZETA_REPLAY_NAME_BYTES];
    enum zeta_replay_kind kind;
    uint32_t record_bytes;
    struct zeta_replay_field clock;
    struct zeta_replay_field tile; /**< of events: their records contain it */
};

/** A recorded stream, or what a tracer gave. */
struct zeta_replay_stream {
    uint32_t number;                  /**< in the file */
    uint32_t device;                  /**< index of the device it was opened on, a root or a tile */
    uint32_t sets[ZETA_REPLAY_TILES]; /**< indices, one for each tile of that device */
    uint32_t tiles;                   /**< 1: its records name no tile */
    bool is_tracer;
    uint64_t period_ns; /**< 0: unknown */
};

/** A device of a recording. */
struct zeta_replay_device {
    uint32_t number; /**< in the file */
    uint32_t parent; /**< index of the root, UINT32_MAX for a root */
    uint32_t tile;   /**< on its root, 0 for a root */
    uint32_t tiles;  /**< of a root, 0: it has none */
    char name[ZETA_REPLAY_NAME_BYTES];
    char id[ZETA_REPLAY_NAME_BYTES]; /**< where it was recorded */
    uint8_t uuid[16];
    uint32_t vendor_id, device_id, revision;
    uint64_t timer_hz;
    uint32_t timestamp_valid_bits;
    uint32_t kernel_timestamp_valid_bits;
    uint32_t core_clock_mhz;
    uint32_t slices, subslices_per_slice, eus_per_subslice, threads_per_eu, simd_width;
    struct zeta_plugin_symbol *symbols; /**< with their names one piece of memory */
    uint32_t symbol_count;
    uint64_t metric_hz;   /**< ticks per second of the clock in its records */
    uint64_t first_ticks; /**< of its timer, where the recording begins */
};

/** What kind of file it is. */
enum zeta_replay_format { ZETA_REPLAY_CONTAINER, ZETA_REPLAY_IGT };

struct zeta_replay_recording {
    enum zeta_replay_format format;
    char *path;  /**< absolute */
    char *share; /**< where data of other plugins are; NULL: nowhere */
    dev_t file_device;
    ino_t file_number;

    struct zeta_replay_device *devices;
    uint32_t device_count;
    struct zeta_replay_set *sets;
    uint32_t set_count;
    struct zeta_replay_stream *streams;
    uint32_t stream_count;
    uint32_t igt_report_bytes; /**< of files of intel-gpu-tools */
    uint64_t igt_data_offset;  /**< there of the first record after the description of the device */
    char note[700];            /**< for the log, or "" */
};

/**
 * Reads what is in a file. NULL with the reason: it cannot be read, is no recording, or is damaged
 * before its first data. A truncated file is used as far as it goes. share: directory with
 * plugins.d and the data of plugins, for files that name sets of Intel GPUs by their uuid; or NULL.
 */
struct zeta_replay_recording *zeta_replay_recording_load(const char *path, const char *share,
                                                         struct zeta_replay_problem *out_problem);
/** NULL is allowed. */
void zeta_replay_recording_free(struct zeta_replay_recording *recording);

/* For loaders: a new zeroed element at the end of a list; NULL with the reason. */
struct zeta_replay_device *zeta_replay_add_device(struct zeta_replay_recording *recording,
                                                  struct zeta_replay_problem *problem);
struct zeta_replay_set *zeta_replay_add_set(struct zeta_replay_recording *recording,
                                            struct zeta_replay_problem *problem);
struct zeta_replay_stream *zeta_replay_add_stream(struct zeta_replay_recording *recording,
                                                  struct zeta_replay_problem *problem);
/** Loads a file of intel-gpu-tools into a recording whose path is set. False with the reason. */
bool zeta_replay_load_igt(struct zeta_replay_recording *recording,
                          struct zeta_replay_problem *problem);

/* set_text.c */

/** Finds in a set's text, a set file with one set, what replaying needs. False with the reason. */
bool zeta_replay_set_read(struct zeta_replay_set *set, struct zeta_replay_problem *problem);

/** What was written for a device already. Zero-initialised it is empty. */
struct zeta_replay_seen {
    char **names; /**< "kind:name" */
    uint32_t count;
    bool failed; /**< without memory */
};

/**
 * Hands the set to the sink. Each set has its own copy of the layout, the unit and the symbols, and
 * a device may define each of them only once: what was written before is left out, also a set whose
 * name was. False with the reason.
 */
bool zeta_replay_set_write(const struct zeta_replay_set *set, struct zeta_replay_seen *seen,
                           const struct zeta_plugin_text_sink *sink,
                           struct zeta_replay_problem *problem);

void zeta_replay_seen_finish(struct zeta_replay_seen *seen);

#endif
