/* A virtual GPU of two tiles: a tracer on the root has a set for each tile, one on a tile its own.
 */
#include <string.h>

#include "tests/query/bed.h"
#include "tests/support/suite.h"
#include "tracing.h"

/* One copy on each tile, of 100 bytes on the first and 200 on the second. */
static void copy_on_tiles(const struct bed *bed, ze_device_handle_t tiles[2], uint8_t *memory)
{
    for (uint32_t t = 0; t < 2; t++) {
        const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                              .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
        ze_command_list_handle_t list = NULL;

        EXPECT_OK(zeCommandListCreateImmediate(bed->context, tiles[t], &desc, &list));
        EXPECT_OK(zeCommandListAppendMemoryCopy(list, memory, memory + 1000, 100 * (t + 1), NULL, 0,
                                                NULL));
        EXPECT_OK(zeCommandListDestroy(list));
    }
}

/* Rule 22.13. */
static void copies__on_both_tiles__root_has_a_set_for_each(void **state)
{
    const struct bed *bed = *state;
    ze_device_handle_t tiles[2] = {NULL, NULL};
    uint8_t *memory = bed_memory(bed, 4096);
    struct tracing tracing;
    uint32_t count = 2, at = 0;

    EXPECT_OK(zeDeviceGetSubDevices(bed->device, &count, tiles));
    assert_int_equal(count, 2);
    tracing = tracing_begin(bed, NULL);
    tracing_enable(&tracing);
    copy_on_tiles(bed, tiles, memory);
    tracing_disable(&tracing);
    tracing_read(&tracing);
    tracing_decode(&tracing);
    assert_int_equal(tracing.sets, 2);
    assert_int_equal(tracing_count(&tracing, "CopyEnd"), 2);
    for (uint32_t set = 0; set < 2; set++) {
        uint64_t bytes = 0;

        for (uint32_t i = 0; i < tracing.per_set[set]; i++, at++) {
            const zet_metric_entry_exp_t *entry = &tracing.entries[at];

            assert_true(entry->onSubdevice);
            assert_int_equal(entry->subdeviceId, set);
            if (strcmp(tracing.names[entry->metricIndex], "CopyEnd") == 0)
                bytes += entry->value.ui64;
        }
        assert_int_equal(bytes, 100 * (set + 1));
    }
    assert_int_equal(at, tracing.entry_count);
    tracing_end(&tracing);

    for (uint32_t t = 0; t < 2; t++) {
        tracing = tracing_begin(bed, tiles[t]);
        tracing_enable(&tracing);
        copy_on_tiles(bed, tiles, memory);
        tracing_disable(&tracing);
        tracing_read(&tracing);
        tracing_decode(&tracing);
        assert_int_equal(tracing.sets, 1);
        assert_int_equal(tracing_sum(&tracing, "CopyEnd"), 100 * (t + 1));
        tracing_end(&tracing);
    }
    EXPECT_OK(zeMemFree(bed->context, memory));
}

SUITE(tiles)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies__on_both_tiles__root_has_a_set_for_each),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
