/* Requests of the plugin: read, and refused at every length that is not theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta-cc/request/request.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static struct zeta_cc_request request;

struct message {
    unsigned char bytes[512];
    size_t size;
};

static void put(struct message *message, const void *bytes, size_t size)
{
    assert_cmp(message->size + size, <=, sizeof(message->bytes));
    memcpy(message->bytes + message->size, bytes, size);
    message->size += size;
}

static void put_header(struct message *message, uint32_t format, uint32_t images)
{
    const struct zeta_compile_request header = {ZETA_COMPILE_REQUEST_MAGIC, ZETA_COMPILE_VERSION,
                                                format, images};

    message->size = 0;
    put(message, &header, sizeof(header));
}

static void put_image(struct message *message, const char *image, const char *options,
                      uint32_t constants, uint32_t constant_bytes)
{
    const struct zeta_compile_image header = {strlen(image), (uint32_t)strlen(options), constants};

    put(message, &header, sizeof(header));
    put(message, options, strlen(options));
    for (uint32_t i = 0; i < constants; i++) {
        const struct zeta_compile_constant constant = {i + 10, constant_bytes, {1, 2, 3, 4}};

        put(message, &constant, sizeof(constant));
    }
    put(message, image, strlen(image));
}

static bool read_message(const struct message *message, const char **out_reason)
{
    /* Of the exact size, so that a sanitizer sees a read beyond. */
    unsigned char *copy = malloc(message->size + 1);
    bool fine;

    assert_non_null(copy);
    memcpy(copy, message->bytes, message->size);
    fine = zeta_cc_request_read(copy, message->size, &request, out_reason);
    free(copy);
    return fine;
}

static void read__two_images__found(void **state)
{
    struct message message;
    struct zeta_compile_constant constant;
    const char *reason = NULL;

    (void)state;
    put_header(&message, ZETA_COMPILE_BITCODE, 2);
    put_image(&message, "first", "-g -O2", 2, 4);
    put_image(&message, "the second", "", 0, 0);
    assert_true(zeta_cc_request_read(message.bytes, message.size, &request, &reason));
    assert_int_equal(request.format, ZETA_COMPILE_BITCODE);
    assert_int_equal(request.image_count, 2);
    assert_int_equal(request.images[0].options_bytes, 6);
    assert_memory_equal(request.images[0].options, "-g -O2", 6);
    assert_int_equal(request.images[0].size, 5);
    assert_memory_equal(request.images[0].bytes, "first", 5);
    assert_true(zeta_cc_request_constant(&request.images[0], 1, &constant));
    assert_int_equal(constant.id, 11);
    assert_int_equal(request.images[1].size, 10);
    assert_int_equal(request.images[1].constant_count, 0);
}

static void read__any_other_length__refused(void **state)
{
    struct message message;
    const char *reason = NULL;

    (void)state;
    put_header(&message, ZETA_COMPILE_SPIRV, 1);
    put_image(&message, "image", "-g", 1, 8);
    assert_true(read_message(&message, &reason));
    for (size_t size = message.size; size-- > 0;) {
        struct message part = message;

        part.size = size;
        reason = NULL;
        assert_false(read_message(&part, &reason));
        assert_non_null(reason);
    }
    put(&message, "", 1);
    assert_false(read_message(&message, &reason));
    assert_non_null(strstr(reason, "behind"));
}

static void read__members_out_of_bounds__refused(void **state)
{
    static const struct {
        size_t offset;
        uint64_t value;
        size_t size;
        const char *reason;
    } cases[] = {
        {0, 1, 4, "no request"},
        {4, 2, 4, "version"},
        {8, 3, 4, "form"},
        {12, 0, 4, "no image"},
        {12, ZETA_COMPILE_MAX_IMAGES + 1, 4, "too many"},
        {16, UINT64_C(1) << 40, 8, "too large"},
        {16, UINT64_MAX, 8, "too large"},
        {24, ZETA_COMPILE_MAX_OPTIONS_BYTES + 1, 4, "too long"},
        {28, ZETA_COMPILE_MAX_CONSTANTS + 1, 4, "constants"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct message message;
        const char *reason = "";

        put_header(&message, ZETA_COMPILE_SPIRV, 1);
        put_image(&message, "image", "", 0, 0);
        memcpy(message.bytes + cases[i].offset, &cases[i].value, cases[i].size);
        assert_false(read_message(&message, &reason));
        if (!strstr(reason, cases[i].reason))
            fail_msg("case %zu: %s", i, reason);
    }
}

static void read__constant_of_three_bytes__refused(void **state)
{
    struct message message;
    const char *reason = "";

    (void)state;
    put_header(&message, ZETA_COMPILE_SPIRV, 1);
    put_image(&message, "image", "", 1, 3);
    assert_false(read_message(&message, &reason));
    assert_non_null(strstr(reason, "1, 2, 4, 8"));
}

SUITE(request)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read__two_images__found),
        cmocka_unit_test(read__any_other_length__refused),
        cmocka_unit_test(read__members_out_of_bounds__refused),
        cmocka_unit_test(read__constant_of_three_bytes__refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
