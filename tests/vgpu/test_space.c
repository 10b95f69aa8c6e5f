#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugins/vgpu/machine/space.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static int make(void **state)
{
    *state = zeta_vgpu_space_create();
    return *state ? 0 : 1;
}

static int drop(void **state)
{
    zeta_vgpu_space_destroy(*state);
    return 0;
}

static void add__overlap_or_nonsense__is_refused(void **state)
{
    struct zeta_vgpu_space *space = *state;

    assert_true(zeta_vgpu_space_add(space, at(0x10000), 0x1000, ZETA_VGPU_ACCESS_WRITE));
    assert_false(zeta_vgpu_space_add(space, at(0x10fff), 1, ZETA_VGPU_ACCESS_WRITE));
    assert_false(zeta_vgpu_space_add(space, at(0xf000), 0x1001, ZETA_VGPU_ACCESS_WRITE));
    assert_false(zeta_vgpu_space_add(space, at(0x8000), 0x20000, ZETA_VGPU_ACCESS_WRITE));
    assert_false(zeta_vgpu_space_add(space, at(0x20000), 0, ZETA_VGPU_ACCESS_WRITE));
    assert_false(zeta_vgpu_space_add(space, at(UINT64_MAX - 10), 20, ZETA_VGPU_ACCESS_WRITE));
    assert_true(zeta_vgpu_space_add(space, at(0xf000), 0x1000, ZETA_VGPU_ACCESS_READ));
    assert_true(zeta_vgpu_space_add(space, at(0x11000), 1, ZETA_VGPU_ACCESS_READ));
}

static void find__edges__are_exact(void **state)
{
    struct zeta_vgpu_space *space = *state;
    struct zeta_vgpu_range range;

    assert_true(zeta_vgpu_space_add(space, at(0x20010), 0x20, ZETA_VGPU_ACCESS_READ));
    assert_true(zeta_vgpu_space_add(space, at(0x10000), 0x1000, ZETA_VGPU_ACCESS_WRITE));
    assert_false(zeta_vgpu_space_find(space, 0x2000f, &range));
    assert_true(zeta_vgpu_space_find(space, 0x20010, &range));
    assert_int_equal(range.end, 0x20030);
    assert_false(range.writable);
    assert_false(zeta_vgpu_space_find(space, 0x20030, &range));
    assert_true(zeta_vgpu_space_find(space, 0x10fff, &range));
    assert_true(range.writable);
    assert_false(zeta_vgpu_space_find(space, 0, &range));
    assert_false(zeta_vgpu_space_find(space, UINT64_MAX, &range));
}

static void next__walk__skips_gaps_and_closed_ranges(void **state)
{
    struct zeta_vgpu_space *space = *state;
    struct zeta_vgpu_range range;

    assert_false(zeta_vgpu_space_next(space, 0, &range));
    assert_true(zeta_vgpu_space_add(space, at(0x10000), 0x1000, ZETA_VGPU_ACCESS_WRITE));
    assert_true(zeta_vgpu_space_add(space, at(0x11000), 0x1000, ZETA_VGPU_ACCESS_NONE));
    assert_true(zeta_vgpu_space_add(space, at(0x20000), 0x1000, ZETA_VGPU_ACCESS_READ));
    assert_true(zeta_vgpu_space_next(space, 0, &range));
    assert_int_equal(range.begin, 0x10000);
    assert_true(zeta_vgpu_space_next(space, 0x10fff, &range));
    assert_int_equal(range.begin, 0x10000);
    assert_true(zeta_vgpu_space_next(space, 0x11000, &range));
    assert_int_equal(range.begin, 0x20000);
    assert_false(zeta_vgpu_space_next(space, 0x21000, &range));
}

static void covers__ranges_that_touch__count_as_one(void **state)
{
    struct zeta_vgpu_space *space = *state;

    assert_true(zeta_vgpu_space_add(space, at(0x10000), 0x1000, ZETA_VGPU_ACCESS_WRITE));
    assert_true(zeta_vgpu_space_add(space, at(0x11000), 0x1000, ZETA_VGPU_ACCESS_READ));
    assert_true(zeta_vgpu_space_covers(space, 0x10800, 0x1000, ZETA_VGPU_ACCESS_READ));
    assert_false(zeta_vgpu_space_covers(space, 0x10800, 0x1000, ZETA_VGPU_ACCESS_WRITE));
    assert_true(zeta_vgpu_space_covers(space, 0x10800, 0x800, ZETA_VGPU_ACCESS_WRITE));
    assert_false(zeta_vgpu_space_covers(space, 0x10800, 0x1801, ZETA_VGPU_ACCESS_READ));
    assert_false(zeta_vgpu_space_covers(space, 0x10800, UINT64_MAX, ZETA_VGPU_ACCESS_READ));
    assert_false(zeta_vgpu_space_covers(space, 0xffff, 2, ZETA_VGPU_ACCESS_READ));
}

static void code_place__low_bits_taken__is_behind_what_has_them(void **state)
{
    struct zeta_rv64_code *code = (struct zeta_rv64_code *)*state;
    struct zeta_vgpu_space *space = *state;
    const uint64_t here = UINT64_C(0x700000000000);

    assert_int_equal(zeta_vgpu_space_code_place(space, here + 0x1000, 0x1000), here + 0x1000);
    assert_true(zeta_vgpu_space_add(space, at(0x500000001000), 0x9000, ZETA_VGPU_ACCESS_READ));
    assert_true(zeta_vgpu_space_add_code(space, at(0x300000003000), 0x1004, code));
    assert_true(zeta_vgpu_space_add_code(space, at(0x600000005000), 0x1000, code));
    /* Memory that is no code does not matter, nor does code that ends before or begins behind. */
    assert_int_equal(zeta_vgpu_space_code_place(space, here + 0x1000, 0x2000), here + 0x1000);
    assert_int_equal(zeta_vgpu_space_code_place(space, here + 0x6000, 0x2000), here + 0x6000);
    assert_int_equal(zeta_vgpu_space_code_place(space, here + 0x2000, 0x1004), here + 0x6000);
    assert_int_equal(zeta_vgpu_space_code_place(space, here + 0x4000, 0x1000), here + 0x6000);
    /* The low bits begin again behind the last. */
    assert_true(zeta_vgpu_space_add_code(space, at(0x6fffffff8000), 0x10000, code));
    assert_int_equal(zeta_vgpu_space_code_place(space, here - 0x9000, 0x2000), here + 0x8000);
    /* Where all is taken there is no place. */
    assert_true(zeta_vgpu_space_add_code(space, at(0x100000010000), 0x7fff0000, code));
    assert_true(zeta_vgpu_space_add_code(space, at(0x200080000000), 0x80000000, code));
    assert_int_equal(zeta_vgpu_space_code_place(space, here, 0x10000), 0);
}

static void remove__many__leaves_the_others(void **state)
{
    struct zeta_vgpu_space *space = *state;
    struct zeta_vgpu_range range;

    for (uint64_t i = 1; i <= 300; i++)
        assert_true(zeta_vgpu_space_add(space, at((i * 11 % 301) * 0x10000), 0x1000,
                                        ZETA_VGPU_ACCESS_WRITE));
    assert_false(zeta_vgpu_space_remove(space, at(0x10800)));
    for (uint64_t i = 2; i <= 300; i += 2)
        assert_true(zeta_vgpu_space_remove(space, at(i * 0x10000)));
    for (uint64_t i = 1; i <= 300; i++)
        assert_int_equal(zeta_vgpu_space_find(space, i * 0x10000 + 5, &range), i % 2);
}

/* Model addresses follow from the order of adding, not from where memory happens to be. */
static void protect__part_of_a_range__cuts_it_and_keeps_its_model(void **state)
{
    struct zeta_vgpu_space *space = *state;
    struct zeta_vgpu_range whole, part;

    assert_true(zeta_vgpu_space_add(space, at(0x10000), 0x4000, ZETA_VGPU_ACCESS_WRITE));
    assert_true(zeta_vgpu_space_find(space, 0x10000, &whole));
    assert_true(zeta_vgpu_space_protect(space, at(0x11000), 0x1000, ZETA_VGPU_ACCESS_READ));
    assert_true(zeta_vgpu_space_protect(space, at(0x12000), 0x1000, ZETA_VGPU_ACCESS_NONE));
    assert_true(zeta_vgpu_space_covers(space, 0x10ff8, 16, ZETA_VGPU_ACCESS_READ));
    assert_false(zeta_vgpu_space_covers(space, 0x10ff8, 16, ZETA_VGPU_ACCESS_WRITE));
    assert_false(zeta_vgpu_space_covers(space, 0x11ff8, 16, ZETA_VGPU_ACCESS_READ));
    assert_false(zeta_vgpu_space_find(space, 0x12800, &part));
    assert_true(zeta_vgpu_space_covers(space, 0x13000, 0x1000, ZETA_VGPU_ACCESS_WRITE));
    /* Nothing else fits where a closed range is, and its model is the same when it opens. */
    assert_false(zeta_vgpu_space_add(space, at(0x12000), 0x1000, ZETA_VGPU_ACCESS_WRITE));
    assert_true(zeta_vgpu_space_protect(space, at(0x10000), 0x4000, ZETA_VGPU_ACCESS_WRITE));
    assert_true(zeta_vgpu_space_covers(space, 0x10000, 0x4000, ZETA_VGPU_ACCESS_WRITE));
    assert_true(zeta_vgpu_space_find(space, 0x12800, &part));
    assert_int_equal(part.model_begin + 0x12800 - part.begin,
                     whole.model_begin + 0x12800 - whole.begin);
}

static void clear__any_span__takes_exactly_that(void **state)
{
    struct zeta_vgpu_space *space = *state;

    assert_true(zeta_vgpu_space_add(space, at(0x10000), 0x4000, ZETA_VGPU_ACCESS_WRITE));
    assert_true(zeta_vgpu_space_add(space, at(0x14000), 0x1000, ZETA_VGPU_ACCESS_READ));
    assert_true(zeta_vgpu_space_add(space, at(0x18000), 0x1000, ZETA_VGPU_ACCESS_WRITE));
    assert_true(zeta_vgpu_space_clear(space, at(0x13000), 0x3000));
    assert_true(zeta_vgpu_space_covers(space, 0x10000, 0x3000, ZETA_VGPU_ACCESS_WRITE));
    assert_false(zeta_vgpu_space_covers(space, 0x13000, 1, ZETA_VGPU_ACCESS_READ));
    assert_false(zeta_vgpu_space_covers(space, 0x14fff, 1, ZETA_VGPU_ACCESS_READ));
    assert_true(zeta_vgpu_space_covers(space, 0x18000, 0x1000, ZETA_VGPU_ACCESS_WRITE));
    /* A hole in the middle of one range. */
    assert_true(zeta_vgpu_space_clear(space, at(0x11000), 0x1000));
    assert_true(zeta_vgpu_space_covers(space, 0x10000, 0x1000, ZETA_VGPU_ACCESS_WRITE));
    assert_true(zeta_vgpu_space_covers(space, 0x12000, 0x1000, ZETA_VGPU_ACCESS_WRITE));
    assert_false(zeta_vgpu_space_covers(space, 0x11800, 1, ZETA_VGPU_ACCESS_READ));
    assert_true(zeta_vgpu_space_clear(space, at(0x40000), 0x1000));
    assert_true(zeta_vgpu_space_clear(space, at(0), 0x100000));
    assert_false(zeta_vgpu_space_covers(space, 0x18000, 1, ZETA_VGPU_ACCESS_READ));
}

static void model__other_addresses__same_layout(void **state)
{
    static const uint64_t bases[2][3] = {{0x10000, 0x90000, 0x50000},
                                         {0x7f0000000000, 0x20000, 0x7e0000000000}};
    uint64_t model[2][3];

    (void)state;
    for (unsigned run = 0; run < 2; run++) {
        struct zeta_vgpu_space *space = zeta_vgpu_space_create();

        assert_non_null(space);
        for (unsigned i = 0; i < 3; i++) {
            struct zeta_vgpu_range range;

            assert_true(zeta_vgpu_space_add(space, at(bases[run][i]), 0x11000 * (i + 1),
                                            ZETA_VGPU_ACCESS_WRITE));
            assert_true(zeta_vgpu_space_find(space, bases[run][i], &range));
            model[run][i] = range.model_begin;
        }
        zeta_vgpu_space_destroy(space);
    }
    assert_memory_equal(model[0], model[1], sizeof(model[0]));
    assert_cmp(model[0][0], !=, 0);
    assert_cmp(model[0][1], >=, model[0][0] + 0x11000);
    assert_cmp(model[0][2], >=, model[0][1] + 0x22000);
}

struct reader {
    struct zeta_vgpu_space *space;
    uint32_t number;
    atomic_bool inside;
    atomic_bool left;
};

/* Stays inside for a while, as a running slice does. */
static void *stay(void *argument)
{
    struct reader *reader = argument;

    (void)zeta_vgpu_space_enter(reader->space, reader->number);
    atomic_store(&reader->inside, true);
    (void)usleep(30000);
    atomic_store(&reader->left, true);
    zeta_vgpu_space_leave(reader->space, reader->number);
    return NULL;
}

static void remove__reader_inside__waits(void **state)
{
    struct zeta_vgpu_space *space = *state;
    struct reader reader = {.space = space};
    pthread_t thread;
    uint64_t before;

    assert_true(zeta_vgpu_space_add(space, at(0x10000), 0x1000, ZETA_VGPU_ACCESS_WRITE));
    assert_true(zeta_vgpu_space_reader_add(space, &reader.number));
    before = zeta_vgpu_space_enter(space, reader.number);
    zeta_vgpu_space_leave(space, reader.number);
    atomic_init(&reader.inside, false);
    atomic_init(&reader.left, false);
    assert_int_equal(pthread_create(&thread, NULL, stay, &reader), 0);
    while (!atomic_load(&reader.inside))
        (void)usleep(100);
    assert_true(zeta_vgpu_space_remove(space, at(0x10000)));
    assert_true(atomic_load(&reader.left));
    (void)pthread_join(thread, NULL);
    assert_cmp(zeta_vgpu_space_enter(space, reader.number), >, before);
    zeta_vgpu_space_leave(space, reader.number);
    zeta_vgpu_space_reader_remove(space, reader.number);
}

/* Slice after slice; what it writes belongs to it between two enters. */
struct worker {
    struct zeta_vgpu_space *space;
    uint32_t number;
    volatile uint64_t halves; /* even between two slices */
    atomic_bool begun;
    const atomic_bool *stop;
};

static void *work(void *argument)
{
    struct worker *worker = argument;

    while (!atomic_load_explicit(worker->stop, memory_order_relaxed)) {
        (void)zeta_vgpu_space_enter(worker->space, worker->number);
        worker->halves++;
        worker->halves++;
        atomic_store_explicit(&worker->begun, true, memory_order_relaxed);
    }
    zeta_vgpu_space_leave(worker->space, worker->number);
    return NULL;
}

static void hold__readers_work__all_are_between_slices(void **state)
{
    struct zeta_vgpu_space *space = *state;
    struct worker workers[3];
    pthread_t threads[3];
    atomic_bool stop;
    uint64_t last = 0;

    atomic_init(&stop, false);
    for (unsigned i = 0; i < 3; i++) {
        workers[i] = (struct worker){.space = space, .stop = &stop};
        atomic_init(&workers[i].begun, false);
        assert_true(zeta_vgpu_space_reader_add(space, &workers[i].number));
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        while (!atomic_load(&workers[i].begun))
            (void)usleep(100);
    }
    for (unsigned round = 0; round < 300; round++) {
        const uint64_t generation = zeta_vgpu_space_hold(space);

        assert_cmp(generation, >, last);
        last = generation;
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(workers[i].halves % 2, 0);
            workers[i].halves = 0;
        }
        zeta_vgpu_space_release(space);
    }
    atomic_store(&stop, true);
    for (unsigned i = 0; i < 3; i++) {
        (void)pthread_join(threads[i], NULL);
        zeta_vgpu_space_reader_remove(space, workers[i].number);
    }
}

static void readers__all_taken__next_is_refused(void **state)
{
    struct zeta_vgpu_space *space = *state;
    uint32_t number;

    for (uint32_t i = 0; i < ZETA_VGPU_SPACE_READERS; i++) {
        assert_true(zeta_vgpu_space_reader_add(space, &number));
        assert_int_equal(number, i);
    }
    assert_false(zeta_vgpu_space_reader_add(space, &number));
    zeta_vgpu_space_reader_remove(space, 17);
    assert_true(zeta_vgpu_space_reader_add(space, &number));
    assert_int_equal(number, 17);
}

#define WITH_SPACE(test) cmocka_unit_test_setup_teardown(test, make, drop)

SUITE(space)
{
    const struct CMUnitTest tests[] = {
        WITH_SPACE(add__overlap_or_nonsense__is_refused),
        WITH_SPACE(find__edges__are_exact),
        WITH_SPACE(next__walk__skips_gaps_and_closed_ranges),
        WITH_SPACE(covers__ranges_that_touch__count_as_one),
        WITH_SPACE(code_place__low_bits_taken__is_behind_what_has_them),
        WITH_SPACE(remove__many__leaves_the_others),
        WITH_SPACE(protect__part_of_a_range__cuts_it_and_keeps_its_model),
        WITH_SPACE(clear__any_span__takes_exactly_that),
        WITH_SPACE(model__other_addresses__same_layout),
        WITH_SPACE(remove__reader_inside__waits),
        WITH_SPACE(hold__readers_work__all_are_between_slices),
        WITH_SPACE(readers__all_taken__next_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
