/*
 * Whether the kernel lets debuggers at a GPU. No mainline kernel does. Kernels that some vendors
 * ship have one of three interfaces, each with a switch in sysfs by which it is known: the number
 * of its ioctl may be another call's elsewhere. Zeta speaks none of them
 * (sdk/doc/debug-backends.md), so all there is to give is the reason.
 */
#include <stdio.h>
#include <sys/utsname.h>

#include "plugins/intel/gpu/intel.h"
#include "plugins/intel/kmd/kernel.h"

/* Switches, below the directory of the card; 1: on. */
static const struct {
    const char *name;
    const char *interface;
} switches[] = {
    {"prelim_enable_eu_debug", "the debugger interface of vendors' i915"},
    {"device/prelim_enable_eudebug", "the debugger interface of vendors' xe (prelim eudebug)"},
    {"device/enable_eudebug", "the debugger interface that is proposed for xe (eudebug)"},
};

static uint32_t explain(struct zeta_plugin *self, struct zeta_plugin_device *device,
                        struct zeta_plugin_debug_properties *out_properties)
{
    const struct zeta_intel_gpu *gpu = device->gpu;
    struct utsname kernel = {.release = "unknown"};
    char path[128], how[256] = "";
    uint64_t value;

    (void)out_properties;
    if (gpu->card[0] == '\0')
        return zeta_host_fail(&self->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                              "%s (%s) cannot be debugged: its directory in /sys/class/drm, where "
                              "a kernel shows that it has a debugger interface, is not there; is "
                              "/sys mounted?",
                              device->name, device->id);
    for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", gpu->card, switches[i].name);
        if (!zeta_intel_file_read_u64(path, &value))
            continue;
        if (value == 0)
            (void)snprintf(how, sizeof(how),
                           ", for which it has to be switched on: echo 1 | sudo tee %s", path);
        return zeta_host_fail(&self->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                              "%s (%s) cannot be debugged: its kernel has %s (%s is %llu), which "
                              "Zeta does not speak. The debugger of the GPU's vendor does%s",
                              device->name, device->id, switches[i].interface, path,
                              (unsigned long long)value, how);
    }
    (void)uname(&kernel);
    return zeta_host_fail(&self->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                          "%s (%s) cannot be debugged: its driver %s of Linux %s has no debugger "
                          "interface. Mainline Linux has none for this GPU; kernels that vendors "
                          "ship for their own debuggers do",
                          device->name, device->id, gpu->kmd->driver, kernel.release);
}

const struct zeta_plugin_debug_ops zeta_intel_debug_ops = {
    .struct_size = sizeof(struct zeta_plugin_debug_ops),
    .properties = explain,
};
