/*
 * gdb_debuggee FILE KERNEL [groups=N[,N]] [items=N[,N]] [rounds=N] [exit=N] [die=N] [told=1]: loads
 * a module and runs a kernel of it on 1024 numbers, which are 0, 1, 2 and so on; as often as there
 * are rounds. Prints the first numbers behind each, and exits, or dies by a signal, as it is told.
 * With "told" it makes the file "spinning" once the kernel has put 1024 into numbers[2]. Modules in
 * SPIR-V are "*.spv"; those called "*_o0*" are built as they are written, with -ze-opt-disable.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "example.h"

enum { NUMBERS = 1024, PRINTED = 16 };

/* The value of an option, or what it is without. */
static uint32_t option(int count, char **words, const char *name, uint32_t without)
{
    const size_t length = strlen(name);

    for (int i = 3; i < count; i++)
        if (strncmp(words[i], name, length) == 0 && words[i][length] == '=')
            return (uint32_t)strtoul(words[i] + length + 1, NULL, 10);
    return without;
}

/* The same in the second dimension, behind a comma. */
static uint32_t option_y(int count, char **words, const char *name)
{
    const size_t length = strlen(name);

    for (int i = 3; i < count; i++) {
        const char *const comma = strchr(words[i], ',');

        if (strncmp(words[i], name, length) == 0 && words[i][length] == '=' && comma)
            return (uint32_t)strtoul(comma + 1, NULL, 10);
    }
    return 1;
}

static int32_t *make_numbers(ze_context_handle_t context, ze_device_handle_t device)
{
    const ze_device_mem_alloc_desc_t of_device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t of_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory = NULL;

    example_check(zeMemAllocShared(context, &of_device, &of_host, NUMBERS * sizeof(int32_t), 64,
                                   device, &memory),
                  "zeMemAllocShared");
    return memory;
}

static ze_module_handle_t load(ze_context_handle_t context, ze_device_handle_t device,
                               const char *path)
{
    const char *const suffix = strrchr(path, '.');
    size_t bytes = 0;
    uint8_t *const file = example_read_file(path, &bytes);
    const ze_module_desc_t description = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .format = suffix && strcmp(suffix, ".spv") == 0 ? ZE_MODULE_FORMAT_IL_SPIRV
                                                        : ZE_MODULE_FORMAT_NATIVE,
        .inputSize = bytes,
        .pInputModule = file,
        .pBuildFlags = strstr(path, "_o0") ? "-g -ze-opt-disable" : "-g",
    };
    ze_module_handle_t module = NULL;

    example_check(zeModuleCreate(context, device, &description, &module, NULL), "zeModuleCreate");
    free(file);
    return module;
}

static void tell_when_it_spins(volatile const int32_t *numbers)
{
    FILE *file;

    while (numbers[2] != NUMBERS)
        (void)usleep(1000);
    file = fopen("spinning", "w");
    if (file)
        (void)fclose(file);
}

static void run(ze_module_handle_t module, ze_command_list_handle_t list, const char *name,
                int32_t *numbers, ze_group_count_t groups, ze_group_count_t items, bool is_told)
{
    const ze_kernel_desc_t description = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                          .pKernelName = name};
    const int32_t count = NUMBERS;
    ze_kernel_handle_t kernel = NULL;

    for (int32_t i = 0; i < NUMBERS; i++)
        numbers[i] = i;
    example_check(zeKernelCreate(module, &description, &kernel), "zeKernelCreate");
    example_check(zeKernelSetGroupSize(kernel, items.groupCountX, items.groupCountY, 1),
                  "zeKernelSetGroupSize");
    example_check(zeKernelSetArgumentValue(kernel, 0, sizeof(numbers), &numbers),
                  "zeKernelSetArgumentValue");
    example_check(zeKernelSetArgumentValue(kernel, 1, sizeof(count), &count),
                  "zeKernelSetArgumentValue");
    example_check(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL),
                  "zeCommandListAppendLaunchKernel");
    if (is_told)
        tell_when_it_spins(numbers);
    example_check(zeCommandListHostSynchronize(list, UINT64_MAX), "zeCommandListHostSynchronize");
    example_check(zeKernelDestroy(kernel), "zeKernelDestroy");
    (void)printf("numbers:");
    for (uint32_t i = 0; i < PRINTED; i++)
        (void)printf(" %" PRId32, numbers[i]);
    (void)printf("\n");
    (void)fflush(stdout);
}

int main(int count, char **words)
{
    const ze_context_desc_t context_description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    ze_context_handle_t context = NULL;
    ze_command_list_handle_t list = NULL;
    int die;

    if (count < 3)
        return 2;
    example_find_computing_device(&driver, &device);
    example_check(zeContextCreate(driver, &context_description, &context), "zeContextCreate");
    example_check(zeCommandListCreateImmediate(context, device, &queue, &list),
                  "zeCommandListCreateImmediate");
    const ze_group_count_t groups = {option(count, words, "groups", 1),
                                     option_y(count, words, "groups"), 1};
    const ze_group_count_t items = {option(count, words, "items", 8),
                                    option_y(count, words, "items"), 1};
    int32_t *const numbers = make_numbers(context, device);
    for (uint32_t round = option(count, words, "rounds", 1); round > 0; round--) {
        ze_module_handle_t module = load(context, device, words[1]);

        run(module, list, words[2], numbers, groups, items, option(count, words, "told", 0) != 0);
        example_check(zeModuleDestroy(module), "zeModuleDestroy");
    }
    example_check(zeMemFree(context, numbers), "zeMemFree");
    example_check(zeCommandListDestroy(list), "zeCommandListDestroy");
    example_check(zeContextDestroy(context), "zeContextDestroy");
    die = (int)option(count, words, "die", 0);
    (void)signal(die, SIG_DFL); /* a sanitizer may have handlers of its own */
    (void)raise(die);
    return (int)option(count, words, "exit", 0);
}
