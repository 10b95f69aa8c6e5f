/*
 * Walks over good, broken and hostile pNext chains.
 */
#include "core/api/chain.h"
#include "tests/support/suite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <level_zero/zet_api.h>

#define IP_VERSION ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT
#define EU_COUNT ZE_STRUCTURE_TYPE_EU_COUNT_EXT
#define UNDEFINED_STYPE 0x5a5a5a5au

/* A page that can be read with one behind it that cannot. */
static char *page_before_hole(size_t *out_page_bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    *out_page_bytes = page;
    return pages;
}

static unsigned length(const void *next)
{
    struct zeta_chain chain = zeta_chain_begin(next);
    uint32_t stype;
    unsigned count = 0;

    while (zeta_chain_next(&chain, &stype))
        count++;
    return count;
}

static void walk__null__ends_at_once(void **state)
{
    (void)state;
    assert_int_equal(length(NULL), 0);
}

static void walk__good_chain__gives_nodes_in_order(void **state)
{
    ze_eu_count_ext_t second = {.stype = EU_COUNT};
    ze_device_ip_version_ext_t first = {.stype = IP_VERSION, .pNext = &second};
    struct zeta_chain chain = zeta_chain_begin(&first);
    uint32_t stype;

    (void)state;
    assert_ptr_equal(zeta_chain_next(&chain, &stype), &first);
    assert_int_equal(stype, IP_VERSION);
    assert_ptr_equal(zeta_chain_next(&chain, &stype), &second);
    assert_int_equal(stype, EU_COUNT);
    assert_null(zeta_chain_next(&chain, &stype));
    assert_null(zeta_chain_next(&chain, &stype));
}

static void walk__tools_type__is_defined_too(void **state)
{
    zet_metric_source_id_exp_t node = {.stype = ZET_STRUCTURE_TYPE_METRIC_SOURCE_ID_EXP};

    (void)state;
    assert_int_equal(length(&node), 1);
}

/* Rule 3.5. */
static void walk__unmapped_and_odd_addresses__end(void **state)
{
    static const uintptr_t bad[] = {
        1,
        8,
        4096,
        0xdeadbeef,
        0x7fffffffffffff00u,
        0x8000000000000000u,
        0xfffffffffffffff8u,
        UINTPTR_MAX,
    };
    ze_eu_count_ext_t node = {.stype = EU_COUNT};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(length((const void *)bad[i]), 0);
        node.pNext = (void *)bad[i];
        assert_int_equal(length(&node), 1);
    }
    assert_int_equal(length((const char *)&node + 1), 0);
}

/* Rule 3.5. */
static void walk__undefined_type__ends_before_it(void **state)
{
    ze_eu_count_ext_t last = {.stype = EU_COUNT};
    ze_eu_count_ext_t odd = {.stype = (ze_structure_type_t)UNDEFINED_STYPE, .pNext = &last};
    ze_eu_count_ext_t first = {.stype = EU_COUNT, .pNext = &odd};

    (void)state;
    assert_int_equal(length(&first), 1);
    odd.stype = (ze_structure_type_t)0;
    assert_int_equal(length(&first), 1);
}

/* Rule 3.5. */
static void walk__cycle__ends_at_the_limit(void **state)
{
    ze_eu_count_ext_t a = {.stype = EU_COUNT};
    ze_eu_count_ext_t b = {.stype = EU_COUNT, .pNext = &a};

    (void)state;
    a.pNext = &b;
    assert_int_equal(length(&a), ZETA_CHAIN_LIMIT);
}

static void walk__node_across_a_hole__ends(void **state)
{
    size_t page;
    char *pages = page_before_hole(&page);
    char *node = pages + page - 8; /* stype can be read, pNext cannot */
    uint32_t stype = EU_COUNT;

    (void)state;
    memcpy(node, &stype, sizeof(stype));
    assert_int_equal(length(node), 0);
    assert_int_equal(munmap(pages, 2 * page), 0);
}

static void find__struct_cut_by_a_hole__is_not_found(void **state)
{
    size_t page;
    char *pages = page_before_hole(&page);
    ze_base_desc_t head = {.stype = EU_COUNT};
    char *node = pages + page - sizeof(head);

    (void)state;
    memcpy(node, &head, sizeof(head));
    assert_int_equal(length(node), 1);
    assert_null(zeta_chain_find(node, EU_COUNT, sizeof(ze_eu_count_ext_t)));
    assert_ptr_equal(zeta_chain_find(node, EU_COUNT, sizeof(head)), node);
    assert_int_equal(munmap(pages, 2 * page), 0);
}

static void find__type_behind_others__is_found(void **state)
{
    ze_device_ip_version_ext_t wanted = {.stype = IP_VERSION};
    ze_eu_count_ext_t first = {.stype = EU_COUNT, .pNext = &wanted};

    (void)state;
    assert_ptr_equal(zeta_chain_find(&first, IP_VERSION, sizeof(wanted)), &wanted);
    assert_null(zeta_chain_find(&first, ZE_STRUCTURE_TYPE_DEVICE_LUID_EXT_PROPERTIES, 16));
}

static void readable__sizes_up_to_a_hole__end_exactly_there(void **state)
{
    size_t page;
    char *pages = page_before_hole(&page);

    (void)state;
    assert_true(zeta_chain_readable(pages, page));
    assert_false(zeta_chain_readable(pages, page + 1));
    assert_false(zeta_chain_readable(pages + page, 1));
    assert_true(zeta_chain_readable(pages + page, 0));
    assert_int_equal(munmap(pages, 2 * page), 0);
}

SUITE(chain)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walk__null__ends_at_once),
        cmocka_unit_test(walk__good_chain__gives_nodes_in_order),
        cmocka_unit_test(walk__tools_type__is_defined_too),
        cmocka_unit_test(walk__unmapped_and_odd_addresses__end),
        cmocka_unit_test(walk__undefined_type__ends_before_it),
        cmocka_unit_test(walk__cycle__ends_at_the_limit),
        cmocka_unit_test(walk__node_across_a_hole__ends),
        cmocka_unit_test(find__struct_cut_by_a_hole__is_not_found),
        cmocka_unit_test(find__type_behind_others__is_found),
        cmocka_unit_test(readable__sizes_up_to_a_hole__end_exactly_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
