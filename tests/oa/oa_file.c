#include "tests/oa/oa_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <expat.h>

static void die(const char *what)
{
    (void)fprintf(stderr, "reading the XML: %s\n", what);
    abort();
}

/** Makes room for one more item, zeroed; arrays double their size at powers of two. */
static void *append(void *items, uint32_t *count, size_t bytes)
{
    char *grown = items;

    if ((*count & (*count - 1)) == 0)
        grown = realloc(items, (*count ? *count * 2u : 1u) * bytes);
    if (!grown)
        die("out of memory");
    memset(grown + *count * bytes, 0, bytes);
    (*count)++;
    return grown;
}

/** A copy of an attribute's text; NULL if there is none. */
static char *attribute(const XML_Char **attributes, const char *name)
{
    for (; attributes[0]; attributes += 2) {
        if (strcmp(attributes[0], name) == 0) {
            char *copy = strdup(attributes[1]);

            return copy ? copy : (die("out of memory"), NULL);
        }
    }
    return NULL;
}

static bool attribute_is(const XML_Char **attributes, const char *name, const char *text)
{
    char *found = attribute(attributes, name);
    bool same = found && strcmp(found, text) == 0;

    free(found);
    return same;
}

static uint32_t attribute_number(const XML_Char **attributes, const char *name)
{
    char *found = attribute(attributes, name);
    uint32_t number = found ? (uint32_t)strtoul(found, NULL, 0) : 0;

    free(found);
    return number;
}

static void start_set(struct oa_file *file, const XML_Char **attributes)
{
    struct oa_set *set;

    file->sets = append(file->sets, &file->set_count, sizeof(*set));
    set = &file->sets[file->set_count - 1];
    set->name = attribute(attributes, "symbol_name");
    set->uuid = attribute(attributes, "hw_config_guid");
    set->format = attribute(attributes, "oa_format");
}

static void start_counter(struct oa_set *set, const XML_Char **attributes)
{
    struct oa_counter *counter;

    set->counters = append(set->counters, &set->counter_count, sizeof(*counter));
    counter = &set->counters[set->counter_count - 1];
    counter->name = attribute(attributes, "symbol_name");
    counter->equation = attribute(attributes, "equation");
    counter->maximum = attribute(attributes, "max_equation");
    counter->availability = attribute(attributes, "availability");
    counter->is_float = attribute_is(attributes, "data_type", "float");
    counter->is_percent = attribute_is(attributes, "units", "percent");
}

static void start_config(struct oa_set *set, const XML_Char **attributes)
{
    struct oa_config *config;

    set->configs = append(set->configs, &set->config_count, sizeof(*config));
    config = &set->configs[set->config_count - 1];
    config->type = attribute_is(attributes, "type", "NOA")  ? OA_CONFIG_NOA
                   : attribute_is(attributes, "type", "OA") ? OA_CONFIG_OA
                                                            : OA_CONFIG_FLEX;
    config->priority = attribute_number(attributes, "priority");
    config->availability = attribute(attributes, "availability");
}

static void start_register(struct oa_config *config, const XML_Char **attributes)
{
    config->registers =
        append(config->registers, &config->register_count, sizeof(*config->registers));
    config->registers[config->register_count - 1] = (struct oa_register){
        attribute_number(attributes, "address"), attribute_number(attributes, "value")};
}

static void XMLCALL start(void *context, const XML_Char *name, const XML_Char **attributes)
{
    struct oa_file *file = context;
    struct oa_set *set = file->set_count > 0 ? &file->sets[file->set_count - 1] : NULL;

    if (strcmp(name, "set") == 0)
        start_set(file, attributes);
    else if (set && strcmp(name, "counter") == 0)
        start_counter(set, attributes);
    else if (set && strcmp(name, "register_config") == 0)
        start_config(set, attributes);
    else if (set && set->config_count > 0 && strcmp(name, "register") == 0)
        start_register(&set->configs[set->config_count - 1], attributes);
}

struct oa_file *oa_file_read(const char *path)
{
    struct oa_file *file = calloc(1, sizeof(*file));
    XML_Parser parser = XML_ParserCreate(NULL);
    FILE *stream = fopen(path, "r");
    char buffer[16384];
    size_t got;

    if (!file || !parser || !stream)
        die(path);
    XML_SetUserData(parser, file);
    XML_SetStartElementHandler(parser, start);
    do {
        got = fread(buffer, 1, sizeof(buffer), stream);
        if (XML_Parse(parser, buffer, (int)got, got == 0) != XML_STATUS_OK)
            die(XML_ErrorString(XML_GetErrorCode(parser)));
    } while (got > 0);
    (void)fclose(stream);
    XML_ParserFree(parser);
    return file;
}

static void free_set(struct oa_set *set)
{
    for (uint32_t i = 0; i < set->counter_count; i++) {
        free(set->counters[i].name);
        free(set->counters[i].equation);
        free(set->counters[i].maximum);
        free(set->counters[i].availability);
    }
    for (uint32_t i = 0; i < set->config_count; i++) {
        free(set->configs[i].availability);
        free(set->configs[i].registers);
    }
    free(set->counters);
    free(set->configs);
    free(set->name);
    free(set->uuid);
    free(set->format);
}

void oa_file_free(struct oa_file *file)
{
    if (!file)
        return;
    for (uint32_t i = 0; i < file->set_count; i++)
        free_set(&file->sets[i]);
    free(file->sets);
    free(file);
}

const struct oa_set *oa_file_find(const struct oa_file *file, const char *name)
{
    for (uint32_t i = 0; i < file->set_count; i++) {
        if (strcmp(file->sets[i].name, name) == 0)
            return &file->sets[i];
    }
    return NULL;
}

int oa_set_find(const struct oa_set *set, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(set->counters[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

bool oa_counter_is_basic(const char *name)
{
    static const char *const names[] = {"GpuTime", "GpuCoreClocks", "AvgGpuCoreFrequency",
                                        "GpuBusy"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}
