/*
 * Modules of a recording, put into a folder as ZETA_MODULE_DUMP makes one.
 */
#ifndef ZETA_TOOLS_RECORDING_MODULES_H
#define ZETA_TOOLS_RECORDING_MODULES_H

#include <stdint.h>

#include "sdk/tools/zeta/program/run_folder.h"

/**
 * Adds the module of a MODULE chunk, which may be any bytes.
 *
 * @folder  none: one is made; zeta_run_folder_remove() removes it
 * @number  of the module, for the name of its file
 *
 * On failure prints why. A chunk that describes no module is passed over.
 */
int zeta_report_modules_add(struct zeta_run_folder *folder, uint32_t number, const void *payload,
                            uint64_t bytes);

#endif
