/*
 * Answers of the xe driver to questions about the device: read at the places that the kernel's
 * interface gives, and refused where they do not fit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/intel/kmd/xe.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* An answer that is being written; all places are offsets in bytes. */
struct blob {
    uint8_t bytes[4096];
    size_t used;
};

static void put(struct blob *blob, size_t at, uint64_t value, size_t bytes)
{
    assert_cmp(at + bytes, <=, sizeof(blob->bytes));
    for (size_t i = 0; i < bytes; i++)
        blob->bytes[at + i] = (uint8_t)(value >> (8 * i));
    if (at + bytes > blob->used)
        blob->used = at + bytes;
}

/* A copy that ends where the answer ends, so that a sanitizer sees a byte read too far. */
static struct zeta_xe_answer answer_of(const struct blob *blob, size_t bytes)
{
    void *copy = malloc(bytes > 0 ? bytes : 1);

    assert_non_null(copy);
    memcpy(copy, blob->bytes, bytes);
    return (struct zeta_xe_answer){copy, bytes};
}

static void drop(struct zeta_xe_answer answer)
{
    free((void *)(uintptr_t)answer.data);
}

/* ---- lists ---------------------------------------------------------------------------------- */

static void config__revision__is_above_the_device_id(void **state)
{
    struct blob blob = {.used = 0};
    struct zeta_xe_problem problem;
    struct zeta_xe_answer answer;
    uint32_t revision = 99;

    (void)state;
    put(&blob, 0, 2, 4);
    put(&blob, 8, 0xe20b | 5u << 16, 8);
    put(&blob, 16, 1, 8);
    answer = answer_of(&blob, blob.used);
    assert_true(zeta_xe_parse_revision(answer, &revision, &problem));
    assert_int_equal(revision, 5);
    drop(answer);

    put(&blob, 0, 0, 4);
    answer = answer_of(&blob, 8);
    assert_false(zeta_xe_parse_revision(answer, &revision, &problem));
    assert_int_equal(revision, 5);
    drop(answer);
}

static void put_gt(struct blob *blob, uint32_t index, uint32_t type, uint32_t tile, uint32_t gt)
{
    const size_t at = 8 + (size_t)index * 96;

    put(blob, 0, index + 1, 4);
    put(blob, at, type, 2);
    put(blob, at + 2, tile, 2);
    put(blob, at + 4, gt, 2);
    put(blob, at + 12, 19200000, 4);
    put(blob, at + 16, 6, 8);
    put(blob, at + 32, 20, 2);
    put(blob, at + 88, 0, 8);
}

static void gts__of_two_tiles__are_read_in_order(void **state)
{
    struct blob blob = {.used = 0};
    struct zeta_xe_problem problem;
    struct zeta_xe_gt_list gts;
    struct zeta_xe_answer answer;

    (void)state;
    put_gt(&blob, 0, 0, 0, 0);
    put_gt(&blob, 1, 1, 0, 1);
    put_gt(&blob, 2, 0, 1, 2);
    answer = answer_of(&blob, blob.used);
    assert_true(zeta_xe_parse_gts(answer, &gts, &problem));
    assert_int_equal(gts.count, 3);
    assert_int_equal(gts.items[1].type, ZETA_XE_GT_MEDIA);
    assert_int_equal(gts.items[2].tile_id, 1);
    assert_int_equal(gts.items[2].gt_id, 2);
    assert_int_equal(gts.items[2].reference_clock, 19200000);
    assert_int_equal(gts.items[2].near_mem_regions, 6);
    drop(answer);
}

static void gts__that_cannot_be__are_refused_with_a_sentence(void **state)
{
    struct zeta_xe_problem problem;
    struct zeta_xe_gt_list gts;
    struct zeta_xe_answer answer;
    struct blob blob = {.used = 0};

    (void)state;
    put_gt(&blob, 0, 0, 8, 0); /* tile 8 of 8 */
    answer = answer_of(&blob, blob.used);
    assert_false(zeta_xe_parse_gts(answer, &gts, &problem));
    assert_non_null(strstr(problem.text, "tile 8"));
    drop(answer);

    blob = (struct blob){.used = 0};
    put_gt(&blob, 0, 0, 0, 3);
    put_gt(&blob, 1, 1, 0, 3);
    answer = answer_of(&blob, blob.used);
    assert_false(zeta_xe_parse_gts(answer, &gts, &problem));
    assert_non_null(strstr(problem.text, "GT 3 twice"));
    drop(answer);

    put(&blob, 0, 0, 4);
    answer = answer_of(&blob, blob.used);
    assert_false(zeta_xe_parse_gts(answer, &gts, &problem));
    assert_non_null(strstr(problem.text, "empty"));
    drop(answer);
}

/* Every list of elements of one size, cut at every byte. */
static void lists__cut_anywhere__are_refused(void **state)
{
    struct zeta_xe_engine_list engines;
    struct zeta_xe_region_list regions;
    struct zeta_xe_problem problem;
    struct zeta_xe_gt_list gts;
    struct blob blob = {.used = 0};

    (void)state;
    put_gt(&blob, 0, 0, 0, 0);
    put_gt(&blob, 1, 1, 0, 1);
    for (size_t bytes = 0; bytes < blob.used; bytes++) {
        const struct zeta_xe_answer answer = answer_of(&blob, bytes);

        assert_false(zeta_xe_parse_gts(answer, &gts, &problem));
        assert_string_not_equal(problem.text, "");
        /* Two elements of 32 bytes end at 72, two of 88 at 184. */
        assert_int_equal(zeta_xe_parse_engines(answer, &engines, &problem), bytes >= 72);
        assert_int_equal(zeta_xe_parse_regions(answer, &regions, &problem), bytes >= 184);
        drop(answer);
    }
}

static void lists__with_an_absurd_count__are_refused(void **state)
{
    static const uint32_t counts[] = {UINT32_MAX, 0x08000000, 0x80000000};
    struct zeta_xe_engine_list engines;
    struct zeta_xe_problem problem;
    struct blob blob = {.used = 0};

    (void)state;
    put(&blob, 100, 0, 4);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct zeta_xe_answer answer;

        put(&blob, 0, counts[i], 4);
        answer = answer_of(&blob, blob.used);
        assert_false(zeta_xe_parse_engines(answer, &engines, &problem));
        assert_int_equal(engines.count, 0);
        drop(answer);
    }
}

static void engines__more_than_there_is_room_for__are_the_first(void **state)
{
    static struct blob blob;
    struct zeta_xe_engine_list engines;
    struct zeta_xe_problem problem;
    struct zeta_xe_answer answer;
    const uint32_t count = (sizeof(blob.bytes) - 8) / 32;

    (void)state;
    blob.used = 0;
    put(&blob, 0, count, 4);
    for (uint32_t i = 0; i < count; i++) {
        put(&blob, 8 + (size_t)i * 32, i % 6, 2);
        put(&blob, 8 + (size_t)i * 32 + 2, i, 2);
        put(&blob, 8 + (size_t)i * 32 + 4, 1, 2);
        put(&blob, 8 + (size_t)i * 32 + 24, 0, 8);
    }
    answer = answer_of(&blob, blob.used);
    assert_true(zeta_xe_parse_engines(answer, &engines, &problem));
    assert_int_equal(engines.count, count < ZETA_XE_ENGINES ? count : ZETA_XE_ENGINES);
    assert_int_equal(engines.items[7].instance.engine_class, 1);
    assert_int_equal(engines.items[7].instance.engine_instance, 7);
    assert_int_equal(engines.items[7].instance.gt_id, 1);
    drop(answer);
}

/* ---- topology ------------------------------------------------------------------------------- */

static void put_mask(struct blob *blob, uint32_t gt, uint32_t type, uint64_t mask, uint32_t bytes)
{
    const size_t at = blob->used;

    put(blob, at, gt, 2);
    put(blob, at + 2, type, 2);
    put(blob, at + 4, bytes, 4);
    for (uint32_t i = 0; i < bytes; i++)
        put(blob, at + 8 + i, i < 8 ? mask >> (8 * i) & 0xff : 0, 1);
}

static bool make(const struct blob *blob, uint32_t gt, struct zeta_xe_shape shape,
                 struct zeta_intel_topology *out_topology, struct zeta_xe_problem *problem)
{
    const struct zeta_xe_answer answer = answer_of(blob, blob->used);
    struct zeta_xe_masks masks;
    bool is_made;

    assert_true(zeta_xe_parse_masks(answer, gt, &masks, problem));
    is_made = zeta_xe_topology_make(&masks, &shape, out_topology, problem);
    drop(answer);
    return is_made;
}

static void topology__of_xe2__has_slices_of_four_and_simd16_eus(void **state)
{
    const struct zeta_xe_shape shape = {2001, 4};
    struct zeta_intel_topology topology = {.engines = {1, 2, 0, 0, 3}};
    struct zeta_xe_problem problem;
    struct blob blob = {.used = 0};

    (void)state;
    put_mask(&blob, 0, 1, 0xf0ff7, 4); /* geometry: core 3 is fused off, slice 3 is missing */
    put_mask(&blob, 0, 2, 0xf0ff7, 8);
    put_mask(&blob, 0, 3, 0xffff, 4);
    put_mask(&blob, 0, 5, 0xff, 2);
    put_mask(&blob, 1, 1, UINT64_MAX, 8); /* of another GT */
    assert_true(make(&blob, 0, shape, &topology, &problem));
    assert_int_equal(topology.max_slices, 5);
    assert_int_equal(topology.max_subslices, 4);
    assert_int_equal(topology.slices, 4);
    assert_int_equal(topology.subslices, 15);
    assert_int_equal(topology.max_eus, 8);
    assert_int_equal(topology.eus, 120);
    assert_int_equal(topology.l3_banks, 16);
    assert_int_equal(topology.subslice_mask[0], 0x7);
    assert_int_equal(topology.subslice_mask[2], 0xf);
    assert_int_equal(topology.subslice_mask[3], 0);
    assert_int_equal(topology.subslice_mask[4], 0xf);
    assert_int_equal(topology.engines[4], 3);
}

static void topology__old_eu_mask_on_xe2__counts_half(void **state)
{
    struct zeta_intel_topology topology = {0};
    struct zeta_xe_problem problem;
    struct blob blob = {.used = 0};

    (void)state;
    put_mask(&blob, 0, 1, 0xff, 4);
    put_mask(&blob, 0, 4, 0xffff, 4);
    assert_true(make(&blob, 0, (struct zeta_xe_shape){2004, 4}, &topology, &problem));
    assert_int_equal(topology.eus, 64);
    assert_true(make(&blob, 0, (struct zeta_xe_shape){1255, 4}, &topology, &problem));
    assert_int_equal(topology.eus, 128);
}

static void topology__compute_cores_only__are_counted(void **state)
{
    struct zeta_intel_topology topology = {0};
    struct zeta_xe_problem problem;
    struct blob blob = {.used = 0};

    (void)state;
    put_mask(&blob, 0, 1, 0, 8); /* Ponte Vecchio has no geometry */
    put_mask(&blob, 0, 2, UINT64_MAX, 8);
    put_mask(&blob, 0, 4, 0xff, 4);
    assert_true(make(&blob, 0, (struct zeta_xe_shape){1260, 8}, &topology, &problem));
    assert_int_equal(topology.slices, 8);
    assert_int_equal(topology.subslices, 64);
    assert_int_equal(topology.eus, 512);
}

static void topology__without_a_slice_size__is_one_slice_as_long_as_it_fits(void **state)
{
    struct zeta_intel_topology topology = {0};
    struct zeta_xe_problem problem;
    struct blob blob = {.used = 0};

    (void)state;
    put_mask(&blob, 0, 1, 0x3f, 4);
    put_mask(&blob, 0, 4, 0xffff, 2);
    assert_true(make(&blob, 0, (struct zeta_xe_shape){1200, 0}, &topology, &problem));
    assert_int_equal(topology.max_slices, 1);
    assert_int_equal(topology.max_subslices, 6);

    blob = (struct blob){.used = 0};
    put_mask(&blob, 0, 1, 0x1ffffffff, 8);
    put_mask(&blob, 0, 4, 0xffff, 2);
    assert_true(make(&blob, 0, (struct zeta_xe_shape){1200, 0}, &topology, &problem));
    assert_int_equal(topology.slices, 2);
    assert_int_equal(topology.subslices, 33);
}

static void topology__that_tells_nothing__is_refused(void **state)
{
    const struct zeta_xe_shape shape = {2004, 4};
    struct zeta_intel_topology topology = {.eus = 7};
    struct zeta_xe_problem problem;
    struct blob blob = {.used = 0};

    (void)state;
    assert_false(make(&blob, 0, shape, &topology, &problem));
    assert_non_null(strstr(problem.text, "no subslice"));
    put_mask(&blob, 0, 1, 0xf, 4);
    assert_false(make(&blob, 0, shape, &topology, &problem));
    assert_non_null(strstr(problem.text, "no EU"));
    assert_int_equal(topology.eus, 7);
    /* Bit 256 with slices of 4 is slice 64. */
    put_mask(&blob, 0, 5, 0xff, 4);
    blob.bytes[blob.used] = 0;
    put_mask(&blob, 0, 2, 0, 40);
    blob.bytes[blob.used - 40 + 32] = 1;
    assert_false(make(&blob, 0, shape, &topology, &problem));
    assert_non_null(strstr(problem.text, "slice 64"));
}

static void topology__mask_longer_than_there_is_room__keeps_its_begin(void **state)
{
    struct zeta_intel_topology topology = {0};
    struct zeta_xe_problem problem;
    struct blob blob = {.used = 0};

    (void)state;
    put_mask(&blob, 0, 1, 0xf, 1000);
    put_mask(&blob, 0, 5, 0xff, 4);
    assert_true(make(&blob, 0, (struct zeta_xe_shape){2004, 4}, &topology, &problem));
    assert_int_equal(topology.subslices, 4);
}

static void topology__cut_anywhere__is_whole_masks_or_refused(void **state)
{
    struct zeta_xe_problem problem;
    struct zeta_xe_masks masks;
    struct blob blob = {.used = 0};

    (void)state;
    put_mask(&blob, 0, 1, 0xf, 4);
    put_mask(&blob, 0, 5, 0xff, 2);
    for (size_t bytes = 0; bytes <= blob.used; bytes++) {
        const struct zeta_xe_answer answer = answer_of(&blob, bytes);
        const bool is_whole = bytes == 0 || bytes == 12 || bytes == 22;

        assert_int_equal(zeta_xe_parse_masks(answer, 0, &masks, &problem), is_whole);
        drop(answer);
    }
}

/* ---- counting units ------------------------------------------------------------------------- */

static void put_unit(struct blob *blob, uint32_t id, uint32_t type, uint32_t engines)
{
    const size_t at = blob->used < 16 ? 16 : blob->used;

    put(blob, at + 8, id, 4);
    put(blob, at + 12, type, 4);
    put(blob, at + 16, 0x3f, 8);
    put(blob, at + 24, 19200000, 8);
    put(blob, at + 32, type == 0 ? 0 : 1, 2);
    put(blob, at + 64, engines, 8);
    for (uint32_t i = 0; i < engines; i++) {
        put(blob, at + 72 + (size_t)i * 8, type == 0 ? 4 : 2, 2);
        put(blob, at + 72 + (size_t)i * 8 + 2, i + 1, 2);
        put(blob, at + 72 + (size_t)i * 8 + 4, type == 0 ? 0 : 1, 2);
        put(blob, at + 72 + (size_t)i * 8 + 6, 0, 2);
    }
    put(blob, 8, blob->bytes[8] + 1u, 4);
}

static void units__of_different_size__are_found_one_after_another(void **state)
{
    struct zeta_xe_unit_list units;
    struct zeta_xe_problem problem;
    struct zeta_xe_answer answer;
    struct blob blob = {.used = 0};

    (void)state;
    put_unit(&blob, 0, 0, 5);
    put_unit(&blob, 1, 2, 0);
    put_unit(&blob, 2, 1, 2);
    answer = answer_of(&blob, blob.used);
    assert_true(zeta_xe_parse_units(answer, &units, &problem));
    assert_int_equal(units.count, 3);
    assert_int_equal(units.items[0].engine.engine_class, 4);
    assert_int_equal(units.items[0].engine.engine_instance, 1);
    assert_false(units.items[1].has_engine);
    assert_int_equal(units.items[1].head.oa_unit_type, ZETA_XE_OA_UNIT_OAM_SAG);
    assert_true(units.items[2].has_engine);
    assert_int_equal(units.items[2].engine.gt_id, 1);
    assert_int_equal(units.items[2].head.oa_timestamp_freq, 19200000);
    drop(answer);
}

static void units__cut_anywhere__are_refused(void **state)
{
    struct zeta_xe_unit_list units;
    struct zeta_xe_problem problem;
    struct blob blob = {.used = 0};

    (void)state;
    put_unit(&blob, 0, 0, 3);
    put_unit(&blob, 1, 1, 1);
    for (size_t bytes = 0; bytes < blob.used; bytes++) {
        const struct zeta_xe_answer answer = answer_of(&blob, bytes);

        assert_false(zeta_xe_parse_units(answer, &units, &problem));
        drop(answer);
    }
    put(&blob, 16 + 64, UINT64_MAX / 8 + 2, 8); /* times 8 that is a small number */
    {
        const struct zeta_xe_answer answer = answer_of(&blob, blob.used);

        assert_false(zeta_xe_parse_units(answer, &units, &problem));
        drop(answer);
    }
}

static void units__more_than_there_is_room_for__are_the_first(void **state)
{
    struct zeta_xe_unit_list units;
    struct zeta_xe_problem problem;
    struct zeta_xe_answer answer;
    struct blob blob = {.used = 0};

    (void)state;
    for (uint32_t i = 0; i < ZETA_INTEL_UNITS + 3; i++)
        put_unit(&blob, i, 1, 0);
    answer = answer_of(&blob, blob.used);
    assert_true(zeta_xe_parse_units(answer, &units, &problem));
    assert_int_equal(units.count, ZETA_INTEL_UNITS);
    drop(answer);
}

/* ---- EU stalls ------------------------------------------------------------------------------ */

static void put_stall(struct blob *blob, const uint64_t *rates, uint32_t count)
{
    put(blob, 8, 1, 8);
    put(blob, 16, 64, 8);
    put(blob, 24, 512 << 10, 8);
    put(blob, 72, count, 8);
    for (uint32_t i = 0; i < count; i++)
        put(blob, 80 + (size_t)i * 8, rates[i], 8);
}

static void eu_stall__rates__rise_and_come_once(void **state)
{
    static const uint64_t rates[] = {1757, 0, 251, 502, 251, 1004};
    struct zeta_intel_unit unit = {0};
    struct zeta_xe_problem problem;
    struct zeta_xe_answer answer;
    struct blob blob = {.used = 0};
    uint64_t buffer_bytes = 0;

    (void)state;
    put_stall(&blob, rates, 6);
    answer = answer_of(&blob, blob.used);
    assert_true(zeta_xe_parse_eu_stall(answer, &unit, &buffer_bytes, &problem));
    assert_int_equal(unit.rates[0], 251);
    assert_int_equal(unit.rates[1], 502);
    assert_int_equal(unit.rates[2], 1004);
    assert_int_equal(unit.rates[3], 1757);
    assert_int_equal(unit.rates[4], 0);
    assert_int_equal(unit.record_bytes, 64);
    assert_int_equal(buffer_bytes, 512 << 10);
    drop(answer);
}

static void eu_stall__that_cannot_be__is_refused(void **state)
{
    static const uint64_t rates[] = {251, 502};
    struct zeta_intel_unit unit = {0};
    struct zeta_xe_problem problem;
    struct zeta_xe_answer answer;
    struct blob blob = {.used = 0};
    uint64_t buffer_bytes;

    (void)state;
    put_stall(&blob, rates, 2);
    for (size_t bytes = 0; bytes < blob.used; bytes++) {
        answer = answer_of(&blob, bytes);
        assert_false(zeta_xe_parse_eu_stall(answer, &unit, &buffer_bytes, &problem));
        drop(answer);
    }
    put(&blob, 16, 0, 8);
    answer = answer_of(&blob, blob.used);
    assert_false(zeta_xe_parse_eu_stall(answer, &unit, &buffer_bytes, &problem));
    assert_non_null(strstr(problem.text, "records of 0 bytes"));
    drop(answer);
    put(&blob, 16, 64, 8);
    put(&blob, 8, 0, 8);
    answer = answer_of(&blob, blob.used);
    assert_false(zeta_xe_parse_eu_stall(answer, &unit, &buffer_bytes, &problem));
    drop(answer);
    put(&blob, 8, 1, 8);
    put(&blob, 80, 0, 8);
    put(&blob, 88, 0, 8);
    answer = answer_of(&blob, blob.used);
    assert_false(zeta_xe_parse_eu_stall(answer, &unit, &buffer_bytes, &problem));
    assert_non_null(strstr(problem.text, "no rate"));
    drop(answer);
}

SUITE(xe_parse)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(config__revision__is_above_the_device_id),
        cmocka_unit_test(gts__of_two_tiles__are_read_in_order),
        cmocka_unit_test(gts__that_cannot_be__are_refused_with_a_sentence),
        cmocka_unit_test(lists__cut_anywhere__are_refused),
        cmocka_unit_test(lists__with_an_absurd_count__are_refused),
        cmocka_unit_test(engines__more_than_there_is_room_for__are_the_first),
        cmocka_unit_test(topology__of_xe2__has_slices_of_four_and_simd16_eus),
        cmocka_unit_test(topology__old_eu_mask_on_xe2__counts_half),
        cmocka_unit_test(topology__compute_cores_only__are_counted),
        cmocka_unit_test(topology__without_a_slice_size__is_one_slice_as_long_as_it_fits),
        cmocka_unit_test(topology__that_tells_nothing__is_refused),
        cmocka_unit_test(topology__mask_longer_than_there_is_room__keeps_its_begin),
        cmocka_unit_test(topology__cut_anywhere__is_whole_masks_or_refused),
        cmocka_unit_test(units__of_different_size__are_found_one_after_another),
        cmocka_unit_test(units__cut_anywhere__are_refused),
        cmocka_unit_test(units__more_than_there_is_room_for__are_the_first),
        cmocka_unit_test(eu_stall__rates__rise_and_come_once),
        cmocka_unit_test(eu_stall__that_cannot_be__is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
