#ifndef ZETA_TESTS_KMD_XE_CLIENT_H
#define ZETA_TESTS_KMD_XE_CLIENT_H

/* A client of xe, for tests: chains, configurations and streams in a line each. */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/kmd/kmd.h"
#include "tests/kmd/xe/xe_uapi.h"

/** The call fails, with this errno. */
#define assert_errno(code, call)                                                                   \
    do {                                                                                           \
        errno = 0;                                                                                 \
        assert_int_equal(call, -1);                                                                \
        assert_int_equal(errno, code);                                                             \
    } while (0)

/** An address at which nothing is. */
static const uint64_t xe_bad_address = 16;

/** A property and its value. */
struct xe_pair {
    uint32_t property;
    uint64_t value;
};

enum { XE_LINKS = 24 };

/** A chain in memory. */
struct xe_chain {
    struct kmd_xe_set_property links[XE_LINKS];
};

/** Builds a chain of pairs, ended by property 0; returns its address. */
static inline uint64_t xe_chain(struct xe_chain *chain, const struct xe_pair *pairs)
{
    memset(chain, 0, sizeof(*chain));
    for (uint32_t i = 0; pairs[i].property; i++) {
        assert_true(i < XE_LINKS);
        chain->links[i].property = pairs[i].property;
        chain->links[i].value = pairs[i].value;
        if (pairs[i + 1].property)
            chain->links[i].base.next = (uintptr_t)&chain->links[i + 1];
    }
    return (uintptr_t)&chain->links[0];
}

static inline int xe_observe(int fd, uint64_t type, uint64_t op, uint64_t param)
{
    struct kmd_xe_observation_param observation = {.type = type, .op = op, .param = param};
    return ioctl(fd, KMD_XE_OBSERVATION, &observation);
}

/** Opens a stream with properties ended by property 0. */
static inline int xe_open_pairs(int fd, uint64_t type, const struct xe_pair *pairs)
{
    struct xe_chain chain;
    return xe_observe(fd, type, KMD_XE_OP_STREAM_OPEN, xe_chain(&chain, pairs));
}

#define xe_oa_open(fd, ...)                                                                        \
    xe_open_pairs(fd, KMD_XE_TYPE_OA, (const struct xe_pair[]){__VA_ARGS__, {0, 0}})
#define xe_stall_open(fd, ...)                                                                     \
    xe_open_pairs(fd, KMD_XE_TYPE_EU_STALL, (const struct xe_pair[]){__VA_ARGS__, {0, 0}})

/** Adds a configuration of one register. */
static inline int xe_add_config(int fd, const char *uuid, uint32_t address)
{
    uint32_t registers[2] = {address, 0};
    struct kmd_xe_oa_config config = {.n_regs = 1, .regs_ptr = (uintptr_t)registers};
    memcpy(config.uuid, uuid, sizeof(config.uuid));
    return xe_observe(fd, KMD_XE_TYPE_OA, KMD_XE_OP_ADD_CONFIG, (uintptr_t)&config);
}

static inline int xe_remove_config(int fd, uint64_t id)
{
    return xe_observe(fd, KMD_XE_TYPE_OA, KMD_XE_OP_REMOVE_CONFIG, (uintptr_t)&id);
}

/** An allowed register of all generations, and a uuid of no public set. */
#define XE_REGISTER 0xd900
#define XE_UUID "01234567-0123-0123-0123-0123456789ab"

/** Starts a machine of one device that the process may observe; ends the test if it cannot. */
static inline struct kmd_machine *xe_start(const struct kmd_device *device)
{
    struct kmd_config config = {.device_count = 1, .is_manual = true, .is_privileged = true};
    config.is_paranoid = true;
    config.devices[0] = *device;
    config.devices[0].driver = "xe";
    struct kmd_machine *machine = kmd_start(&config);
    assert_non_null(machine);
    return machine;
}

static inline int xe_node(void)
{
    int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

/** After a case: closes what it opened (-1: nothing) and stops its machine. For cmocka, 0. */
static inline int xe_end(struct kmd_machine **machine, int *fd, int *stream)
{
    if (*stream >= 0)
        close(*stream);
    if (*fd >= 0)
        close(*fd);
    *fd = *stream = -1;
    kmd_stop(*machine);
    *machine = NULL;
    return 0;
}

static inline void xe_set_nonblocking(int fd)
{
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
}

/** Answers a query into memory that the caller frees; *out_bytes is its size. */
static inline void *xe_query(int fd, uint32_t query, uint32_t *out_bytes)
{
    struct kmd_xe_device_query ask = {.query = query};
    assert_int_equal(ioctl(fd, KMD_XE_DEVICE_QUERY, &ask), 0);
    void *data = calloc(1, ask.size + 1);
    assert_non_null(data);
    ask.data = (uintptr_t)data;
    assert_int_equal(ioctl(fd, KMD_XE_DEVICE_QUERY, &ask), 0);
    *out_bytes = ask.size;
    return data;
}

#endif
