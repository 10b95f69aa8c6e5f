/* Launches without memory for what the engine keeps of them, or without threads: they end, and say
 * so. */
#include "rig.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* The test is linked so that these calls of the engine come here. */
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);

static atomic_bool deny;
static _Atomic uint64_t denied;

void *__wrap_calloc(size_t count, size_t size)
{
    if (!atomic_load(&deny))
        return __real_calloc(count, size);
    atomic_fetch_add(&denied, 1);
    return NULL;
}

/* Threads that the system still gives; negative: any number. */
static atomic_int threads_left = -1;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument)
{
    if (atomic_load(&threads_left) == 0)
        return EAGAIN;
    if (atomic_load(&threads_left) > 0)
        atomic_fetch_sub(&threads_left, 1);
    return __real_pthread_create(thread, attributes, run, argument);
}

/* Multiplies matrices of n x n, or the first groups of 16 x 16 of the result. */
static enum zeta_vgpu_result multiply(struct rig *rig, uint32_t n, uint32_t groups)
{
    float *a = (float *)rig->memory, *b = a + (size_t)n * n, *c = b + (size_t)n * n;
    struct {
        void *a, *b, *c;
        uint32_t n;
    } arguments = {a, b, c, n};
    struct zeta_vgpu_launch launch = {
        .arguments = &arguments,
        .group_count = {n / 16, groups / (n / 16), 1},
        .group_size = {16, 16, 1},
    };

    return rig_launch(rig, "matmul", &launch);
}

static void launch__no_memory_for_epochs__ends_at_its_usual_pace(void **state)
{
    struct zeta_vgpu_engine_config config = rig_config(2);
    struct rig rig;
    uint64_t instructions;

    (void)state;
    rig_open(&rig, "test-matmul", &config);
    assert_int_equal(multiply(&rig, 64, 16), ZETA_VGPU_OK);
    instructions = rig_counter(&rig, ZETA_VGPU_INST_RETIRED);
    rig_close(&rig);

    rig_open(&rig, "test-matmul", &config);
    atomic_store(&deny, true);
    assert_int_equal(multiply(&rig, 64, 16), ZETA_VGPU_OUT_OF_MEMORY);
    atomic_store(&deny, false);
    /* Not once for every few instructions. */
    assert_in_range(denied, 1, instructions / 1000);
    assert_int_equal(multiply(&rig, 64, 16), ZETA_VGPU_OK);
    rig_close(&rig);
}

/* A thread that came for a launch which was given up has nothing to do before the next one. */
static void launch__one_thread_too_few__does_nothing(void **state)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    struct zeta_vgpu_engine_config config = rig_config(4);
    uint64_t instructions;
    struct rig rig;

    (void)state;
    rig_open(&rig, "test-matmul", &config);
    assert_int_equal(multiply(&rig, 32, 2), ZETA_VGPU_OK);
    instructions = rig_counter(&rig, ZETA_VGPU_INST_RETIRED);
    atomic_store(&threads_left, 1);
    assert_int_equal(multiply(&rig, 32, 4), ZETA_VGPU_OUT_OF_MEMORY);
    atomic_store(&threads_left, -1);
    (void)nanosleep(&pause, NULL);
    assert_int_equal(rig_counter(&rig, ZETA_VGPU_INST_RETIRED), instructions);
    for (uint64_t round = 1; round <= 10; round++) {
        assert_int_equal(multiply(&rig, 32, 4), ZETA_VGPU_OK);
        assert_int_equal(rig_counter(&rig, ZETA_VGPU_INST_RETIRED), instructions * (1 + 2 * round));
    }
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launch__no_memory_for_epochs__ends_at_its_usual_pace),
        cmocka_unit_test(launch__one_thread_too_few__does_nothing),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
