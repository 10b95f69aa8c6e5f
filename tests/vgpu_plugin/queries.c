#include "queries.h"
#include "tests/support/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void put_field(struct zeta_plugin_query_field *field, const char *name, uint32_t index,
                      uint32_t byte, uint32_t delta_bits)
{
    memset(field, 0, sizeof(*field));
    field->struct_size = sizeof(*field);
    field->name = host_string(name);
    field->index = index;
    field->low_bit = 8 * byte;
    field->low_width = 32;
    field->delta_bits = delta_bits;
}

static const struct zeta_plugin_query_field *all_fields(void)
{
    static struct zeta_plugin_query_field fields[QUERY_FIELDS];

    put_field(&fields[0], "report_id", 0, 0, 0);
    put_field(&fields[1], "ticks", 0, 4, 32);
    put_field(&fields[2], "context_id", 0, 8, 0);
    put_field(&fields[3], "core_clocks", 0, 12, 32);
    for (uint32_t i = 0; i < 36; i++) {
        put_field(&fields[QUERY_A + i], "A", i, 16 + 4 * i, i < 32 ? 40 : 32);
        fields[QUERY_A + i].high_bit = i < 32 ? 8 * (160 + i) : 0;
        fields[QUERY_A + i].high_width = i < 32 ? 8 : 0;
    }
    for (uint32_t i = 0; i < 16; i++)
        put_field(&fields[QUERY_B + i], i < 8 ? "B" : "C", i % 8, 192 + 4 * i, 32);
    return fields;
}

struct zeta_plugin_query_desc query_desc(uint32_t count)
{
    return (struct zeta_plugin_query_desc){
        .struct_size = sizeof(struct zeta_plugin_query_desc),
        .unit = host_string("oa"),
        .set = host_string("Test"),
        .digest = host_string("0"),
        .count = count,
        .report_bytes = 256,
        .record_bytes = sizeof(struct query_record),
        .fields = {all_fields(), QUERY_FIELDS, sizeof(struct zeta_plugin_query_field)},
    };
}

uint32_t query_pool_try(struct host *host, struct zeta_plugin_device *device, uint32_t count,
                        const char *const *selections, struct zeta_plugin_query_pool **out_pool)
{
    struct zeta_plugin_program_entry entries[24] = {0};
    struct zeta_plugin_query_desc desc = query_desc(count);

    for (; selections && selections[desc.program.count]; desc.program.count++) {
        struct zeta_plugin_program_entry *entry = &entries[desc.program.count];

        entry->struct_size = sizeof(*entry);
        entry->select = host_string(selections[desc.program.count]);
    }
    desc.program.data = entries;
    desc.program.stride = sizeof(entries[0]);
    return host->metric->query_pool_create(host->self, device, &desc, out_pool);
}

struct zeta_plugin_query_pool *query_pool(struct host *host, uint32_t count,
                                          const char *const *selections)
{
    struct zeta_plugin_query_pool *pool = NULL;

    if (query_pool_try(host, host->device, count, selections, &pool) != ZETA_PLUGIN_SUCCESS)
        fail_msg("query_pool_create: %s", host_error(host));
    return pool;
}

static struct zeta_plugin_command point(uint32_t type, struct zeta_plugin_query_pool *pool,
                                        uint32_t index)
{
    struct zeta_plugin_command command = host_command(type);

    command.u.query.pool = pool;
    command.u.query.index = index;
    return command;
}

struct zeta_plugin_command query_begin(struct zeta_plugin_query_pool *pool, uint32_t index)
{
    return point(ZETA_PLUGIN_COMMAND_QUERY_BEGIN, pool, index);
}

struct zeta_plugin_command query_end(struct zeta_plugin_query_pool *pool, uint32_t index)
{
    return point(ZETA_PLUGIN_COMMAND_QUERY_END, pool, index);
}

struct query_record query_result(struct host *host, struct zeta_plugin_query_pool *pool,
                                 uint32_t index)
{
    struct query_record record;

    memset(&record, 0xee, sizeof(record));
    assert_int_equal(host->metric->query_collect(host->self, pool, index, &record),
                     ZETA_PLUGIN_SUCCESS);
    assert_int_equal(record.header.size_bytes, sizeof(record));
    assert_int_equal(record.header.tile, 0);
    assert_int_equal(record.header.reserved, 0);
    assert_cmp(record.header.context, !=, 0);
    assert_cmp(record.header.end_ticks, >, record.header.begin_ticks);
    assert_int_equal(record.header.time_ns,
                     40 * (record.header.end_ticks - record.header.begin_ticks));
    assert_int_equal(record.fields[0], 0);
    assert_int_equal(record.fields[1], record.header.end_ticks - record.header.begin_ticks);
    assert_int_equal(record.fields[2], record.header.context);
    assert_int_equal(record.fields[3], record.fields[QUERY_A]);
    /* Percentages of it stay in their range. */
    assert_cmp(record.fields[QUERY_A + 1], <=, record.fields[QUERY_A]);
    /* 1000 MHz. */
    assert_cmp(record.fields[QUERY_A], <=, record.header.time_ns);
    return record;
}
