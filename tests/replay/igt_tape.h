/*
 * Files as the recorder of intel-gpu-tools writes them, made from a description of their own: byte
 * positions are written out here and not taken from the plugin.
 *
 * Counters advance by amounts that tell which counter it is, see igt_step().
 */
#ifndef ZETA_TESTS_REPLAY_IGT_TAPE_H
#define ZETA_TESTS_REPLAY_IGT_TAPE_H

#include <stddef.h>
#include <stdint.h>

#include "tests/replay/tape.h"

#define IGT_PERIOD_TICKS 16384u
#define IGT_CLOCKS 20000u
#define IGT_CONTEXT 0x00abcdefu

/** A kind of device and the format of its reports. */
struct igt_kind {
    uint32_t pci_id;
    uint32_t format;
    uint32_t report_bytes;
    uint64_t oa_hz;
    uint64_t cs_hz;                  /**< of the command streamer */
    uint32_t slices, subslices, eus; /**< of the whole, of a slice, of a subslice */
    uint32_t a_count, b_count, c_count;
    const char *name;       /**< of the platform, in the device's name */
    const char *full;       /**< the same where the data of the plugin for Intel GPUs are there */
    const char *set, *uuid; /**< recorded; NULL: one that no set file has */
};

/** Name of a set over an index in a file that names it oddly: YAML and indexes would take it apart.
 */
#define IGT_ODD_SET "L3: {bank + 3} #\"\n- x"

extern const struct igt_kind igt_kinds[];
extern const uint32_t igt_kind_count;

/** How much a counter advances between two reports. */
uint64_t igt_step(char bank, uint32_t index);

/** Report k of a kind: report_bytes bytes. */
void igt_make_report(const struct igt_kind *kind, uint32_t k, unsigned char *out_report);

/** Records of the file. */
void igt_put_version(struct tape_data *file, uint32_t version);
void igt_put_device(struct tape_data *file, const struct igt_kind *kind);
void igt_put_topology(struct tape_data *file, const struct igt_kind *kind);
/** Both clocks at the time of report k. */
void igt_put_correlation(struct tape_data *file, const struct igt_kind *kind, uint32_t k);
void igt_put_report(struct tape_data *file, const struct igt_kind *kind, uint32_t k);
/** 2: reports were lost; 3: the buffer was lost. */
void igt_put_loss(struct tape_data *file, uint32_t type);

/** Everything in front of the reports, in the order of the recorder. */
void igt_put_head(struct tape_data *file, const struct igt_kind *kind);

#endif
