/*
 * That a mode is the mode: this test has the same variants as every other API test, so what it
 * finds about the way of a call holds for them.
 */
#include "harness.h"

#include <dlfcn.h>

#include "standin.h"
#include "tests/support/suite.h"

/* The counters of the stand-in that is preloaded, or NULL. */
static const struct standin_counters *counters(void)
{
    return dlsym(RTLD_DEFAULT, "standin_counters");
}

/* File name of the library whose function of that name the test calls. */
static const char *provider(const char *function)
{
    Dl_info info = {0};
    void *symbol = dlsym(RTLD_DEFAULT, function);
    const char *slash;

    assert_non_null(symbol);
    assert_int_not_equal(dladdr(symbol, &info), 0);
    slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

static void calls__of_this_mode__go_where_it_says(void **state)
{
    const char *library = "libzeta.so";

    (void)state;
    if (harness_mode() & HARNESS_LOADER)
        library = "libze_loader.so";
    if (harness_mode() & HARNESS_NEWLOADER)
        library = "libze_standin.so";
    assert_ptr_equal(strstr(provider("zeInit"), library), provider("zeInit"));
    assert_ptr_equal(strstr(provider("zetMetricGroupGet"), library), provider("zetMetricGroupGet"));
    /* What an old loader lacks comes from the library that it opened. */
    if (harness_mode() & HARNESS_LOADER)
        library = "libzeta.so";
    assert_ptr_equal(strstr(provider("zeDeviceSynchronize"), library),
                     provider("zeDeviceSynchronize"));
}

static void standin__init_many_times__reaches_the_driver_once(void **state)
{
    const struct standin_counters *c = counters();

    (void)state;
    if (!c) {
        skip();
        return;
    }
    for (uint32_t i = 0; i < 5; i++)
        assert_success(zeInit(i % 2));
    assert_int_equal(c->inits_forwarded, 1);
    assert_int_equal(c->drivers_in_use, 1);
    assert_int_equal(c->getters_failed, 0);
}

static void standin__any_mode__is_as_asked_for(void **state)
{
    const struct harness *h = *state;
    const struct standin_counters *c = counters();
    unsigned mode = harness_mode();

    if (!c) {
        skip();
        return;
    }
    uint64_t by_handle = c->calls_by_handle;
    uint64_t wrapped = c->calls_wrapped;
    for (int i = 0; i < 10; i++)
        assert_success(zeDeviceGetStatus(h->device));
    assert_int_equal(c->mode, mode & HARNESS_READS_HANDLES ? STANDIN_INTERCEPT : STANDIN_DIRECT);
    assert_int_equal(c->calls_by_handle - by_handle, mode & HARNESS_READS_HANDLES ? 10 : 0);
    assert_int_equal(c->calls_wrapped - wrapped, mode & HARNESS_WRAPPED ? 10 : 0);
    assert_int_equal(c->drivers_ddi, mode & HARNESS_DDI ? 1 : 0);
    assert_int_equal(c->sorts, mode & HARNESS_READS_HANDLES ? 1 : 0);
    if (!(mode & HARNESS_WRAPPED))
        assert_int_equal(c->objects_made, 0);
}

static void handles__through_any_loader__are_the_same_each_time(void **state)
{
    const struct harness *h = *state;
    ze_init_driver_type_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC,
                                       .flags = UINT32_MAX};
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    uint32_t count = 1;

    assert_success(zeInitDrivers(&count, &driver, &desc));
    assert_int_equal(count, 1);
    assert_ptr_equal(driver, h->driver);
    for (int i = 0; i < 6; i++) {
        assert_success(zeDriverGet(&count, &driver));
        assert_ptr_equal(driver, h->driver);
        assert_success(zeDeviceGet(driver, &count, &device));
        assert_ptr_equal(device, h->device);
    }
}

/* Rule 2.3. */
static void driver__own_getters__are_never_called_by_name(void **state)
{
    const struct standin_counters *c = counters();

    (void)state;
    if (!c) {
        skip();
        return;
    }
    assert_int_equal(c->own_getters_called, 0);
}

/* Rule 2.4. */
static void unsupported_function__any_mode__has_one_answer(void **state)
{
    const struct harness *h = *state;
    const ze_sampler_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC};
    ze_sampler_handle_t sampler = NULL;

    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeSamplerCreate(h->context, h->device, &desc, &sampler));
}

SUITE(mode)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls__of_this_mode__go_where_it_says),
        cmocka_unit_test(standin__init_many_times__reaches_the_driver_once),
        cmocka_unit_test(standin__any_mode__is_as_asked_for),
        cmocka_unit_test(handles__through_any_loader__are_the_same_each_time),
        cmocka_unit_test(unsupported_function__any_mode__has_one_answer),
        cmocka_unit_test(driver__own_getters__are_never_called_by_name),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
