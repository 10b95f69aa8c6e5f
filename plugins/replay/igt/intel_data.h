#ifndef ZETA_PLUGINS_REPLAY_IGT_INTEL_DATA_H
#define ZETA_PLUGINS_REPLAY_IGT_INTEL_DATA_H

/*
 * What the plugin for Intel GPUs comes with: manifests of generations in plugins.d, platforms.yaml
 * and set files of each beside it. Files of intel-gpu-tools name a PCI id and the uuid of a set;
 * here is what they mean.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugins/replay/recording/recording.h"
#include <zeta/intel_gpu.h>

/** The data of the generation that a GPU is of. */
struct zeta_replay_intel {
    char *share;  /**< directory with plugins.d */
    char *folder; /**< of the generation's own files */
    char **files; /**< shared set files of the generation, full paths */
    uint32_t file_count;
    struct zeta_intel_platforms platforms;
    const struct zeta_intel_platform *platform; /**< of the GPU */
};

/**
 * Looks for a GPU in the data. False with a sentence; nothing is to be closed then.
 *
 * @share  directory of the data; NULL: there are none
 */
bool zeta_replay_intel_open(const char *share, uint32_t pci_id, struct zeta_replay_intel *out_intel,
                            struct zeta_replay_problem *problem);
void zeta_replay_intel_close(struct zeta_replay_intel *intel);

/**
 * Fills the text of a set file with the set of that uuid alone, and with what it refers to. False
 * with a sentence.
 *
 * @name  of the set, for the sentence
 */
bool zeta_replay_intel_set(const struct zeta_replay_intel *intel, const char *name,
                           const char *uuid, struct zeta_replay_set *set,
                           struct zeta_replay_problem *problem);

#endif
