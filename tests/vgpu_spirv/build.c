#include "build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t header[5] = {0x07230203, 0x00010000, 0, 100, 0};

static void write_log(void *context, struct zeta_plugin_string text)
{
    struct build *build = context;
    size_t used = strlen(build->log);
    size_t room = sizeof(build->log) - 1 - used;

    memcpy(build->log + used, text.data, text.size < room ? (size_t)text.size : room);
}

void build_module(struct host *host, const char *options, const void *bytes, size_t size_bytes,
                  struct build *out_build)
{
    uint8_t *image = malloc(sizeof(header) + size_bytes + 1);
    const struct zeta_plugin_log_sink sink = {out_build, write_log};
    struct zeta_plugin_module_desc desc = {.struct_size = sizeof(desc),
                                           .format = ZETA_PLUGIN_MODULE_IL_SPIRV,
                                           .image = image,
                                           .image_bytes = (sizeof(header) + size_bytes + 3) & ~3u,
                                           .build_flags = host_string(options)};

    assert_non_null(image);
    image = realloc(image, (size_t)desc.image_bytes);
    assert_non_null(image);
    memset(image, 0, (size_t)desc.image_bytes);
    memcpy(image, header, sizeof(header));
    memcpy(image + sizeof(header), bytes, size_bytes);
    desc.image = image;
    memset(out_build, 0, sizeof(*out_build));
    out_build->result =
        host->compute->module_create(host->self, host->device, &desc, &sink, &out_build->module);
    free(image);
    if (out_build->result != ZETA_PLUGIN_SUCCESS)
        assert_null(out_build->module);
}

void *build_kernels(size_t *out_size)
{
    FILE *file = fopen(TEST_KERNELS, "rb");
    void *bytes = malloc(1u << 20);

    if (!file)
        fail_msg("cannot open %s", TEST_KERNELS);
    assert_non_null(bytes);
    *out_size = fread(bytes, 1, 1u << 20, file);
    fclose(file);
    return bytes;
}

void build_with(struct host *host, const char *options, struct build *out_build)
{
    size_t size;
    void *kernels = build_kernels(&size);

    build_module(host, options, kernels, size, out_build);
    free(kernels);
}

long build_pid(const struct build *build)
{
    const char *at = strstr(build->log, "built by ");

    return at ? strtol(at + strlen("built by "), NULL, 10) : 0;
}
