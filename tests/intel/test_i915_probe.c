/*
 * Discovery through i915 when the kernel answers oddly: its answers are changed on their way. No
 * question is one that the others depend on.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>
#include <xf86drm.h>

#include "plugins/intel/kmd/i915.h"
#include "tests/kmd/kmd.h"
#include "tests/support/compare.h"

/* A change of the answer to a parameter or a query: an errno, a value, or a length. */
static struct {
    bool is_query;
    uint64_t id;
    int error;      /* of the call; 0: none */
    int32_t length; /* of an answer; 0: the right one */
    int value;      /* of a parameter, else of the first word of the answer behind its length */
    bool has_value;
} change;

static int change_param(int fd, unsigned long request, struct drm_i915_getparam *question)
{
    const int result = ioctl(fd, request, question);

    if (result == 0 && (uint64_t)question->param == change.id && change.has_value)
        *question->value = change.value;
    return result;
}

static int change_query(int fd, unsigned long request, const struct drm_i915_query *query)
{
    struct drm_i915_query_item *item = (void *)(uintptr_t)query->items_ptr;
    const int32_t room = item->length;
    const int result = ioctl(fd, request, query);

    if (result != 0 || item->query_id != change.id)
        return result;
    if (item->data_ptr != 0 && change.has_value && (size_t)room >= sizeof(change.value))
        memcpy((void *)(uintptr_t)item->data_ptr, &change.value, sizeof(change.value));
    if (change.length != 0)
        item->length = change.length;
    return result;
}

int drmIoctl(int fd, unsigned long request, void *argument)
{
    const bool is_param = request == DRM_IOCTL_I915_GETPARAM;
    const bool is_query = request == DRM_IOCTL_I915_QUERY;

    if (change.error != 0 && is_param && !change.is_query &&
        (uint64_t)((struct drm_i915_getparam *)argument)->param == change.id) {
        errno = change.error;
        return -1;
    }
    if (change.error != 0 && is_query && change.is_query) {
        errno = change.error;
        return -1;
    }
    if (is_param && !change.is_query)
        return change_param(fd, request, argument);
    return is_query && change.is_query ? change_query(fd, request, argument)
                                       : ioctl(fd, request, argument);
}

/* ---- a GPU that is asked -------------------------------------------------------------------- */

static void drop_log(struct zeta_plugin_host *host, uint32_t level, struct zeta_plugin_string text)
{
    (void)host, (void)level, (void)text;
}

static const struct zeta_plugin_host_ops host_ops = {.struct_size = sizeof(host_ops),
                                                     .log = drop_log};
static const struct zeta_host host = {.ops = &host_ops, .id = "intel-mtl-arl"};
static const struct zeta_intel_platform platform = {
    .name = "Meteor Lake",
    .graphics = 1270,
    .has_i915 = true,
    .subslices_per_slice = 4,
    .formats = {[ZETA_INTEL_OAG] = {.i915 = 10, .record_bytes = 256},
                [ZETA_INTEL_OAM] = {.i915 = 14, .record_bytes = 128}}};
static struct zeta_intel_gpu gpu;

static void probe(void)
{
    memset(&gpu, 0, sizeof(gpu));
    gpu.host = &host;
    gpu.platform = &platform;
    gpu.kmd = &zeta_intel_i915;
    (void)snprintf(gpu.id, sizeof(gpu.id), "0000:00:02.0");
    (void)snprintf(gpu.card, sizeof(gpu.card), "/sys/class/drm/card0");
    gpu.fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    assert_cmp(gpu.fd, >=, 0);
    assert_int_equal(zeta_intel_i915_probe(&gpu), ZETA_PLUGIN_SUCCESS);
    (void)close(gpu.fd);
    assert_int_equal(gpu.tile_count, 1);
    assert_cmp(gpu.tiles[0].cs_timestamp_hz, >, 0);
    assert_cmp(gpu.tiles[0].cs_timestamp_bits, >, 0);
    assert_cmp((gpu.unit_count == 0), ==, (gpu.no_metrics[0] != '\0'));
    for (uint32_t i = 0; i < gpu.unit_count; i++)
        assert_cmp(gpu.units[i].timestamp_hz, >, 0);
    assert_cmp(gpu.tiles[0].topology.max_slices, <=, ZETA_INTEL_SLICES);
}

static int forget_change(void **state)
{
    (void)state;
    memset(&change, 0, sizeof(change));
    change.id = UINT64_MAX;
    return 0;
}

/* ---- answers -------------------------------------------------------------------------------- */

static void probe__of_a_sound_kernel__finds_both_units(void **state)
{
    (void)state;
    probe();
    assert_string_equal(gpu.no_metrics, "");
    assert_int_equal(gpu.unit_count, 2);
    assert_int_equal(gpu.tiles[0].topology.eus, 128);
}

/* The device is removed at this very moment: that must not fail the plugin, which has others.
 * Rule 26.35. */
static void probe__gpu_does_not_answer__is_a_gpu_without_metrics(void **state)
{
    (void)state;
    change.id = I915_PARAM_CHIPSET_ID;
    change.error = ENODEV;
    probe();
    assert_non_null(strstr(gpu.no_metrics, "does not report which GPU this is: ENODEV"));
}

static void probe__any_parameter_fails__is_survived(void **state)
{
    static const int errors[] = {EINVAL, ENODEV, EIO};

    (void)state;
    for (int id = 0; id < 64; id++) {
        for (size_t i = 0; i < 3; i++) {
            change.id = (uint64_t)id;
            change.error = errors[i];
            probe();
        }
        if (id == I915_PARAM_CS_TIMESTAMP_FREQUENCY)
            assert_int_equal(gpu.unit_count, 2); /* the rate of the OA clock is told */
    }
}

static void probe__any_parameter_is_absurd__is_survived(void **state)
{
    static const int values[] = {0, -1, INT32_MIN, INT32_MAX};

    (void)state;
    change.has_value = true;
    for (int id = 0; id < 64; id++) {
        for (size_t i = 0; i < 4; i++) {
            change.id = (uint64_t)id;
            change.value = values[i];
            probe();
        }
    }
}

static void probe__any_query_fails_or_is_cut__is_survived(void **state)
{
    static const int32_t lengths[] = {-EINVAL, -ENODEV, 1, 3, 15, 16, 17, INT32_MAX};
    static const int values[] = {0, -1, INT32_MAX};

    (void)state;
    change.is_query = true;
    for (uint64_t id = 1; id < 8; id++) {
        change.id = id;
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            change.length = lengths[i];
            change.has_value = false;
            probe();
        }
        change.length = 0;
        change.has_value = true;
        for (size_t i = 0; i < 3; i++) {
            change.value = values[i];
            probe();
        }
    }
    change.error = ENODEV;
    probe();
    assert_int_equal(gpu.unit_count, 1); /* no engine of media is known */
}

int main(void)
{
    const struct kmd_config config = {
        .device_count = 1,
        .devices = {{.platform = "mtl-gt3", .driver = "i915"}},
        .is_privileged = true,
        .is_manual = true,
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(probe__of_a_sound_kernel__finds_both_units, forget_change),
        cmocka_unit_test_setup(probe__gpu_does_not_answer__is_a_gpu_without_metrics, forget_change),
        cmocka_unit_test_setup(probe__any_parameter_fails__is_survived, forget_change),
        cmocka_unit_test_setup(probe__any_parameter_is_absurd__is_survived, forget_change),
        cmocka_unit_test_setup(probe__any_query_fails_or_is_cut__is_survived, forget_change),
    };
    struct kmd_machine *machine = kmd_start(&config);
    int failed;

    if (!machine)
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    kmd_stop(machine);
    return failed;
}
