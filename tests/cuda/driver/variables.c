/* Variables of modules: PTX with ".visible .global", in memory of the device. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/driver/driver.h"

static const char *next_line(const char *at)
{
    at = strchr(at, '\n');
    return at ? at + 1 : NULL;
}

/* Symbols that another text would have to define: nothing is linked to a module. */
static bool needs_others(const char *text, char *log, size_t log_bytes)
{
    static const char *const kinds[] = {".extern .func", ".extern .global"};

    for (const char *line = text; line; line = next_line(line)) {
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
            if (strncmp(line, kinds[i], strlen(kinds[i])) != 0)
                continue;
            (void)snprintf(log, log_bytes, "ptxas fatal   : Unresolved extern: %.*s\n",
                           (int)strcspn(line, "\n"), line);
            return true;
        }
    }
    return false;
}

/* "= 7" or "= {1, 2}": elements of so many bytes. */
static bool read_values(const char *at, size_t size, size_t count, uint8_t *out_bytes)
{
    at += strspn(at, " ={");
    for (size_t i = 0; i < count && *at != ';' && *at != '}'; i++) {
        char *end = NULL;
        const long long value = strtoll(at, &end, 0);

        if (end == at)
            return false; /* an address */
        (void)memcpy(out_bytes + i * size, &value, size);
        at = end + strspn(end, ", ");
    }
    return true;
}

/* A line behind ".visible .global": .align 4 .u32 name[3] = 7; */
static int read_variable(struct module *module, const char *at)
{
    struct variable *grown =
        realloc(module->variables, (module->variable_count + 1) * sizeof(*grown));
    struct variable *variable;
    char type[16] = "", name[NAME_BYTES] = "";
    unsigned align, count = 1;
    int end = 0, result;
    size_t size;

    if (!grown)
        return CU_OUT_OF_MEMORY;
    module->variables = grown;
    variable = &grown[module->variable_count];
    if (sscanf(at, " .align %u %15s %127[A-Za-z0-9_$]%n", &align, type, name, &end) != 3)
        return CU_INVALID_PTX;
    if (at[end] == '[')
        count = (unsigned)strtoul(at + end + 1, NULL, 10);
    at += end + strcspn(at + end, "=;\n");
    size = ptx_type_bytes(type);
    if (size == 0 || count == 0)
        return CU_INVALID_PTX;
    *variable = (struct variable){.bytes = size * count};
    (void)memcpy(variable->name, name, sizeof(name));
    result = memory_of_variable(module->context, variable->bytes, &variable->memory);
    if (result != CU_OK)
        return result;
    module->variable_count++;
    return *at != '=' || read_values(at, size, count, variable->memory) ? CU_OK : CU_INVALID_PTX;
}

int variables_read(const char *text, struct module *module, char *log, size_t log_bytes)
{
    static const char visible[] = ".visible .global";
    int result = CU_OK;

    if (needs_others(text, log, log_bytes))
        return CU_INVALID_PTX;
    for (const char *line = text; line && result == CU_OK; line = next_line(line)) {
        if (strncmp(line, visible, sizeof(visible) - 1) == 0)
            result = read_variable(module, line + sizeof(visible) - 1);
    }
    if (result == CU_INVALID_PTX)
        (void)snprintf(log, log_bytes, "fake driver: a variable that it cannot read\n");
    return result;
}

void variables_free(struct module *module)
{
    for (uint32_t i = 0; i < module->variable_count; i++)
        (void)cuMemFree_v2((uint64_t)(uintptr_t)module->variables[i].memory);
    free(module->variables);
}

int cuModuleGetGlobal_v2(uint64_t *out, size_t *bytes, void *handle, const char *name)
{
    const struct module *module = handle;

    ENTER();
    if (!module || !name)
        return CU_INVALID_VALUE;
    for (uint32_t i = 0; i < module->variable_count; i++) {
        if (strcmp(module->variables[i].name, name) != 0)
            continue;
        if (out)
            *out = (uint64_t)(uintptr_t)module->variables[i].memory;
        if (bytes)
            *bytes = module->variables[i].bytes;
        return CU_OK;
    }
    return CU_NOT_FOUND;
}
