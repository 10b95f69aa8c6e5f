/* Activation with the setting metric.last_of_domain: what drivers in the field let pass. */
#include <stdio.h>
#include <unistd.h>

#include "tests/metric_api/stream_bed.h"
#include "tests/support/suite.h"

static char log_path[] = "/tmp/zeta-last-of-domain-XXXXXX";

/* Lines of the log that have a word. */
static unsigned count_lines(const char *word)
{
    FILE *file = fopen(log_path, "r");
    char line[512];
    unsigned count = 0;

    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        count += strstr(line, word) != NULL;
    (void)fclose(file);
    return count;
}

static ze_result_t activate(const struct stream_bed *bed, uint32_t count,
                            zet_metric_group_handle_t *groups)
{
    return zetContextActivateMetricGroups(bed->context, bed->device, count, groups);
}

static ze_result_t try_open(const struct stream_bed *bed, zet_metric_group_handle_t group)
{
    zet_metric_streamer_desc_t desc = {.notifyEveryNReports = 10, .samplingPeriod = 100000};
    zet_metric_streamer_handle_t streamer = NULL;
    ze_result_t result =
        zetMetricStreamerOpen(bed->context, bed->device, group, &desc, NULL, &streamer);

    if (result == ZE_RESULT_SUCCESS)
        EXPECT_OK(zetMetricStreamerClose(streamer));
    return result;
}

/* Rule 10.7. */
static void activate__groups_of_one_domain__the_last_one_is_active(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    zet_metric_group_handle_t groups[4] = {find_group(bed.device, "Basic", TIME_BASED, NULL),
                                           find_group(bed.device, "Second", TIME_BASED, NULL),
                                           find_group(bed.device, "Basic", EVENT_BASED, NULL),
                                           find_group(bed.device, "Other", TIME_BASED, NULL)};
    zet_metric_streamer_handle_t streamer;

    (void)state;
    for (int i = 0; i < 3; i++)
        EXPECT_OK(activate(&bed, 4, groups));
    assert_int_equal(count_lines("share domain"), 2); /* each pair once, however often */
    EXPECT_RESULT(try_open(&bed, groups[0]), ZE_RESULT_NOT_READY);
    EXPECT_OK(try_open(&bed, groups[1]));
    streamer = bed_open(&bed, groups[3], 10, NULL);
    /* What is left after the choice has to keep the stream. */
    EXPECT_RESULT(activate(&bed, 1, groups), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_OK(activate(&bed, 4, groups));
    EXPECT_OK(zetMetricStreamerClose(streamer));
    /* One group twice is that group. */
    groups[1] = groups[0];
    EXPECT_OK(activate(&bed, 2, groups));
    EXPECT_OK(try_open(&bed, groups[0]));
    EXPECT_RESULT(try_open(&bed, groups[3]), ZE_RESULT_NOT_READY);
    bed_free(&bed);
}

static int set_up(void **state)
{
    int file = mkstemp(log_path);

    (void)state;
    if (file < 0 || setenv("ZETA_LOG_FILE", log_path, 1) != 0)
        return -1;
    (void)close(file);
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(log_path);
}

SUITE(last_of_domain)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activate__groups_of_one_domain__the_last_one_is_active),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
