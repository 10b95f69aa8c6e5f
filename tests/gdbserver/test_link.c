/*
 * Packets: what a stream of bytes says, and how answers are sent.
 */
#include "sdk/tools/zeta-gdbserver/packet/link.h"
#include "tests/gdbserver/frames.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct connection {
    struct zeta_gdb_link link;
    struct frames sent;
};

static int connect_gdb(void **state)
{
    struct connection *const connection = calloc(1, sizeof(*connection));

    *state = connection;
    return connection && zeta_gdb_link_init(&connection->link, frames_write, &connection->sent)
               ? 0
               : -1;
}

static int disconnect_gdb(void **state)
{
    struct connection *const connection = *state;

    zeta_gdb_link_finish(&connection->link);
    frames_clear(&connection->sent);
    free(connection);
    return 0;
}

/* All bytes at once; what is found first, and that nothing is left. */
static enum zeta_gdb_input take(struct connection *connection, const char *bytes)
{
    enum zeta_gdb_input input;

    assert_int_equal(zeta_gdb_link_take(&connection->link, bytes, strlen(bytes), &input),
                     strlen(bytes));
    return input;
}

static void assert_sent(struct connection *connection, const char *bytes)
{
    assert_int_equal(connection->sent.size, strlen(bytes));
    if (connection->sent.size > 0)
        assert_memory_equal(connection->sent.bytes, bytes, strlen(bytes));
    frames_clear(&connection->sent);
}

static void take__packet__is_given_and_acknowledged(void **state)
{
    struct connection *const connection = *state;

    assert_int_equal(take(connection, "$qTStatus#49"), ZETA_GDB_INPUT_PACKET);
    assert_int_equal(connection->link.size, 8);
    assert_string_equal(connection->link.payload, "qTStatus");
    assert_sent(connection, "+");
    assert_int_equal(take(connection, "$#00"), ZETA_GDB_INPUT_PACKET);
    assert_int_equal(connection->link.size, 0);
    assert_int_equal(take(connection, "$?#3F"), ZETA_GDB_INPUT_PACKET);
}

static void take__byte_by_byte__is_the_same(void **state)
{
    struct connection *const connection = *state;
    static const char bytes[] = "+$m10,4#2";

    for (size_t i = 0; i + 1 < sizeof(bytes); i++) {
        const char one[] = {bytes[i], '\0'};

        assert_int_equal(take(connection, one), ZETA_GDB_INPUT_NONE);
    }
    assert_int_equal(take(connection, "e"), ZETA_GDB_INPUT_PACKET);
    assert_string_equal(connection->link.payload, "m10,4");
}

static void take__two_packets__come_one_after_the_other(void **state)
{
    struct connection *const connection = *state;
    static const char bytes[] = "$?#3f$g#67";
    enum zeta_gdb_input input;

    assert_int_equal(zeta_gdb_link_take(&connection->link, bytes, 10, &input), 5);
    assert_int_equal(input, ZETA_GDB_INPUT_PACKET);
    assert_string_equal(connection->link.payload, "?");
    assert_int_equal(zeta_gdb_link_take(&connection->link, bytes + 5, 5, &input), 5);
    assert_string_equal(connection->link.payload, "g");
}

static void take__wrong_checksum__is_asked_for_again(void **state)
{
    struct connection *const connection = *state;

    assert_int_equal(take(connection, "$?#3e"), ZETA_GDB_INPUT_NONE);
    assert_int_equal(take(connection, "$?#zz"), ZETA_GDB_INPUT_NONE);
    assert_sent(connection, "--");
    assert_int_equal(take(connection, "$?#3f"), ZETA_GDB_INPUT_PACKET);
    assert_sent(connection, "+");
}

static void take__no_acks__compares_no_checksum(void **state)
{
    struct connection *const connection = *state;

    connection->link.has_acks = false;
    assert_int_equal(take(connection, "$?#00"), ZETA_GDB_INPUT_PACKET);
    assert_true(zeta_gdb_link_send(&connection->link, "OK", 2));
    assert_sent(connection, "$OK#9a");
    assert_int_equal(take(connection, "-+"), ZETA_GDB_INPUT_NONE);
    assert_sent(connection, "");
}

static void take__escapes__are_resolved(void **state)
{
    struct connection *const connection = *state;

    assert_int_equal(take(connection, "$X0,4:}\x03}\x04}]}\x0a#84"), ZETA_GDB_INPUT_PACKET);
    assert_int_equal(connection->link.size, 9);
    assert_memory_equal(connection->link.payload, "X0,4:#$}*", 9);
}

static void take__interrupt__only_outside_of_packets(void **state)
{
    struct connection *const connection = *state;

    assert_int_equal(take(connection, "\x03"), ZETA_GDB_INPUT_INTERRUPT);
    assert_int_equal(take(connection, "$X0,1:\x03#22"), ZETA_GDB_INPUT_PACKET);
    assert_int_equal(connection->link.payload[5], 0x03);
}

static void take__packet_in_a_packet__the_first_is_forgotten(void **state)
{
    struct connection *const connection = *state;

    assert_int_equal(take(connection, "$m10,}$?#3f"), ZETA_GDB_INPUT_PACKET);
    assert_string_equal(connection->link.payload, "?");
    assert_sent(connection, "+");
}

static void take__too_long__is_said_and_the_next_comes(void **state)
{
    struct connection *const connection = *state;
    struct zeta_gdb_link *const link = &connection->link;
    enum zeta_gdb_input input;

    for (unsigned more = 0; more < 2; more++) {
        char tail[] = "#xx";
        uint8_t sum = 0;

        assert_int_equal(take(connection, "$"), ZETA_GDB_INPUT_NONE);
        for (size_t i = 0; i < ZETA_GDB_PACKET_BYTES + more; i++) {
            (void)zeta_gdb_link_take(link, "a", 1, &input);
            sum = (uint8_t)(sum + 'a');
        }
        (void)snprintf(tail, sizeof(tail), "#%02x", sum);
        assert_int_equal(take(connection, tail),
                         more ? ZETA_GDB_INPUT_TOO_LONG : ZETA_GDB_INPUT_PACKET);
        assert_sent(connection, "+");
    }
    assert_int_equal(take(connection, "$?#3f"), ZETA_GDB_INPUT_PACKET);
}

static void send__refused__is_sent_again(void **state)
{
    struct connection *const connection = *state;

    assert_int_equal(take(connection, "-"), ZETA_GDB_INPUT_NONE);
    assert_sent(connection, "");
    assert_true(zeta_gdb_link_send(&connection->link, "S05 and more", 12));
    assert_true(zeta_gdb_link_send(&connection->link, "OK", 2));
    frames_clear(&connection->sent);
    assert_int_equal(take(connection, "--+"), ZETA_GDB_INPUT_NONE);
    assert_sent(connection, "$OK#9a$OK#9a");
}

static void notify__stop__has_its_own_lead_and_is_sent_once(void **state)
{
    struct connection *const connection = *state;

    assert_true(zeta_gdb_link_notify(&connection->link, "Stop:T05", 8));
    assert_sent(connection, "%Stop:T05#99");
    assert_int_equal(take(connection, "-"), ZETA_GDB_INPUT_NONE);
    assert_sent(connection, "");
}

static void send__runs__are_as_the_protocol_counts_them(void **state)
{
    static const struct {
        const char *payload, *frame;
    } cases[] = {
        {"000", "$000#90"},         {"0000", "$0* #7a"},
        {"000000", "$0*\"#7c"},     {"0000000", "$0*\"0#ac"}, /* a run of six would be '#' */
        {"00000000", "$0*\"00#dc"},                           /* and of seven '$' */
        {"000000000", "$0*%#7f"},
    };
    struct connection *const connection = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(
            zeta_gdb_link_send(&connection->link, cases[i].payload, strlen(cases[i].payload)));
        assert_sent(connection, cases[i].frame);
    }
}

static void send__any_bytes__read_back(void **state)
{
    struct connection *const connection = *state;
    uint8_t payload[4096], back[4096];
    size_t size;
    char lead;

    for (size_t i = 0; i < sizeof(payload); i++)
        payload[i] = (uint8_t)(i < 256 ? i : i / 200 * 37);
    for (size_t i = 3000; i < sizeof(payload); i++)
        payload[i] = (uint8_t) "#$*}"[i / 300 % 4];
    assert_true(zeta_gdb_link_send(&connection->link, payload, sizeof(payload)));
    assert_int_equal(frames_read(&connection->sent, 0, &lead, back, sizeof(back), &size),
                     connection->sent.size);
    assert_int_equal(lead, '$');
    assert_int_equal(size, sizeof(payload));
    assert_memory_equal(back, payload, sizeof(payload));
}

static void send__closed__fails(void **state)
{
    struct connection *const connection = *state;

    connection->sent.is_closed = true;
    assert_false(zeta_gdb_link_send(&connection->link, "OK", 2));
    assert_false(zeta_gdb_link_notify(&connection->link, "Stop:T05", 8));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, connect_gdb, disconnect_gdb)

SUITE(link)
{
    const struct CMUnitTest tests[] = {
        TEST(take__packet__is_given_and_acknowledged),
        TEST(take__byte_by_byte__is_the_same),
        TEST(take__two_packets__come_one_after_the_other),
        TEST(take__wrong_checksum__is_asked_for_again),
        TEST(take__no_acks__compares_no_checksum),
        TEST(take__escapes__are_resolved),
        TEST(take__interrupt__only_outside_of_packets),
        TEST(take__packet_in_a_packet__the_first_is_forgotten),
        TEST(take__too_long__is_said_and_the_next_comes),
        TEST(send__refused__is_sent_again),
        TEST(notify__stop__has_its_own_lead_and_is_sent_once),
        TEST(send__runs__are_as_the_protocol_counts_them),
        TEST(send__any_bytes__read_back),
        TEST(send__closed__fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
