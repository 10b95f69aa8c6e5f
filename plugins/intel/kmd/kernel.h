#ifndef ZETA_PLUGINS_INTEL_KMD_KERNEL_H
#define ZETA_PLUGINS_INTEL_KMD_KERNEL_H

/*
 * What both drivers of the kernel have in common: calls and their errors, numbers in sysfs,
 * configurations by uuid, and the processes that have a stream.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugins/intel/kmd/kmd.h"

/** Makes an ioctl, again after an interruption. What it returns, or the negative errno. */
int zeta_intel_ioctl(int fd, unsigned long request, void *argument);

/** Room for the text of an error. */
struct zeta_intel_errno_text {
    char text[96];
};

/** An errno by name and in words: "EBUSY (Device or resource busy)". */
struct zeta_intel_errno_text zeta_intel_errno(int error);

/** Reads a number from the first line of a file. False: no file, or no number. */
bool zeta_intel_file_read_u64(const char *path, uint64_t *out_value);

/** The file of a sysctl: "dev.xe.observation_paranoid". False: the kernel does not have it. */
bool zeta_intel_sysctl_read(const char *name, uint64_t *out_value);

/** Sets the reason for which a GPU has no metrics; the first one stays. */
void zeta_intel_no_metrics(struct zeta_intel_gpu *gpu, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Looks up the kernel's id of the configuration with that uuid in sysfs. */
bool zeta_intel_config_find(const struct zeta_intel_gpu *gpu, const char uuid[37],
                            uint64_t *out_config);

/**
 * The kernel's id of a program: that of the configuration with its uuid if there is one, else its
 * registers are uploaded. Several processes may do so at once. INSUFFICIENT_PERMISSIONS;
 * INVALID_ARGUMENT when the kernel refuses a register.
 */
uint32_t zeta_intel_config_get(struct zeta_intel_gpu *gpu, const struct zeta_intel_program *program,
                               uint64_t *out_config);

/**
 * Fails because the kernel answered with an error to what was asked: "to read its clock". EACCES
 * and EPERM: INSUFFICIENT_PERMISSIONS, with the sysctl, its value, the command that changes it, and
 * the capability.
 */
uint32_t zeta_intel_fail(struct zeta_intel_gpu *gpu, const char *what, int error);

/**
 * The same of a stream that cannot be opened. EBUSY: NOT_AVAILABLE with the processes that have a
 * stream of such a unit, as far as this process may see them; which of several has this very unit
 * is not visible from outside.
 */
uint32_t zeta_intel_fail_open(struct zeta_intel_gpu *gpu,
                              const struct zeta_intel_stream_request *request, int error);

/** True if the device was unplugged: ENODEV to a question that needs no unit. Remembers that. */
bool zeta_intel_is_gone(struct zeta_intel_gpu *gpu);

/** Sets gpu->note to why streams will fail, when the kernel said EACCES before one is opened. */
void zeta_intel_note_permission(struct zeta_intel_gpu *gpu);

/**
 * Another process that has a stream of such a unit open, and a node of this GPU; 0: none is seen.
 * That the kernel names descriptors so, and shows it in /proc/PID/fd, is general knowledge of
 * Linux, no promise; a process of another user is seen by root alone.
 */
uint32_t zeta_intel_holder_find(const struct zeta_intel_gpu *gpu,
                                const struct zeta_intel_unit *unit);

#endif
