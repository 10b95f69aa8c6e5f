#include "tests/kmd/tests/bed.h"
#include "tests/support/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

struct kmd_machine *bed_start_config(const struct kmd_config *config)
{
    struct kmd_machine *machine = kmd_start(config);

    assert_non_null(machine);
    return machine;
}

struct kmd_machine *bed_start(const char *platform)
{
    const struct kmd_config config = {.device_count = 1,
                                      .devices = {{.platform = platform}},
                                      .is_privileged = true,
                                      .is_manual = true};

    return bed_start_config(&config);
}

int bed_node(void)
{
    const int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);

    assert_cmp(fd, >=, 0);
    return fd;
}

long bed_ioctl(int fd, unsigned long request, const void *argument)
{
    const int result = ioctl(fd, request, argument);

    return result < 0 ? -errno : result;
}

long bed_ioctl_value(int fd, unsigned long request, uint64_t argument)
{
    const int result = ioctl(fd, request, argument);

    return result < 0 ? -errno : result;
}

long bed_read(int fd, void *buffer, size_t bytes)
{
    const ssize_t result = read(fd, buffer, bytes);

    return result < 0 ? -errno : result;
}

long bed_add(int node, const char *uuid)
{
    /* 0x2710 of Gen7.5 to 11 and 0xd900 of Gen12 and later: first of their boolean registers. */
    uint32_t write[2] = {0xd900, 1};
    struct bed_oa_config config = {.counts = {0, 1, 0}, .lists = {0, (uintptr_t)write, 0}};
    long id;

    memcpy(config.uuid, uuid, sizeof(config.uuid));
    id = bed_ioctl(node, BED_ADD_CONFIG, &config);
    if (id != -EINVAL)
        return id;
    write[0] = 0x2710;
    return bed_ioctl(node, BED_ADD_CONFIG, &config);
}

long bed_open(int node, uint32_t flags, const uint64_t (*properties)[2], uint32_t count)
{
    const struct {
        uint32_t flags, count;
        uint64_t properties;
    } param = {flags, count, (uintptr_t)properties};

    return bed_ioctl(node, BED_PERF_OPEN, &param);
}

int bed_stream(int node, long set, uint32_t format, uint32_t exponent)
{
    const uint64_t properties[][2] = {
        {BED_SAMPLE, 1}, {BED_SET, (uint64_t)set}, {BED_FORMAT, format}, {BED_EXPONENT, exponent}};
    const long fd = bed_open(node, BED_CLOEXEC | BED_NONBLOCK, properties, 4);

    assert_cmp(fd, >=, 0);
    return (int)fd;
}

bool bed_polls(int fd, int timeout_ms)
{
    struct pollfd entry = {.fd = fd, .events = POLLIN};

    return poll(&entry, 1, timeout_ms) == 1 && (entry.revents & POLLIN) != 0;
}
