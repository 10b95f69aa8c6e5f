/*
 * Descriptors that are no standard stream of the process. Static helper: linked into the plugin, no
 * part of the plugin interface.
 */
#ifndef ZETA_DESCRIPTOR_H
#define ZETA_DESCRIPTOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Moves a new descriptor above the standard streams (0, 1, 2) and gives its number.
 *
 * In a program that runs with its standard output closed the next descriptor gets that number, and
 * what the program prints goes there: into the memory or the device of the plugin. So every
 * descriptor that a plugin keeps or writes to passes through here, right after it was opened.
 *
 * @descriptor  new and the caller's; closed when another one takes its place. -1 gives -1
 * Gives -1 and errno when there is no other descriptor; the first is closed then too. What it gives
 * is closed by exec.
 */
int32_t zeta_plugin_descriptor_raise(int32_t descriptor);

#ifdef __cplusplus
}
#endif

#endif
