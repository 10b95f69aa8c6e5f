/* Digests against the examples of FIPS 180-4, and around the lengths where padding needs a block.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "zeta/sha256.h"

static void text_of(const uint8_t digest[32], char out_text[65])
{
    for (size_t i = 0; i < 32; i++)
        (void)snprintf(out_text + 2 * i, 3, "%02x", digest[i]);
}

static void assert_digest(const void *bytes, size_t size, size_t piece, const char *expected)
{
    struct zeta_sha256 sha;
    uint8_t digest[32];
    char text[65];

    zeta_sha256_begin(&sha);
    for (size_t at = 0; at < size; at += piece)
        zeta_sha256_add(&sha, (const char *)bytes + at, size - at < piece ? size - at : piece);
    zeta_sha256_end(&sha, digest);
    text_of(digest, text);
    assert_string_equal(text, expected);
}

static void sha256__published_examples__digests(void **state)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static char million[1000000];

    (void)state;
    assert_digest("", 0, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_digest("abc", 3, 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_digest(two_blocks, 56, 56,
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(million, 'a', sizeof(million));
    assert_digest(million, sizeof(million), 4093,
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void sha256__any_pieces__same_digest(void **state)
{
    uint8_t whole[32], pieces[32];
    uint8_t bytes[200];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 7);
    for (size_t size = 0; size <= sizeof(bytes); size++) {
        struct zeta_sha256 sha;

        zeta_sha256_begin(&sha);
        zeta_sha256_add(&sha, bytes, size);
        zeta_sha256_end(&sha, whole);
        zeta_sha256_begin(&sha);
        for (size_t i = 0; i < size; i++)
            zeta_sha256_add(&sha, bytes + i, 1);
        zeta_sha256_end(&sha, pieces);
        assert_memory_equal(whole, pieces, sizeof(whole));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256__published_examples__digests),
        cmocka_unit_test(sha256__any_pieces__same_digest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
