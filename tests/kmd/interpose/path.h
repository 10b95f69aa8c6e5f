#ifndef ZETA_TESTS_KMD_PATH_H
#define ZETA_TESTS_KMD_PATH_H

/*
 * Which paths lead into the machine's tree.
 *
 * Always: /dev/dri, /sys/class/drm, /sys/dev/char/226:*, /sys/bus/pci/devices, and i915 and xe of
 * /proc/sys/dev. Other paths of /sys, when the tree has them: so /sys/devices/pci0000:00/... of the
 * machine's devices, and listings of /sys/class and /sys/bus (for libudev, which walks). A relative
 * path follows its directory: inside the tree natively, from real ones by the path that results.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/**
 * The path to use instead: `path` itself, or one in buffer (then absolute). NULL is answered with
 * NULL.
 */
const char *kmd_path(int directory, const char *path, char buffer[PATH_MAX]);

/**
 * Turns a path of the tree into what the program shall see, in place; a FIFO of a stream becomes
 * the name of a descriptor without a file. True if it was one of the tree. length: without a NUL.
 */
bool kmd_path_outside(char *path, size_t *length);

/** Gives a node its kind and numbers. */
void kmd_stat_node(struct stat *status);

/** Is it a node that the program may not use? */
bool kmd_path_is_forbidden(const char *used);

#endif
