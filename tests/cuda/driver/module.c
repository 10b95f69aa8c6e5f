/* Modules: PTX, and what cuLinkComplete made of it. */

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/driver/driver.h"

/* Own cubins are an ELF header without sections, the compute capability, and the PTX that was
 * linked.
 */
static const char cubin_magic[8] = "fake PTX";

struct cubin {
    Elf64_Ehdr header;
    char magic[8];
    uint32_t cc_major, cc_minor;
    char ptx[];
};

/* Options of builds that are answered: values as the driver casts them. */
struct log {
    char *info, *error;
    size_t info_bytes, error_bytes;
};

struct link {
    struct context *context;
    struct log log;
    char *ptx;
    struct cubin *cubin;
};

static struct log read_options(unsigned count, const int *options, void **values)
{
    struct log log = {0};

    for (unsigned i = 0; i < count; i++) {
        if (options[i] == 3)
            log.info = values[i];
        else if (options[i] == 4)
            log.info_bytes = (uintptr_t)values[i];
        else if (options[i] == 5)
            log.error = values[i];
        else if (options[i] == 6)
            log.error_bytes = (uintptr_t)values[i];
    }
    if (log.info_bytes == 0)
        log.info = NULL;
    if (log.error_bytes == 0)
        log.error = NULL;
    return log;
}

static void write_log(const struct log *log, int result, const char *sentence)
{
    if (log->info)
        (void)snprintf(log->info, log->info_bytes, "%s",
                       result == CU_OK ? "info    : compiled by the fake driver\n" : "");
    if (log->error)
        (void)snprintf(log->error, log->error_bytes, "%s", result == CU_OK ? "" : sentence);
}

static int load(struct context *context, const char *image, struct module *module, char *log,
                size_t log_bytes)
{
    const struct cuda_chip *chip = driver_chip(driver_device(context->ordinal));
    const struct cubin *cubin = (const struct cubin *)(const void *)image;
    static const unsigned char fatbin[4] = {0x50, 0xed, 0x55, 0xba};
    int result;

    if (memcmp(image, "\177ELF", 4) == 0) {
        uint32_t cc[2];

        if (memcmp(cubin->magic, cubin_magic, sizeof(cubin_magic)) != 0) {
            (void)snprintf(log, log_bytes, "fake driver: a cubin that it has not linked itself\n");
            return CU_NO_BINARY_FOR_GPU;
        }
        (void)memcpy(cc, &cubin->cc_major, sizeof(cc));
        if (cc[0] != chip->cc_major || cc[1] > chip->cc_minor)
            return CU_NO_BINARY_FOR_GPU;
        image = cubin->ptx;
    } else if (memcmp(image, fatbin, sizeof(fatbin)) == 0) {
        (void)snprintf(log, log_bytes, "fake driver: fat binaries hold nothing that it can run\n");
        return CU_NO_BINARY_FOR_GPU;
    }
    result = ptx_read(image, chip, cuda_shared()->description.driver, module, log, log_bytes);
    return result == CU_OK ? variables_read(image, module, log, log_bytes) : result;
}

int cuModuleLoadDataEx(void **out, const void *image, unsigned count, int *options, void **values)
{
    struct context *context;
    struct module *module;
    struct log log;
    char sentence[256] = "";
    int result;

    ENTER_CONTEXT(&context);
    if (!out || !image || (count > 0 && (!options || !values)))
        return CU_INVALID_VALUE;
    log = read_options(count, options, values);
    module = calloc(1, sizeof(*module));
    if (!module)
        return CU_OUT_OF_MEMORY;
    module->context = context;
    result = load(context, image, module, sentence, sizeof(sentence));
    write_log(&log, result, sentence);
    if (result != CU_OK) {
        variables_free(module);
        free(module->functions);
        free(module);
        return result;
    }
    *out = module;
    return CU_OK;
}

int cuModuleLoadData(void **out, const void *image)
{
    return cuModuleLoadDataEx(out, image, 0, NULL, NULL);
}

int cuModuleUnload(void *handle)
{
    struct context *context;
    struct module *module = handle;

    ENTER_CONTEXT(&context);
    if (!module)
        return CU_INVALID_HANDLE;
    cuda_context_drain(context);
    variables_free(module);
    free(module->functions);
    free(module);
    return CU_OK;
}

int cuModuleGetFunction(void **out, void *handle, const char *name)
{
    struct context *context;
    struct module *module = handle;

    ENTER_CONTEXT(&context);
    if (!out || !module || !name)
        return CU_INVALID_VALUE;
    for (uint32_t i = 0; i < module->count; i++) {
        if (strcmp(module->functions[i].name, name) == 0) {
            *out = &module->functions[i];
            return CU_OK;
        }
    }
    return CU_NOT_FOUND;
}

int cuModuleGetFunctionCount(unsigned *out, void *handle)
{
    const struct module *module = handle;

    ENTER();
    if (!out || !module)
        return CU_INVALID_VALUE;
    *out = module->count;
    return CU_OK;
}

int cuModuleEnumerateFunctions(void **out, unsigned count, void *handle)
{
    struct module *module = handle;

    ENTER();
    if (!out || !module)
        return CU_INVALID_VALUE;
    for (uint32_t i = 0; i < module->count && i < count; i++)
        out[i] = &module->functions[i];
    return CU_OK;
}

int cuLinkCreate_v2(unsigned count, int *options, void **values, void **out)
{
    struct context *context;
    struct link *link;

    ENTER_CONTEXT(&context);
    if (count > 0 && (!options || !values))
        return CU_INVALID_VALUE;
    link = out ? calloc(1, sizeof(*link)) : NULL;
    if (!link)
        return out ? CU_OUT_OF_MEMORY : CU_INVALID_VALUE;
    link->context = context;
    link->log = read_options(count, options, values);
    *out = link;
    return CU_OK;
}

int cuLinkAddData_v2(void *handle, int type, void *data, size_t bytes, const char *name,
                     unsigned count, int *options, void **values)
{
    struct link *link = handle;

    (void)name;
    (void)count;
    (void)options;
    (void)values;
    ENTER();
    if (!link || !data || bytes == 0)
        return CU_INVALID_VALUE;
    if (type != 1 || link->ptx)
        return CU_NOT_SUPPORTED; /* one text of PTX */
    link->ptx = strndup(data, bytes);
    return link->ptx ? CU_OK : CU_OUT_OF_MEMORY;
}

int cuLinkComplete(void *handle, void **out, size_t *bytes)
{
    struct link *link = handle;
    struct module module = {0};
    const struct cuda_chip *chip;
    char sentence[256] = "";
    int result;

    ENTER();
    if (!link || !link->ptx || !out)
        return CU_INVALID_VALUE;
    chip = driver_chip(driver_device(link->context->ordinal));
    result = ptx_read(link->ptx, chip, cuda_shared()->description.driver, &module, sentence,
                      sizeof(sentence));
    free(module.functions);
    write_log(&link->log, result, sentence);
    if (result != CU_OK)
        return result;
    link->cubin = calloc(1, sizeof(*link->cubin) + strlen(link->ptx) + 1);
    if (!link->cubin)
        return CU_OUT_OF_MEMORY;
    (void)memcpy(link->cubin->header.e_ident, ELFMAG, SELFMAG);
    link->cubin->header.e_ident[EI_CLASS] = ELFCLASS64;
    link->cubin->header.e_ident[EI_DATA] = ELFDATA2LSB;
    link->cubin->header.e_machine = 190; /* CUDA */
    (void)memcpy(link->cubin->magic, cubin_magic, sizeof(cubin_magic));
    link->cubin->cc_major = (uint32_t)chip->cc_major;
    link->cubin->cc_minor = (uint32_t)chip->cc_minor;
    (void)strcpy(link->cubin->ptx, link->ptx);
    *out = link->cubin;
    if (bytes)
        *bytes = sizeof(*link->cubin) + strlen(link->ptx) + 1;
    return CU_OK;
}

int cuLinkDestroy(void *handle)
{
    struct link *link = handle;

    ENTER();
    if (!link)
        return CU_INVALID_HANDLE;
    free(link->ptx);
    free(link->cubin);
    free(link);
    return CU_OK;
}

int cuFuncGetName(const char **out, void *handle)
{
    const struct function *function = handle;

    ENTER();
    if (!out || !function)
        return CU_INVALID_VALUE;
    *out = function->name;
    return CU_OK;
}

int cuFuncGetParamInfo(void *handle, size_t index, size_t *offset, size_t *size)
{
    const struct function *function = handle;

    ENTER();
    if (!function || !offset || index >= function->parameter_count)
        return CU_INVALID_VALUE;
    *offset = function->parameters[index].offset;
    if (size)
        *size = function->parameters[index].size;
    return CU_OK;
}

int cuFuncGetAttribute(int *out, int attribute, void *handle)
{
    const struct function *function = handle;
    const struct cuda_chip *chip;

    ENTER();
    if (!out || !function)
        return CU_INVALID_VALUE;
    chip = driver_chip(driver_device(function->module->context->ordinal));
    const int values[] = {1024,
                          0,
                          0,
                          0,
                          32,
                          function->module->ptx_version,
                          (int)(chip->cc_major * 10 + chip->cc_minor),
                          0,
                          __atomic_load_n(&function->dynamic_limit, __ATOMIC_RELAXED),
                          -1};
    if (attribute < 0 || (size_t)attribute >= sizeof(values) / sizeof(values[0]))
        return CU_INVALID_VALUE;
    *out = values[attribute];
    return CU_OK;
}

int cuFuncSetAttribute(void *handle, int attribute, int value)
{
    struct function *function = handle;
    const struct cuda_chip *chip;

    ENTER();
    if (!function)
        return CU_INVALID_VALUE;
    chip = driver_chip(driver_device(function->module->context->ordinal));
    if (attribute == 9)
        return CU_OK; /* a preference */
    if (attribute != 8 || value < 0 || (uint64_t)value > chip->shared_opt_in)
        return CU_INVALID_VALUE;
    __atomic_store_n(&function->dynamic_limit, value, __ATOMIC_RELAXED);
    return CU_OK;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, void *handle, int threads, size_t shared)
{
    const struct function *function = handle;
    const struct cuda_chip *chip;
    uint64_t count;

    ENTER();
    if (!out || !function || threads <= 0)
        return CU_INVALID_VALUE;
    chip = driver_chip(driver_device(function->module->context->ordinal));
    count = chip->warps_per_sm / (((uint64_t)threads + 31) / 32);
    if (count > chip->groups_per_sm)
        count = chip->groups_per_sm;
    if (shared > 0 && count > chip->shared_per_sm / shared)
        count = chip->shared_per_sm / shared;
    *out = threads > 1024 ? 0 : (int)count;
    return CU_OK;
}

int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *handle, void *shared_of,
                                     size_t shared, int limit)
{
    const struct function *function = handle;
    int count = 0, threads = limit > 0 && limit < 1024 ? limit : 1024;

    (void)shared_of;
    ENTER();
    if (!grid || !block || !function)
        return CU_INVALID_VALUE;
    *block = threads;
    (void)cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, handle, threads, shared);
    *grid = count * (int)driver_sms(driver_device(function->module->context->ordinal));
    return CU_OK;
}
