/*
 * Modules of the recorded program: what lay at which address, and the images.
 */
#ifndef ZETA_TOOLS_RECORD_MODULES_H
#define ZETA_TOOLS_RECORD_MODULES_H

#include <stdint.h>

#include <zeta/zeta.h>

/**
 * Adds the modules that came since the last call.
 *
 * @folder    of ZETA_MODULE_DUMP
 * @device    number of the device in the recording
 * @io_count  modules that were added before, and are now
 *
 * On failure says why.
 */
int zeta_record_modules_read(struct zeta_recording *recording, const char *folder, uint32_t device,
                             uint32_t *io_count);

#endif
