/* The container: its bytes, what is read back, and what is said about what is not in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sdk/lib/container_priv.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/container.h"

/** The example of sdk/doc/formats.md, written down byte by byte. */
static const unsigned char example[] = {
    /* header: magic, version 1.0, its size, an export, size of chunk headers */
    0x89, 'Z', 'E', 'T', 'A', '\r', '\n', 0x1a, 1, 0, 0, 0, 64, 0, 0, 0, 1, 0, 0, 0, 32, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0x39, 0xf0, 0x30, 0x20,
    /* chunk of type META with 9 bytes, and 7 bytes behind them */
    'C', 'H', 'N', 'K', 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0xc1, 0xaa,
    0x2b, 0xb4, 0x7a, 0xea, 0x2c, 0x00, 'h', 'o', 's', 't', ':', ' ', 'a', 'b', '\n', 0, 0, 0, 0, 0,
    0, 0,
    /* end: 1 chunk, 112 bytes before this one, checksum of the header of the META chunk */
    'C', 'H', 'N', 'K', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0x8a, 0xf2,
    0x0e, 0xfb, 0xa5, 0x9a, 0xd5, 0x6e, 1, 0, 0, 0, 0, 0, 0, 0, 112, 0, 0, 0, 0, 0, 0, 0, 0xc7,
    0x4b, 0x67, 0x48, 0, 0, 0, 0};

/** CRC-32C bit by bit, to check the tables and the instruction against. */
static uint32_t slow_crc(const unsigned char *bytes, size_t count)
{
    uint32_t state = UINT32_MAX;

    for (size_t i = 0; i < count; i++) {
        state ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            state = state & 1 ? state >> 1 ^ 0x82f63b78u : state >> 1;
    }
    return ~state;
}

static void crc__known_text__known_value(void **state)
{
    (void)state;
    assert_int_equal(slow_crc((const unsigned char *)"123456789", 9), 0xe3069283u);
    assert_int_equal(zeta_crc32c(0, "123456789", 9), 0xe3069283u);
    assert_int_equal(zeta_crc32c(0, NULL, 0), 0);
}

static void crc__any_length_and_split__is_that_of_the_bits(void **state)
{
    unsigned char bytes[200];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 37 + 11);
    for (size_t length = 0; length <= sizeof(bytes) - 3; length++) {
        const unsigned char *start = bytes + length % 4;
        const uint32_t expected = slow_crc(start, length);
        const size_t split = length / 3;

        assert_int_equal(zeta_crc32c(0, start, length), expected);
        assert_int_equal(zeta_crc32c(zeta_crc32c(0, start, split), start + split, length - split),
                         expected);
        assert_int_equal(~zeta_crc32c_tables(UINT32_MAX, start, length), expected);
    }
}

static size_t write_example(unsigned char *buffer, size_t capacity)
{
    struct zeta_container_writer *writer = NULL;
    struct zeta_lines lines = {0};
    struct zeta_container_part part;
    size_t size;

    zeta_lines_add(&lines, "host", "ab");
    part = (struct zeta_container_part){lines.text, lines.bytes};
    assert_int_equal(zeta_container_create_memory(buffer, capacity, ZETA_CONTAINER_EXPORT, &writer),
                     ZETA_CONTAINER_OK);
    assert_int_equal(zeta_container_append(writer, ZETA_CHUNK_META, 0, &part, 1),
                     ZETA_CONTAINER_OK);
    assert_int_equal(zeta_container_finish(writer), ZETA_CONTAINER_OK);
    size = (size_t)zeta_container_size(writer);
    zeta_container_writer_destroy(writer);
    zeta_lines_finish(&lines);
    return size;
}

static void write__example__is_the_documented_bytes(void **state)
{
    unsigned char expected[sizeof(example)];
    unsigned char buffer[sizeof(example)];
    uint32_t crc;

    (void)state;
    assert_int_equal(sizeof(example), 168);
    memcpy(expected, example, sizeof(example));
    /* The checksums of the documented bytes are those of the slow way. */
    crc = slow_crc(expected, 60);
    assert_memory_equal(expected + 60, &crc, 4);
    crc = slow_crc(expected + 96, 9);
    assert_memory_equal(expected + 64 + 24, &crc, 4);
    crc = slow_crc(expected + 64, 28);
    assert_memory_equal(expected + 64 + 28, &crc, 4);
    crc = slow_crc(expected + 64, 32);
    assert_memory_equal(expected + 112 + 32 + 16, &crc, 4);
    crc = slow_crc(expected + 112 + 32, 24);
    assert_memory_equal(expected + 112 + 24, &crc, 4);
    crc = slow_crc(expected + 112, 28);
    assert_memory_equal(expected + 112 + 28, &crc, 4);
    assert_int_equal(write_example(buffer, sizeof(buffer)), sizeof(example));
    assert_memory_equal(buffer, example, sizeof(example));
}

static void write__memory_too_small__counts_and_stays_inside(void **state)
{
    (void)state;
    for (size_t capacity = 0; capacity < sizeof(example); capacity++) {
        unsigned char *buffer = malloc(capacity + 1);

        assert_non_null(buffer);
        buffer[capacity] = 0xaa;
        assert_int_equal(write_example(buffer, capacity), sizeof(example));
        assert_int_equal(buffer[capacity], 0xaa);
        free(buffer);
    }
}

/** Reads everything; the last answer, and how many chunks were in order. */
static enum zeta_container_result read_all(const void *bytes, size_t size, uint32_t *out_chunks,
                                           char *out_value)
{
    struct zeta_container_problem problem = {""};
    struct zeta_container_reader *reader = NULL;
    struct zeta_container_chunk chunk;
    enum zeta_container_result result = zeta_container_open_memory(bytes, size, &problem, &reader);
    const void *payload;

    *out_chunks = 0;
    out_value[0] = '\0';
    if (result != ZETA_CONTAINER_OK) {
        assert_string_not_equal(problem.text, "");
        return result;
    }
    while ((result = zeta_container_next(reader, &chunk)) == ZETA_CONTAINER_OK) {
        result = zeta_container_payload(reader, &payload);
        if (result != ZETA_CONTAINER_OK)
            break;
        (*out_chunks)++;
        if (chunk.type == ZETA_CHUNK_META)
            (void)zeta_lines_find(payload, (size_t)chunk.payload_bytes, "host", 0, out_value, 16);
    }
    if (result != ZETA_CONTAINER_AT_END)
        assert_string_not_equal(zeta_container_reader_problem(reader), "");
    zeta_container_reader_destroy(reader);
    return result;
}

static void read__example__chunk_and_end(void **state)
{
    char value[16];
    uint32_t chunks;

    (void)state;
    assert_int_equal(read_all(example, sizeof(example), &chunks, value), ZETA_CONTAINER_AT_END);
    assert_int_equal(chunks, 1);
    assert_string_equal(value, "ab");
}

static void read__cut_anywhere__is_never_complete(void **state)
{
    char value[16];
    uint32_t chunks;

    (void)state;
    for (size_t size = 0; size < sizeof(example); size++) {
        /* Of the exact size, for the sanitizer. */
        unsigned char *bytes = malloc(size + (size == 0));
        enum zeta_container_result result;

        assert_non_null(bytes);
        memcpy(bytes, example, size);
        result = read_all(bytes, size, &chunks, value);
        if (size < 8)
            assert_int_equal(result, ZETA_CONTAINER_FOREIGN);
        else if (size < 64)
            assert_int_equal(result, ZETA_CONTAINER_DAMAGED);
        else
            assert_int_equal(result, ZETA_CONTAINER_AT_CUT);
        /* What was complete before the cut is there. */
        assert_int_equal(chunks, size >= 112);
        assert_string_equal(value, size >= 112 ? "ab" : "");
        free(bytes);
    }
}

static void read__any_bit_flipped__is_noticed_or_changes_nothing(void **state)
{
    unsigned char bytes[sizeof(example)];
    char value[16];
    uint32_t chunks;

    (void)state;
    for (size_t bit = 0; bit < sizeof(example) * 8; bit++) {
        const bool is_padding = bit / 8 >= 105 && bit / 8 < 112;
        enum zeta_container_result result;

        memcpy(bytes, example, sizeof(bytes));
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        result = read_all(bytes, sizeof(bytes), &chunks, value);
        if (is_padding) {
            assert_int_equal(result, ZETA_CONTAINER_AT_END);
            assert_string_equal(value, "ab");
        } else {
            assert_int_not_equal(result, ZETA_CONTAINER_AT_END);
        }
    }
}

/** Puts the right checksum into a changed file header. */
static void seal_header(unsigned char *bytes)
{
    const uint32_t crc = slow_crc(bytes, 60);

    memcpy(bytes + 60, &crc, 4);
}

/* Rule 16.8. */
static void read__later_versions__minor_is_read_major_is_refused(void **state)
{
    unsigned char bytes[sizeof(example)];
    struct zeta_container_problem problem = {""};
    struct zeta_container_reader *reader = NULL;
    char value[16];
    uint32_t chunks;

    (void)state;
    memcpy(bytes, example, sizeof(bytes));
    bytes[10] = 7;    /* minor */
    bytes[40] = 0xff; /* something that this version does not know */
    seal_header(bytes);
    assert_int_equal(read_all(bytes, sizeof(bytes), &chunks, value), ZETA_CONTAINER_AT_END);
    assert_int_equal(zeta_container_open_memory(bytes, sizeof(bytes), &problem, &reader),
                     ZETA_CONTAINER_OK);
    assert_int_equal(zeta_container_reader_minor(reader), 7);
    zeta_container_reader_destroy(reader);

    bytes[8] = 2;
    seal_header(bytes);
    assert_int_equal(zeta_container_open_memory(bytes, sizeof(bytes), &problem, &reader),
                     ZETA_CONTAINER_NEWER);
    assert_non_null(strstr(problem.text, "version 2.7"));
    assert_non_null(strstr(problem.text, "as new as"));
}

static void read__unknown_chunk__is_seen_with_its_number(void **state)
{
    unsigned char buffer[512];
    struct zeta_container_writer *writer = NULL;
    struct zeta_container_reader *reader = NULL;
    struct zeta_container_problem problem;
    struct zeta_container_chunk chunk;
    const struct zeta_container_part parts[] = {{"ab", 2}, {NULL, 0}, {"cde", 3}};
    const void *payload;

    (void)state;
    assert_int_equal(
        zeta_container_create_memory(buffer, sizeof(buffer), ZETA_CONTAINER_RECORDING, &writer),
        ZETA_CONTAINER_OK);
    assert_int_equal(zeta_container_append(writer, (enum zeta_chunk_type)9999, 5, parts, 3),
                     ZETA_CONTAINER_OK);
    assert_int_equal(zeta_container_append(writer, ZETA_CHUNK_DATA, 6, parts, 1),
                     ZETA_CONTAINER_OK);
    assert_int_equal(zeta_container_finish(writer), ZETA_CONTAINER_OK);
    assert_int_equal(
        zeta_container_open_memory(buffer, (size_t)zeta_container_size(writer), &problem, &reader),
        ZETA_CONTAINER_OK);
    zeta_container_writer_destroy(writer);
    assert_int_equal(zeta_container_reader_kind(reader), ZETA_CONTAINER_RECORDING);
    assert_int_equal(zeta_container_next(reader, &chunk), ZETA_CONTAINER_OK);
    assert_int_equal(chunk.type, 9999);
    assert_int_equal(chunk.stream, 5);
    assert_int_equal(chunk.flags, 0);
    assert_int_equal(chunk.offset, 64);
    assert_int_equal(zeta_container_payload(reader, &payload), ZETA_CONTAINER_OK);
    assert_memory_equal(payload, "abcde", 5);
    assert_int_equal(zeta_container_next(reader, &chunk), ZETA_CONTAINER_OK);
    assert_int_equal(chunk.type, ZETA_CHUNK_DATA);
    assert_int_equal(chunk.flags, ZETA_CHUNK_MAY_GO);
    assert_int_equal(zeta_container_next(reader, &chunk), ZETA_CONTAINER_AT_END);
    assert_int_equal(zeta_container_next(reader, &chunk), ZETA_CONTAINER_AT_END);
    zeta_container_rewind(reader);
    assert_int_equal(zeta_container_next(reader, &chunk), ZETA_CONTAINER_OK);
    assert_int_equal(chunk.type, 9999);
    zeta_container_reader_destroy(reader);
}

static void read__bytes_behind_the_end__are_damage(void **state)
{
    unsigned char bytes[sizeof(example) + 8] = {0};
    char value[16];
    uint32_t chunks;

    (void)state;
    memcpy(bytes, example, sizeof(example));
    assert_int_equal(read_all(bytes, sizeof(bytes), &chunks, value), ZETA_CONTAINER_DAMAGED);
}

static void lines__any_text__comes_back(void **state)
{
    static const char awkward[] = "a\\b\nc\r: d\\n\t\"";
    struct zeta_lines lines = {0};
    char value[64];

    (void)state;
    zeta_lines_add(&lines, "one", awkward);
    zeta_lines_add(&lines, "two", "");
    zeta_lines_add(&lines, "one", "second");
    zeta_lines_add_u64(&lines, "number", UINT64_MAX);
    zeta_lines_add(&lines, "large", "18446744073709551616");
    assert_true(zeta_lines_find(lines.text, lines.bytes, "one", 0, value, sizeof(value)));
    assert_string_equal(value, awkward);
    assert_true(zeta_lines_find(lines.text, lines.bytes, "one", 1, value, sizeof(value)));
    assert_string_equal(value, "second");
    assert_false(zeta_lines_find(lines.text, lines.bytes, "one", 2, value, sizeof(value)));
    assert_true(zeta_lines_find(lines.text, lines.bytes, "two", 0, value, sizeof(value)));
    assert_string_equal(value, "");
    assert_true(zeta_lines_find(lines.text, lines.bytes, "one", 1, value, 4));
    assert_string_equal(value, "sec");
    assert_cmp(zeta_lines_find_u64(lines.text, lines.bytes, "number", 0), ==, UINT64_MAX);
    assert_int_equal(zeta_lines_find_u64(lines.text, lines.bytes, "large", 3), 3);
    assert_int_equal(zeta_lines_find_u64(lines.text, lines.bytes, "two", 4), 4);
    assert_int_equal(zeta_lines_find_u64(lines.text, lines.bytes, "absent", 5), 5);
    zeta_lines_finish(&lines);
}

static void numbers__clock_and_cut__come_back(void **state)
{
    const struct zeta_chunk_clock clock = {1, UINT64_MAX - 1, 3};
    const struct zeta_chunk_cut cut = {4, 5, 6};
    unsigned char payload[ZETA_CHUNK_NUMBERS_BYTES];
    struct zeta_chunk_clock clock_back = {0};
    struct zeta_chunk_cut cut_back = {0};

    (void)state;
    zeta_chunk_clock_write(&clock, payload);
    assert_true(zeta_chunk_clock_read(payload, sizeof(payload), &clock_back));
    assert_memory_equal(&clock, &clock_back, sizeof(clock));
    assert_false(zeta_chunk_clock_read(payload, sizeof(payload) - 1, &clock_back));
    zeta_chunk_cut_write(&cut, payload);
    assert_true(zeta_chunk_cut_read(payload, sizeof(payload), &cut_back));
    assert_memory_equal(&cut, &cut_back, sizeof(cut));
    assert_false(zeta_chunk_cut_read(payload, sizeof(payload) - 1, &cut_back));
}

static void names__of_a_payload__in_order_until_the_cut(void **state)
{
    static const unsigned char text[] = {'a', 'b', 'c'};
    unsigned char payload[64];
    struct zeta_chunk_name name = {.id = UINT64_C(0x123456789abcdef0), .bytes = sizeof(text)};
    size_t at = 0;

    (void)state;
    zeta_chunk_name_write(&name, payload);
    memcpy(payload + ZETA_CHUNK_NAME_BYTES, text, sizeof(text));
    name = (struct zeta_chunk_name){.id = 7};
    zeta_chunk_name_write(&name, payload + 15);
    assert_true(zeta_chunk_name_read(payload, 27, &at, &name));
    assert_int_equal(name.id, UINT64_C(0x123456789abcdef0));
    assert_int_equal(name.bytes, 3);
    assert_memory_equal(name.text, text, sizeof(text));
    assert_true(zeta_chunk_name_read(payload, 27, &at, &name));
    assert_int_equal(name.id, 7);
    assert_int_equal(name.bytes, 0);
    assert_int_equal(at, 27);
    assert_false(zeta_chunk_name_read(payload, 27, &at, &name));
    at = 15;
    assert_false(zeta_chunk_name_read(payload, 26, &at, &name));
    at = 0;
    assert_false(zeta_chunk_name_read(payload, 14, &at, &name));
    memset(payload + 8, 0xff, 4); /* of 4 GiB */
    assert_false(zeta_chunk_name_read(payload, 27, &at, &name));
    assert_int_equal(at, 0);
    assert_false(zeta_chunk_name_read(NULL, 0, &at, &name));
}

SUITE(container)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names__of_a_payload__in_order_until_the_cut),
        cmocka_unit_test(crc__known_text__known_value),
        cmocka_unit_test(crc__any_length_and_split__is_that_of_the_bits),
        cmocka_unit_test(write__example__is_the_documented_bytes),
        cmocka_unit_test(write__memory_too_small__counts_and_stays_inside),
        cmocka_unit_test(read__example__chunk_and_end),
        cmocka_unit_test(read__cut_anywhere__is_never_complete),
        cmocka_unit_test(read__any_bit_flipped__is_noticed_or_changes_nothing),
        cmocka_unit_test(read__later_versions__minor_is_read_major_is_refused),
        cmocka_unit_test(read__unknown_chunk__is_seen_with_its_number),
        cmocka_unit_test(read__bytes_behind_the_end__are_damage),
        cmocka_unit_test(lines__any_text__comes_back),
        cmocka_unit_test(numbers__clock_and_cut__come_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
