#ifndef ZETA_PLUGINS_REPLAY_IGT_IGT_H
#define ZETA_PLUGINS_REPLAY_IGT_IGT_H

/*
 * What the files of the recorder of intel-gpu-tools consist of: records with the header of i915
 * perf, {type (32 bits), 0 (16), size with the header (16)}, one behind the other; no index, no
 * checksums, no end mark. All numbers are little-endian.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/intel_gpu.h>
#include <zeta/yaml.h>

#include "plugins/replay/recording/recording.h"

#define ZETA_IGT_HEADER_BYTES 8u

/** Types of records; the first three come from the kernel. */
enum zeta_igt_type {
    ZETA_IGT_SAMPLE = 1,
    ZETA_IGT_REPORT_LOST = 2,
    ZETA_IGT_BUFFER_LOST = 3,
    ZETA_IGT_VERSION = 65536,
    ZETA_IGT_DEVICE_INFO = 65537,
    ZETA_IGT_TOPOLOGY = 65538,
    ZETA_IGT_CORRELATION = 65539
};

/** One record. */
struct zeta_igt_record {
    uint32_t type;
    uint32_t body_bytes;
    const unsigned char *body; /**< valid until the next call */
    uint64_t offset;           /**< of its header in the file */
};

/** Goes through a file. */
struct zeta_igt_file {
    int descriptor;
    uint64_t offset; /**< in the file, of the first byte of the buffer */
    unsigned char *buffer;
    size_t used, filled;
    bool damaged; /**< a record has an impossible size: the rest cannot be found */
};

/** Opens a file at an offset. False with a sentence. */
bool zeta_igt_open(struct zeta_igt_file *file, const char *path, uint64_t offset,
                   struct zeta_replay_problem *problem);
void zeta_igt_close(struct zeta_igt_file *file);

/** The next record; false at the end, also within a record that was cut, and after damage. */
bool zeta_igt_next(struct zeta_igt_file *file, struct zeta_igt_record *out_record);

/** A number of count bytes. */
uint64_t zeta_igt_get(const unsigned char *at, unsigned count);

/** A run of counters of one bank in a report. */
struct zeta_igt_run {
    char bank; /**< 0: no more runs */
    uint32_t count, at, stride, width;
    uint32_t high_at; /**< bits 39:32, one byte each; 0: none */
};

/** A report format of the kernel. */
struct zeta_igt_format {
    uint32_t id;           /**< of the kernel's interface */
    uint32_t header_bytes; /**< 12 (Haswell), 16 or 32: which header it has */
    uint32_t report_bytes;
    const char *name; /**< in lower case, for the layout */
    struct zeta_igt_run runs[9];
};

/** The format of that id on a platform; NULL for one whose layout is not known for certain. */
const struct zeta_igt_format *zeta_igt_format_find(uint32_t id, bool is_haswell);

/** What follows from the PCI id. */
struct zeta_igt_platform {
    const char *name;
    uint32_t version; /**< of the graphics part: 75 Haswell, 80 ... 1200, 1255, 1270 */
    uint32_t threads_per_eu;
    uint32_t reason_bits; /**< of a report; 0: it has none */
    uint32_t valid_bit;   /**< of the report id: the context is valid; 0: none */
    /** Ids of one family share their upper bytes, so ranges suffice; behind the last zeros. */
    struct zeta_igt_ids {
        uint32_t first, last;
    } ids[4];
};

/** Finds the platform of a PCI id; NULL: it is not known. */
const struct zeta_igt_platform *zeta_igt_platform_find(uint32_t pci_id);

/** Makes a set file with the layout of the format and one set, RawCounters, whose metrics are the
 * counters as they are in the reports; it names the recorded set. NULL without memory. */
char *zeta_igt_set_text(const struct zeta_igt_format *format,
                        const struct zeta_igt_platform *platform, const char *recorded_set,
                        const char *recorded_uuid, size_t *out_bytes);

/**
 * The data of the generation that a GPU is of, as the plugin for Intel GPUs comes with them:
 * manifests in plugins.d, platforms.yaml and set files beside it (intel_data.c).
 */
struct zeta_replay_intel {
    struct zeta_intel_platforms platforms;
    const struct zeta_intel_platform *platform; /**< of the GPU */
    struct zeta_yaml_document **files;          /**< set files of the generation */
    uint32_t file_count;
};

/** Looks for a GPU in the data of a directory, NULL: there are none. False with the reason; nothing
 * is to be closed then. */
bool zeta_replay_intel_open(const char *share, uint32_t pci_id, struct zeta_replay_intel *out_intel,
                            struct zeta_replay_problem *problem);
void zeta_replay_intel_close(struct zeta_replay_intel *intel);

/** Fills the text of a set file with the set of that uuid alone, named as given, and with what it
 * refers to. False with the reason. */
bool zeta_replay_intel_set(const struct zeta_replay_intel *intel, const char *name,
                           const char *uuid, struct zeta_replay_set *set,
                           struct zeta_replay_problem *problem);

#endif
