/* Reading set files: units, and the registers that programs may write there. */
#include <stdlib.h>
#include <string.h>

#include "core/formula/sets/catalog_priv.h"
#include "core/util/cleanup.h"

/* Registers -------------------------------------------------------------------------------------
 */

const struct zeta_address_range *zeta_unit_find_range(const struct zeta_unit *unit,
                                                      uint32_t address)
{
    for (uint32_t i = 0; i < unit->range_count; i++) {
        if (address >= unit->ranges[i].first && address <= unit->ranges[i].last)
            return &unit->ranges[i];
    }
    return NULL;
}

/** [first, last] or a single address. */
static bool read_range(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                       struct zeta_address_range *range)
{
    const struct zeta_yaml_node *pair = node->kind == ZETA_YAML_SEQUENCE ? node->first_child : NULL;
    uint64_t first = 0;
    uint64_t last = 0;
    bool good;

    if (pair) {
        good = node->child_count == 2 && zeta_yaml_u64(pair, &first) &&
               zeta_yaml_u64(pair->next, &last);
    } else {
        good = zeta_yaml_u64(node, &first);
        last = first;
    }
    if (!good || first > last || last > UINT32_MAX) {
        zeta_reader_error(reader, node, "registers lists addresses and [first, last] pairs");
        return false;
    }
    range->first = (uint32_t)first;
    range->last = (uint32_t)last;
    return true;
}

/** Adds the ranges of a list. There is room for them. */
static bool read_list(struct zeta_set_reader *reader, const struct zeta_yaml_node *list,
                      const char *register_class, struct zeta_unit *unit)
{
    if (!zeta_reader_kind(reader, list, ZETA_YAML_SEQUENCE, "registers"))
        return false;
    for (const struct zeta_yaml_node *node = list->first_child; node; node = node->next) {
        struct zeta_address_range *range = &unit->ranges[unit->range_count++];

        range->register_class = register_class;
        if (!read_range(reader, node, range))
            return false;
    }
    return true;
}

static int compare_first(const void *left, const void *right)
{
    const struct zeta_address_range *a = left;
    const struct zeta_address_range *b = right;

    return (a->first > b->first) - (a->first < b->first);
}

/** A register has one class: else it would depend on the order of lists which. */
static bool check_classes(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                          const struct zeta_unit *unit)
{
    ZETA_CLEANUP(zeta_freep)
    struct zeta_address_range *sorted = calloc((size_t)unit->range_count + 1, sizeof(*sorted));
    const struct zeta_address_range *widest = sorted; /* of those before, the one that ends last */

    if (!sorted)
        return zeta_reader_no_memory(reader);
    if (unit->range_count > 0)
        memcpy(sorted, unit->ranges, unit->range_count * sizeof(*sorted));
    qsort(sorted, unit->range_count, sizeof(*sorted), compare_first);
    for (uint32_t i = 1; i < unit->range_count; i++) {
        if (sorted[i].first <= widest->last &&
            strcmp(sorted[i].register_class, widest->register_class) != 0) {
            zeta_reader_error(reader, node, "register 0x%x is listed as %s and as %s",
                              sorted[i].first, widest->register_class, sorted[i].register_class);
            return false;
        }
        if (sorted[i].last > widest->last)
            widest = &sorted[i];
    }
    return true;
}

/** A list, or a mapping of classes to lists. */
static bool read_registers(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                           struct zeta_unit *unit)
{
    const bool has_classes = node->kind == ZETA_YAML_MAPPING;
    uint32_t count = has_classes ? 0 : node->child_count;

    for (const struct zeta_yaml_node *list = node->first_child; has_classes && list;
         list = list->next)
        count += list->child_count;
    unit->has_ranges = true;
    unit->ranges = zeta_arena_array(reader->arena, count, sizeof(*unit->ranges));
    if (!unit->ranges)
        return zeta_reader_no_memory(reader);
    if (!has_classes)
        return read_list(reader, node, NULL, unit);
    for (const struct zeta_yaml_node *list = node->first_child; list; list = list->next) {
        const char *name;

        if (!zeta_reader_name(reader, list, list->key, true, &name) ||
            !read_list(reader, list, name, unit))
            return false;
    }
    return check_classes(reader, node, unit);
}

/* Units -----------------------------------------------------------------------------------------
 */

void zeta_read_unit(struct zeta_set_reader *reader, const struct zeta_yaml_node *node)
{
    static const char *const keys[] = {"description", "registers", "markers", "slots", NULL};
    struct zeta_catalog *catalog = reader->catalog;
    const struct zeta_yaml_node *registers;
    struct zeta_unit *unit;

    if (!zeta_reader_kind(reader, node, ZETA_YAML_MAPPING, "a unit"))
        return;
    zeta_reader_check_keys(reader, node, keys);
    unit = zeta_arena_alloc(&catalog->arena, sizeof(*unit));
    if (!unit) {
        (void)zeta_reader_no_memory(reader);
        return;
    }
    unit->file = reader->file;
    unit->line = node->key_line;
    if (!zeta_reader_name(reader, node, node->key, true, &unit->name) ||
        !zeta_reader_text(reader, node, "description", "", &unit->description) ||
        !zeta_reader_u32(reader, node, "markers", true, 1, 64, &unit->marker_bits))
        return;
    registers = zeta_yaml_member(node, "registers");
    if (registers && !read_registers(reader, registers, unit))
        return;
    if (!zeta_read_slots(reader, node, unit))
        return;
    if (!zeta_vector_push(&catalog->arena, &catalog->units, unit))
        (void)zeta_reader_no_memory(reader);
}
