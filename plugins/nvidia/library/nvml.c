#include "plugins/nvidia/library/nvml.h"

#include <dlfcn.h>
#include <stdio.h>

bool nvidia_nvml_open(struct nvidia_nvml *nvml, const struct zeta_host *host, const char *root)
{
    static const struct nvidia_library_search search = {
        .setting = "libnvidia_ml",
        .names = {"libnvidia-ml.so.1"},
        .advice = "It comes with NVIDIA's driver (Debian: libnvidia-ml1); in a container pass it "
                  "with the driver capability utility.",
    };
#define REQUIRED_SYMBOL(name, parameters) {#name, offsetof(struct nvidia_nvml, name), true},
#define OPTIONAL_SYMBOL(name, parameters) {#name, offsetof(struct nvidia_nvml, name), false},
    static const struct nvidia_symbol symbols[] = {
        NVIDIA_NVML_FUNCTIONS(REQUIRED_SYMBOL, OPTIONAL_SYMBOL){
            "nvmlErrorString", offsetof(struct nvidia_nvml, nvmlErrorString), true},
    };
#undef REQUIRED_SYMBOL
#undef OPTIONAL_SYMBOL
    int result;

    if (!nvidia_library_open(&nvml->lib, host, root, &search) ||
        !nvidia_library_bind(&nvml->lib, symbols, sizeof(symbols) / sizeof(symbols[0]),
                             "a driver of version 525 or newer", nvml))
        return false;
    result = nvml->nvmlInit_v2();
    if (result == 0)
        return true;
    (void)snprintf(nvml->lib.problem, sizeof(nvml->lib.problem),
                   "%.300s cannot be used: nvmlInit returns %d (%.100s).", nvml->lib.path, result,
                   nvml->nvmlErrorString(result));
    nvml->lib.handle = NULL;
    return false;
}

void nvidia_nvml_close(struct nvidia_nvml *nvml)
{
    if (nvml->lib.handle)
        (void)nvml->nvmlShutdown();
    nvml->lib.handle = NULL;
}
