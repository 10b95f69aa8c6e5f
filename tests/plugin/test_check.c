/*
 * Checking a plugin in a child: whatever it does, the answer is a state and a sentence.
 */
#include "core/plugin/host.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/settings/settings.h"
#include "tests/plugin/harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include <zeta/clock.h>

#define FAKE PLUGINS "/fake.so"
#define FAULTY PLUGINS "/faulty.so"
#define LIMIT_NS (UINT64_C(20) * ZETA_NS_PER_S)

static void expect_report(const char *file, uint64_t limit_ns, uint32_t state, const char *words)
{
    struct zeta_text report = {0};
    uint32_t reached = 99;

    assert_int_equal(zeta_settings_load(), ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_check_manifest(harness_path(file), limit_ns, &reached, &report),
                     ZE_RESULT_SUCCESS);
    if (reached != state || !strstr(zeta_text_get(&report), words))
        fail_msg("%s: state %u, \"%s\"; expected state %u with \"%s\"", file, reached,
                 zeta_text_get(&report), state, words);
    zeta_text_finish(&report);
}

static void expect_fault(const char *fault, uint64_t limit_ns, uint32_t state, const char *words)
{
    char extra[128];

    (void)snprintf(extra, sizeof(extra), "settings: {fault: %s}\n", fault);
    harness_manifest("10-p.yaml", "p", FAULTY, "debug", extra);
    expect_report("10-p.yaml", limit_ns, state, words);
}

static void check__good_plugin__is_active_with_its_devices(void **state)
{
    (void)state;
    harness_manifest("10-p.yaml", "p", FAKE, "metric.stream", "settings: {devices: \"a,b\"}\n");
    expect_report("10-p.yaml", LIMIT_NS, ZETA_PLUGIN_STATE_ACTIVE, "2 devices (a, b)");
    /* Nothing of the child reached this process. */
    assert_null(harness_record("p"));
}

/* Rule 26.36. */
static void check__no_device__is_said(void **state)
{
    (void)state;
    harness_manifest("10-p.yaml", "p", FAKE, "metric.stream", "");
    expect_report("10-p.yaml", LIMIT_NS, ZETA_PLUGIN_STATE_NO_DEVICE,
                  "0 devices, 0 set files. What its manifest matches is here");
}

static void check__crashes__name_signal_and_step(void **state)
{
    (void)state;
    expect_fault("negotiate-crash", LIMIT_NS, ZETA_PLUGIN_STATE_FAILED,
                 "signal 11 (Segmentation fault) in zeta_plugin_negotiate");
    expect_fault("negotiate-abort", LIMIT_NS, ZETA_PLUGIN_STATE_FAILED, "signal 6");
    expect_fault("negotiate-exit", LIMIT_NS, ZETA_PLUGIN_STATE_FAILED,
                 "ended the process with status 7");
    expect_fault("init-crash", LIMIT_NS, ZETA_PLUGIN_STATE_FAILED, "in init");
    expect_fault("finish-crash", LIMIT_NS, ZETA_PLUGIN_STATE_FAILED, "in finish");
}

static void check__hang__is_ended_in_time(void **state)
{
    uint64_t begin_ns = zeta_monotonic_ns();

    (void)state;
    /* Long enough to get as far as init on a busy host. */
    expect_fault("init-hang", 3 * ZETA_NS_PER_S, ZETA_PLUGIN_STATE_FAILED,
                 "did not return within 3000 ms in init");
    assert_cmp(zeta_monotonic_ns() - begin_ns, <, 30 * ZETA_NS_PER_S);
    /* No child is left behind. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void check__refused_and_failed__give_the_reason(void **state)
{
    (void)state;
    expect_fault("wrong-id", LIMIT_NS, ZETA_PLUGIN_STATE_REFUSED, "somebody-else");
    expect_fault("init-error", LIMIT_NS, ZETA_PLUGIN_STATE_FAILED, "join the group render");
    expect_fault("rubbish-count", LIMIT_NS, ZETA_PLUGIN_STATE_FAILED, "3735928559");
}

static void check__warnings__are_errors(void **state)
{
    (void)state;
    harness_manifest("10-p.yaml", "p", FAKE, "metric.stream",
                     "colour: red\nsettings: {devices: a}\n");
    expect_report("10-p.yaml", LIMIT_NS, ZETA_PLUGIN_STATE_NOT_LOADABLE,
                  "10-p.yaml:10:1: There is no key \"colour\"");
    harness_manifest("10-p.yaml", "p", FAKE, "metric.stream",
                     "metrics: [none/*.yaml]\nsettings: {devices: a}\n");
    expect_report("10-p.yaml", LIMIT_NS, ZETA_PLUGIN_STATE_NOT_LOADABLE, "none/*.yaml");
}

static void check__no_manifest__is_said(void **state)
{
    (void)state;
    expect_report("nothing.yaml", LIMIT_NS, ZETA_PLUGIN_STATE_NOT_LOADABLE, "cannot be opened");
    harness_write("other.yaml", "a: b\n");
    expect_report("other.yaml", LIMIT_NS, ZETA_PLUGIN_STATE_NOT_LOADABLE, "not a plugin manifest");
    harness_write("broken.yaml", "format: [\n");
    expect_report("broken.yaml", LIMIT_NS, ZETA_PLUGIN_STATE_NOT_LOADABLE, "broken.yaml:");
}

static void check__would_not_match__is_tried_and_said(void **state)
{
    (void)state;
    harness_write("10-p.yaml",
                  "format: \"1.0\"\nid: p\nclass: hardware\nlibrary: %s\nabi: {min: 1, max: 1}\n"
                  "provides: [metric.stream]\nmatches: [{drm_driver: [no-such-driver]}]\n"
                  "settings: {devices: a}\n",
                  FAKE);
    expect_report("10-p.yaml", LIMIT_NS, ZETA_PLUGIN_STATE_ACTIVE, "no-such-driver");
}

static void check__with_ignored_child_signal__still_answers(void **state)
{
    (void)state;
    harness_manifest("10-p.yaml", "p", FAKE, "metric.stream", "settings: {devices: a}\n");
    (void)signal(SIGCHLD, SIG_IGN); /* the application wants no status of children */
    expect_report("10-p.yaml", LIMIT_NS, ZETA_PLUGIN_STATE_ACTIVE, "1 device (a)");
    /* It did not end with status 0. */
    expect_fault("negotiate-exit", LIMIT_NS, ZETA_PLUGIN_STATE_FAILED,
                 "ended the process in zeta_plugin_negotiate; how is not known");
    (void)signal(SIGCHLD, SIG_DFL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)

SUITE(check)
{
    const struct CMUnitTest tests[] = {
        CASE(check__good_plugin__is_active_with_its_devices),
        CASE(check__no_device__is_said),
        CASE(check__crashes__name_signal_and_step),
        CASE(check__hang__is_ended_in_time),
        CASE(check__refused_and_failed__give_the_reason),
        CASE(check__warnings__are_errors),
        CASE(check__no_manifest__is_said),
        CASE(check__would_not_match__is_tried_and_said),
        CASE(check__with_ignored_child_signal__still_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
