/* Any bytes from GDB: packets are found the same however the bytes are cut, what they are made of
 * is read within them, and what is sent back reads as it was. */
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta-gdbserver/packet/link.h"
#include "sdk/tools/zeta-gdbserver/packet/text.h"
#include "tests/gdbserver/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void read_fields(const char *payload, size_t size)
{
    struct zeta_gdb_text text = {payload, payload + size};

    while (text.at < text.end) {
        struct zeta_gdb_text field = zeta_gdb_take_field(&text, ';');
        struct zeta_gdb_thread_id thread = {0, 0};
        uint64_t number;
        uint8_t bytes[8];

        require(field.at >= payload && field.end <= payload + size);
        while (field.at < field.end) {
            if (!zeta_gdb_take_thread(&field, &thread) && !zeta_gdb_take_number(&field, &number) &&
                !zeta_gdb_take_bytes(&field, bytes, sizeof(bytes)))
                field.at++;
            require(field.at <= field.end);
            require(thread.thread >= ZETA_GDB_ALL && thread.thread <= UINT32_MAX);
        }
    }
}

static void echo(struct zeta_gdb_link *link, struct frames *sent)
{
    uint8_t back[ZETA_GDB_PACKET_BYTES];
    size_t size;
    char lead;

    frames_clear(sent);
    require(zeta_gdb_link_send(link, link->payload, link->size));
    require(frames_read(sent, 0, &lead, back, sizeof(back), &size) == sent->size && lead == '$');
    require(size == link->size && memcmp(back, link->payload, size) == 0);
}

/* Sum over what is found, to compare. */
static uint64_t read_all(const uint8_t *data, size_t size, size_t piece)
{
    struct zeta_gdb_link link;
    struct frames sent = {0};
    uint64_t found = 0;

    require(zeta_gdb_link_init(&link, frames_write, &sent));
    for (size_t at = 0; at < size;) {
        const size_t left = size - at;
        enum zeta_gdb_input input;
        const size_t taken =
            zeta_gdb_link_take(&link, data + at, left < piece ? left : piece, &input);

        require(taken > 0 && taken <= left);
        at += taken;
        if (input == ZETA_GDB_INPUT_NONE)
            continue;
        found = found * 31 + input;
        if (input != ZETA_GDB_INPUT_PACKET)
            continue;
        require(link.payload[link.size] == '\0');
        for (size_t i = 0; i < link.size; i++)
            found = found * 31 + (uint8_t)link.payload[i];
        read_fields(link.payload, link.size);
        echo(&link, &sent);
        link.has_acks = link.size == 0 || link.payload[0] != 'Q';
    }
    zeta_gdb_link_finish(&link);
    frames_clear(&sent);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    require(read_all(data, size, SIZE_MAX) == read_all(data, size, 1));
    return 0;
}
