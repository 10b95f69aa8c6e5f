#ifndef ZETA_TESTS_KMD_BED_H
#define ZETA_TESTS_KMD_BED_H

/* What tests of the i915 driver share: its calls, as a client makes them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/kmd/kmd.h"

/* Numbers of A.1 of the interface, written down apart from the emulation. */
#define BED_GETPARAM 0xc0106446ul
#define BED_PERF_OPEN 0x40106476ul
#define BED_ADD_CONFIG 0x40486477ul
#define BED_REMOVE_CONFIG 0x40086478ul
#define BED_QUERY 0xc0106479ul
#define BED_REG_READ 0xc0106471ul
#define BED_ENABLE 0x6900ul
#define BED_DISABLE 0x6901ul
#define BED_CONFIG 0x6902ul

enum { BED_CLOEXEC = 1, BED_NONBLOCK = 2, BED_DISABLED = 4 };
enum {
    BED_CONTEXT = 1,
    BED_SAMPLE,
    BED_SET,
    BED_FORMAT,
    BED_EXPONENT,
    BED_HOLD,
    BED_SSEU,
    BED_POLL,
    BED_CLASS,
    BED_INSTANCE
};

#define BED_TESTOA_TGL "6607f034-d053-40d1-8215-67c07f3041bb"
#define BED_UUID "01234567-89ab-cdef-0123-456789abcdef"

struct bed_oa_config {
    char uuid[36];
    uint32_t counts[3];
    uint64_t lists[3];
};

/** A machine with one GPU whose time is manual, in a privileged process. Fails the test. */
struct kmd_machine *bed_start(const char *platform);
/** The same, with a description to start from. */
struct kmd_machine *bed_start_config(const struct kmd_config *config);

/** Opens the render node of the first GPU. */
int bed_node(void);
/** ioctl that answers its result, or the negative errno. */
long bed_ioctl(int fd, unsigned long request, const void *argument);
long bed_ioctl_value(int fd, unsigned long request, uint64_t argument);
/** read that answers its result, or the negative errno. */
long bed_read(int fd, void *buffer, size_t bytes);

/** Adds a set of one boolean register under that uuid. Its id, or a negative errno. */
long bed_add(int node, const char *uuid);
/** PERF_OPEN with pairs of (id, value). The descriptor, or a negative errno. */
long bed_open(int node, uint32_t flags, const uint64_t (*properties)[2], uint32_t count);
/** A non-blocking stream of OAG with format 10 (or the given) and a timer. Fails the test. */
int bed_stream(int node, long set, uint32_t format, uint32_t exponent);

/** Does it poll readable within so many ms? */
bool bed_polls(int fd, int timeout_ms);

#endif
