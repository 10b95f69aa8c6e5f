#include "plugins/nvidia/sampling/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct nvidia_interval) == NVIDIA_RECORD_BYTES &&
                   offsetof(struct nvidia_interval, counts) == 40 &&
                   offsetof(struct nvidia_interval, values) == 360,
               "the layout nv-interval");

/* Counts from here on are more than a u64 holds. */
#define COUNT_LIMIT 18446744073709551616.0

bool nvidia_program_is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '.'))
            return false;
    }
    return length < NVIDIA_NAME_BYTES;
}

/* A decimal number at the begin of a text; false: there is none, or it is above the limit. */
static bool read_number(const char **text, const char *end, uint64_t most, uint64_t *out_number)
{
    const char *at = *text;
    uint64_t number = 0;

    while (at < end && *at >= '0' && *at <= '9') {
        const uint64_t digit = (uint64_t)(*at++ - '0');

        if (number > (most - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    if (at == *text)
        return false;
    *text = at;
    *out_number = number;
    return true;
}

/* Reads an entry into the program. NULL, or what is wrong with it. */
static const char *read_entry(struct zeta_plugin_string entry, uint32_t kind,
                              bool used[NVIDIA_FIELDS], struct nvidia_program *program)
{
    static const char shortest[] = "shortest=";
    const char *at = entry.data, *const end = entry.data + entry.size, *name, *divider;
    uint64_t field, length, query;
    const bool is_count = entry.size > 0 && *at == 'C';

    if (entry.size > sizeof(shortest) - 1 && memcmp(at, shortest, sizeof(shortest) - 1) == 0) {
        at += sizeof(shortest) - 1;
        return read_number(&at, end, UINT32_MAX, &program->shortest_ns) && at == end
                   ? NULL
                   : "its period is no number of nanoseconds";
    }
    if (entry.size < 2 || (*at != 'C' && *at != 'F'))
        return "it is neither FIELD=METRIC nor shortest=NS";
    at++;
    if (!read_number(&at, end, (is_count ? NVIDIA_COUNTS : NVIDIA_VALUES) - 1, &field) ||
        at == end || *at++ != '=')
        return "the record has no such field";
    field += is_count ? 0 : NVIDIA_COUNTS;
    if (used[field])
        return "another entry has the same field";
    used[field] = true;
    name = at;
    divider = memchr(name, ';', (size_t)(end - name));
    length = (uint64_t)((divider ? divider : end) - name);
    query = divider ? (uint64_t)(end - divider - 1) : length;
    if (!nvidia_program_is_name(name, (size_t)length) ||
        (divider && !nvidia_program_is_name(divider + 1, (size_t)query)) ||
        (length == 0 && query == 0))
        return "that is no name of a metric";
    if (kind == ZETA_PLUGIN_USE_QUERY) {
        name = divider ? divider + 1 : name;
        length = query;
    }
    if (length == 0)
        return NULL;
    memcpy(program->texts[program->count], name, (size_t)length);
    program->names[program->count] = program->texts[program->count];
    program->fields[program->count++] = (uint32_t)field;
    return NULL;
}

uint32_t nvidia_program_read(const struct zeta_host *host, struct zeta_plugin_string set,
                             const struct zeta_plugin_array *entries, uint32_t kind,
                             struct nvidia_program *out_program)
{
    bool used[NVIDIA_FIELDS] = {false};

    *out_program = (struct nvidia_program){0};
    for (uint64_t i = 0; i < entries->count; i++) {
        const struct zeta_plugin_program_entry *entry =
            (const void *)((const char *)entries->data + i * entries->stride);
        const char *wrong = entry->select.size == 0
                                ? "programs of this plugin have no registers"
                                : read_entry(entry->select, kind, used, out_program);

        if (wrong)
            return zeta_host_fail(host, ZETA_PLUGIN_INVALID_ARGUMENT,
                                  "the program of %.*s has \"%.*s\": %s", zeta_string_shown(set),
                                  set.data, zeta_string_shown(entry->select), entry->select.data,
                                  wrong);
    }
    if (out_program->count == 0)
        return zeta_host_fail(host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "the program of %.*s has no metric for %s", zeta_string_shown(set),
                              set.data, kind == ZETA_PLUGIN_USE_QUERY ? "queries" : "streams");
    return ZETA_PLUGIN_SUCCESS;
}

bool nvidia_program_store(const struct nvidia_program *program, const double *values,
                          struct nvidia_interval *interval)
{
    memset(interval->counts, 0, sizeof(interval->counts));
    memset(interval->values, 0, sizeof(interval->values));
    interval->valid = 0;
    for (uint32_t i = 0; i < program->count; i++) {
        const uint32_t field = program->fields[i];

        if (field < NVIDIA_COUNTS) {
            if (!(values[i] >= 0 && values[i] < COUNT_LIMIT))
                return false;
            interval->counts[field] = (uint64_t)values[i];
        } else if (isfinite(values[i])) {
            interval->values[field - NVIDIA_COUNTS] = values[i];
            interval->valid |= UINT64_C(1) << (field - NVIDIA_COUNTS);
        }
    }
    return true;
}

/* FNV-1a. */
uint32_t nvidia_program_number(struct zeta_plugin_string digest)
{
    uint32_t number = 2166136261u;

    for (uint64_t i = 0; i < digest.size; i++)
        number = (number ^ (uint8_t)digest.data[i]) * 16777619u;
    return number;
}
