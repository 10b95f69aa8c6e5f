#include "plugins/nvidia/library/driver.h"

#include <stdio.h>

bool nvidia_driver_open(struct nvidia_driver *driver, const struct zeta_host *host,
                        const char *root)
{
    static const struct nvidia_library_search search = {
        .setting = "libcuda",
        .names = {"libcuda.so.1"},
        .advice =
            "It comes with NVIDIA's driver: install its libraries in the version of the kernel "
            "module; in a container pass them (nvidia-container-toolkit).",
    };
#define REQUIRED_SYMBOL(name, parameters) {#name, offsetof(struct nvidia_driver, name), true},
#define OPTIONAL_SYMBOL(name, parameters) {#name, offsetof(struct nvidia_driver, name), false},
    static const struct nvidia_symbol symbols[] = {
        NVIDIA_DRIVER_FUNCTIONS(REQUIRED_SYMBOL, OPTIONAL_SYMBOL)};
#undef REQUIRED_SYMBOL
#undef OPTIONAL_SYMBOL

    return nvidia_library_open(&driver->lib, host, root, &search) &&
           nvidia_library_bind(&driver->lib, symbols, sizeof(symbols) / sizeof(symbols[0]),
                               "a driver of CUDA 12.0 or newer (525)", driver);
}

struct nvidia_driver_text nvidia_driver_text(const struct nvidia_driver *driver, int result)
{
    const char *name = NULL, *words = NULL;
    struct nvidia_driver_text text;

    if (!driver->cuGetErrorName || driver->cuGetErrorName(result, &name) != NVIDIA_CUDA_SUCCESS)
        name = NULL;
    if (!driver->cuGetErrorString ||
        driver->cuGetErrorString(result, &words) != NVIDIA_CUDA_SUCCESS)
        words = NULL;
    (void)snprintf(text.text, sizeof(text.text), "%d%s%.60s%s%.120s%s", result, name ? " " : "",
                   name ? name : "", words ? " (" : "", words ? words : "", words ? ")" : "");
    return text;
}
