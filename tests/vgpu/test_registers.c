/* Which registers a kernel may use, as its code says. */
#include <string.h>

#include "plugins/vgpu/engine/debug.h"
#include "plugins/vgpu/machine/rv64.h"
#include "rig.h"
#include "tests/support/suite.h"

#define X(n) (UINT64_C(1) << (n))
#define F(n) (UINT64_C(1) << (32 + (n)))

enum { SP = 2, TP = 4, A0 = 10, A1 = 11, A7 = 17, T4 = 29, T5 = 30, FA0 = 10, FA1 = 11, FS7 = 23 };

static int open_basic(void **state)
{
    static struct rig rig;
    struct zeta_vgpu_engine_config config = rig_config(1);

    rig_open(&rig, "basic", &config);
    *state = &rig;
    return 0;
}

static int close_rig(void **state)
{
    rig_close(*state);
    return 0;
}

static uint64_t used(const struct rig *rig, const char *kernel)
{
    const struct zeta_vgpu_kernel *found = zeta_vgpu_image_find_kernel(rig->image, kernel);
    uint64_t registers = 0;

    assert_non_null(found);
    assert_true(zeta_vgpu_image_used_registers(rig->image, found, &registers));
    return registers;
}

static void registers__of_words__are_their_operands(void **state)
{
    static const struct {
        uint32_t word;
        uint64_t registers;
    } samples[] = {
        {0x007302b3, X(5) | X(6) | X(7)},         /* add t0, t1, t2 */
        {0x00112623, X(1) | X(2)},                /* sw ra, 12(sp) */
        {0x00000517, X(10)},                      /* auipc a0, 0 */
        {0x3005d073, X(0)},                       /* csrrwi zero, 0x300, 11 */
        {0x00208063, X(1) | X(2)},                /* beq ra, sp, 0 */
        {0xf83170c3, F(1) | F(2) | F(3) | F(31)}, /* fmadd.s ft1, ft2, ft3, ft11 */
        {0xf0018153, F(2) | X(3)},                /* fmv.w.x ft2, gp */
        {0x00000073, 0},                          /* ecall */
        {0x00000000, UINT64_MAX},
        {0xffffffff, UINT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        const uint64_t found = zeta_rv64_registers(samples[i].word);

        if (found != samples[i].registers)
            fail_msg("0x%08x names 0x%llx", samples[i].word, (unsigned long long)found);
    }
}

/* Rule 6.31. */
static void used__by_called_functions__counts(void **state)
{
    const uint64_t here = used(*state, "near");

    assert_true(here & X(T4));
    assert_true(here & F(FS7));
    assert_false(here & X(T5));
    assert_int_equal(here & (X(0) | X(SP) | X(TP)), X(0) | X(SP) | X(TP));
    /* None of the other kernels' code. */
    assert_false(used(*state, "nothing") & (X(T4) | X(T5) | F(FS7)));
}

/* Rule 6.31. */
static void used__by_calls_of_the_engine__counts(void **state)
{
    const uint64_t wanted = X(A0) | X(A1) | X(A7) | F(FA0) | F(FA1);

    assert_true((used(*state, "ping_pong") & wanted) == wanted);
    assert_true((used(*state, "say") & wanted) == wanted);
    assert_true(used(*state, "say") != UINT64_MAX);
}

/* Rule 6.31. */
static void used__through_pointers__is_all(void **state)
{
    assert_true(used(*state, "through") == UINT64_MAX);
}

/* What the code became counts, not what it was. Rule 6.31. */
static void used__after_code_changed__follows_it(void **state)
{
    const struct rig *rig = *state;
    const struct zeta_vgpu_kernel *kernel = zeta_vgpu_image_find_kernel(rig->image, "fill");
    uint32_t jump_out = 0x8000006f; /* j -1 MiB */
    uint32_t word;

    assert_true(used(rig, "fill") != UINT64_MAX);
    assert_true(zeta_vgpu_debug_memory(rig->engine, UINT32_MAX, false, kernel->entry, sizeof(word),
                                       &word, false));
    assert_true(zeta_vgpu_debug_memory(rig->engine, UINT32_MAX, false, kernel->entry, sizeof(word),
                                       &jump_out, true));
    assert_true(used(rig, "fill") == UINT64_MAX);
    assert_true(zeta_vgpu_debug_memory(rig->engine, UINT32_MAX, false, kernel->entry, sizeof(word),
                                       &word, true));
    assert_true(used(rig, "fill") != UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers__of_words__are_their_operands),
        cmocka_unit_test(used__by_called_functions__counts),
        cmocka_unit_test(used__by_calls_of_the_engine__counts),
        cmocka_unit_test(used__through_pointers__is_all),
        cmocka_unit_test(used__after_code_changed__follows_it),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, open_basic, close_rig);
}
