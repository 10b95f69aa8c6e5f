/*
 * The packets of GDB's remote protocol, between a stream of bytes and what they say.
 *
 *     from GDB   $payload#checksum   + and - (it came whole, or did not)   0x03 (interrupt)
 *     to GDB     $payload#checksum   %payload#checksum (notification)      + and -
 *
 * In a payload 0x7d escapes the next byte, which is then or-ed with 0x20 exclusively. What goes to
 * GDB has runs as well: '*' and a count behind the byte that repeats.
 *
 * Nothing here opens or waits for anything. One thread uses a link at a time.
 * Source: the GDB manual, "Overview" and "Notification Packets" of its remote protocol.
 */
#ifndef ZETA_GDBSERVER_PACKET_LINK_H
#define ZETA_GDBSERVER_PACKET_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Payload bytes, before and behind their escapes, that a packet from GDB may have. */
#define ZETA_GDB_PACKET_BYTES 0x20000u

/** What zeta_gdb_link_take() found. */
enum zeta_gdb_input {
    ZETA_GDB_INPUT_NONE,      /**< nothing is complete yet */
    ZETA_GDB_INPUT_PACKET,    /**< payload and size of the link are valid until the next take */
    ZETA_GDB_INPUT_TOO_LONG,  /**< a packet that was thrown away; GDB waits for an answer to it */
    ZETA_GDB_INPUT_INTERRUPT, /**< a person asked the program to stop */
};

/** Sends all bytes to GDB. False when it cannot be reached any more. */
typedef bool (*zeta_gdb_write_fn)(void *to, const void *bytes, size_t size);

struct zeta_gdb_link {
    char *payload; /**< of the packet, without escapes; a '\0' follows */
    size_t size;

    bool has_acks; /**< packets are acknowledged; cleared when QStartNoAckMode was answered */

    /* Inside. */
    zeta_gdb_write_fn write;
    void *to;
    int state;
    size_t raw_size; /**< bytes of the packet as they came */
    uint8_t sum;     /**< of these */
    uint8_t wanted;  /**< first digit of the checksum */
    FILE *frame;     /**< a memory stream: the packet that was sent last, to send it again */
    char *frame_bytes;
    size_t frame_size;
};

/**
 * Begins a connection; packets are acknowledged. False without memory: nothing is to be finished.
 */
bool zeta_gdb_link_init(struct zeta_gdb_link *link, zeta_gdb_write_fn write, void *to);

void zeta_gdb_link_finish(struct zeta_gdb_link *link);

/**
 * Takes bytes that came from GDB until one thing is complete, and gives how many it took: all of
 * them with ZETA_GDB_INPUT_NONE. Acknowledges packets, asks again for broken ones and sends the
 * last packet again where GDB asks for it. A packet in which another begins is forgotten. Without
 * acknowledgements checksums are not compared, as the protocol has it.
 */
size_t zeta_gdb_link_take(struct zeta_gdb_link *link, const void *bytes, size_t size,
                          enum zeta_gdb_input *out_input);

/** Sends a packet of any bytes. False when GDB cannot be reached, or without memory. */
bool zeta_gdb_link_send(struct zeta_gdb_link *link, const void *payload, size_t size);

/** Sends a notification ("Stop:..."), which nothing acknowledges. The same otherwise. */
bool zeta_gdb_link_notify(struct zeta_gdb_link *link, const void *payload, size_t size);

#endif
