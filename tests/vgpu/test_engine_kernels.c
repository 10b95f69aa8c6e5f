/* Kernels that should work: results, ids, arguments, barriers, printf. */
#include "rig.h"

#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_basic(void **state)
{
    static struct rig rig;
    struct zeta_vgpu_engine_config config = rig_config(2);

    rig_open(&rig, "basic", &config);
    *state = &rig;
    return 0;
}

static int close_rig(void **state)
{
    rig_close(*state);
    return 0;
}

static void fill__many_groups__writes_all(void **state)
{
    struct rig *rig = *state;
    uint32_t *out = (uint32_t *)rig->memory;
    struct {
        void *out;
        uint32_t value;
    } arguments = {out, 0xabcd1234};

    assert_int_equal(rig_run(rig, "fill", &arguments, 37, 100), ZETA_VGPU_OK);
    for (unsigned i = 0; i < 3700; i++)
        assert_int_equal(out[i], 0xabcd1234);
    assert_int_equal(out[3700], 0);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_GROUPS_DISPATCHED), 37);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_THREADS_DISPATCHED), 3700);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_GLOBAL_WRITE_BYTES), 4 * 3700);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_KERNELS_LAUNCHED), 1);
}

static void vector_add__floats__adds(void **state)
{
    struct rig *rig = *state;
    float *a = (float *)rig->memory, *b = a + 1024, *c = b + 1024;
    void *arguments[] = {a, b, c};

    for (unsigned i = 0; i < 1024; i++) {
        a[i] = (float)i * 0.5f;
        b[i] = 1.0f / (float)(i + 1);
    }
    assert_int_equal(rig_run(rig, "vector_add", arguments, 4, 256), ZETA_VGPU_OK);
    for (unsigned i = 0; i < 1024; i++)
        assert_cmp(c[i], ==, a[i] + b[i]);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_INST_FP32), 1024);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_FP_OPS), 1024);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_INST_FP64), 0);
}

static void count__two_workers__loses_nothing(void **state)
{
    struct rig *rig = *state;
    void *arguments[] = {rig->memory};

    assert_int_equal(rig_run(rig, "count", arguments, 50, 512), ZETA_VGPU_OK);
    assert_int_equal(*(uint32_t *)rig->memory, 50 * 512);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_INST_ATOMIC), 50 * 512);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_GLOBAL_WRITE_BYTES), 4 * 50 * 512);
}

static void barrier__ping_pong__keeps_order(void **state)
{
    struct rig *rig = *state;
    uint32_t *out = (uint32_t *)rig->memory;
    struct {
        void *out;
        uint32_t rounds;
    } arguments = {out, 11};
    uint32_t expected = 0;

    for (unsigned i = 0; i < 11; i++)
        expected = (expected + 1) * 3;
    assert_int_equal(rig_run(rig, "ping_pong", &arguments, 9, 65), ZETA_VGPU_OK);
    for (unsigned i = 0; i < 9 * 65; i++)
        assert_int_equal(out[i], expected);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_BARRIER_MESSAGES), 9 * 65 * 22);
}

static void ids__three_dimensions__match_the_grid(void **state)
{
    struct rig *rig = *state;
    const uint64_t *item = (const uint64_t *)rig->memory;
    void *arguments[] = {rig->memory};
    struct zeta_vgpu_launch launch = {
        .arguments = arguments,
        .group_count = {3, 2, 2},
        .group_size = {4, 2, 3},
        .global_offset = {100, 200, UINT64_C(1) << 40},
    };

    assert_int_equal(rig_launch(rig, "ids", &launch), ZETA_VGPU_OK);
    for (uint64_t z = 0; z < 6; z++) {
        for (uint64_t y = 0; y < 4; y++) {
            for (uint64_t x = 0; x < 12; x++, item += 20) {
                const uint64_t expected[19] = {
                    x + 100, y + 200, z + (UINT64_C(1) << 40), /* global */
                    x / 4,   y / 2,   z / 3,                   /* group */
                    x % 4,   y % 2,   z % 3,                   /* local */
                    3,       2,       2,                       /* groups */
                    4,       2,       3,                       /* group size */
                    12,      4,       6,                       /* global size */
                    3,
                };

                assert_memory_equal(item, expected, sizeof(expected));
            }
        }
    }
}

static void dispatch__small_groups__spread_over_eus(void **state)
{
    struct rig *rig = *state;
    const uint64_t *items = (const uint64_t *)rig->memory;
    void *arguments[] = {rig->memory};

    /* Group i runs on subslice i mod 4; its items take one thread of each EU first. */
    assert_int_equal(rig_run(rig, "ids", arguments, 4, 40), ZETA_VGPU_OK);
    for (unsigned i = 0; i < 160; i++) {
        uint64_t thread = items[i * 20 + 19];

        assert_int_equal(thread & 63, i % 40 / 32);
        assert_int_equal(thread >> 6 & 63, i % 40 % 32);
        assert_int_equal(thread >> 12 & 63, i / 40 % 2);
        assert_int_equal(thread >> 18 & 63, i / 80);
    }
}

static void local_argument__two__reverses(void **state)
{
    struct rig *rig = *state;
    uint32_t *data = (uint32_t *)rig->memory;
    const uint32_t local_bytes[] = {0, 128 * 4};
    void *arguments[] = {data, NULL};
    struct zeta_vgpu_launch launch = {
        .arguments = arguments,
        .local_bytes = local_bytes,
        .group_count = {8, 1, 1},
        .group_size = {128, 1, 1},
    };

    for (unsigned i = 0; i < 1024; i++)
        data[i] = i;
    assert_int_equal(rig_launch(rig, "reverse", &launch), ZETA_VGPU_OK);
    for (unsigned i = 0; i < 1024; i++)
        assert_int_equal(data[i], i / 128 * 128 + 127 - i % 128);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_SLM_READ_BYTES), 4096);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_SLM_WRITE_BYTES), 4096);
}

static void doubles__arithmetic__counts_as_fp64(void **state)
{
    struct rig *rig = *state;
    double *data = (double *)rig->memory;
    void *arguments[] = {data};

    for (unsigned i = 0; i < 64; i++)
        data[i] = (double)i / 3;
    assert_int_equal(rig_run(rig, "doubles", arguments, 1, 64), ZETA_VGPU_OK);
    for (unsigned i = 0; i < 64; i++)
        assert_cmp(data[i], ==, (double)i / 3 * ((double)i / 3) + 0.5);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_INST_FP64), 128);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_INST_FP32), 0);
}

static void printf__all_kinds__formats(void **state)
{
    struct rig *rig = *state;
    struct {
        uint32_t number;
        double real;
    } arguments = {42, -1.0625};

    assert_int_equal(rig_run(rig, "say", &arguments, 1, 1), ZETA_VGPU_OK);
    assert_string_equal(rig->text, "item 42 -42 | -1.062 x 0x123456789abc -1.1e+03 %\n");
}

static void math__extended__matches_libm(void **state)
{
    struct rig *rig = *state;
    float *data = (float *)rig->memory;
    void *arguments[] = {data};

    data[0] = 1.5f;
    data[1] = 2.5f;
    data[2] = 1.0f;
    assert_int_equal(rig_run(rig, "math", arguments, 1, 1), ZETA_VGPU_OK);
    assert_cmp(data[0], ==, (float)exp(1.5));
    assert_cmp(data[1], ==, 15.625f);
    assert_cmp(data[2], ==, (float)(M_PI / 4));
    assert_int_equal(rig_counter(rig, ZETA_VGPU_INST_MATH), 3);
}

static void arguments__all_sizes__arrive(void **state)
{
    struct rig *rig = *state;
    struct {
        void *out;
        uint8_t a;
        uint64_t b;
        uint16_t c;
        float d;
        double e;
    } arguments = {rig->memory, 200, 1000000, 60000, 7.5f, 9.9};
    const struct zeta_vgpu_kernel *kernel = zeta_vgpu_image_find_kernel(rig->image, "many");

    assert_non_null(kernel);
    assert_int_equal(kernel->argument_count, 6);
    assert_int_equal(kernel->argument_block_bytes, sizeof(arguments));
    assert_int_equal(kernel->arguments[0].kind, VGPU_ARGUMENT_GLOBAL);
    assert_int_equal(kernel->arguments[3].offset_bytes, 24);
    assert_int_equal(kernel->arguments[3].size_bytes, 2);
    assert_int_equal(rig_run(rig, "many", &arguments, 1, 1), ZETA_VGPU_OK);
    assert_int_equal(*(uint64_t *)rig->memory, 200 + 1000000 + 60000 + 7 + 9);
}

static void globals__relocated__found_by_name(void **state)
{
    struct rig *rig = *state;
    uint32_t *out = (uint32_t *)rig->memory;
    void *arguments[] = {out};
    struct zeta_vgpu_symbol symbol;

    assert_true(zeta_vgpu_image_find_symbol(rig->image, "global_table", &symbol));
    assert_int_equal(symbol.size_bytes, 16);
    assert_false(symbol.function);
    assert_int_equal(((uint32_t *)(uintptr_t)symbol.address)[1], 22);
    ((uint32_t *)(uintptr_t)symbol.address)[2] = 99;
    assert_false(zeta_vgpu_image_find_symbol(rig->image, "no_such_thing", &symbol));
    assert_int_equal(rig_run(rig, "table", arguments, 1, 1), ZETA_VGPU_OK);
    assert_int_equal(out[0], 11);
    assert_int_equal(out[1], 99);
}

static void launch__zero_groups__does_nothing(void **state)
{
    struct rig *rig = *state;
    struct zeta_vgpu_launch launch = {.group_count = {4, 0, 1}, .group_size = {4, 2, 1}};

    assert_int_equal(rig_launch(rig, "nothing", &launch), ZETA_VGPU_OK);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_THREADS_DISPATCHED), 0);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_KERNELS_LAUNCHED), 1);
}

static void launch__wrong_size__says_what_is_possible(void **state)
{
    struct rig *rig = *state;
    struct zeta_vgpu_launch launch = {.group_count = {1, 1, 1}, .group_size = {8, 2, 1}};
    uint32_t local_bytes[] = {0, 65536};
    void *arguments[] = {rig->memory, NULL};

    assert_int_equal(rig_launch(rig, "nothing", &launch), ZETA_VGPU_INVALID_ARGUMENT);
    assert_non_null(strstr(rig->fault.message.text, "requires groups of 4 x 2 x 1"));
    launch.group_size[0] = 513;
    assert_int_equal(rig_launch(rig, "fill", &launch), ZETA_VGPU_INVALID_ARGUMENT);
    assert_non_null(strstr(rig->fault.message.text, "at most 512"));
    launch.group_size[0] = 0;
    assert_int_equal(rig_launch(rig, "fill", &launch), ZETA_VGPU_INVALID_ARGUMENT);
    launch.group_size[0] = 1;
    launch.arguments = arguments;
    launch.local_bytes = local_bytes;
    assert_int_equal(rig_launch(rig, "reverse", &launch), ZETA_VGPU_INVALID_ARGUMENT);
    assert_non_null(strstr(rig->fault.message.text, "shared local memory"));
    launch.group_count[0] = launch.group_count[1] = launch.group_count[2] = UINT32_MAX;
    assert_int_equal(rig_launch(rig, "fill", &launch), ZETA_VGPU_INVALID_ARGUMENT);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_KERNELS_LAUNCHED), 0);
}

/* Launches from several threads queue up; each sees its own arguments. */
struct launcher {
    struct rig *rig;
    uint32_t index;
    enum zeta_vgpu_result result;
};

static void *launch_fills(void *argument)
{
    struct launcher *launcher = argument;
    struct rig *rig = launcher->rig;
    uint32_t *out = (uint32_t *)rig->memory + launcher->index * 4096;

    for (uint32_t i = 1; i <= 20; i++) {
        struct {
            void *out;
            uint32_t value;
        } arguments = {out, launcher->index * 100 + i};
        struct zeta_vgpu_launch launch = {
            .image = rig->image,
            .kernel = zeta_vgpu_image_find_kernel(rig->image, "fill"),
            .arguments = &arguments,
            .group_count = {8, 1, 1},
            .group_size = {128, 1, 1},
        };
        struct zeta_vgpu_fault fault;

        launcher->result = zeta_vgpu_engine_launch(rig->engine, &launch, &fault);
        if (launcher->result != ZETA_VGPU_OK || out[0] != arguments.value ||
            out[1023] != arguments.value)
            break;
    }
    return NULL;
}

static void launch__three_threads__take_turns(void **state)
{
    struct rig *rig = *state;
    struct launcher launchers[3];
    pthread_t threads[3];

    for (uint32_t i = 0; i < 3; i++) {
        launchers[i] = (struct launcher){rig, i, ZETA_VGPU_OK};
        assert_int_equal(pthread_create(&threads[i], NULL, launch_fills, &launchers[i]), 0);
    }
    for (uint32_t i = 0; i < 3; i++) {
        (void)pthread_join(threads[i], NULL);
        assert_int_equal(launchers[i].result, ZETA_VGPU_OK);
        assert_int_equal(((uint32_t *)rig->memory)[i * 4096 + 1023], i * 100 + 20);
    }
    assert_int_equal(rig_counter(rig, ZETA_VGPU_KERNELS_LAUNCHED), 60);
}

/* A kernel may wait for the host, and memory may come and go meanwhile. */
struct releaser {
    struct rig *rig;
    bool fine;
};

static void *release_spin(void *argument)
{
    struct releaser *releaser = argument;

    releaser->fine = true;
    for (unsigned i = 0; i < 50; i++) {
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        releaser->fine &=
            page != MAP_FAILED &&
            zeta_vgpu_space_add(releaser->rig->space, page, 4096, ZETA_VGPU_ACCESS_WRITE) &&
            zeta_vgpu_space_remove(releaser->rig->space, page);
        (void)munmap(page, 4096);
    }
    __atomic_store_n((uint32_t *)releaser->rig->memory, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void spin__host_sets_flag__ends(void **state)
{
    struct rig *rig = *state;
    struct releaser releaser = {rig, false};
    void *arguments[] = {rig->memory};
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, release_spin, &releaser), 0);
    assert_int_equal(rig_run(rig, "spin", arguments, 2, 4), ZETA_VGPU_OK);
    (void)pthread_join(thread, NULL);
    assert_true(releaser.fine);
}

/* The child makes its own engine and never touches the parent's. */
static void fork__child__works_with_its_own(void **state)
{
    struct rig *rig = *state;
    void *arguments[] = {rig->memory};
    int status;
    pid_t child;

    if (NO_THREADS_AFTER_FORK) {
        print_message("skipped: the thread sanitizer starts no threads after a fork\n");
        skip();
    }
    assert_int_equal(rig_run(rig, "count", arguments, 1, 1), ZETA_VGPU_OK);
    child = fork();
    assert_cmp(child, >=, 0);
    if (child == 0) {
        struct zeta_vgpu_engine_config config = rig_config(2);
        static struct rig own;

        rig_open(&own, "basic", &config);
        arguments[0] = own.memory;
        _exit(rig_run(&own, "count", arguments, 3, 100) == ZETA_VGPU_OK &&
                      *(uint32_t *)own.memory == 300
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_cmp(WEXITSTATUS(status), ==, 0);
    assert_int_equal(rig_run(rig, "count", arguments, 1, 1), ZETA_VGPU_OK);
    assert_int_equal(*(uint32_t *)rig->memory, 2);
}

#define WITH_BASIC(test) cmocka_unit_test_setup_teardown(test, open_basic, close_rig)

SUITE(engine_kernels)
{
    const struct CMUnitTest tests[] = {
        WITH_BASIC(fill__many_groups__writes_all),
        WITH_BASIC(vector_add__floats__adds),
        WITH_BASIC(count__two_workers__loses_nothing),
        WITH_BASIC(barrier__ping_pong__keeps_order),
        WITH_BASIC(ids__three_dimensions__match_the_grid),
        WITH_BASIC(dispatch__small_groups__spread_over_eus),
        WITH_BASIC(local_argument__two__reverses),
        WITH_BASIC(doubles__arithmetic__counts_as_fp64),
        WITH_BASIC(printf__all_kinds__formats),
        WITH_BASIC(math__extended__matches_libm),
        WITH_BASIC(arguments__all_sizes__arrive),
        WITH_BASIC(globals__relocated__found_by_name),
        WITH_BASIC(launch__zero_groups__does_nothing),
        WITH_BASIC(launch__wrong_size__says_what_is_possible),
        WITH_BASIC(launch__three_threads__take_turns),
        WITH_BASIC(spin__host_sets_flag__ends),
        WITH_BASIC(fork__child__works_with_its_own),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
