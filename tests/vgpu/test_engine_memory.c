/* Launches without memory for what the engine keeps of them: they end, and say so. */
#include "rig.h"

#include <stdatomic.h>
#include <stdlib.h>

/* The test is linked so that the engine's calls of calloc() come here. */
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static atomic_bool deny;
static _Atomic uint64_t denied;

void *__wrap_calloc(size_t count, size_t size)
{
    if (!atomic_load(&deny))
        return __real_calloc(count, size);
    atomic_fetch_add(&denied, 1);
    return NULL;
}

static enum zeta_vgpu_result multiply(struct rig *rig, uint32_t n)
{
    float *a = (float *)rig->memory, *b = a + (size_t)n * n, *c = b + (size_t)n * n;
    struct {
        void *a, *b, *c;
        uint32_t n;
    } arguments = {a, b, c, n};
    struct zeta_vgpu_launch launch = {
        .arguments = &arguments,
        .group_count = {n / 16, n / 16, 1},
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
    assert_int_equal(multiply(&rig, 64), ZETA_VGPU_OK);
    instructions = rig_counter(&rig, ZETA_VGPU_INST_RETIRED);
    rig_close(&rig);

    rig_open(&rig, "test-matmul", &config);
    atomic_store(&deny, true);
    assert_int_equal(multiply(&rig, 64), ZETA_VGPU_OUT_OF_MEMORY);
    atomic_store(&deny, false);
    /* Not once for every few instructions. */
    assert_in_range(denied, 1, instructions / 1000);
    assert_int_equal(multiply(&rig, 64), ZETA_VGPU_OK);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launch__no_memory_for_epochs__ends_at_its_usual_pace),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
