/*
 * The sentence of the last failure: the same as printf makes in the locale "C", safe for any
 * length, one per thread.
 *
 * Rule 1.22.
 */
#include "core/util/error.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <zeta/c_locale.h>

/* Compares the sentence with what printf in the C locale makes of the same. */
#define SAME_AS_PRINTF(...)                                                                        \
    do {                                                                                           \
        char expected[2048];                                                                       \
        (void)zeta_c_snprintf(expected, sizeof(expected), __VA_ARGS__);                            \
        assert_int_equal(zeta_error(ZE_RESULT_ERROR_UNKNOWN, __VA_ARGS__),                         \
                         ZE_RESULT_ERROR_UNKNOWN);                                                 \
        assert_string_equal(zeta_error_describe(), expected);                                      \
    } while (0)

static void describe__nothing_failed__is_empty(void **state)
{
    (void)state;
    zeta_error_clear();
    assert_string_equal(zeta_error_describe(), "");
}

static void describe__integers__are_as_printf_makes_them(void **state)
{
    (void)state;
    SAME_AS_PRINTF("no conversion, 100%%");
    SAME_AS_PRINTF("%d %i %u %x %X %o", -5, 7, 42u, 0xbeefu, 0xbeefu, 8u);
    SAME_AS_PRINTF("%ld %lu %lld %llu", -1L, ~0ul, INT64_MIN + 0LL, ~0ull);
    SAME_AS_PRINTF("%" PRIu64 " %" PRId64 " 0x%016" PRIx64, UINT64_MAX, INT64_MIN, UINT64_C(1));
    SAME_AS_PRINTF("%zu %zd %td %ju", (size_t)3, (ssize_t)-3, (ptrdiff_t)-4, (uintmax_t)9);
    SAME_AS_PRINTF("%hd %hhu %hu", (short)-2, (unsigned char)250, (unsigned short)65535);
    SAME_AS_PRINTF("[%5d] [%-5d] [%05d] [%+d] [% d] [%.3d]", 42, 42, -42, 42, 42, 7);
    SAME_AS_PRINTF("[%8x] [%#x] [%#X] [%08x] [%#010x] [%#x]", 255u, 255u, 255u, 255u, 255u, 0u);
    SAME_AS_PRINTF("[%*d] [%-*d] [%*d]", 6, 42, 6, 42, -6, 42);
    SAME_AS_PRINTF("[%c%c] [%3c]", 'a', 'b', 'c');
}

static void describe__text_and_reals__are_as_printf_makes_them(void **state)
{
    const char unterminated[] = {'a', 'b', 'c', 'd'};

    (void)state;
    SAME_AS_PRINTF("[%s] [%8s] [%-8s] [%.2s] [%.*s]", "one", "two", "three", "four", 3, "five");
    SAME_AS_PRINTF("[%.*s]", 4, unterminated);
    SAME_AS_PRINTF("%f %.2f %g %e %8.1f", 1.5, 2.25, 1e-9, 12345.678, 3.14);
    SAME_AS_PRINTF("%p", (void *)&state);
}

static void describe__null_text__is_marked(void **state)
{
    const char *volatile nothing = NULL;

    (void)state;
    (void)zeta_error(ZE_RESULT_ERROR_UNKNOWN, "[%s]", nothing);
    assert_string_equal(zeta_error_describe(), "[(null)]");
}

static void describe__unusual_conversion__is_as_printf_makes_it(void **state)
{
    (void)state;
    SAME_AS_PRINTF("%a", 1.0);
    SAME_AS_PRINTF("%Lf", 1.5L);
    SAME_AS_PRINTF("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                   13, 14, 15, 16, 17, 18);
}

static void describe__changed_arguments__keeps_the_old_text(void **state)
{
    char name[] = "before";

    (void)state;
    (void)zeta_error(ZE_RESULT_ERROR_UNKNOWN, "name %s", name);
    memset(name, 'x', sizeof(name) - 1);
    assert_string_equal(zeta_error_describe(), "name before");
    assert_string_equal(zeta_error_describe(), "name before");
}

static void describe__long_texts__are_cut_and_marked(void **state)
{
    static char long_text[100000];

    (void)state;
    memset(long_text, 'a', sizeof(long_text) - 1);
    (void)zeta_error(ZE_RESULT_ERROR_UNKNOWN, "%s|%s|%s|%d", long_text, long_text, long_text, 7);
    assert_cmp(strlen(zeta_error_describe()), <, 4096);
    assert_non_null(strstr(zeta_error_describe(), "a..."));
    (void)zeta_error(ZE_RESULT_ERROR_UNKNOWN, "%90000d|", 1);
    assert_cmp(strlen(zeta_error_describe()), <, 4096);
    (void)zeta_error(ZE_RESULT_ERROR_UNKNOWN, "%.90000f %s %.2000f", 1.0, long_text, 1e300);
    assert_cmp(strlen(zeta_error_describe()), <, 4096);
    assert_int_equal(zeta_error_text(ZE_RESULT_ERROR_UNKNOWN, long_text, sizeof(long_text) - 1),
                     ZE_RESULT_ERROR_UNKNOWN);
    assert_cmp(strlen(zeta_error_describe()), <, 4096);
    assert_non_null(strstr(zeta_error_describe(), "a..."));
}

static void describe__own_sentence_as_argument__is_wrapped(void **state)
{
    (void)state;
    (void)zeta_error(ZE_RESULT_ERROR_UNKNOWN, "cause %d", 1);
    (void)zeta_error(ZE_RESULT_ERROR_UNKNOWN, "outer %s: %s", "words", zeta_error_describe());
    assert_string_equal(zeta_error_describe(), "outer words: cause 1");
    (void)zeta_error_text(ZE_RESULT_ERROR_UNKNOWN, "a plugin's text", 15);
    (void)zeta_error(ZE_RESULT_ERROR_UNKNOWN, "%s and %s", "first", zeta_error_describe());
    assert_string_equal(zeta_error_describe(), "first and a plugin's text");
}

static void text__without_terminator__uses_its_size(void **state)
{
    (void)state;
    (void)zeta_error_text(ZE_RESULT_ERROR_UNKNOWN, "abcdef", 3);
    assert_string_equal(zeta_error_describe(), "abc");
    (void)zeta_error_text(ZE_RESULT_ERROR_UNKNOWN, NULL, 12);
    assert_string_equal(zeta_error_describe(), "");
    zeta_error_clear();
    assert_string_equal(zeta_error_describe(), "");
}

static void error__errno__stays(void **state)
{
    (void)state;
    errno = ENOTTY;
    (void)zeta_error(ZE_RESULT_ERROR_UNKNOWN, "%s %d", "x", 1);
    assert_int_equal(errno, ENOTTY);
}

static void *fail_in_thread(void *context)
{
    (void)zeta_error(ZE_RESULT_ERROR_UNKNOWN, "thread %s", (const char *)context);
    return strcmp(zeta_error_describe(), "thread two") == 0 ? context : NULL;
}

/* Rule 3.12. */
static void describe__two_threads__have_their_own(void **state)
{
    static char two[] = "two";
    pthread_t thread;
    void *result = NULL;

    (void)state;
    (void)zeta_error(ZE_RESULT_ERROR_UNKNOWN, "thread %s", "one");
    assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, two), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, two);
    assert_string_equal(zeta_error_describe(), "thread one");
}

SUITE(error)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describe__nothing_failed__is_empty),
        cmocka_unit_test(describe__integers__are_as_printf_makes_them),
        cmocka_unit_test(describe__text_and_reals__are_as_printf_makes_them),
        cmocka_unit_test(describe__null_text__is_marked),
        cmocka_unit_test(describe__unusual_conversion__is_as_printf_makes_it),
        cmocka_unit_test(describe__changed_arguments__keeps_the_old_text),
        cmocka_unit_test(describe__long_texts__are_cut_and_marked),
        cmocka_unit_test(describe__own_sentence_as_argument__is_wrapped),
        cmocka_unit_test(text__without_terminator__uses_its_size),
        cmocka_unit_test(error__errno__stays),
        cmocka_unit_test(describe__two_threads__have_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
