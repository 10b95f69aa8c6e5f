#ifndef ZETA_PLUGINS_INTEL_KMD_KERNEL_H
#define ZETA_PLUGINS_INTEL_KMD_KERNEL_H

/*
 * What both drivers of the kernel have in common for who asks them: calls and their errors, numbers
 * in sysfs, configurations by uuid, and who holds a stream.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugins/intel/kmd/kmd.h"

/** The kernel's own number for "not supported", which errno.h does not have. */
#define ZETA_INTEL_ENOTSUPP 524

/** Makes an ioctl, again after an interruption. What it returns, or the negative errno. */
int zeta_intel_ioctl(int fd, unsigned long request, void *argument);

/** Room for the text of an error. */
struct zeta_intel_errno_text {
    char text[96];
};

/** An errno by name and in words: "EBUSY (Device or resource busy)". */
struct zeta_intel_errno_text zeta_intel_errno(int error);

/** Reads a decimal number from the first line of a file. False: no file, or no number. */
bool zeta_intel_file_read_u64(const char *path, uint64_t *out_value);

/** The file of a sysctl: "dev.xe.observation_paranoid". False: the kernel does not have it. */
bool zeta_intel_sysctl_read(const char *name, uint64_t *out_value);

/** Looks up the kernel's id of the configuration with that uuid in sysfs. */
bool zeta_intel_config_find(const struct zeta_intel_gpu *gpu, const char uuid[37],
                            uint64_t *out_config);

/**
 * Fails with INSUFFICIENT_PERMISSIONS because the kernel answered EACCES or EPERM: names the
 * sysctl, its value, the command that changes it, and the capability; where the sysctl allows all,
 * that something else forbids it.
 *
 * @what  what was refused: "to open a stream of the unit oa"
 */
uint32_t zeta_intel_fail_permission(const struct zeta_intel_gpu *gpu, const char *what, int error,
                                    const char *sysctl);

/** Leaves in gpu->note that streams will fail so, when the kernel said it before one is opened. */
void zeta_intel_note_permission(struct zeta_intel_gpu *gpu, const char *sysctl);

/**
 * Fails with NOT_AVAILABLE because the kernel answered EBUSY: names the processes that have a
 * stream of such a unit open, as far as this process may see them. Which of several has this very
 * unit is not visible from outside.
 */
uint32_t zeta_intel_fail_busy(const struct zeta_intel_gpu *gpu, const struct zeta_intel_unit *unit);

/**
 * Another process that has a stream of such a unit open, and a node of this GPU; 0: none is seen.
 * That the kernel names descriptors so, and shows it in /proc/PID/fd, is general knowledge of
 * Linux, no promise; a process of another user is seen by root alone.
 */
uint32_t zeta_intel_holder_find(const struct zeta_intel_gpu *gpu,
                                const struct zeta_intel_unit *unit);

#endif
