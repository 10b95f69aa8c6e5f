/* Any lines as the program of a set: it is refused, or all that it has is in its place. */
#include <stdlib.h>
#include <string.h>

#include "plugins/nvidia/sampling/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(struct zeta_plugin_host *host, uint32_t result, struct zeta_plugin_string text)
{
    (void)host;
    (void)result;
    if (text.size >= ZETA_HOST_TEXT_BYTES)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct zeta_plugin_host_ops ops = {.struct_size = sizeof(ops), .fail = ignore};
    const struct zeta_host host = {.ops = &ops, .id = "nvidia", .data_dir = ""};
    struct zeta_plugin_program_entry entries[80] = {{0}};
    struct zeta_plugin_array array = {entries, 0, sizeof(entries[0])};
    const char *at = (const char *)data, *const end = at + size;

    while (at < end && array.count < sizeof(entries) / sizeof(entries[0])) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        const char *stop = line ? line : end;

        entries[array.count++].select = (struct zeta_plugin_string){at, (uint64_t)(stop - at)};
        at = line ? line + 1 : end;
    }
    for (uint32_t kind = ZETA_PLUGIN_USE_STREAM; kind <= ZETA_PLUGIN_USE_QUERY; kind++) {
        static struct nvidia_program program;
        double values[NVIDIA_FIELDS];
        struct nvidia_interval interval;

        if (nvidia_program_read(&host, zeta_string("Set"), &array, kind, &program) !=
            ZETA_PLUGIN_SUCCESS)
            continue;
        if (program.count == 0 || program.count > NVIDIA_FIELDS)
            abort();
        for (uint32_t i = 0; i < program.count; i++) {
            const size_t length = strlen(program.names[i]);

            if (length == 0 || length >= NVIDIA_NAME_BYTES || program.fields[i] >= NVIDIA_FIELDS ||
                !memmem(data, size, program.names[i], length))
                abort();
            values[i] = i;
        }
        if (!nvidia_program_store(&program, values, &interval))
            abort();
    }
    return 0;
}
