/* Set files on the host side of a real libcupti, which needs no GPU. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/nvidia/parts.h"
#include "tests/nvidia/sets.h"
#include "tests/sanitizer.h"
#include "tests/support/suite.h"

static struct nvidia_cupti cupti;

static void sets__on_real_libcupti__one_pass_of_known_names(void **state)
{
    (void)state;
    sets_check(&cupti);
}

static void counters__all_of_real_libcupti__are_programmables(void **state)
{
    (void)state;
    sets_check_all(&cupti, 550, 3000);
}

static void names__one_that_real_libcupti_lacks__is_found(void **state)
{
    (void)state;
    sets_check_wrong(&cupti);
}

/* Opens a real libcupti, which has the names of thousands of metrics. */
static bool open_real(void)
{
    static const char *const folders[] = {
        "/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64",
        "/usr/local/cuda/targets/x86_64-linux/lib", "/usr/local/cuda/targets/sbsa-linux/lib",
        "/usr/local/cuda/lib"};

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        parts_set("libcupti", folders[i]);
        if (nvidia_cupti_open(&cupti, &parts_host, "") && !nvidia_cupti_lacks_ranges(&cupti))
            return true;
    }
    return false;
}

SUITE(sets_real)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets__on_real_libcupti__one_pass_of_known_names),
        cmocka_unit_test(names__one_that_real_libcupti_lacks__is_found),
        cmocka_unit_test(counters__all_of_real_libcupti__are_programmables),
    };

    if (HAVE_THREAD_SANITIZER || HAVE_ADDRESS_SANITIZER) {
        (void)puts(
            "skipped: libcupti opens its companion with RTLD_DEEPBIND, which sanitizers refuse");
        return 77;
    }
    if (!open_real()) {
        (void)puts("skipped: libcupti of CUDA 12.6 or newer is not installed");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
