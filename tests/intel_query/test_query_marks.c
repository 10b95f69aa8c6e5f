/*
 * Marks of queries that something disturbs while they are left or taken back.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugins/intel/query/query.h"
#include "plugins/intel/query/sampler.h"
#include "tests/intel/sampler_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* The scripted kernel, whose clock of the second tile answers the test no more if it is told so. */
static struct zeta_intel_kmd kernel;
static pthread_t test_thread;
static atomic_bool is_clock_refused;

static uint32_t tell_clock(struct zeta_intel_gpu *gpu, uint32_t tile, struct zeta_plugin_clock *out)
{
    if (tile == 1 && atomic_load(&is_clock_refused) && pthread_equal(pthread_self(), test_thread))
        return ZETA_PLUGIN_NOT_AVAILABLE;
    return scripted_kmd.clock(gpu, tile, out);
}

/* The standard output while it is closed; it comes back when the kernel is asked for a stream. */
static int output = -1;

static uint32_t open_stream(struct zeta_intel_gpu *gpu,
                            const struct zeta_intel_stream_request *request,
                            struct zeta_intel_kernel_stream **out_stream)
{
    if (output >= 0) {
        (void)dup2(output, STDOUT_FILENO);
        (void)close(output);
        output = -1;
    }
    return scripted_kmd.stream_open(gpu, request, out_stream);
}

static int setup(void **state)
{
    const int result = sampler_bed_setup(state);
    struct sampler_bed *bed = *state;

    kernel = scripted_kmd;
    kernel.clock = tell_clock;
    kernel.stream_open = open_stream;
    bed->gpu.kmd = &kernel;
    test_thread = pthread_self();
    return result;
}

/* Both tiles of a root are marked or none is, so that nothing is marked twice. */
static void end__one_tile_tells_no_time__can_be_tried_again(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = NULL;
    struct sampler_record r[SCRIPTED_TILES];

    assert_int_equal(sampler_bed_try_pool(bed, 0, "First", 1, &pool), ZETA_PLUGIN_SUCCESS);
    atomic_store(&is_clock_refused, true);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_NOT_AVAILABLE);
    atomic_store(&is_clock_refused, false);
    assert_int_equal(zeta_intel_query_begin(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report_on(0, 100, 1, 0);
    scripted_report_on(1, 120, 10, 0);
    scripted_set_time(150);
    atomic_store(&is_clock_refused, true);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_NOT_AVAILABLE);
    atomic_store(&is_clock_refused, false);
    assert_int_equal(zeta_intel_query_end(pool, 0), ZETA_PLUGIN_SUCCESS);
    scripted_report_on(0, 200, 4, 0);
    scripted_report_on(1, 220, 50, 0);
    assert_int_equal(sampler_bed_await(bed, pool, 0, r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r[0].head.begin_ticks, 100);
    assert_int_equal(r[0].head.end_ticks, 200);
    assert_int_equal(r[0].fields[COUNT], 3);
    assert_int_equal(r[1].fields[COUNT], 40);
    sampler_bed_drop(bed, pool);
}

/*
 * No report ever came when the query ended, and the first one before anybody collected it: the
 * record is the same as without that report.
 */
static void begin__report_comes_behind_the_end__is_as_early_as_it_was(void **state)
{
    const atomic_bool is_interrupted = false;
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = sampler_bed_pool(bed, "First");
    struct sampler_record r;

    for (uint32_t round = 0; round < 2; round++) {
        scripted_set_time(100 + 100 * round);
        assert_int_equal(zeta_intel_query_begin(pool, round), ZETA_PLUGIN_SUCCESS);
    }
    scripted_set_time(250);
    for (uint32_t round = 0; round < 2; round++)
        assert_int_equal(zeta_intel_query_end(pool, round), ZETA_PLUGIN_SUCCESS);
    scripted_set_time(10000000);
    for (uint32_t round = 0; round < 2; round++)
        zeta_intel_query_wait(pool, round, &is_interrupted);
    assert_int_equal(sampler_bed_collect(bed, pool, 0, &r), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(r.head.begin_ticks, 100);
    assert_int_equal(r.head.end_ticks, 250);
    scripted_report(10000100, 7);
    scripted_await_reader();
    for (uint32_t round = 0; round < 2; round++) {
        assert_int_equal(sampler_bed_collect(bed, pool, round, &r), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(r.head.begin_ticks, 100 + 100 * round);
        assert_int_equal(r.head.end_ticks, 250);
        assert_int_equal(r.head.time_ns, 150000 - 100000 * round);
        assert_int_equal(r.head.flags, 0);
        assert_int_equal(r.fields[COUNT], 0);
    }
    sampler_bed_drop(bed, pool);
}

/* What the program prints while its standard output is closed must not wake a sampler. */
static void sampler__standard_output_closed__leaves_its_number_alone(void **state)
{
    struct sampler_bed *bed = *state;
    struct zeta_plugin_query_pool *pool = NULL;

    output = dup(STDOUT_FILENO);
    assert_cmp(output, >, STDERR_FILENO);
    assert_int_equal(close(STDOUT_FILENO), 0);
    assert_int_equal(sampler_bed_try_pool(bed, 1, "First", 1, &pool), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(output, -1);
    assert_cmp(bed->intel.samplers->wake_fd, >, STDERR_FILENO);
    sampler_bed_drop(bed, pool);
}

SUITE(query_marks)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(end__one_tile_tells_no_time__can_be_tried_again, setup,
                                        sampler_bed_teardown),
        cmocka_unit_test_setup_teardown(begin__report_comes_behind_the_end__is_as_early_as_it_was,
                                        setup, sampler_bed_teardown),
        cmocka_unit_test_setup_teardown(sampler__standard_output_closed__leaves_its_number_alone,
                                        setup, sampler_bed_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
