#include "plugins/intel/kmd/kernel.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xf86drm.h>

int zeta_intel_ioctl(int fd, unsigned long request, void *argument)
{
    const int result = drmIoctl(fd, request, argument);

    return result >= 0 ? result : -errno;
}

struct zeta_intel_errno_text zeta_intel_errno(int error)
{
    const char *name = strerrorname_np(error);
    struct zeta_intel_errno_text text;
    char words[64];

    if (error == ZETA_INTEL_ENOTSUPP)
        (void)snprintf(text.text, sizeof(text.text), "ENOTSUPP (not supported)");
    else
        (void)snprintf(text.text, sizeof(text.text), "%s (%s)", name ? name : "an unknown error",
                       strerror_r(error, words, sizeof(words)));
    return text;
}

/* Files ----------------------------------------------------------------------------------------
 */

/* Reads the begin of a small file as text; the number of bytes, or -1. */
static ssize_t read_text(const char *path, char *out_text, size_t bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (fd < 0)
        return -1;
    do {
        got = read(fd, out_text, bytes - 1);
    } while (got < 0 && errno == EINTR);
    (void)close(fd);
    if (got >= 0)
        out_text[got] = '\0';
    return got;
}

bool zeta_intel_file_read_u64(const char *path, uint64_t *out_value)
{
    char text[64];
    char *end = NULL;
    uint64_t value;

    if (read_text(path, text, sizeof(text)) <= 0 || !isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno != 0 || (*end != '\0' && *end != '\n'))
        return false;
    *out_value = value;
    return true;
}

bool zeta_intel_sysctl_read(const char *name, uint64_t *out_value)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "/proc/sys/%s", name);
    for (char *at = path + strlen("/proc/sys/"); *at; at++) {
        if (*at == '.')
            *at = '/';
    }
    return zeta_intel_file_read_u64(path, out_value);
}

bool zeta_intel_config_find(const struct zeta_intel_gpu *gpu, const char uuid[37],
                            uint64_t *out_config)
{
    char path[192];

    (void)snprintf(path, sizeof(path), "%s/metrics/%s/id", gpu->card, uuid);
    return zeta_intel_file_read_u64(path, out_config);
}

/* Sentences of failures that both drivers have ---------------------------------------------------
 */

/* Linux before 5.8 does not have the capability for this purpose alone. */
static bool has_perfmon(void)
{
    uint64_t last;

    return !zeta_intel_sysctl_read("kernel.cap_last_cap", &last) || last >= CAP_PERFMON;
}

enum { PROGRAM_BYTES = 256, WHY_BYTES = 640 };

/* The file of this program, which a capability would be given to. */
static void find_program(char *out_path, size_t bytes)
{
    const ssize_t length = readlink("/proc/self/exe", out_path, bytes);

    if (length <= 0 || (size_t)length >= bytes)
        (void)snprintf(out_path, bytes, "PROGRAM");
    else
        out_path[length] = '\0';
}

/* Why the kernel says that it is not permitted, and what to do. */
static void explain_permission(const char *sysctl, char *out_text, size_t bytes)
{
    const char *capability = has_perfmon() ? "CAP_PERFMON" : "CAP_SYS_ADMIN";
    const char *word = has_perfmon() ? "cap_perfmon" : "cap_sys_admin";
    char program[PROGRAM_BYTES];
    uint64_t value;

    find_program(program, sizeof(program));
    if (!zeta_intel_sysctl_read(sysctl, &value))
        (void)snprintf(out_text, bytes,
                       "the sysctl %s cannot be read. Run as root, or give the program the "
                       "capability: sudo setcap %s=ep '%s'",
                       sysctl, word, program);
    else if (value == 0)
        (void)snprintf(out_text, bytes,
                       "the sysctl %s is 0, so that everybody may sample; something else forbids "
                       "it: a security module or a container's filter of system calls. Try as "
                       "root, outside of the container, and see dmesg",
                       sysctl);
    else
        (void)snprintf(out_text, bytes,
                       "the sysctl %s is %llu, so that it takes the capability %s. Allow "
                       "everybody: sudo sysctl %s=0; or this program: sudo setcap %s=ep '%s'",
                       sysctl, (unsigned long long)value, capability, sysctl, word, program);
}

uint32_t zeta_intel_fail_permission(const struct zeta_intel_gpu *gpu, const char *what, int error,
                                    const char *sysctl)
{
    char why[WHY_BYTES];

    explain_permission(sysctl, why, sizeof(why));
    return zeta_host_fail(gpu->host, ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS,
                          "%s (%s): the kernel refused %s with %s: %s", gpu->name, gpu->id, what,
                          strerrorname_np(error), why);
}

void zeta_intel_note_permission(struct zeta_intel_gpu *gpu, const char *sysctl)
{
    char why[WHY_BYTES];

    explain_permission(sysctl, why, sizeof(why));
    (void)snprintf(gpu->note, sizeof(gpu->note),
                   "%s: the kernel does not let this process sample: %s", gpu->id, why);
}

/* True if a descriptor of the process has that link. */
static bool process_has(const char *pid, const char *wanted)
{
    char path[300], link[256];
    const struct dirent *entry;
    bool found = false;
    DIR *folder;

    (void)snprintf(path, sizeof(path), "/proc/%s/fd", pid);
    folder = opendir(path);
    if (!folder)
        return false;
    while (!found && (entry = readdir(folder))) {
        const ssize_t length = readlinkat(dirfd(folder), entry->d_name, link, sizeof(link) - 1);

        if (length <= 0)
            continue;
        link[length] = '\0';
        found = strcmp(link, wanted) == 0;
    }
    (void)closedir(folder);
    return found;
}

/* The link of descriptors that the kernel names so. */
static void link_of_kind(const char *kind, char *out_link, size_t bytes)
{
    (void)snprintf(out_link, bytes, "anon_inode:[%s]", kind);
}

/* Writes "12 (perf), 34 (zeta)": the processes that have such descriptors. False: none is seen. */
static bool list_holders(const char *kind, char *out_list, size_t bytes)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    char wanted[64];
    size_t used = 0;

    out_list[0] = '\0';
    if (!folder)
        return false;
    link_of_kind(kind, wanted, sizeof(wanted));
    while ((entry = readdir(folder))) {
        char path[300], name[64];
        int written;

        if (!isdigit((unsigned char)entry->d_name[0]) || !process_has(entry->d_name, wanted))
            continue;
        (void)snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
        if (read_text(path, name, sizeof(name)) < 0)
            continue; /* it ended meanwhile */
        name[strcspn(name, "\n")] = '\0';
        written = snprintf(out_list + used, bytes - used, "%s%s (%s)", used > 0 ? ", " : "",
                           entry->d_name, name);
        if (written < 0 || (size_t)written >= bytes - used)
            break;
        used += (size_t)written;
    }
    (void)closedir(folder);
    out_list[used] = '\0';
    return used > 0;
}

uint32_t zeta_intel_fail_busy(const struct zeta_intel_gpu *gpu, const struct zeta_intel_unit *unit)
{
    const char *kind = gpu->kmd->stream_name(unit);
    char holders[256];

    if (!list_holders(kind, holders, sizeof(holders)))
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "%s: another client has the unit %s, of which there is one for all "
                              "processes (EBUSY); its process cannot be seen from here. Find it "
                              "with: sudo sh -c 'ls -l /proc/*/fd | grep %s'",
                              gpu->id, unit->name, kind);
    return zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                          "%s: another client has the unit %s, of which there is one for all "
                          "processes (EBUSY); streams of that kind are open in process %s",
                          gpu->id, unit->name, holders);
}

uint32_t zeta_intel_holder_find(const struct zeta_intel_gpu *gpu,
                                const struct zeta_intel_unit *unit)
{
    const char *card = strrchr(gpu->card, '/');
    const struct dirent *entry;
    uint32_t found = 0;
    char card_node[64], wanted[64];
    DIR *folder = opendir("/proc");

    if (!folder)
        return 0;
    link_of_kind(gpu->kmd->stream_name(unit), wanted, sizeof(wanted));
    (void)snprintf(card_node, sizeof(card_node), "/dev/dri/%.40s", card ? card + 1 : "card");
    while (found == 0 && (entry = readdir(folder))) {
        if (isdigit((unsigned char)entry->d_name[0]) && process_has(entry->d_name, wanted) &&
            (process_has(entry->d_name, gpu->node) || process_has(entry->d_name, card_node)))
            found = (uint32_t)strtoul(entry->d_name, NULL, 10);
    }
    (void)closedir(folder);
    return found == (uint32_t)getpid() ? 0 : found;
}

/*
 * A report comes whenever bit `exponent` of the tick counter falls, so every 2^(exponent + 1)
 * ticks. In two parts, because the product does not fit: the exponent is at most 31.
 */
uint64_t zeta_intel_period_ns(const struct zeta_intel_unit *unit, uint32_t exponent)
{
    const uint64_t ticks = UINT64_C(2) << exponent;
    const uint64_t hz = unit->timestamp_hz;

    return ticks / hz * 1000000000u + (ticks % hz * 1000000000u + hz - 1) / hz;
}
