/*
 * What the device's code of printf writes and the host's reads, both on the host: many that write
 * at the same time, buffers of all sizes, strings and formats at their limits, and damage of each
 * byte.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/kernel_print.h>

#include "plugins/nvidia/runtime/print.h"
#include "tests/support/suite.h"

enum { ROOM = 1 << 16, THREADS = 4, CALLS = 2000 };

static struct {
    struct zeta_print_buffer head;
    uint8_t records[ROOM + 64];
} buffer;

static struct {
    char bytes[1 << 20];
    size_t size;
    unsigned calls;
} text;

unsigned long __zeta_print_buffer(void)
{
    return (uintptr_t)&buffer;
}

static void add_text(void *user, const char *bytes, size_t size)
{
    (void)user;
    assert_in_range(size, 0, sizeof(text.bytes) - 1 - text.size);
    memcpy(text.bytes + text.size, bytes, size);
    text.size += size;
    text.bytes[text.size] = '\0';
    text.calls++;
}

/* Bytes behind the room stay as they are. */
static void clear(size_t room)
{
    buffer.head = (struct zeta_print_buffer){.room_bytes = room};
    memset(buffer.records, 0xa5, sizeof(buffer.records));
    text.size = 0;
    text.calls = 0;
    text.bytes[0] = '\0';
}

static size_t used(void)
{
    return buffer.head.used_bytes < buffer.head.room_bytes ? buffer.head.used_bytes
                                                           : buffer.head.room_bytes;
}

static bool read_all(void)
{
    size_t bad_byte;

    return zeta_print_records(buffer.records, used(), add_text, NULL, &bad_byte);
}

static int print(const char *format, const uint64_t *slots, uint64_t count)
{
    return __zeta_printf((uintptr_t)format, (uintptr_t)slots, count);
}

static void records__of_all_sizes_of_a_buffer__end_where_they_do_not_fit(void **state)
{
    static const char *const names[] = {"", "a", "a longer one", "x"};

    (void)state;
    for (size_t room = 0; room <= 400; room += 8) {
        unsigned fit = 0, lost = 0;
        bool was_lost = false;

        clear(room);
        for (unsigned i = 0; i < 12; i++) {
            const uint64_t slots[] = {i, (uintptr_t)names[i % 4]};
            const int result = print("%d %s\n", slots, 2);

            assert_true(result == 0 || result == -1);
            assert_true(result == -1 || !was_lost); /* none behind one that was lost */
            was_lost = result == -1;
            fit += result == 0;
            lost += result == -1;
        }
        assert_true(read_all());
        assert_int_equal(text.calls, fit);
        assert_int_equal(buffer.head.lost_count, lost);
        for (size_t i = room; i < sizeof(buffer.records); i++)
            assert_int_equal(buffer.records[i], 0xa5);
        for (unsigned i = 0, at = 0; i < fit; i++) {
            char line[64];

            (void)snprintf(line, sizeof(line), "%u %s\n", i, names[i % 4]);
            assert_memory_equal(text.bytes + at, line, strlen(line));
            at += (unsigned)strlen(line);
        }
    }
}

static void *print_many(void *argument)
{
    const unsigned thread = *(const unsigned *)argument;
    unsigned *lost = calloc(1, sizeof(*lost));

    for (unsigned i = 0; lost && i < CALLS; i++) {
        const uint64_t slots[] = {thread, i, (uintptr_t) "text"};

        *lost += print("%u %u %s\n", slots, 3) != 0;
    }
    return lost;
}

static void records__of_many_at_the_same_time__are_whole(void **state)
{
    pthread_t threads[THREADS];
    unsigned ids[THREADS], next[THREADS] = {0}, lost = 0;
    char *rest = NULL;

    (void)state;
    clear(ROOM);
    for (unsigned i = 0; i < THREADS; i++) {
        ids[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, print_many, &ids[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        void *own = NULL;

        assert_int_equal(pthread_join(threads[i], &own), 0);
        assert_non_null(own);
        lost += *(unsigned *)own;
        free(own);
    }
    assert_true(read_all());
    assert_int_equal(text.calls + lost, THREADS * CALLS);
    assert_int_equal(buffer.head.lost_count, lost);
    assert_int_equal(text.calls, ROOM / 48);
    for (char *line = strtok_r(text.bytes, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        unsigned thread = THREADS, call = CALLS;

        assert_int_equal(sscanf(line, "%u %u text", &thread, &call), 2);
        assert_in_range(thread, 0, THREADS - 1);
        assert_int_equal(call, next[thread]);
        next[thread]++;
    }
}

static void strings__beyond_the_limits__are_cut(void **state)
{
    static char string[3 * ZETA_PRINT_STRING_BYTES], format[2 * ZETA_PRINT_FORMAT_BYTES];
    const uint64_t slots[] = {(uintptr_t)string, (uintptr_t)string, 5, (uintptr_t)string};

    (void)state;
    memset(string, 's', sizeof(string) - 1);
    memset(format, 'f', sizeof(format) - 1);
    clear(ROOM);
    assert_int_equal(print("%s|", slots, 1), 0);
    assert_int_equal(print("%.3s|%.*s|", slots + 1, 3), 0);
    assert_true(read_all());
    assert_int_equal(text.size, ZETA_PRINT_STRING_BYTES + 1 + strlen("sss|sssss|"));
    assert_string_equal(text.bytes + ZETA_PRINT_STRING_BYTES, "|sss|sssss|");
    clear(ROOM);
    assert_int_equal(print(format, slots, 0), 0);
    assert_true(read_all());
    assert_int_equal(text.size, ZETA_PRINT_FORMAT_BYTES);
}

static void records__with_any_byte_damaged__do_no_harm(void **state)
{
    const double real = 2.5;
    uint64_t slots[] = {42, (uintptr_t) "string", 0, 7};
    uint8_t before;
    bool is_good;

    (void)state;
    memcpy(&slots[2], &real, sizeof(real));
    clear(ROOM);
    assert_int_equal(print("%d %s %v2hlf %p\n", slots, 4), 0);
    assert_int_equal(print("end\n", slots, 0), 0);
    is_good = read_all();
    assert_true(is_good);
    for (size_t i = 0; i < used(); i++) {
        before = buffer.records[i];
        for (unsigned value = 0; value < 256; value++) {
            uint8_t *copy = malloc(used()); /* so that a sanitizer sees its end */
            size_t bad_byte = SIZE_MAX;

            assert_non_null(copy);
            buffer.records[i] = (uint8_t)value;
            memcpy(copy, buffer.records, used());
            text.size = 0;
            is_good = zeta_print_records(copy, used(), add_text, NULL, &bad_byte);
            assert_true(is_good || bad_byte < used());
            free(copy);
        }
        buffer.records[i] = before;
    }
}

SUITE(print_records)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records__of_all_sizes_of_a_buffer__end_where_they_do_not_fit),
        cmocka_unit_test(records__of_many_at_the_same_time__are_whole),
        cmocka_unit_test(strings__beyond_the_limits__are_cut),
        cmocka_unit_test(records__with_any_byte_damaged__do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
