/*
 * Handles: lookup of any value, life of slots, order of reuse, explanations.
 */
#include "core/object/object.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/util/error.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define REUSE_AFTER 65536u

struct thing {
    struct zeta_object object;
    uint64_t payload[8];
};

static unsigned int finished;

static void count_finish(void *object)
{
    (void)object;
    finished++;
}

static int setup(void **state)
{
    (void)state;
    finished = 0;
    return zeta_object_init() == ZE_RESULT_SUCCESS ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    for (int kind = 0; kind < ZETA_KIND_COUNT; kind++)
        zeta_object_set_finisher((enum zeta_kind)kind, NULL);
    zeta_object_close();
    return 0;
}

static struct thing *create(enum zeta_kind kind)
{
    void *object = NULL;

    assert_int_equal(zeta_object_create(kind, sizeof(struct thing), &object), ZE_RESULT_SUCCESS);
    return object;
}

static void destroy(void *object)
{
    assert_true(zeta_object_retire(object));
    zeta_object_unpin(object);
}

/* A generator with a fixed seed, so that a failure repeats. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void object__created__is_live_zeroed_and_of_its_kind(void **state)
{
    struct thing *thing = create(ZETA_KIND_EVENT);

    (void)state;
    assert_true(zeta_object_is(thing, ZETA_KIND_EVENT));
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(thing->payload[i], 0);
    for (int kind = 0; kind < ZETA_KIND_COUNT; kind++) {
        if (kind != ZETA_KIND_EVENT)
            assert_false(zeta_object_is(thing, (enum zeta_kind)kind));
    }
    destroy(thing);
}

static void object__dispatch_tables_set__begin_each_object(void **state)
{
    static const int tables[4];
    const void *const pointers[4] = {&tables[0], &tables[1], &tables[2], &tables[3]};
    const void *const none[4] = {NULL, NULL, NULL, NULL};
    struct thing *thing;

    (void)state;
    zeta_object_set_dispatch(pointers);
    thing = create(ZETA_KIND_KERNEL);
    assert_memory_equal(thing, pointers, sizeof(pointers));
    zeta_object_set_dispatch(none);
    destroy(thing);
}

static void lookup__every_kind_against_every_other__accepts_only_its_own(void **state)
{
    struct thing *things[ZETA_KIND_COUNT] = {NULL};

    (void)state;
    for (int kind = 1; kind < ZETA_KIND_COUNT; kind++)
        things[kind] = create((enum zeta_kind)kind);
    for (int have = 1; have < ZETA_KIND_COUNT; have++) {
        for (int want = 0; want < ZETA_KIND_COUNT; want++)
            assert_int_equal(zeta_object_is(things[have], (enum zeta_kind)want), have == want);
    }
    for (int kind = 1; kind < ZETA_KIND_COUNT; kind++)
        destroy(things[kind]);
}

static void lookup__million_random_values__are_refused(void **state)
{
    struct thing *thing = create(ZETA_KIND_DEVICE);
    uint64_t random = 0x9e3779b97f4a7c15u;

    (void)state;
    for (unsigned int i = 0; i < 1000000; i++) {
        uint64_t value = next_random(&random);
        enum zeta_kind kind = (enum zeta_kind)(value % ZETA_KIND_COUNT);

        assert_false(zeta_object_is((const void *)(uintptr_t)value, kind));
    }
    destroy(thing);
}

static void lookup__values_around_live_objects__are_refused(void **state)
{
    const void *volatile nothing = NULL; /* the compiler would warn of the known value */
    struct thing *thing = create(ZETA_KIND_DEVICE);
    uintptr_t address = (uintptr_t)thing;

    (void)state;
    for (uintptr_t off = 1; off < 4096; off++)
        assert_false(zeta_object_is((const void *)(address + off), ZETA_KIND_DEVICE));
    for (unsigned int bit = 0; bit < 64; bit++)
        assert_false(
            zeta_object_is((const void *)(address ^ ((uintptr_t)1 << bit)), ZETA_KIND_DEVICE));
    assert_false(zeta_object_is(nothing, ZETA_KIND_DEVICE));
    destroy(thing);
}

/* Rule 3.2. */
static void slot__destroyed__is_refused_until_reused_after_65536_creations(void **state)
{
    struct thing *first = create(ZETA_KIND_FENCE);
    struct thing *second = create(ZETA_KIND_FENCE);
    struct thing **held = calloc(REUSE_AFTER, sizeof(struct thing *));

    (void)state;
    assert_non_null(held);
    destroy(first);
    destroy(second);
    for (uint32_t i = 0; i < REUSE_AFTER; i++) {
        assert_false(zeta_object_is(first, ZETA_KIND_FENCE));
        held[i] = create(ZETA_KIND_FENCE);
        assert_ptr_not_equal(held[i], first);
        assert_ptr_not_equal(held[i], second);
    }
    /* Now both have rested; they come back in the order in which they were freed. */
    assert_ptr_equal(create(ZETA_KIND_FENCE), first);
    assert_ptr_equal(create(ZETA_KIND_FENCE), second);
    for (uint32_t i = 0; i < REUSE_AFTER; i++)
        destroy(held[i]);
    destroy(first);
    destroy(second);
    free(held);
}

/* Rule 3.2. */
static void slot__churn__stale_handles_stay_refused(void **state)
{
    struct thing *stale[64];

    (void)state;
    for (size_t i = 0; i < 64; i++) {
        stale[i] = create(ZETA_KIND_EVENT);
        destroy(stale[i]);
    }
    for (uint32_t i = 0; i < REUSE_AFTER - 64; i++)
        destroy(create(ZETA_KIND_EVENT));
    for (size_t i = 0; i < 64; i++)
        assert_false(zeta_object_is(stale[i], ZETA_KIND_EVENT));
}

static void slot__long_churn__uses_bounded_memory(void **state)
{
    uintptr_t base = zeta_arenas[ZETA_KIND_CONTEXT].base;
    uintptr_t highest = 0;

    (void)state;
    for (uint32_t i = 0; i < 4 * REUSE_AFTER; i++) {
        struct thing *thing = create(ZETA_KIND_CONTEXT);

        if ((uintptr_t)thing - base > highest)
            highest = (uintptr_t)thing - base;
        destroy(thing);
    }
    assert_cmp(highest, <=, (uintptr_t)(REUSE_AFTER + 1) * 256);
}

static void slot__reused__is_zeroed_again(void **state)
{
    struct thing *thing = create(ZETA_KIND_IMAGE);
    struct thing *again = NULL;

    (void)state;
    memset(thing->payload, 0xa5, sizeof(thing->payload));
    destroy(thing);
    for (uint32_t i = 0; i <= REUSE_AFTER && again != thing; i++) {
        again = create(ZETA_KIND_IMAGE);
        if (again != thing)
            destroy(again);
    }
    assert_ptr_equal(again, thing);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(again->payload[i], 0);
    destroy(again);
}

static void pin__held_over_retire__delays_finisher(void **state)
{
    struct thing *thing = create(ZETA_KIND_MODULE);

    (void)state;
    zeta_object_set_finisher(ZETA_KIND_MODULE, count_finish);
    assert_true(zeta_object_pin(thing, ZETA_KIND_MODULE));
    assert_true(zeta_object_retire(thing));
    assert_false(zeta_object_retire(thing));
    assert_false(zeta_object_is(thing, ZETA_KIND_MODULE));
    assert_false(zeta_object_pin(thing, ZETA_KIND_MODULE));
    zeta_object_unpin(thing);
    assert_int_equal(finished, 0);
    zeta_object_unpin(thing);
    assert_int_equal(finished, 1);
    assert_false(zeta_object_pin(thing, ZETA_KIND_MODULE));
    assert_int_equal(finished, 1);
}

static void pin__wrong_kind_or_garbage__is_refused(void **state)
{
    struct thing *thing = create(ZETA_KIND_MODULE);

    (void)state;
    assert_false(zeta_object_pin(thing, ZETA_KIND_KERNEL));
    assert_false(zeta_object_pin((const char *)thing + 8, ZETA_KIND_MODULE));
    assert_false(zeta_object_pin(NULL, ZETA_KIND_MODULE));
    assert_false(zeta_object_pin((const void *)(uintptr_t)0xdeadbeef, ZETA_KIND_MODULE));
    destroy(thing);
}

static void retire__garbage__is_refused(void **state)
{
    char elsewhere[512] = {0};

    (void)state;
    assert_false(zeta_object_retire(elsewhere));
    assert_false(zeta_object_retire(NULL));
}

static void create__struct_larger_than_slot__is_refused(void **state)
{
    void *object = NULL;

    (void)state;
    assert_int_equal(zeta_object_create(ZETA_KIND_EVENT, 257, &object), ZE_RESULT_ERROR_UNKNOWN);
    assert_null(object);
    assert_non_null(strstr(zeta_error_describe(), "257"));
    assert_int_equal(zeta_object_create(ZETA_KIND_EVENT, 256, &object), ZE_RESULT_SUCCESS);
    destroy(object);
}

static void collect(void *object, void *context)
{
    struct thing *thing = object;
    uint64_t *sum = context;

    *sum += thing->payload[0];
}

static void each__some_destroyed__visits_the_live(void **state)
{
    struct thing *things[10];
    uint64_t sum = 0;

    (void)state;
    for (size_t i = 0; i < 10; i++) {
        things[i] = create(ZETA_KIND_SAMPLER);
        things[i]->payload[0] = (uint64_t)1 << i;
    }
    destroy(things[3]);
    destroy(things[7]);
    zeta_object_each(ZETA_KIND_SAMPLER, collect, &sum);
    assert_int_equal(sum, 0x3ff & ~(1u << 3) & ~(1u << 7));
    for (size_t i = 0; i < 10; i++) {
        if (i != 3 && i != 7)
            destroy(things[i]);
    }
}

static void explain_says(const void *handle, ze_result_t result, const char *words)
{
    assert_int_equal(zeta_object_explain(handle, ZETA_KIND_EVENT, "zeEventQueryStatus", "hEvent"),
                     result);
    assert_non_null(strstr(zeta_error_describe(), "zeEventQueryStatus"));
    assert_non_null(strstr(zeta_error_describe(), words));
}

static void explain__each_cause__names_it(void **state)
{
    struct thing *fence = create(ZETA_KIND_FENCE);
    struct thing *event = create(ZETA_KIND_EVENT);
    int local = 0;

    (void)state;
    explain_says(NULL, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "hEvent is null");
    explain_says(&local, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "not a handle of this library");
    explain_says(fence, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "another kind (fence)");
    destroy(event);
    explain_says(event, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "destroyed");
    destroy(fence);
}

static void close__then_init__refuses_old_handles_as_uninitialised(void **state)
{
    struct thing *event = create(ZETA_KIND_EVENT);
    void *object = NULL;

    (void)state;
    zeta_object_close();
    assert_false(zeta_object_is(event, ZETA_KIND_EVENT));
    explain_says(event, ZE_RESULT_ERROR_UNINITIALIZED, "not initialised");
    assert_int_equal(zeta_object_create(ZETA_KIND_EVENT, sizeof(struct thing), &object),
                     ZE_RESULT_ERROR_UNINITIALIZED);
    assert_false(zeta_object_retire(event));
    zeta_object_unpin(event);

    assert_int_equal(zeta_object_init(), ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_object_init(), ZE_RESULT_SUCCESS);
    assert_false(zeta_object_is(event, ZETA_KIND_EVENT));
    explain_says(event, ZE_RESULT_ERROR_UNINITIALIZED, "fork");
}

/* An emulator of processors takes a limit and does not set it. */
#define NO_LIMIT UINT_MAX

/* MiB that can still be reserved when handles are there and address space is limited. */
static unsigned left_of(uint64_t limit_mib)
{
    const struct rlimit limit = {limit_mib << 20, limit_mib << 20};
    const size_t piece = (size_t)16 << 20;
    struct rlimit set = {0};
    unsigned left = 0;

    if (setrlimit(RLIMIT_AS, &limit) != 0 || getrlimit(RLIMIT_AS, &set) != 0)
        return 0;
    if (set.rlim_cur != limit.rlim_cur)
        return NO_LIMIT;
    if (zeta_object_init() != ZE_RESULT_SUCCESS)
        return 0;
    while (mmap(NULL, piece, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) !=
           MAP_FAILED)
        left += 16;
    return left;
}

static unsigned left_in_child(uint64_t limit_mib)
{
    unsigned left = 0;
    int ends[2];
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_cmp(child, >=, 0);
    if (child == 0) {
        left = left_of(limit_mib);
        _exit(write(ends[1], &left, sizeof(left)) == (ssize_t)sizeof(left) ? 0 : 1);
    }
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(read(ends[0], &left, sizeof(left)), sizeof(left));
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return left;
}

/* Before anything else: handles of this process would count in the children. */
static void address_space__higher_limit__leaves_more_for_others(void **state)
{
    unsigned before = 0;

    (void)state;
    if (HAVE_ADDRESS_SANITIZER || HAVE_THREAD_SANITIZER) {
        print_message("skipped: sanitizers need all of the address space\n");
        skip();
    }
    /* Less than 1.1 GiB has no room for handles. */
    for (uint64_t gib = 2; gib <= 48; gib++) {
        for (uint64_t part = 0; part < 4; part++) {
            const unsigned left = left_in_child(gib * 1024 + part * 256);

            if (left == NO_LIMIT) {
                print_message("skipped: address space cannot be limited here\n");
                skip();
            }
            if (left < 256 || left + 16 < before)
                fail_msg("a limit of %u.%02u GiB leaves %u MiB, a smaller one %u", (unsigned)gib,
                         (unsigned)part * 25, left, before);
            before = left;
        }
    }
}

SUITE(object)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(address_space__higher_limit__leaves_more_for_others),
        cmocka_unit_test_setup_teardown(object__created__is_live_zeroed_and_of_its_kind, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(object__dispatch_tables_set__begin_each_object, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            lookup__every_kind_against_every_other__accepts_only_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(lookup__million_random_values__are_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(lookup__values_around_live_objects__are_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            slot__destroyed__is_refused_until_reused_after_65536_creations, setup, teardown),
        cmocka_unit_test_setup_teardown(slot__churn__stale_handles_stay_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(slot__long_churn__uses_bounded_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(slot__reused__is_zeroed_again, setup, teardown),
        cmocka_unit_test_setup_teardown(pin__held_over_retire__delays_finisher, setup, teardown),
        cmocka_unit_test_setup_teardown(pin__wrong_kind_or_garbage__is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(retire__garbage__is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(create__struct_larger_than_slot__is_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(each__some_destroyed__visits_the_live, setup, teardown),
        cmocka_unit_test_setup_teardown(explain__each_cause__names_it, setup, teardown),
        cmocka_unit_test_setup_teardown(close__then_init__refuses_old_handles_as_uninitialised,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
