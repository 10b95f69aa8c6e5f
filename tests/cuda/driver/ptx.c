/* PTX, as far as entries and their parameters: the code is that of the kernel with the same name.
 */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/driver/driver.h"

static const struct {
    const char *name;
    size_t size;
} types[] = {{".u64", 8}, {".s64", 8}, {".b64", 8}, {".f64", 8}, {".u32", 4}, {".s32", 4},
             {".b32", 4}, {".f32", 4}, {".u16", 2}, {".b16", 2}, {".u8", 1},  {".b8", 1}};

static size_t size_of_type(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strlen(types[i].name) == length && strncmp(types[i].name, text, length) == 0)
            return types[i].size;
    }
    return 0;
}

size_t ptx_type_bytes(const char *name)
{
    return size_of_type(name, strlen(name));
}

static const char *skip(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

static size_t word(const char *text)
{
    return strcspn(text, " \t\r\n,(){}[];");
}

/* ".param .u64 name" up to a comma or the parenthesis; NULL if it is something else. */
static const char *read_parameter(const char *at, struct function *function)
{
    struct parameter *parameter = &function->parameters[function->parameter_count];
    size_t end = 0;

    at = skip(at);
    if (strncmp(at, ".param", 6) != 0 || function->parameter_count == PARAMETERS)
        return NULL;
    at = skip(at + 6);
    parameter->size = size_of_type(at, word(at));
    if (parameter->size == 0)
        return NULL;
    if (function->parameter_count > 0)
        end = parameter[-1].offset + parameter[-1].size;
    parameter->offset = (end + parameter->size - 1) / parameter->size * parameter->size;
    at = skip(at + word(at)); /* name */
    at = skip(at + word(at));
    function->parameter_count++;
    return *at == ',' ? at + 1 : *at == ')' ? at : NULL;
}

/*
 * A compiler of OpenCL C adds parameters behind those of a kernel: the offset of the launch, three
 * numbers of four bytes, and the address of the buffer of printf.
 */
static bool has_signature(struct function *function)
{
    const uint32_t count = function->parameter_count;
    const uint8_t *sizes = function->kernel->sizes;
    uint32_t i = 0, own;

    while (i < count && i < PARAMETERS && sizes[i] != 0 &&
           (sizes[i] & ~OPTIONAL) == function->parameters[i].size)
        i++;
    own = i;
    while (i < count && i < own + 3 && function->parameters[i].size == 4)
        i++;
    function->offset_first = own;
    function->offset_count = i - own;
    function->print = i;
    if (i < count && function->parameters[i].size == 8)
        i++;
    return i == count && (function->offset_count == 0 || function->offset_count == 3) &&
           (own == PARAMETERS || sizes[own] == 0 || (sizes[own] & OPTIONAL));
}

static int read_entry(const char *at, struct function *function, char *log, size_t log_bytes)
{
    const size_t length = word(at);

    if (length == 0 || length >= NAME_BYTES) {
        (void)snprintf(log, log_bytes, "ptxas fatal   : an entry without a name\n");
        return CU_INVALID_PTX;
    }
    (void)memcpy(function->name, at, length);
    function->dynamic_limit = 49152;
    at = skip(at + length);
    for (at = *at == '(' ? skip(at + 1) : NULL; at && *at != ')'; at = at ? skip(at) : NULL)
        at = read_parameter(at, function);
    if (!at) {
        (void)snprintf(log, log_bytes, "ptxas fatal   : parameters of %s\n", function->name);
        return CU_INVALID_PTX;
    }
    function->kernel = kernel_find(function->name);
    if (!function->kernel || !has_signature(function)) {
        (void)snprintf(log, log_bytes, "fake driver: it cannot execute %s with these parameters\n",
                       function->name);
        return CU_INVALID_PTX;
    }
    return CU_OK;
}

/* The number behind a directive, "7.0" as 70 and "sm_90a" as 90; -1 if it is not there. */
static int directive(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    int number = 0, digits = 0;

    if (!at)
        return -1;
    for (at = at + strlen(name); *at && *at != '\n' && *at != ','; at++) {
        if (isdigit((unsigned char)*at)) {
            number = number * 10 + *at - '0';
            digits++;
        }
    }
    return digits > 0 ? number : -1;
}

int ptx_read(const char *text, const struct cuda_chip *chip, uint64_t driver, struct module *module,
             char *log, size_t log_bytes)
{
    const int version = directive(text, ".version"), target = directive(text, ".target");
    /* CUDA 12.4 reads up to PTX 8.4, 13.0 up to 9.0. */
    const int newest = (int)((driver / 1000 - 4) * 10 + driver % 1000 / 10);
    static const char entry[] = ".entry";

    if (version < 0 || target < 0) {
        (void)snprintf(log, log_bytes, "ptxas fatal   : no .version or no .target\n");
        return CU_INVALID_PTX;
    }
    if (version > newest) {
        (void)snprintf(log, log_bytes,
                       "ptxas fatal   : Unsupported .version %d.%d; current version is '%d.%d'\n",
                       version / 10, version % 10, newest / 10, newest % 10);
        return CU_UNSUPPORTED_PTX_VERSION;
    }
    if ((uint64_t)target > chip->cc_major * 10 + chip->cc_minor) {
        (void)snprintf(log, log_bytes, "ptxas fatal   : sm_%d on a device of sm_%llu%llu\n", target,
                       (unsigned long long)chip->cc_major, (unsigned long long)chip->cc_minor);
        return CU_NO_BINARY_FOR_GPU;
    }
    module->ptx_version = version;
    for (const char *at = strstr(text, entry); at; at = strstr(at, entry)) {
        struct function *grown =
            realloc(module->functions, (module->count + 1) * sizeof(*module->functions));
        int result;

        if (!grown)
            return CU_OUT_OF_MEMORY;
        module->functions = grown;
        (void)memset(&grown[module->count], 0, sizeof(*grown));
        at = skip(at + sizeof(entry) - 1);
        grown[module->count].module = module;
        result = read_entry(at, &grown[module->count], log, log_bytes);
        if (result != CU_OK)
            return result;
        module->count++;
    }
    return CU_OK;
}
