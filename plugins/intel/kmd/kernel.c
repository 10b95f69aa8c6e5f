#include "plugins/intel/kmd/kernel.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xf86drm.h>

#include <zeta/c_locale.h>

/* The kernel's own number for "not supported", which errno.h does not have. */
#define ENOTSUPP 524

/* How often a configuration may vanish and come back between a look-up and an upload. */
#define ATTEMPTS 4

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

    if (error == ENOTSUPP)
        (void)snprintf(text.text, sizeof(text.text), "ENOTSUPP (not supported)");
    else
        (void)snprintf(text.text, sizeof(text.text), "%s (%s)", name ? name : "an unknown error",
                       strerror_r(error, words, sizeof(words)));
    return text;
}

void zeta_intel_no_metrics(struct zeta_intel_gpu *gpu, const char *format, ...)
{
    va_list arguments;

    if (gpu->no_metrics[0] != '\0')
        return;
    va_start(arguments, format);
    (void)zeta_c_vsnprintf(gpu->no_metrics, sizeof(gpu->no_metrics), format, arguments);
    va_end(arguments);
}

/* ---- files -------------------------------------------------------------------------------- */

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
    value = strtoull(text, &end, 0);
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

uint32_t zeta_intel_config_get(struct zeta_intel_gpu *gpu, const struct zeta_intel_program *program,
                               uint64_t *out_config)
{
    char what[96];

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int64_t id;

        if (zeta_intel_config_find(gpu, program->uuid, out_config))
            return ZETA_PLUGIN_SUCCESS;
        id = gpu->kmd->config_add(gpu, program);
        if (id >= 0) {
            *out_config = (uint64_t)id;
            return ZETA_PLUGIN_SUCCESS;
        }
        if (id == -EINVAL)
            return zeta_host_fail(gpu->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                                  "%s (%s): the %s driver refused the configuration %s with "
                                  "EINVAL: it does not allow one of its %u registers on this "
                                  "device, or the directory %.64s/metrics is missing; a newer "
                                  "kernel may allow more",
                                  gpu->name, gpu->id, gpu->kmd->driver, program->uuid,
                                  program->count, gpu->card);
        if (id != -EADDRINUSE) { /* Another process was faster, with the same registers. */
            (void)snprintf(what, sizeof(what), "to take the configuration %s", program->uuid);
            return zeta_intel_fail(gpu, what, (int)-id);
        }
    }
    return zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                          "%s: the kernel reports that the configuration %s exists, but "
                          "%s/metrics/%s/id cannot be read; is /sys mounted?",
                          gpu->id, program->uuid, gpu->card, program->uuid);
}

/* ---- permission --------------------------------------------------------------------------- */

enum { WHY_BYTES = 640 };

/* Why the kernel says that it is not permitted, and what to do. */
static void explain_permission(const char *sysctl, char *out_text, size_t bytes)
{
    uint64_t last, value;
    /* Linux before 5.8 does not have the capability for this purpose alone. */
    const bool has_perfmon =
        !zeta_intel_sysctl_read("kernel.cap_last_cap", &last) || last >= CAP_PERFMON;
    const char *capability = has_perfmon ? "cap_perfmon" : "cap_sys_admin";
    char program[256];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program));

    if (length <= 0 || (size_t)length >= sizeof(program))
        (void)snprintf(program, sizeof(program), "PROGRAM");
    else
        program[length] = '\0';
    if (!zeta_intel_sysctl_read(sysctl, &value))
        (void)snprintf(out_text, bytes,
                       "the sysctl %s cannot be read. Run as root, or give the program the "
                       "capability: sudo setcap %s=ep '%s'",
                       sysctl, capability, program);
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
                       sysctl, (unsigned long long)value, capability, sysctl, capability, program);
}

void zeta_intel_note_permission(struct zeta_intel_gpu *gpu)
{
    char why[WHY_BYTES];

    explain_permission(gpu->kmd->sysctl, why, sizeof(why));
    (void)snprintf(gpu->note, sizeof(gpu->note),
                   "%s: the kernel does not let this process sample: %s", gpu->id, why);
}

/* ---- processes that have a stream --------------------------------------------------------- */

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

static const char *stream_name(const struct zeta_intel_gpu *gpu, const struct zeta_intel_unit *unit)
{
    return gpu->kmd->stream_names[unit->kind == ZETA_INTEL_EU_STALL];
}

/* The next process of /proc that has a stream of such a unit; NULL: no more are seen. */
static const char *next_holder(DIR *processes, const struct zeta_intel_gpu *gpu,
                               const struct zeta_intel_unit *unit)
{
    const struct dirent *entry;
    char wanted[64];

    (void)snprintf(wanted, sizeof(wanted), "anon_inode:[%s]", stream_name(gpu, unit));
    while (processes && (entry = readdir(processes))) {
        if (isdigit((unsigned char)entry->d_name[0]) && process_has(entry->d_name, wanted))
            return entry->d_name;
    }
    return NULL;
}

static uint32_t fail_busy(const struct zeta_intel_gpu *gpu, const struct zeta_intel_unit *unit)
{
    DIR *processes = opendir("/proc");
    char path[300], name[64], list[256] = "";
    const char *pid;
    size_t used = 0;

    while (used + 1 < sizeof(list) && (pid = next_holder(processes, gpu, unit))) {
        (void)snprintf(path, sizeof(path), "/proc/%s/comm", pid);
        if (read_text(path, name, sizeof(name)) < 0)
            continue; /* it ended meanwhile */
        name[strcspn(name, "\n")] = '\0';
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s (%s)",
                                 used > 0 ? ", " : "", pid, name);
    }
    if (processes)
        (void)closedir(processes);
    if (used == 0)
        (void)snprintf(list, sizeof(list),
                       "its process cannot be seen from here. Find it with: sudo sh -c "
                       "'ls -l /proc/*/fd | grep %s'",
                       stream_name(gpu, unit));
    return zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                          "%s: another client has the unit %s, of which there is one for all "
                          "processes (EBUSY); %s%s",
                          gpu->id, unit->name,
                          used > 0 ? "streams of that kind are open in process " : "", list);
}

uint32_t zeta_intel_holder_find(const struct zeta_intel_gpu *gpu,
                                const struct zeta_intel_unit *unit)
{
    const char *card = strrchr(gpu->card, '/');
    DIR *processes = opendir("/proc");
    uint32_t found = 0;
    char card_node[64];
    const char *pid;

    (void)snprintf(card_node, sizeof(card_node), "/dev/dri/%.40s", card ? card + 1 : "card");
    while (found == 0 && (pid = next_holder(processes, gpu, unit))) {
        if (process_has(pid, gpu->node) || process_has(pid, card_node))
            found = (uint32_t)strtoul(pid, NULL, 10);
    }
    if (processes)
        (void)closedir(processes);
    return found == (uint32_t)getpid() ? 0 : found;
}

/* ---- failures ----------------------------------------------------------------------------- */

bool zeta_intel_is_gone(struct zeta_intel_gpu *gpu)
{
    struct drm_version version = {0};

    if (!atomic_load(&gpu->is_lost) &&
        zeta_intel_ioctl(gpu->fd, DRM_IOCTL_VERSION, &version) == -ENODEV)
        atomic_store(&gpu->is_lost, true);
    return atomic_load(&gpu->is_lost);
}

uint32_t zeta_intel_fail(struct zeta_intel_gpu *gpu, const char *what, int error)
{
    static const struct {
        int error;
        uint32_t result; /* 0: as of errors that are not listed */
        const char *advice;
    } reasons[] = {
        {ENOMEM, ZETA_PLUGIN_OUT_OF_HOST_MEMORY, "the kernel has no memory for its buffer"},
        {EMFILE, ZETA_PLUGIN_NOT_AVAILABLE, "close descriptors, or raise the limit (ulimit -n)"},
        {ENFILE, ZETA_PLUGIN_NOT_AVAILABLE, "close descriptors, or raise the limit (ulimit -n)"},
        {ENOTSUPP, ZETA_PLUGIN_NOT_AVAILABLE,
         "it has no such unit for this GPU, as in guests that have a part of one"},
        {ETIMEDOUT, 0, "the GPU could not be woken; see dmesg"},
        {EIO, 0, "the GPU could not be woken; see dmesg"},
    };
    uint32_t result = gpu->kmd->is_xe ? ZETA_PLUGIN_NOT_AVAILABLE : ZETA_PLUGIN_UNKNOWN;
    const char *advice = "see the kernel's log (dmesg)";
    char why[WHY_BYTES];

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].error == error) {
            advice = reasons[i].advice;
            result = reasons[i].result != 0 ? reasons[i].result : result;
        }
    }
    if (error == EACCES || error == EPERM) {
        explain_permission(gpu->kmd->sysctl, why, sizeof(why));
        result = ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS;
        advice = why;
    } else if (error == ENODEV && gpu->kmd->is_xe && !zeta_intel_is_gone(gpu)) {
        result = ZETA_PLUGIN_UNSUPPORTED_FEATURE;
        advice = "it does not count on this device, as on virtual functions of a shared GPU";
    } else if (error == ENODEV) {
        atomic_store(&gpu->is_lost, true);
        result = ZETA_PLUGIN_DEVICE_LOST;
        advice = "the GPU was unplugged or its driver was removed; see dmesg";
    }
    return zeta_host_fail(gpu->host, result, "%s (%s): the %s driver refused %s with %s: %s",
                          gpu->name, gpu->id, gpu->kmd->driver, what, zeta_intel_errno(error).text,
                          advice);
}

uint32_t zeta_intel_fail_open(struct zeta_intel_gpu *gpu,
                              const struct zeta_intel_stream_request *request, int error)
{
    const struct zeta_intel_unit *unit = request->unit;
    char what[96], format[16];

    if (error == EBUSY)
        return fail_busy(gpu, unit);
    if (error == EINVAL && unit->kind == ZETA_INTEL_EU_STALL)
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "%s: the %s driver refused to sample stalls on GT %u each "
                              "%llu cycles with EINVAL; sampling of stalls came with Linux 6.15",
                              gpu->id, gpu->kmd->driver, unit->gt,
                              (unsigned long long)unit->rates[request->exponent]);
    if (error == EINVAL) {
        /* As platform files write it. */
        (void)snprintf(format, sizeof(format), gpu->kmd->is_xe ? "0x%08x" : "%u", request->format);
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "%s (%s): the %s driver refused a stream of the unit %s with "
                              "EINVAL: it does not know the unit 0x%x, the report format %s, the "
                              "exponent %u, or the configuration %llu, which another process may "
                              "have removed; is the kernel older than the GPU?",
                              gpu->name, gpu->id, gpu->kmd->driver, unit->name, unit->kernel_id,
                              format, request->exponent, (unsigned long long)request->config);
    }
    (void)snprintf(what, sizeof(what), "to open a stream of the unit %s", unit->name);
    return zeta_intel_fail(gpu, what, error);
}

/* ---- periods ------------------------------------------------------------------------------ */

enum { RATES = sizeof(((struct zeta_intel_unit *)0)->rates) / sizeof(uint64_t) };

/* Core clock to reckon with where the kernel reports none. */
#define UNKNOWN_CORE_HZ 1000000000u

uint64_t zeta_intel_period_ns(const struct zeta_intel_unit *unit, uint32_t exponent)
{
    const uint64_t hz = unit->timestamp_hz != 0 ? unit->timestamp_hz : UNKNOWN_CORE_HZ;
    uint64_t ticks = UINT64_C(2) << exponent;

    if (unit->kind == ZETA_INTEL_EU_STALL)
        ticks = exponent < RATES ? unit->rates[exponent] : 0;
    /* In two parts, because the product need not fit. */
    return ticks / hz * 1000000000u + (ticks % hz * 1000000000u + hz - 1) / hz;
}

uint32_t zeta_intel_period_last(const struct zeta_intel_unit *unit)
{
    uint32_t last = 0;

    if (unit->kind != ZETA_INTEL_EU_STALL)
        return ZETA_INTEL_EXPONENTS - 1;
    while (last + 1 < RATES && unit->rates[last + 1] != 0)
        last++;
    return last;
}
