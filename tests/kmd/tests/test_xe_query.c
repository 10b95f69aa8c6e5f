/* DEVICE_QUERY of the emulated xe: its rules, and what it says of each shape of GPU. */

#include "tests/kmd/tests/xe_client.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <time.h>

static struct kmd_machine *machine;
static int fd = -1;

static void begin(struct kmd_device device)
{
    machine = xe_start(&device);
    fd = xe_node();
}

static int end(void **state)
{
    int stream = -1;

    (void)state;
    return xe_end(&machine, &fd, &stream);
}

static int ask(struct kmd_xe_device_query query)
{
    return ioctl(fd, KMD_XE_DEVICE_QUERY, &query);
}

static void rules__each_wrong_argument__its_errno(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "lnl"});
    char data[4096];
    uint64_t address = (uintptr_t)data;
    assert_errno(EFAULT, ioctl(fd, KMD_XE_DEVICE_QUERY, (void *)(uintptr_t)xe_bad_address));
    assert_errno(EINVAL, ask((struct kmd_xe_device_query){.extensions = 1}));
    assert_errno(EINVAL, ask((struct kmd_xe_device_query){.reserved = {1}}));
    assert_errno(EINVAL, ask((struct kmd_xe_device_query){.reserved = {0, 1}}));
    assert_errno(EINVAL, ask((struct kmd_xe_device_query){.query = 11}));
    /* The size first, then the address. */
    assert_errno(EINVAL, ask((struct kmd_xe_device_query){
                             .query = KMD_XE_QUERY_CONFIG, .size = 47, .data = xe_bad_address}));
    assert_errno(EINVAL, ask((struct kmd_xe_device_query){
                             .query = KMD_XE_QUERY_CONFIG, .size = 49, .data = address}));
    assert_errno(EFAULT, ask((struct kmd_xe_device_query){
                             .query = KMD_XE_QUERY_CONFIG, .size = 48, .data = xe_bad_address}));
    assert_errno(ENOTTY, ioctl(fd, 0x6440, 0));
}

static void sizes__of_each_query__exact(void **state)
{
    (void)state;
    static const struct {
        uint32_t query, bytes;
    } expected[] = {
        {KMD_XE_QUERY_ENGINES, 8 + 5 * 32}, /* one copy engine is hidden */
        {KMD_XE_QUERY_MEM_REGIONS, 8 + 88},
        {KMD_XE_QUERY_CONFIG, 8 + 5 * 8},
        {KMD_XE_QUERY_GT_LIST, 8 + 2 * 96},
        {KMD_XE_QUERY_HWCONFIG, 9 * 4},
        {KMD_XE_QUERY_GT_TOPOLOGY, 2 * 24 + 16 + 16 + 2 * 24 + 16},
        {KMD_XE_QUERY_ENGINE_CYCLES, 40},
        {KMD_XE_QUERY_OA_UNITS, 16 + 3 * 72 + 4 * 8},
        {KMD_XE_QUERY_EU_STALL, 80 + 7 * 8},
    };
    begin((struct kmd_device){.platform = "lnl"});
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        struct kmd_xe_device_query query = {.query = expected[i].query};
        assert_int_equal(ioctl(fd, KMD_XE_DEVICE_QUERY, &query), 0);
        assert_int_equal(query.size, expected[i].bytes);
    }
}

static void config__of_a_card__ids_and_memory(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "bmg", .revision = 3});
    uint32_t bytes;
    uint64_t *config = xe_query(fd, KMD_XE_QUERY_CONFIG, &bytes);
    assert_int_equal(config[0], 5);
    assert_int_equal(config[1], 0xe20b | 3 << 16);
    assert_int_equal(config[2], 1);
    free(config);
    uint8_t *regions = xe_query(fd, KMD_XE_QUERY_MEM_REGIONS, &bytes);
    assert_int_equal(bytes, 8 + 2 * 88);
    uint64_t vram;
    memcpy(&vram, regions + 8 + 88 + 8, sizeof(vram));
    assert_int_equal(regions[8], 0);
    assert_int_equal(regions[8 + 88], 1);
    assert_int_equal(vram, UINT64_C(12) << 30);
    free(regions);
}

static void gts__of_two_tiles__one_each(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "pvc"});
    uint32_t bytes;
    struct kmd_xe_count *list = xe_query(fd, KMD_XE_QUERY_GT_LIST, &bytes);
    const struct kmd_xe_gt *gts = (const void *)(list + 1);
    assert_int_equal(list->count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(gts[i].type, KMD_XE_GT_MAIN);
        assert_int_equal(gts[i].tile_id, i);
        assert_int_equal(gts[i].gt_id, i);
        assert_int_equal(gts[i].reference_clock, 12500000);
        assert_int_equal(gts[i].near_regions, 2 << i);
        assert_int_equal(gts[i].far_regions, 7 & ~(2 << i));
        assert_int_equal(gts[i].ip_major * 100 + gts[i].ip_minor, 1260);
    }
    free(list);
    uint8_t *regions = xe_query(fd, KMD_XE_QUERY_MEM_REGIONS, &bytes);
    assert_int_equal(regions[0], 3);
    free(regions);
}

static void gts__with_a_media_gt__second(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "mtl-gt3"});
    uint32_t bytes;
    struct kmd_xe_count *list = xe_query(fd, KMD_XE_QUERY_GT_LIST, &bytes);
    const struct kmd_xe_gt *gts = (const void *)(list + 1);
    assert_int_equal(list->count, 2);
    assert_int_equal(gts[1].type, KMD_XE_GT_MEDIA);
    assert_int_equal(gts[1].tile_id, 0);
    assert_int_equal(gts[1].gt_id, 1);
    free(list);
    struct kmd_xe_count *engines = xe_query(fd, KMD_XE_QUERY_ENGINES, &bytes);
    const struct kmd_xe_engine_info *infos = (const void *)(engines + 1);
    for (uint32_t i = 0; i < engines->count; i++)
        assert_int_equal(infos[i].engine.gt_id,
                         infos[i].engine.engine_class == 2 || infos[i].engine.engine_class == 3);
    free(engines);
}

/* Finds a mask in the answer of GT_TOPOLOGY: its bytes, NULL if it is not there. */
static const uint8_t *mask_of(const uint8_t *data, uint32_t bytes, uint16_t gt, uint16_t type,
                              uint32_t *out_bytes)
{
    for (uint32_t at = 0; at < bytes;) {
        struct kmd_xe_topology head;
        memcpy(&head, data + at, sizeof(head));
        if (head.gt_id == gt && head.type == type) {
            *out_bytes = head.bytes;
            return data + at + sizeof(head);
        }
        at += (uint32_t)sizeof(head) + head.bytes;
    }
    return NULL;
}

/* Bits that are set in a mask; UINT32_MAX: it is not there. */
static uint32_t bits_of(const uint8_t *data, uint32_t bytes, uint16_t gt, uint16_t type)
{
    uint32_t length = 0, count = 0;
    const uint8_t *mask = mask_of(data, bytes, gt, type, &length);
    for (uint32_t i = 0; i < length * 8; i++)
        count += mask[i / 8] >> i % 8 & 1;
    return mask ? count : UINT32_MAX;
}

static void topology__of_xe2__slices_in_one_mask(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "bmg", .slices = 3, .subslices = 3});
    uint32_t bytes, length;
    uint8_t *data = xe_query(fd, KMD_XE_QUERY_GT_TOPOLOGY, &bytes);
    const uint8_t *cores = mask_of(data, bytes, 0, KMD_XE_DSS_GEOMETRY, &length);
    assert_non_null(cores);
    assert_int_equal(cores[0], 0x77);
    assert_int_equal(cores[1], 0x07);
    assert_int_equal(bits_of(data, bytes, 0, KMD_XE_DSS_GEOMETRY), 9);
    assert_int_equal(bits_of(data, bytes, 0, KMD_XE_SIMD16_EU_PER_DSS), 8);
    assert_int_equal(bits_of(data, bytes, 0, KMD_XE_EU_PER_DSS), UINT32_MAX);
    assert_int_equal(bits_of(data, bytes, 0, KMD_XE_L3_BANK), 18);
    assert_int_equal(bits_of(data, bytes, 1, KMD_XE_DSS_GEOMETRY), 0);
    free(data);
}

static void topology__of_an_old_driver__pairs_of_eus(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "lnl", .xe_capabilities = KMD_XE_CAP_BASE});
    uint32_t bytes;
    uint8_t *data = xe_query(fd, KMD_XE_QUERY_GT_TOPOLOGY, &bytes);
    assert_int_equal(bits_of(data, bytes, 0, KMD_XE_EU_PER_DSS), 16);
    assert_int_equal(bits_of(data, bytes, 0, KMD_XE_SIMD16_EU_PER_DSS), UINT32_MAX);
    free(data);
}

static void topology__of_pvc__computes_only(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "pvc"});
    uint32_t bytes;
    uint8_t *data = xe_query(fd, KMD_XE_QUERY_GT_TOPOLOGY, &bytes);
    for (uint16_t gt = 0; gt < 2; gt++) {
        assert_int_equal(bits_of(data, bytes, gt, KMD_XE_DSS_GEOMETRY), 0);
        assert_int_equal(bits_of(data, bytes, gt, KMD_XE_DSS_COMPUTE), 64);
    }
    free(data);
}

static void hwconfig__of_each_generation__places_or_nothing(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "bmg", .slices = 1, .subslices = 2});
    uint32_t bytes;
    uint32_t *table = xe_query(fd, KMD_XE_QUERY_HWCONFIG, &bytes);
    uint32_t values[4] = {0}; /* by key; each has one word */
    for (uint32_t at = 0; at < bytes / 4; at += 2 + table[at + 1]) {
        assert_in_range(table[at], 1, 3);
        assert_int_equal(table[at + 1], 1);
        values[table[at]] = table[at + 2];
    }
    assert_int_equal(values[1], 5); /* what there is room for, not what is there */
    assert_int_equal(values[2], 20);
    assert_int_equal(values[3], 8);
    free(table);
    end(NULL);
    begin((struct kmd_device){.platform = "tgl-gt2"});
    table = xe_query(fd, KMD_XE_QUERY_HWCONFIG, &bytes);
    assert_int_equal(bytes, 0);
    free(table);
}

/* Reads the units one after another. */
static uint32_t read_units(struct kmd_xe_oa_unit out_units[8], struct kmd_xe_engine first[8])
{
    uint32_t bytes;
    uint8_t *data = xe_query(fd, KMD_XE_QUERY_OA_UNITS, &bytes);
    struct kmd_xe_oa_units head;
    memcpy(&head, data, sizeof(head));
    uint32_t at = sizeof(head);
    for (uint32_t i = 0; i < head.count; i++) {
        memcpy(&out_units[i], data + at, sizeof(out_units[i]));
        at += sizeof(out_units[i]);
        memcpy(&first[i], data + at, out_units[i].num_engines ? sizeof(first[i]) : 0);
        at += (uint32_t)out_units[i].num_engines * 8;
    }
    assert_int_equal(at, bytes);
    free(data);
    return head.count;
}

static void units__of_a_card_of_xe2__graphics_and_three_of_media(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "bmg"});
    struct kmd_xe_oa_unit units[8];
    struct kmd_xe_engine first[8];
    static const uint32_t types[] = {KMD_XE_OAG, KMD_XE_OAM_SAG, KMD_XE_OAM, KMD_XE_OAM};
    static const uint32_t engines[] = {2, 0, 2, 2};
    assert_int_equal(read_units(units, first), 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(units[i].id, i);
        assert_int_equal(units[i].type, types[i]);
        assert_int_equal(units[i].num_engines, engines[i]);
        assert_int_equal(units[i].gt_id, i > 0);
        assert_int_equal(units[i].timestamp_hz, 19200000);
        assert_int_equal(units[i].capabilities, 63);
    }
    assert_int_equal(first[0].engine_class, KMD_XE_RENDER);
    assert_int_equal(first[2].engine_class, KMD_XE_VIDEO_DECODE);
    assert_int_equal(first[2].instance, 0);
    assert_int_equal(first[3].instance, 1);
}

static void units__of_other_shapes__their_own(void **state)
{
    (void)state;
    static const struct {
        struct kmd_device device;
        uint32_t count, last_type;
        uint64_t hz;
    } expected[] = {
        {{.platform = "tgl-gt2"}, 1, KMD_XE_OAG, 19200000},
        {{.platform = "dg2-g10"}, 1, KMD_XE_OAG, 25000000},
        {{.platform = "pvc"}, 2, KMD_XE_OAG, 25000000},
        {{.platform = "mtl-gt2"}, 2, KMD_XE_OAM, 38400000},
        {{.platform = "lnl"}, 3, KMD_XE_OAM, 19200000},
        {{.platform = "ptl"}, 3, KMD_XE_OAM, 19200000},
        {{.platform = "lnl", .xe_capabilities = 15}, 2, KMD_XE_OAM, 19200000},
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        begin(expected[i].device);
        struct kmd_xe_oa_unit units[8];
        struct kmd_xe_engine first[8];
        assert_int_equal(read_units(units, first), expected[i].count);
        const struct kmd_xe_oa_unit *last = &units[expected[i].count - 1];
        assert_int_equal(last->type, expected[i].last_type);
        assert_int_equal(last->timestamp_hz, expected[i].hz);
        end(NULL);
    }
    begin((struct kmd_device){.platform = "lnl", .xe_capabilities = 31});
    struct kmd_xe_oa_unit units[8];
    struct kmd_xe_engine first[8];
    read_units(units, first);
    assert_int_equal(units[2].capabilities, 31);
    assert_int_equal(units[2].gt_id, 0); /* the field is not valid in this driver */
}

static void stalls__where_sampled__seven_rates(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "pvc"});
    uint32_t bytes;
    struct kmd_xe_eu_stall *stall = xe_query(fd, KMD_XE_QUERY_EU_STALL, &bytes);
    const uint64_t *rates = (const void *)(stall + 1);
    assert_int_equal(stall->capabilities, 1);
    assert_int_equal(stall->record_bytes, 64);
    assert_int_equal(stall->buffer_bytes, 512 * 1024);
    assert_int_equal(stall->num_rates, 7);
    for (uint64_t i = 0; i < 7; i++)
        assert_int_equal(rates[i], (i + 1) * 251);
    free(stall);
    end(NULL);

    static const struct kmd_device without[] = {
        {.platform = "dg2-g10"},
        {.platform = "mtl-gt2"},
        {.platform = "lnl", .has_no_eu_stall = true},
    };
    for (size_t i = 0; i < 3; i++) {
        begin(without[i]);
        assert_errno(ENODEV, ask((struct kmd_xe_device_query){.query = KMD_XE_QUERY_EU_STALL}));
        end(NULL);
    }
    begin((struct kmd_device){.platform = "lnl"});
}

static int cycles(struct kmd_xe_engine_cycles *inout)
{
    struct kmd_xe_device_query query = {
        .query = KMD_XE_QUERY_ENGINE_CYCLES, .size = sizeof(*inout), .data = (uintptr_t)inout};
    return ioctl(fd, KMD_XE_DEVICE_QUERY, &query);
}

static void cycles__of_wrong_arguments__refused(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "lnl"});
    struct kmd_xe_engine_cycles wrong = {.clockid = CLOCK_PROCESS_CPUTIME_ID};
    assert_errno(EINVAL, cycles(&wrong));
    wrong = (struct kmd_xe_engine_cycles){.clockid = CLOCK_MONOTONIC, .engine = {.gt_id = 2}};
    assert_errno(EINVAL, cycles(&wrong));
    wrong.engine = (struct kmd_xe_engine){.engine_class = KMD_XE_RENDER, .instance = 1};
    assert_errno(EINVAL, cycles(&wrong));
    wrong.engine = (struct kmd_xe_engine){.engine_class = KMD_XE_RENDER, .gt_id = 1};
    assert_errno(EINVAL, cycles(&wrong));
    assert_errno(EFAULT,
                 ask((struct kmd_xe_device_query){
                     .query = KMD_XE_QUERY_ENGINE_CYCLES, .size = 40, .data = xe_bad_address}));
    end(NULL);
    begin((struct kmd_device){.platform = "lnl", .has_no_oa = true});
    assert_errno(EOPNOTSUPP,
                 ask((struct kmd_xe_device_query){.query = KMD_XE_QUERY_ENGINE_CYCLES}));
}

static void cycles__of_a_second_tile__refused(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "pvc", .tiles = 2});
    struct kmd_xe_engine_cycles both = {.clockid = CLOCK_MONOTONIC,
                                        .engine = {.engine_class = KMD_XE_COMPUTE}};
    assert_int_equal(cycles(&both), 0);
    both.engine.gt_id = 1;
    assert_errno(EINVAL, cycles(&both));
}

static void cycles__as_time_passes__run_at_the_reference_clock(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "dg2-g10"});
    static const int clocks[] = {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME,
                                 CLOCK_BOOTTIME, CLOCK_TAI};
    for (size_t i = 0; i < 5; i++) {
        struct kmd_xe_engine_cycles before = {.clockid = clocks[i]}, after = before;
        assert_int_equal(cycles(&before), 0);
        kmd_advance(machine, 1000000000);
        assert_int_equal(cycles(&after), 0);
        assert_int_equal(before.width, 36);
        assert_int_equal(after.engine_cycles - before.engine_cycles, 12500000);
        if (clocks[i] == CLOCK_MONOTONIC)
            assert_in_range(after.cpu_timestamp - before.cpu_timestamp, 900000000, 1100000000);
    }
}

static void cycles__beyond_their_width__wrap(void **state)
{
    (void)state;
    struct kmd_config config = {
        .device_count = 2,
        .is_manual = true,
        .first_ticks = (UINT64_C(1) << 36) - 5,
        .devices = {{.platform = "tgl-gt2", .driver = "xe"}, {.platform = "lnl", .driver = "xe"}}};
    machine = kmd_start(&config);
    fd = xe_node();
    kmd_advance(machine, 1000000);
    struct kmd_xe_engine_cycles now = {.clockid = CLOCK_MONOTONIC};
    assert_int_equal(cycles(&now), 0);
    assert_int_equal(now.width, 36);
    assert_int_equal(now.engine_cycles, 19200 - 5);
    close(fd);
    fd = open("/dev/dri/renderD129", O_RDWR | O_CLOEXEC);
    assert_int_equal(cycles(&now), 0);
    assert_int_equal(now.width, 64);
    assert_int_equal(now.engine_cycles, (UINT64_C(1) << 36) + 19200 - 5);
}

static void guest__asked_for_units__has_none(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "lnl", .has_no_oa = true});
    struct kmd_xe_oa_unit units[8];
    struct kmd_xe_engine first[8];
    assert_int_equal(read_units(units, first), 0);
    assert_errno(ENODEV, ask((struct kmd_xe_device_query){.query = KMD_XE_QUERY_EU_STALL}));
    assert_errno(ENODEV, xe_observe(fd, KMD_XE_TYPE_OA, KMD_XE_OP_STREAM_OPEN, xe_bad_address));
    assert_errno(ENODEV,
                 xe_observe(fd, KMD_XE_TYPE_EU_STALL, KMD_XE_OP_STREAM_OPEN, xe_bad_address));
    assert_errno(ENODEV, xe_add_config(fd, XE_UUID, XE_REGISTER));
    assert_errno(ENODEV, xe_remove_config(fd, 1));
}

/* Reads a number of a file. */
static uint64_t number_in(const char *path)
{
    char text[32] = "";
    int file = open(path, O_RDONLY);
    assert_cmp(file, >=, 0);
    assert_cmp(read(file, text, sizeof(text) - 1), >, 0);
    close(file);
    return strtoull(text, NULL, 10);
}

static void sysfs__of_tiles__frequencies_of_each_gt(void **state)
{
    (void)state;
    begin((struct kmd_device){.platform = "pvc", .min_mhz = 900, .max_mhz = 1500});
    for (int tile = 0; tile < 2; tile++) {
        char path[128];
        static const char *const files[] = {"min_freq", "max_freq", "cur_freq", "act_freq",
                                            "rp0_freq"};
        for (size_t i = 0; i < 5; i++) {
            snprintf(path, sizeof(path), "/sys/class/drm/card0/device/tile%d/gt%d/freq0/%s", tile,
                     tile, files[i]);
            assert_int_equal(number_in(path), i == 0 ? 900 : 1500);
        }
    }
    assert_int_equal(number_in("/proc/sys/dev/xe/observation_paranoid"), 1);
    assert_int_not_equal(access("/proc/sys/dev/i915/perf_stream_paranoid", F_OK), 0);
}

SUITE(xe_query)
{
#define CASE(name) cmocka_unit_test_teardown(name, end)
    const struct CMUnitTest tests[] = {
        CASE(rules__each_wrong_argument__its_errno),
        CASE(sizes__of_each_query__exact),
        CASE(config__of_a_card__ids_and_memory),
        CASE(gts__of_two_tiles__one_each),
        CASE(gts__with_a_media_gt__second),
        CASE(topology__of_xe2__slices_in_one_mask),
        CASE(topology__of_an_old_driver__pairs_of_eus),
        CASE(topology__of_pvc__computes_only),
        CASE(hwconfig__of_each_generation__places_or_nothing),
        CASE(units__of_a_card_of_xe2__graphics_and_three_of_media),
        CASE(units__of_other_shapes__their_own),
        CASE(stalls__where_sampled__seven_rates),
        CASE(cycles__of_wrong_arguments__refused),
        CASE(cycles__of_a_second_tile__refused),
        CASE(cycles__as_time_passes__run_at_the_reference_clock),
        CASE(cycles__beyond_their_width__wrap),
        CASE(guest__asked_for_units__has_none),
        CASE(sysfs__of_tiles__frequencies_of_each_gt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
