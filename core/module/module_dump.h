/*
 * ZETA_MODULE_DUMP=DIRECTORY: images of modules for other processes, which see addresses of
 * instructions and want to know what lies there. sdk/doc/formats.md describes the files.
 *
 * The directory has to exist and to be the user's own; nothing is written for a process with more
 * rights than its caller. A module is created whether its image can be written or not.
 */
#ifndef ZETA_CORE_MODULE_MODULE_DUMP_H
#define ZETA_CORE_MODULE_MODULE_DUMP_H

struct zeta_module;

/** Writes the image of a module that was just built, and a line about it. Failures are logged. */
void zeta_module_dump(struct zeta_module *module);

/** Writes that the module is gone, if its image was written. */
void zeta_module_dump_end(struct zeta_module *module);

#endif
