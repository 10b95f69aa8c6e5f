/*
 * The forms of a result: table, CSV, JSON.
 */
#include "sdk/tools/zeta/stat/stat.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "fake_group.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

struct fixture {
    struct fake_group fake;
    struct zeta_sampled_group group;
    const struct zeta_sampled_group *groups[1];
    struct zeta_device_entry device;
    struct zeta_stat_report report;
};

static int set_up(void **state)
{
    static char *program[] = {(char *)(uintptr_t) "app", (char *)(uintptr_t) "--fast", NULL};
    struct fixture *fixture = test_calloc(1, sizeof(*fixture));

    fake_group_init(&fixture->fake);
    zeta_sampled_group_init(&fixture->group, &fixture->fake.entry, 1);
    fixture->group.period_ns = 1000000;
    fake_group_settle(&fixture->group);
    (void)strcpy(fixture->device.properties.name, "GPU, \"big\"");
    fixture->device.info.id = "fake:0";
    fixture->device.info.device_class = "software";
    fixture->groups[0] = &fixture->group;
    fixture->report = (struct zeta_stat_report){
        .device = &fixture->device,
        .groups = fixture->groups,
        .group_count = 1,
        .program = program,
        .exit_code = 3,
        .elapsed_ns = 4000000,
        .cpu_ns = 400000,
        .calculation_ns = 1000,
    };
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    zeta_sampled_group_finish(&fixture->group);
    test_free(fixture);
    return 0;
}

/* What was printed; the caller frees it. */
static char *print(const struct fixture *fixture, struct zeta_stat_style style)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);

    zeta_stat_report_print(&fixture->report, &style, stream);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void assert_has(const char *text, const char *expected)
{
    if (!strstr(text, expected))
        fail_msg("'%s' is not in:\n%s", expected, text);
}

static void table__plain__names_value_range_and_cost(void **state)
{
    char *text = print(*state, (struct zeta_stat_style){.columns = 80});

    assert_has(text, "(software, fake:0)");
    assert_has(text, "Fake, domain 3, every 1 ms: 2 samples, none lost");
    assert_has(text, "FpOps               42 total       2      40\n");
    assert_has(text, "GpuBusy          25.00          0.00  100.00 percent\n");
    assert_has(text, "Sampled for 4 ms");
    assert_has(text, "CPU time of zeta: 400 us (10.0 % of one core)");
    assert_null(strstr(text, "\033"));
    assert_null(strstr(text, "█"));
    free(text);
}

static void table__terminal_with_utf8__has_time_lines_and_keeps_to_its_width(void **state)
{
    char *text = print(*state, (struct zeta_stat_style){.columns = 80, .has_sparklines = true});

    assert_has(text, "█▁");
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        size_t columns = 0;

        for (const char *byte = line; *byte; byte++)
            columns += ((unsigned char)*byte & 0xc0) != 0x80;
        assert_cmp(columns, <=, 80);
    }
    free(text);
}

static void table__narrow_terminal__leaves_time_lines_out(void **state)
{
    char *text = print(*state, (struct zeta_stat_style){.columns = 50, .has_sparklines = true});

    assert_null(strstr(text, "█"));
    free(text);
}

/* Rule 20.9. */
static void table__losses__are_said(void **state)
{
    struct fixture *fixture = *state;
    char *text = NULL;

    fixture->group.losses.breaks = 1;
    fixture->group.losses.counted = 7;
    fixture->group.losses.lost_ns = 7000000;
    text = print(fixture, (struct zeta_stat_style){.columns = 80});
    assert_has(text, "7 reports lost (7 ms, in no figure below)");
    free(text);
    fixture->group.losses.uncounted = 1;
    fixture->group.losses.counted = 0;
    fixture->group.losses.estimated = 1;
    text = print(fixture, (struct zeta_stat_style){.columns = 80});
    assert_has(text, "2 samples, 1 report lost (7 ms, in no figure below)");
    free(text);
    fixture->group.losses.lost_ns = fixture->group.losses.estimated = 0;
    fixture->group.losses.breaks = fixture->group.losses.uncounted = 2;
    text = print(fixture, (struct zeta_stat_style){.columns = 80});
    assert_has(text, "2 samples, at least 2 reports lost\n");
    free(text);
    fixture->group.losses.uncounted = 0;
    fixture->group.losses.counted = 3;
    text = print(fixture, (struct zeta_stat_style){.columns = 80});
    assert_has(text, "2 samples, 3 reports lost\n");
    free(text);
}

static void table__value_missing__is_not_available(void **state)
{
    struct fixture *fixture = *state;
    char *text = NULL;

    fixture->group.accounts[FAKE_BUSY] = (struct zeta_account){.kind = ZETA_ACCOUNT_RATE};
    text = print(fixture, (struct zeta_stat_style){.columns = 80});
    assert_has(text, "GpuBusy            n/a           n/a     n/a percent\n");
    free(text);
}

static void csv__any__has_a_line_per_metric(void **state)
{
    const struct fixture *fixture = *state;
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);

    zeta_stat_report_write_csv(&fixture->report, stream);
    assert_int_equal(fclose(stream), 0);
    assert_has(text, "group,device,device_id,domain,samples,lost,breaks,lost_time_ns,metric,");
    assert_has(text, "\nFake,\"GPU, \"\"big\"\"\",fake:0,3,2,0,0,0,FpOps,,event,exact,42,2,40\n");
    assert_has(text, ",GpuBusy,percent,ratio,modelled,25,0,100\n");
    free(text);
}

static struct json_object *member(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;

    if (!json_object_object_get_ex(object, key, &value))
        fail_msg("no member %s", key);
    return value;
}

static void json__any__follows_the_schema(void **state)
{
    const struct fixture *fixture = *state;
    struct json_object *document = zeta_stat_report_to_json(&fixture->report);
    struct json_object *group = NULL;
    struct json_object *metric = NULL;

    assert_string_equal(json_object_get_string(member(document, "schema")), "zeta.stat/1");
    assert_int_equal(json_object_get_int(member(document, "exit_code")), 3);
    assert_int_equal(json_object_array_length(member(document, "program")), 2);
    group = json_object_array_get_idx(member(document, "groups"), 0);
    assert_string_equal(json_object_get_string(member(group, "name")), "Fake");
    assert_string_equal(json_object_get_string(member(group, "device")), "GPU, \"big\"");
    assert_int_equal(json_object_get_int(member(group, "domain")), 3);
    assert_int_equal(json_object_get_int(member(group, "samples")), 2);
    assert_int_equal(json_object_get_int(member(group, "lost")), 0);
    assert_int_equal(json_object_get_int(member(group, "breaks")), 0);
    metric = json_object_array_get_idx(member(group, "metrics"), FAKE_OPS);
    assert_string_equal(json_object_get_string(member(metric, "name")), "FpOps");
    assert_string_equal(json_object_get_string(member(metric, "type")), "event");
    assert_string_equal(json_object_get_string(member(metric, "class")), "exact");
    assert_int_equal(json_object_get_int(member(metric, "value")), 42);
    assert_int_equal(json_object_get_int(member(metric, "total")), 42);
    assert_int_equal(json_object_get_int(member(metric, "min")), 2);
    assert_int_equal(json_object_get_int(member(metric, "max")), 40);
    metric = json_object_array_get_idx(member(group, "metrics"), FAKE_BUSY);
    assert_null(member(metric, "total"));
    assert_cmp(json_object_get_double(member(metric, "value")), ==, 25.0);
    assert_int_equal(json_object_put(document), 1);
}

/* Who looks at this figure alone has to see that something is missing. Rule 20.9. */
static void json__interrupted_stream__has_lost_at_least_one(void **state)
{
    struct fixture *fixture = *state;
    struct json_object *document, *group;

    fixture->group.losses.breaks = fixture->group.losses.uncounted = 2;
    document = zeta_stat_report_to_json(&fixture->report);
    group = json_object_array_get_idx(member(document, "groups"), 0);
    assert_int_equal(json_object_get_int(member(group, "lost")), 2);
    assert_int_equal(json_object_get_int(member(group, "lost_time_ns")), 0);
    assert_int_equal(json_object_get_int(member(group, "breaks")), 2);
    assert_int_equal(json_object_put(document), 1);
}

SUITE(stat_report)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(table__plain__names_value_range_and_cost, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            table__terminal_with_utf8__has_time_lines_and_keeps_to_its_width, set_up, tear_down),
        cmocka_unit_test_setup_teardown(table__narrow_terminal__leaves_time_lines_out, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(table__losses__are_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(table__value_missing__is_not_available, set_up, tear_down),
        cmocka_unit_test_setup_teardown(csv__any__has_a_line_per_metric, set_up, tear_down),
        cmocka_unit_test_setup_teardown(json__any__follows_the_schema, set_up, tear_down),
        cmocka_unit_test_setup_teardown(json__interrupted_stream__has_lost_at_least_one, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
