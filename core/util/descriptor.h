/*
 * Descriptors that are no standard stream of the process; zeta/descriptor.h has the rule.
 */
#ifndef ZETA_CORE_UTIL_DESCRIPTOR_H
#define ZETA_CORE_UTIL_DESCRIPTOR_H

#include <stdint.h>

#include <zeta/descriptor.h>

/** pipe2() whose ends are both above the standard streams. 0, or -1 and errno with nothing open. */
int zeta_descriptor_pipe(int out_ends[2], int flags);

/**
 * Opens the file of a descriptor of another process, or of this one, for reading and writing.
 *
 * @pid, @descriptor  where it is; the number may have become that of something else meanwhile. It
 *                    may also be one of this process, to which the descriptor came over a socket
 * @device, @inode    the file that it has to be, as fstat() names it
 * Gives a descriptor above the standard streams, or -1 and errno: ESTALE when it is another file,
 * which is not opened then, because to open a device or a pipe has effects; ENOENT when there is no
 * such process or descriptor; EACCES or EPERM when its descriptors are not ours to look at.
 */
int zeta_descriptor_open_of(int pid, int descriptor, uint64_t device, uint64_t inode);

#endif
