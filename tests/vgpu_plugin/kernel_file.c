#include "kernel_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct zeta_plugin_module *kernel_file_load(struct host *host)
{
    struct zeta_plugin_module_desc desc = {.struct_size = sizeof(desc),
                                           .format = ZETA_PLUGIN_MODULE_NATIVE};
    struct zeta_plugin_module *module = NULL;
    FILE *file = fopen(TEST_KERNELS, "rb");
    uint8_t *bytes = malloc(1u << 20);

    if (!file)
        fail_msg("cannot open %s", TEST_KERNELS);
    assert_non_null(bytes);
    desc.image = bytes;
    desc.image_bytes = fread(bytes, 1, 1u << 20, file);
    fclose(file);
    if (host->compute->module_create(host->self, host->device, &desc, NULL, &module) !=
        ZETA_PLUGIN_SUCCESS)
        fail_msg("module_create: %s", host_error(host));
    free(bytes);
    return module;
}

struct zeta_plugin_kernel *kernel_create(struct host *host, struct zeta_plugin_module *module,
                                         const char *name)
{
    struct zeta_plugin_kernel *kernel = NULL;

    assert_int_equal(host->compute->kernel_create(host->self, module, host_string(name), &kernel),
                     ZETA_PLUGIN_SUCCESS);
    return kernel;
}

struct zeta_plugin_command kernel_launch(struct zeta_plugin_kernel *kernel, const void *arguments,
                                         uint32_t groups, uint32_t items)
{
    struct zeta_plugin_command command = host_command(ZETA_PLUGIN_COMMAND_LAUNCH);

    command.u.launch = (struct zeta_plugin_launch){
        .kernel = kernel,
        .arguments = arguments,
        .group_size = {items, 1, 1},
        .group_count = {groups, 1, 1},
    };
    return command;
}

void kernel_wait_for(const _Atomic uint32_t *flag)
{
    for (unsigned ms = 0; atomic_load(flag) != 1 && ms < 20000; ms++)
        host_sleep_ms(1);
    assert_int_equal(atomic_load(flag), 1);
}
