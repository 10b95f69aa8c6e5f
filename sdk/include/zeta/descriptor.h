/*
 * Descriptors that are no standard stream of the process. Static helper: linked into libzeta and
 * plugins, no part of the plugin interface.
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
 * what the program prints goes there: into our memory or device. So every descriptor that libzeta
 * or a plugin keeps or writes to passes through here, right after it was opened. Errno stays if it
 * succeeds.
 *
 * @descriptor  new and the caller's; closed when another one takes its place. -1 gives -1
 * Gives -1 and errno when there is no other descriptor; the first is closed then too. What it gives
 * is closed by exec.
 */
int32_t zeta_descriptor_raise(int32_t descriptor);

#ifdef __cplusplus
}
#endif

#endif
