#ifndef ZETA_PLUGINS_INTEL_KMD_XE_H
#define ZETA_PLUGINS_INTEL_KMD_XE_H

/*
 * What the files of the xe driver's side share: questions, errors, and the two kinds of streams.
 * xe_uapi.h is what the kernel takes, xe_parse.h makes its answers readable.
 */

#include <stdbool.h>
#include <stdint.h>

#include "plugins/intel/kmd/kmd.h"
#include "plugins/intel/kmd/xe_parse.h"
#include "plugins/intel/kmd/xe_uapi.h"

/** The sysctl that opens observation to everybody; it exists where the kernel can observe. */
#define ZETA_XE_SYSCTL "dev.xe.observation_paranoid"

/** A stream of either kind. */
struct zeta_xe_stream {
    struct zeta_intel_kernel_stream base;
    bool has_break;    /**< stall samples: some are missing before the next ones */
    bool was_told;     /**< that markers were lost */
    uint32_t failures; /**< reads in a row that met losses alone */
};

/**
 * Asks a question about the device. 0, or the negative errno; -EPROTO for an answer of an absurd
 * size. The answer is given back with zeta_xe_answer_free().
 */
int zeta_xe_query(const struct zeta_intel_gpu *gpu, uint32_t query,
                  struct zeta_xe_answer *out_answer);
void zeta_xe_answer_free(struct zeta_xe_answer *answer);

/** True if the device is gone, and not just what was asked of it. Remembers that. */
bool zeta_xe_is_gone(struct zeta_intel_gpu *gpu);

/**
 * Fails because the kernel answered with an error, whichever.
 *
 * @what  what was asked: "to open a stream of the unit oa"
 */
uint32_t zeta_xe_fail(struct zeta_intel_gpu *gpu, const char *what, int error);

/** Asks everything about a GPU; as probe() of struct zeta_intel_kmd. */
uint32_t zeta_xe_probe(struct zeta_intel_gpu *gpu);

/** Reads the clock of an engine, in whatever bits it has. 0, or the negative errno. */
int zeta_xe_cycles(const struct zeta_intel_gpu *gpu, const struct zeta_intel_tile *tile,
                   struct zeta_xe_engine_cycles *out_cycles);

/** As config_get() and config_remove() of struct zeta_intel_kmd. */
uint32_t zeta_xe_config_get(struct zeta_intel_gpu *gpu, const struct zeta_intel_program *program,
                            uint64_t *out_config);
void zeta_xe_config_remove(struct zeta_intel_gpu *gpu, uint64_t config);

/** A chain of properties, in the order in which they were added; it must not move afterwards. */
struct zeta_xe_properties {
    uint32_t count;
    struct zeta_xe_property items[8]; /**< all that a stream has */
};

void zeta_xe_property_add(struct zeta_xe_properties *properties, uint32_t property, uint64_t value);

/** As stream_open(), stream_read() and stream_close() of struct zeta_intel_kmd, for both kinds. */
uint32_t zeta_xe_stream_open(struct zeta_intel_gpu *gpu,
                             const struct zeta_intel_stream_request *request,
                             struct zeta_intel_kernel_stream **out_stream);
uint32_t zeta_xe_stream_read(struct zeta_intel_kernel_stream *base, void *buffer,
                             uint64_t capacity_bytes, struct zeta_plugin_read *out_read);
void zeta_xe_stream_close(struct zeta_intel_kernel_stream *base);

/**
 * What the bits of a status (ZETA_XE_OA_STATUS_*) mean for the sequence of reports:
 * ZETA_PLUGIN_BREAK_*, NONE when none is missing.
 */
uint32_t zeta_xe_oa_break(uint64_t status);

/** The size of a buffer that the kernel takes and that holds so many bytes, if one does. */
uint64_t zeta_xe_buffer_bytes(uint64_t wanted_bytes);

#endif
