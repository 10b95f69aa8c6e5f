/*
 * Discovery through xe when the kernel answers oddly: its answers are changed on their way. Nothing
 * fails, and what is not known is said.
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

#include "plugins/intel/kmd/kernel.h"
#include "plugins/intel/kmd/xe.h"
#include "tests/kmd/kmd.h"
#include "tests/support/compare.h"

/* A change of the answer to a question: so many bytes at a place, or an errno, or another size. */
static struct {
    uint32_t query;
    size_t at, bytes; /* bytes 0: none */
    uint64_t value;
    int error;
    uint32_t size; /* 0: the right one */
} change;

int drmIoctl(int fd, unsigned long request, void *argument)
{
    struct zeta_xe_device_query *query = argument;
    int result;

    if (request != ZETA_XE_DEVICE_QUERY || query->query != change.query)
        return ioctl(fd, request, argument);
    if (change.error != 0) {
        errno = change.error;
        return -1;
    }
    result = ioctl(fd, request, argument);
    if (result == 0 && query->data == 0 && change.size != 0)
        query->size = change.size;
    if (result == 0 && query->data != 0 && change.bytes > 0) {
        assert_cmp(change.at + change.bytes, <=, query->size);
        memcpy((char *)(uintptr_t)query->data + change.at, &change.value, change.bytes);
    }
    return result;
}

/* ---- a GPU that is asked -------------------------------------------------------------------- */

static char log_text[2048];

static void take_log(struct zeta_plugin_host *host, uint32_t level, struct zeta_plugin_string text)
{
    (void)host;
    (void)level;
    (void)snprintf(log_text + strlen(log_text), sizeof(log_text) - strlen(log_text), "%.*s\n",
                   (int)text.size, text.data);
}

static const struct zeta_plugin_host_ops host_ops = {.struct_size = sizeof(host_ops),
                                                     .log = take_log};
static const struct zeta_host host = {.ops = &host_ops, .id = "intel-xe2"};
static const struct zeta_intel_platform platform = {
    .name = "Battlemage", .graphics = 2001, .has_xe = true, .subslices_per_slice = 4};
static struct zeta_intel_gpu gpu;

static void probe(void)
{
    memset(&gpu, 0, sizeof(gpu));
    gpu.host = &host;
    gpu.platform = &platform;
    gpu.kmd = &zeta_intel_xe;
    (void)snprintf(gpu.id, sizeof(gpu.id), "0000:03:00.0");
    (void)snprintf(gpu.card, sizeof(gpu.card), "/sys/class/drm/card0");
    gpu.fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    assert_cmp(gpu.fd, >=, 0);
    log_text[0] = '\0';
    assert_int_equal(zeta_xe_probe(&gpu), ZETA_PLUGIN_SUCCESS);
    (void)close(gpu.fd);
    /* Whatever was answered: nothing is divided by 0, and no index is out of range. */
    assert_in_range(gpu.tile_count, 1, ZETA_INTEL_TILES);
    for (uint32_t i = 0; i < gpu.tile_count; i++)
        assert_true(gpu.tiles[i].cs_timestamp_hz > 0 && gpu.tiles[i].cs_timestamp_bits > 0);
    assert_cmp(gpu.unit_count, <=, ZETA_INTEL_UNITS);
    assert_cmp((gpu.unit_count == 0), ==, (gpu.no_metrics[0] != '\0'));
}

static bool has_unit(const char *name)
{
    for (uint32_t i = 0; i < gpu.unit_count; i++) {
        if (strcmp(gpu.units[i].name, name) == 0)
            return true;
    }
    return false;
}

static void expect_reason(const char *part)
{
    if (!strstr(gpu.no_metrics, part))
        fail_msg("\"%s\" does not contain \"%s\"", gpu.no_metrics, part);
}

static int forget_change(void **state)
{
    (void)state;
    memset(&change, 0, sizeof(change));
    change.query = UINT32_MAX;
    return 0;
}

/* ---- answers -------------------------------------------------------------------------------- */

static void probe__of_a_sound_kernel__finds_all_units(void **state)
{
    (void)state;
    probe();
    assert_true(has_unit("oa") && has_unit("oam0") && has_unit("oam1") && has_unit("eu-stall"));
    assert_int_equal(gpu.tiles[0].topology.subslices, 20);
    assert_int_equal(gpu.tiles[0].cs_timestamp_bits, 64);
    assert_string_equal(log_text, "");
}

/* Rule 26.22. */
static void probe__each_question_fails__says_which(void **state)
{
    static const struct {
        uint32_t query;
        const char *name;
    } queries[] = {
        {ZETA_XE_QUERY_CONFIG, "CONFIG"},     {ZETA_XE_QUERY_GT_LIST, "GT_LIST"},
        {ZETA_XE_QUERY_ENGINES, "ENGINES"},   {ZETA_XE_QUERY_GT_TOPOLOGY, "GT_TOPOLOGY"},
        {ZETA_XE_QUERY_OA_UNITS, "OA_UNITS"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        change.query = queries[i].query;
        change.error = EIO;
        probe();
        expect_reason(queries[i].name);
        expect_reason("EIO");
        change.error = 0;
        change.size = 0x7fffffff; /* more than any answer has */
        probe();
        expect_reason(queries[i].name);
        change.size = 0;
    }
}

/* What metrics can do without is only logged, or left out. */
static void probe__lesser_questions_fail__leave_the_units(void **state)
{
    (void)state;
    change.error = EIO;
    change.query = ZETA_XE_QUERY_MEM_REGIONS;
    probe();
    assert_true(has_unit("oa") && has_unit("eu-stall"));
    assert_non_null(strstr(log_text, "EIO"));
    change.query = ZETA_XE_QUERY_EU_STALL;
    probe();
    assert_true(has_unit("oa") && !has_unit("eu-stall"));
    change.query = ZETA_XE_QUERY_ENGINE_CYCLES;
    probe();
    assert_true(has_unit("oa"));
    assert_int_equal(gpu.tiles[0].cs_timestamp_bits, 36);
}

static void change_bytes(uint32_t query, size_t at, size_t bytes, uint64_t value)
{
    change.query = query;
    change.at = at;
    change.bytes = bytes;
    change.value = value;
}

/* Rule 26.22. */
static void probe__impossible_lists__are_a_reason(void **state)
{
    (void)state;
    change_bytes(ZETA_XE_QUERY_GT_LIST, 0, 4, 1000);
    probe();
    expect_reason("1000 elements");
    change_bytes(ZETA_XE_QUERY_GT_LIST, 8 + 2, 2, 9); /* tile of the first GT */
    probe();
    expect_reason("tile 9");
    change_bytes(ZETA_XE_QUERY_GT_LIST, 8, 2, 1); /* its type */
    probe();
    expect_reason("no GT with render or compute engines on tile 0");
    change_bytes(ZETA_XE_QUERY_OA_UNITS, 8, 4, 1000);
    probe();
    expect_reason("1000 units");
    change_bytes(ZETA_XE_QUERY_GT_TOPOLOGY, 4, 4, 0x10000000); /* length of the first mask */
    probe();
    expect_reason("GT_TOPOLOGY ends within a mask");
}

/* Rule 26.22. */
static void probe__impossible_unit__is_left_out_alone(void **state)
{
    (void)state;
    change_bytes(ZETA_XE_QUERY_OA_UNITS, 16 + 24, 8, 0); /* clock of the first unit */
    probe();
    assert_true(!has_unit("oa") && has_unit("oam0") && has_unit("eu-stall"));
    assert_non_null(strstr(log_text, "frequency of its clock is invalid"));
    change_bytes(ZETA_XE_QUERY_OA_UNITS, 16 + 12, 4, 77); /* its type */
    probe();
    assert_false(has_unit("oa"));
    assert_non_null(strstr(log_text, "its kind is not known"));
    change_bytes(ZETA_XE_QUERY_OA_UNITS, 16 + 32, 2, 55); /* its GT */
    probe();
    assert_false(has_unit("oa"));
    assert_non_null(strstr(log_text, "its GT does not exist; its groups are not listed"));
    change_bytes(ZETA_XE_QUERY_EU_STALL, 16, 8, 0); /* size of records */
    probe();
    assert_true(has_unit("oa") && !has_unit("eu-stall"));
    assert_non_null(strstr(log_text, "records of 0 bytes"));
}

static void probe__clock_of_no_rate__has_the_usual_one(void **state)
{
    (void)state;
    change_bytes(ZETA_XE_QUERY_GT_LIST, 8 + 12, 4, 0);
    probe();
    assert_int_equal(gpu.tiles[0].cs_timestamp_hz, 19200000);
    assert_true(has_unit("oa"));
}

/* ---- configurations ------------------------------------------------------------------------- */

static void configuration__that_is_removed__is_found_no_more(void **state)
{
    struct zeta_intel_register registers[] = {{0x13000, 1}, {0xd900, 2}};
    const struct zeta_intel_program program = {.registers = registers,
                                               .count = 2,
                                               .counts = {1, 1},
                                               .uuid = "01234567-89ab-8def-8123-456789abcdef"};
    uint64_t config = 0, found = 0;

    (void)state;
    probe();
    gpu.fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    assert_cmp(gpu.fd, >=, 0);
    assert_int_equal(zeta_intel_config_get(&gpu, &program, &config), ZETA_PLUGIN_SUCCESS);
    assert_true(zeta_intel_config_find(&gpu, program.uuid, &found));
    assert_int_equal(found, config);
    zeta_intel_xe.config_remove(&gpu, config);
    assert_false(zeta_intel_config_find(&gpu, program.uuid, &found));
    zeta_intel_xe.config_remove(&gpu, config); /* another process was faster */
    (void)close(gpu.fd);
}

int main(void)
{
    const struct kmd_config config = {
        .device_count = 1,
        .devices = {{.platform = "bmg", .driver = "xe", .slices = 5, .subslices = 4}},
        .is_privileged = true,
        .is_manual = true,
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(probe__of_a_sound_kernel__finds_all_units, forget_change),
        cmocka_unit_test_setup(probe__each_question_fails__says_which, forget_change),
        cmocka_unit_test_setup(probe__lesser_questions_fail__leave_the_units, forget_change),
        cmocka_unit_test_setup(probe__impossible_lists__are_a_reason, forget_change),
        cmocka_unit_test_setup(probe__impossible_unit__is_left_out_alone, forget_change),
        cmocka_unit_test_setup(probe__clock_of_no_rate__has_the_usual_one, forget_change),
        cmocka_unit_test_setup(configuration__that_is_removed__is_found_no_more, forget_change),
    };
    struct kmd_machine *machine = kmd_start(&config);
    int failed;

    if (!machine)
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    kmd_stop(machine);
    return failed;
}
