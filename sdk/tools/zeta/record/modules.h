/*
 * Modules of the recorded program: what lay at which address, and the images.
 */
#ifndef ZETA_TOOLS_RECORD_MODULES_H
#define ZETA_TOOLS_RECORD_MODULES_H

#include <stdint.h>

#include "sdk/tools/zeta/record/file.h"

/** What was recorded of them. All zero bytes: nothing. */
struct zeta_record_modules {
    uint64_t offset;      /**< in the index of the folder, up to which it was read */
    uint64_t image_bytes; /**< that were recorded */
    uint32_t count;
    uint32_t without_image; /**< of these, for want of room in a bounded file */
    uint32_t left_out;      /**< that had no room at all */
};

/**
 * Adds the modules that came since the last call. In a bounded file images have a quarter of the
 * room, so that data is left beside them; the kernels of a module stay without its image.
 *
 * @folder  of ZETA_MODULE_DUMP
 * @device  number of the device in the recording
 *
 * On failure prints why.
 */
int zeta_record_modules_read(struct zeta_record_modules *modules, struct zeta_record_file *file,
                             const char *folder, uint32_t device);

#endif
