/* More events than the tracer holds, and nobody reads. Its ring is small by a setting. */
#include "tests/query/bed.h"
#include "tests/support/suite.h"
#include "tracing.h"

#define RING 1000u /* small_ring.yaml */

/* Rule 22.7. */
static void events__never_read__oldest_go_with_a_warning(void **state)
{
    enum { GROUPS = 2000 };
    const struct bed *bed = *state;
    struct tracing tracing = tracing_begin(bed, NULL);
    ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t count = bed_count(bed, counter);

    tracing_enable(&tracing);
    bed_count_append(list, count, GROUPS);
    tracing_disable(&tracing);
    tracing_read(&tracing);
    tracing_decode(&tracing);
    assert_true(tracing.dropped);
    /* What the ring held, but for the record of the end, and the break where the others were. */
    assert_int_equal(tracing_count(&tracing, "WorkProcess"), RING - 1);
    assert_int_equal(tracing_count(&tracing, "KernelBegin"), 0);
    assert_int_equal(tracing_count(&tracing, "KernelEnd"), 1);

    /* A reader that is fast enough loses nothing. */
    tracing.raw_bytes = 0;
    tracing.dropped = false;
    tracing_enable(&tracing);
    for (uint32_t i = 0; i < 10; i++) {
        bed_count_append(list, count, 200);
        tracing_read(&tracing);
    }
    tracing_disable(&tracing);
    tracing_read(&tracing);
    tracing_decode(&tracing);
    assert_false(tracing.dropped);
    assert_int_equal(tracing_count(&tracing, "GroupEnd"), 10 * 200);
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
    EXPECT_OK(zeCommandListDestroy(list));
    tracing_end(&tracing);
}

SUITE(losses)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events__never_read__oldest_go_with_a_warning),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
