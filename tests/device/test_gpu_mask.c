/* A root device of which the process sees two of three tiles: the second and the third. */
#include "gpu.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Rule 4.3. */
static void work__of_a_root_seen_in_part__runs_on_the_first_tile_that_is_seen(void **state)
{
    struct gpu *gpu = *state;
    ze_device_handle_t tiles[3] = {NULL};
    uint32_t count = 3;

    assert_success(zeDeviceGetSubDevices(gpu->device, &count, tiles));
    assert_int_equal(count, 2);
    /* A fault says where the thread ran: tile.slice.subslice.eu.thread. */
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, gpu_store(gpu, (void *)16, 1));
    assert_non_null(strstr(gpu_sentence(gpu), "thread 1."));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeDeviceGetStatus(gpu->device));
    gpu_renew_list(gpu);
    assert_success(zeDeviceGetStatus(gpu->device));
}

/* Rule 4.3. */
static void slices__of_a_root_seen_in_part__are_those_that_are_seen(void **state)
{
    struct gpu *gpu = *state;
    ze_device_properties_t root = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    ze_device_properties_t tile = root;
    ze_device_handle_t tiles[2] = {NULL};
    uint32_t count = 2;

    assert_success(zeDeviceGetSubDevices(gpu->device, &count, tiles));
    assert_success(zeDeviceGetProperties(gpu->device, &root));
    assert_success(zeDeviceGetProperties(tiles[0], &tile));
    assert_cmp(tile.numSlices, >, 0);
    assert_int_equal(root.numSlices, 2 * tile.numSlices);
}

SUITE(gpu_mask)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work__of_a_root_seen_in_part__runs_on_the_first_tile_that_is_seen),
        cmocka_unit_test(slices__of_a_root_seen_in_part__are_those_that_are_seen),
    };

    return cmocka_run_group_tests(tests, gpu_setup, gpu_teardown);
}
