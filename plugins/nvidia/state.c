/*
 * The state of the plugin object: made by init(), ended by finish(), left behind in a child of
 * fork().
 */
#include <stdlib.h>

#include <zeta/compiler/compiler.h>

#include "plugins/nvidia/compute/compute.h"
#include "plugins/nvidia/gpu/nvidia.h"
#include "plugins/nvidia/query/query.h"

/* What a launch prints at most, unless the setting says another size. */
enum { PRINT_MIB = 16 };

static void destroy(struct nvidia *nvidia)
{
    nvidia_queries_finish(nvidia);
    nvidia_compute_finish(nvidia);
    zeta_compiler_destroy(nvidia->compiler);
    nvidia_nvml_close(&nvidia->nvml);
    free(nvidia->devices);
    (void)pthread_mutex_destroy(&nvidia->lock);
    free(nvidia);
}

/* Reads its settings, and makes what compiles SPIR-V. */
static uint32_t init_compiler(struct nvidia *nvidia)
{
    static const struct zeta_compiler_program program = {
        .name = "zeta-nv-cc",
        .data = "nvidia",
        .packages = "llvm-15-dev, clang-15, llvm-spirv-15 and libclc-15"};
    struct zeta_compiler_config config;
    const uint32_t result = zeta_compiler_configure(nvidia->host, &program, &config);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    nvidia->compiler = zeta_compiler_create(&config);
    return nvidia->compiler ? ZETA_PLUGIN_SUCCESS : ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
}

uint64_t nvidia_setting_number(const struct nvidia *nvidia, const char *name, uint64_t otherwise)
{
    char text[32], *end;
    uint64_t value;

    if (!zeta_host_setting(nvidia->host, name, text, sizeof(text)))
        return otherwise;
    value = strtoull(text, &end, 10);
    if (*end == '\0' && end != text && text[0] != '-')
        return value;
    zeta_host_log(nvidia->host, ZETA_PLUGIN_LOG_WARN, "the setting plugins.%s.%s is no number: %s",
                  nvidia->host->id, name, text);
    return otherwise;
}

/* No fewer than 1 MiB, which OpenCL demands, and what fits into a number of 32 bits. */
static uint32_t print_bytes(const struct nvidia *nvidia)
{
    const uint64_t mib = nvidia_setting_number(nvidia, "printf_buffer_mib", PRINT_MIB);

    return (uint32_t)(mib < 1 ? 1 : mib > 2048 ? 2048 : mib) << 20;
}

uint32_t nvidia_init(struct zeta_plugin *self)
{
    struct nvidia *nvidia;
    uint32_t result;

    if (self->nvidia)
        return ZETA_PLUGIN_SUCCESS;
    nvidia = calloc(1, sizeof(*nvidia));
    if (!nvidia)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    nvidia->self = self;
    nvidia->host = &self->host;
    (void)pthread_mutex_init(&nvidia->lock, NULL);
    (void)zeta_host_setting(&self->host, "root", nvidia->root, sizeof(nvidia->root));
    nvidia->print_bytes = print_bytes(nvidia);
    result = init_compiler(nvidia);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = nvidia_discover(nvidia);
    nvidia_queries_init(nvidia);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = nvidia_compute_init(nvidia);
    if (result == ZETA_PLUGIN_SUCCESS)
        self->nvidia = nvidia;
    else
        destroy(nvidia);
    return result;
}

void nvidia_finish(struct zeta_plugin *self)
{
    if (!self->nvidia)
        return;
    destroy(self->nvidia);
    self->nvidia = NULL;
}

/*
 * CUDA cannot be used in a child of a process that has started it, whatever one does: only a new
 * program can. What the parent had is left where it is.
 */
uint32_t nvidia_child_after_fork(struct zeta_plugin *self)
{
    self->nvidia = NULL;
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}
