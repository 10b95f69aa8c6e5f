#include "sdk/tools/zeta-gdbserver/packet/link.h"

#include <stdlib.h>

#include "sdk/tools/zeta-gdbserver/packet/text.h"

enum { OUTSIDE, IN_PAYLOAD, IN_ESCAPE, IN_CHECKSUM, IN_CHECKSUM_END };

#define INTERRUPT 0x03u
#define ESCAPE 0x7du
#define ESCAPE_BIT 0x20u

/* A run is its byte, '*' and a character for how often the byte follows. */
#define RUN_OFFSET 29u
#define RUN_MIN 3u
#define RUN_MAX (126u - RUN_OFFSET)

bool zeta_gdb_link_init(struct zeta_gdb_link *link, zeta_gdb_write_fn write, void *to)
{
    *link = (struct zeta_gdb_link){.has_acks = true, .write = write, .to = to};
    link->payload = malloc(ZETA_GDB_PACKET_BYTES + 1);
    link->frame = open_memstream(&link->frame_bytes, &link->frame_size);
    if (link->payload && link->frame)
        return true;
    zeta_gdb_link_finish(link);
    return false;
}

void zeta_gdb_link_finish(struct zeta_gdb_link *link)
{
    if (link->frame)
        (void)fclose(link->frame);
    free(link->frame_bytes);
    free(link->payload);
    *link = (struct zeta_gdb_link){0};
}

/* From GDB ------------------------------------------------------------------------------------- */

static enum zeta_gdb_input take_outside(struct zeta_gdb_link *link, uint8_t byte)
{
    if (byte == '$') {
        link->state = IN_PAYLOAD;
        link->size = link->raw_size = 0;
        link->sum = 0;
    } else if (byte == '-' && link->has_acks && link->frame_size > 0) {
        (void)link->write(link->to, link->frame_bytes, link->frame_size);
    }
    return byte == INTERRUPT ? ZETA_GDB_INPUT_INTERRUPT : ZETA_GDB_INPUT_NONE;
}

static void take_payload(struct zeta_gdb_link *link, uint8_t byte)
{
    const bool is_escaped = link->state == IN_ESCAPE;

    if (byte == '$') {
        (void)take_outside(link, byte);
        return;
    }
    if (byte == '#') {
        link->state = IN_CHECKSUM;
        return;
    }
    link->sum = (uint8_t)(link->sum + byte);
    link->state = byte == ESCAPE && !is_escaped ? IN_ESCAPE : IN_PAYLOAD;
    if (link->raw_size < ZETA_GDB_PACKET_BYTES + 1)
        link->raw_size++;
    if (link->state == IN_PAYLOAD && link->size < ZETA_GDB_PACKET_BYTES)
        link->payload[link->size++] = (char)(is_escaped ? byte ^ ESCAPE_BIT : byte);
}

static enum zeta_gdb_input take_checksum_end(struct zeta_gdb_link *link, uint8_t byte)
{
    const int high = zeta_gdb_digit((char)link->wanted), low = zeta_gdb_digit((char)byte);
    const bool is_whole = high >= 0 && low >= 0 && high * 16 + low == link->sum;

    link->state = OUTSIDE;
    link->payload[link->size] = '\0';
    if (link->has_acks)
        (void)link->write(link->to, is_whole ? "+" : "-", 1);
    if (link->has_acks && !is_whole)
        return ZETA_GDB_INPUT_NONE;
    return link->raw_size > ZETA_GDB_PACKET_BYTES ? ZETA_GDB_INPUT_TOO_LONG : ZETA_GDB_INPUT_PACKET;
}

size_t zeta_gdb_link_take(struct zeta_gdb_link *link, const void *bytes, size_t size,
                          enum zeta_gdb_input *out_input)
{
    const uint8_t *const all = bytes;
    size_t taken = 0;

    *out_input = ZETA_GDB_INPUT_NONE;
    while (taken < size && *out_input == ZETA_GDB_INPUT_NONE) {
        const uint8_t byte = all[taken++];

        switch (link->state) {
        case OUTSIDE:
            *out_input = take_outside(link, byte);
            break;
        case IN_CHECKSUM:
            link->wanted = byte;
            link->state = IN_CHECKSUM_END;
            break;
        case IN_CHECKSUM_END:
            *out_input = take_checksum_end(link, byte);
            break;
        default:
            take_payload(link, byte);
        }
    }
    return taken;
}

/* To GDB --------------------------------------------------------------------------------------- */

static uint8_t put_byte(struct zeta_gdb_link *link, uint8_t byte)
{
    (void)putc(byte, link->frame);
    return byte;
}

/* How often the first byte follows itself, as far as one count can say so. */
static size_t count_run(const uint8_t *bytes, size_t size)
{
    size_t run = 0;

    while (run < RUN_MAX && run + 1 < size && bytes[run + 1] == bytes[0])
        run++;
    while (run + RUN_OFFSET == '#' || run + RUN_OFFSET == '$')
        run--;
    return run < RUN_MIN ? 0 : run;
}

static bool send(struct zeta_gdb_link *link, char lead, const uint8_t *bytes, size_t size)
{
    uint8_t sum = 0;

    rewind(link->frame);
    (void)putc(lead, link->frame);
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '$' || bytes[i] == '#' || bytes[i] == '*' || bytes[i] == ESCAPE) {
            sum = (uint8_t)(sum + put_byte(link, ESCAPE));
            sum = (uint8_t)(sum + put_byte(link, bytes[i] ^ ESCAPE_BIT));
        } else {
            const size_t run = count_run(bytes + i, size - i);

            sum = (uint8_t)(sum + put_byte(link, bytes[i]));
            if (run > 0) {
                sum = (uint8_t)(sum + put_byte(link, '*'));
                sum = (uint8_t)(sum + put_byte(link, (uint8_t)(run + RUN_OFFSET)));
                i += run;
            }
        }
    }
    (void)fprintf(link->frame, "#%02x", sum);
    return fflush(link->frame) == 0 && !ferror(link->frame) &&
           link->write(link->to, link->frame_bytes, link->frame_size);
}

bool zeta_gdb_link_send(struct zeta_gdb_link *link, const void *payload, size_t size)
{
    return send(link, '$', payload, size);
}

bool zeta_gdb_link_notify(struct zeta_gdb_link *link, const void *payload, size_t size)
{
    const bool sent = send(link, '%', payload, size);

    rewind(link->frame); /* it is never sent again */
    return fflush(link->frame) == 0 && sent;
}
