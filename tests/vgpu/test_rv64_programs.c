/*
 * The same compiled programs as a kernel and under qemu-riscv64: integers, single and double
 * precision, atomics, rounding modes, NaN boxing, flags.
 */
#include "rig.h"

#include <inttypes.h>
#include <stdlib.h>

#include "qemu.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static void programs__compiled__agree_with_qemu(void **state)
{
    struct zeta_vgpu_engine_config config = rig_config(1);
    const uint64_t *ours;
    uint64_t *theirs = NULL;
    size_t bytes = 0;
    unsigned different = 0, used = 0;
    struct rig rig;
    void *arguments[1];

    (void)state;
    rig_open(&rig, "programs", &config);
    arguments[0] = rig.memory;
    ours = (const uint64_t *)rig.memory;
    assert_int_equal(rig_run(&rig, "programs", arguments, 1, 1), ZETA_VGPU_OK);
    assert_true(qemu_run(QEMU_PROGRAMS, "", 0, (void **)&theirs, &bytes));
    assert_int_equal(bytes, 4096 * sizeof(*theirs));
    for (size_t i = 0; i < bytes / sizeof(*theirs); i++) {
        used += theirs[i] != 0;
        if (ours[i] == theirs[i])
            continue;
        if (different++ < 10)
            print_error("result %zu: ours %016" PRIx64 ", qemu %016" PRIx64 "\n", i, ours[i],
                        theirs[i]);
    }
    free(theirs);
    rig_close(&rig);
    assert_int_equal(different, 0);
    assert_cmp(used, >, 1500);
}

SUITE(rv64_programs)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs__compiled__agree_with_qemu),
    };

    if (rig_missing())
        return 77;
    if (QEMU_PROGRAM[0] == '\0' || QEMU_PROGRAMS[0] == '\0') {
        print_message("skipped: qemu-riscv64 or riscv64-linux-gnu-gcc is missing (packages "
                      "qemu-user, gcc-riscv64-linux-gnu)\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
