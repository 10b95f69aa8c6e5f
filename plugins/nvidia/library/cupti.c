#include "plugins/nvidia/library/cupti.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

/* ---- blocks ------------------------------------------------------------------------------- */

#define NVIDIA_CHECK(symbol, call, type, last, bytes)                                              \
    _Static_assert(offsetof(struct type, last) + sizeof(((struct type *)0)->last) == (bytes),      \
                   "the block of " #symbol);
NVIDIA_CUPTI_BLOCKS(NVIDIA_CHECK)

/* Members that no end of a block pins. */
#define AT(type, member, offset)                                                                   \
    _Static_assert(offsetof(struct type, member) == (offset), #type "." #member)
AT(nvidia_block, reserved, 8);
AT(nvidia_chip_name, device, 16);
AT(nvidia_device_supported, supported, 20);
AT(nvidia_device_supported, confidential_computing, 36);
AT(nvidia_device_supported, wsl, 44);
AT(nvidia_pm_availability, bytes, 24);
AT(nvidia_range_availability, bytes, 24);
AT(nvidia_host_initialize, chip, 24);
AT(nvidia_host_initialize, availability, 32);
AT(nvidia_host_base_metrics, kind, 24);
AT(nvidia_host_base_metrics, names, 32);
AT(nvidia_host_sub_metrics, name, 32);
AT(nvidia_host_properties, description, 32);
AT(nvidia_host_properties, dimension, 48);
AT(nvidia_host_passes, bytes, 16);
AT(nvidia_host_most_metrics, chip, 24);
AT(nvidia_host_evaluate, index, 40);
AT(nvidia_host_evaluate, count, 56);
AT(nvidia_pm_config, buffer_bytes, 40);
AT(nvidia_pm_config, interval, 48);
AT(nvidia_pm_config, trigger, 56);
AT(nvidia_pm_data_size, most_samples, 40);
AT(nvidia_pm_decode, stop_reason, 40);
AT(nvidia_pm_info, total, 32);
AT(nvidia_pm_info, populated, 40);
AT(nvidia_pm_sample_info, start_ns, 48);
AT(nvidia_range_config, range, 56);
AT(nvidia_range_config, most_ranges, 64);
AT(nvidia_range_config, levels, 72);
AT(nvidia_range_config, pass, 80);
AT(nvidia_range_data_size, most_nodes, 48);
AT(nvidia_range_stop, pass, 24);
AT(nvidia_range_info, delimiter, 40);

/* ---- functions ------------------------------------------------------------------------------ */

#define NVIDIA_CALL(symbol, call, type, last, bytes)                                               \
    int nvidia_cupti_##call(const struct nvidia_cupti *cupti, struct type *block)                  \
    {                                                                                              \
        block->head = (struct nvidia_block){.size = (bytes)};                                      \
        return cupti->symbol ? cupti->symbol(block) : NVIDIA_CUPTI_NOT_SUPPORTED;                  \
    }
NVIDIA_CUPTI_BLOCKS(NVIDIA_CALL)

/*
 * What libcupti needs lies beside it, and it opens that by its bare name: a library that is open
 * under the name already is the one that it gets. It may be absent; host calls say so then.
 */
static void open_companions(const struct nvidia_cupti *cupti)
{
    static const char *const names[] = {"libnvperf_host.so", "libnvperf_target.so"};
    const char *slash = strrchr(cupti->lib.path, '/');
    const int folder = slash ? (int)(slash - cupti->lib.path) : 0;
    char path[PATH_MAX];
    sigset_t before;

    nvidia_signals_block(&before);
    for (size_t i = 0; slash && i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%.*s/%s", folder, cupti->lib.path, names[i]);
        (void)dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    nvidia_signals_restore(&before);
}

static const struct nvidia_library_search search = {
    .setting = "libcupti",
    .names = {"libcupti.so.13", "libcupti.so.12"},
    .folders = {"/usr/local/cuda*/lib64", "/usr/local/cuda*/extras/CUPTI/lib64",
                "/usr/local/cuda*/targets/*/lib"},
    .advice = "Metrics need it; install the package cuda-cupti-13-0 or libcupti13.",
};

bool nvidia_cupti_is_there(const struct zeta_host *host, const char *root, const char **out_advice)
{
    *out_advice = search.advice;
    return nvidia_library_is_there(host, root, &search);
}

bool nvidia_cupti_open(struct nvidia_cupti *cupti, const struct zeta_host *host, const char *root)
{
#define NVIDIA_SYMBOL(symbol, ...) {#symbol, offsetof(struct nvidia_cupti, symbol), false},
    static const struct nvidia_symbol symbols[] = {NVIDIA_CUPTI_BLOCKS(NVIDIA_SYMBOL)
                                                       NVIDIA_CUPTI_OTHERS(NVIDIA_SYMBOL)};

    *cupti = (struct nvidia_cupti){0};
    if (!nvidia_library_open(&cupti->lib, host, root, &search))
        return false;
    open_companions(cupti);
    if (!nvidia_library_bind(&cupti->lib, symbols, sizeof(symbols) / sizeof(symbols[0]), "", cupti))
        return false;
    if (cupti->cuptiGetVersion)
        (void)cupti->cuptiGetVersion(&cupti->version);
    return true;
}

#define NVIDIA_LACKS(symbol, call, type, last, bytes)                                              \
    if (!cupti->symbol)                                                                            \
        return #symbol;

const char *nvidia_cupti_lacks_sampling(const struct nvidia_cupti *cupti)
{
    NVIDIA_CUPTI_HOST(NVIDIA_LACKS)
    NVIDIA_CUPTI_SAMPLING(NVIDIA_LACKS)
    return NULL;
}

const char *nvidia_cupti_lacks_ranges(const struct nvidia_cupti *cupti)
{
    NVIDIA_CUPTI_HOST(NVIDIA_LACKS)
    NVIDIA_CUPTI_RANGES(NVIDIA_LACKS)
    return NULL;
}

/* ---- permission ----------------------------------------------------------------------------- */

enum nvidia_admin_only nvidia_parse_admin_only(const char *params)
{
    static const char key[] = "RmProfilingAdminOnly:";
    const char *line = params;

    while (line) {
        if (strncmp(line, key, sizeof(key) - 1) == 0) {
            const char *value = line + sizeof(key) - 1;

            value += strspn(value, " \t");
            if (*value == '0')
                return NVIDIA_ADMIN_ALL;
            return *value == '1' ? NVIDIA_ADMIN_ONLY : NVIDIA_ADMIN_UNKNOWN;
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return NVIDIA_ADMIN_UNKNOWN;
}

bool nvidia_parse_capabilities(const char *status, uint64_t *out_effective)
{
    const char *line = strncmp(status, "CapEff:", 7) == 0 ? status : strstr(status, "\nCapEff:");
    char *end;
    uint64_t value;

    if (!line)
        return false;
    line = strchr(line, ':') + 1;
    line += strspn(line, " \t");
    value = strtoull(line, &end, 16);
    if (end == line || *line == '-')
        return false;
    *out_effective = value;
    return true;
}

/* The text of a small file of the kernel, which has no size; empty: it cannot be read. */
static void read_text(const char *root, const char *name, char *text, size_t capacity_bytes)
{
    char path[PATH_MAX];
    FILE *file;

    text[0] = '\0';
    (void)snprintf(path, sizeof(path), "%s%s", root, name);
    file = fopen(path, "re");
    if (!file)
        return;
    text[fread(text, 1, capacity_bytes - 1, file)] = '\0';
    (void)fclose(file);
}

/* CAP_SYS_ADMIN, and CAP_PERFMON, which drivers take from 565 on. */
static const uint64_t sys_admin = UINT64_C(1) << 21, perfmon = UINT64_C(1) << 38;

bool nvidia_may_read_counters(const char *root)
{
    char file[16384];
    uint64_t effective = 0;

    read_text(root, "/proc/driver/nvidia/params", file, sizeof(file));
    if (nvidia_parse_admin_only(file) != NVIDIA_ADMIN_ONLY)
        return true;
    read_text("", "/proc/self/status", file, sizeof(file));
    return !nvidia_parse_capabilities(file, &effective) || (effective & (sys_admin | perfmon)) != 0;
}

void nvidia_explain_permission(const char *root, char *text, size_t capacity_bytes)
{
    static const char *const settings[] = {
        [NVIDIA_ADMIN_UNKNOWN] = "RmProfilingAdminOnly is not in /proc/driver/nvidia/params",
        [NVIDIA_ADMIN_ALL] =
            "RmProfilingAdminOnly is 0 in /proc/driver/nvidia/params; a container forbids it",
        [NVIDIA_ADMIN_ONLY] = "RmProfilingAdminOnly is 1 in /proc/driver/nvidia/params",
    };
    char file[16384];
    uint64_t effective = 0;
    enum nvidia_admin_only admin;
    const char *capability;

    read_text(root, "/proc/driver/nvidia/params", file, sizeof(file));
    admin = nvidia_parse_admin_only(file);
    read_text("", "/proc/self/status", file, sizeof(file));
    if (!nvidia_parse_capabilities(file, &effective))
        capability = "its capabilities are unknown";
    else if ((effective & sys_admin) != 0)
        capability = "it has CAP_SYS_ADMIN";
    else if ((effective & perfmon) != 0)
        capability = "it has CAP_PERFMON, which drivers before 565 do not take, but not "
                     "CAP_SYS_ADMIN";
    else
        capability = "it has neither CAP_SYS_ADMIN nor CAP_PERFMON";
    (void)snprintf(
        text, capacity_bytes,
        "the driver does not let this process read counters: %s, and of this process %s (CapEff "
        "%016" PRIx64 "). To let everybody: write \"options nvidia "
        "NVreg_RestrictProfilingToAdminUsers=0\" to a file in /etc/modprobe.d, run "
        "update-initramfs "
        "-u (or dracut -f) and reboot. Else run it as root; in a container with "
        "--cap-add=SYS_ADMIN",
        settings[admin], capability, effective);
}

/* ---- results -------------------------------------------------------------------------------- */

/* Results, what they are for the host, and what is said of them. */
static const struct {
    int result;
    uint32_t code;
    const char *text; /* NULL: nvidia_cupti_explain() looks at the machine */
} results[] = {
    {NVIDIA_CUPTI_INVALID_PARAMETER, ZETA_PLUGIN_INVALID_ARGUMENT,
     "it refuses an argument; of a metric that means that this GPU has none of that name"},
    {NVIDIA_CUPTI_INVALID_DEVICE, ZETA_PLUGIN_DEVICE_LOST, "it does not know the GPU any more"},
    {NVIDIA_CUPTI_INVALID_OPERATION, ZETA_PLUGIN_HANDLE_OBJECT_IN_USE,
     "this process has such a session of the GPU already, by Zeta or by itself; end that first"},
    {NVIDIA_CUPTI_OUT_OF_MEMORY, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
     "memory is short; the setting decode_buffer_mib makes its buffers smaller"},
    {NVIDIA_CUPTI_NOT_READY, ZETA_PLUGIN_NOT_READY, "nothing is there yet"},
    {NVIDIA_CUPTI_NOT_INITIALIZED, ZETA_PLUGIN_DEPENDENCY_UNAVAILABLE,
     "libnvperf_host.so, which lies beside libcupti, cannot be opened; install the whole package "
     "(cuda-cupti-13-0 or libcupti13)"},
    {NVIDIA_CUPTI_INVALID_METRIC_NAME, ZETA_PLUGIN_INVALID_ARGUMENT,
     "this GPU has no metric of that name"},
    {NVIDIA_CUPTI_HARDWARE_BUSY, ZETA_PLUGIN_NOT_AVAILABLE, NULL},
    {NVIDIA_CUPTI_NOT_SUPPORTED, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
     "this GPU, driver or version of CUPTI does not have it"},
    {28, ZETA_PLUGIN_NOT_AVAILABLE, "managed memory is in use under MPS; end the MPS server"},
    {31, ZETA_PLUGIN_NOT_AVAILABLE, "another tool traces this process; run it without that tool"},
    {39, ZETA_PLUGIN_NOT_AVAILABLE,
     "another tool has subscribed to CUPTI in this process (ncu, nsys, cuda-gdb, "
     "compute-sanitizer); run it without that tool"},
    {33, ZETA_PLUGIN_NOT_AVAILABLE,
     "the GPU is a virtual one without profiling; the administrator of its host has to turn "
     "profiling on for it (vGPU)"},
    {40, ZETA_PLUGIN_NOT_AVAILABLE,
     "the GPU is a virtual one that is not allowed to profile; the administrator of its host has "
     "to allow it (vGPU)"},
    {41, ZETA_PLUGIN_NOT_AVAILABLE,
     "the GPU is in confidential computing mode; the administrator of the host has to change it"},
    {42, ZETA_PLUGIN_NOT_AVAILABLE, "the GPU is a mining processor (CMP), which has no profiling"},
    {43, ZETA_PLUGIN_NOT_AVAILABLE,
     "the GPU is divided (MIG), and its counters cannot be read so; the administrator of the host "
     "has to change it"},
    {44, ZETA_PLUGIN_NOT_AVAILABLE,
     "the GPU is coupled with others (SLI); the administrator of the host has to change it"},
    {45, ZETA_PLUGIN_NOT_AVAILABLE,
     "this Linux runs inside Windows (WSL) with profiling turned off; allow it to all users in "
     "the control panel of the driver there"},
    {NVIDIA_CUPTI_INSUFFICIENT_PRIVILEGES, ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS, NULL},
    {NVIDIA_CUPTI_INVALID_CHIP_NAME, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
     "the chip is newer than this libcupti; install a newer one"},
    {NVIDIA_CUPTI_UNKNOWN, ZETA_PLUGIN_UNKNOWN,
     "it does not say why; the log of the kernel may (dmesg, lines with NVRM)"},
};

enum { RESULTS = sizeof(results) / sizeof(results[0]) };

/* Place in the table, RESULTS if it is not there. */
static size_t find_result(int result)
{
    size_t i = 0;

    while (i < RESULTS && results[i].result != result)
        i++;
    return i;
}

const char *nvidia_cupti_name(const struct nvidia_cupti *cupti, int result)
{
    const char *name = NULL;

    if (cupti->cuptiGetResultString &&
        cupti->cuptiGetResultString(result, &name) == NVIDIA_CUPTI_SUCCESS && name)
        return name;
    return "a result without a name";
}

uint32_t nvidia_cupti_result(int result)
{
    const size_t at = find_result(result);

    if (result == NVIDIA_CUPTI_SUCCESS)
        return ZETA_PLUGIN_SUCCESS;
    return at < RESULTS ? results[at].code : ZETA_PLUGIN_UNKNOWN;
}

void nvidia_cupti_explain(int result, const char *root, char *text, size_t capacity_bytes)
{
    const size_t at = find_result(result);

    if (result == NVIDIA_CUPTI_HARDWARE_BUSY)
        nvidia_explain_busy(root, text, capacity_bytes);
    else if (result == NVIDIA_CUPTI_INSUFFICIENT_PRIVILEGES)
        nvidia_explain_permission(root, text, capacity_bytes);
    else
        (void)snprintf(text, capacity_bytes, "%s",
                       at < RESULTS ? results[at].text
                                    : "the description of this result does not help here");
}

uint32_t nvidia_cupti_fail(const struct nvidia_asked *asked, int result, const char *what, ...)
{
    char task[256], why[ZETA_HOST_TEXT_BYTES];
    va_list arguments;

    va_start(arguments, what);
    (void)zeta_c_vsnprintf(task, sizeof(task), what, arguments);
    va_end(arguments);
    nvidia_cupti_explain(result, asked->root, why, sizeof(why));
    return zeta_host_fail(asked->host, nvidia_cupti_result(result),
                          "%s: CUPTI cannot %s (%s, %d): %s", asked->device, task,
                          nvidia_cupti_name(asked->cupti, result), result, why);
}
