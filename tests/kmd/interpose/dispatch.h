#ifndef ZETA_TESTS_KMD_DISPATCH_H
#define ZETA_TESTS_KMD_DISPATCH_H

/* From a descriptor to the driver. Answers are those of a kernel: 0 or more, or -errno. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** Each answers false when the descriptor is none of the machine's. */
bool kmd_dispatch_ioctl(int fd, unsigned long request, uint64_t argument, long *out_result);
bool kmd_dispatch_read(int fd, uint64_t buffer, size_t bytes, ssize_t *out_result);
bool kmd_dispatch_mmap(int fd, void *address, size_t bytes, int protection, int flags,
                       int64_t offset, void **out_address, int *out_result);
/** After a node was opened: 0, or why it may not be. */
int kmd_dispatch_opened(int fd);

#endif
