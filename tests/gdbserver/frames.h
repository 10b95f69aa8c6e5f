/*
 * The other end of a link, written apart from it: reads what it sent as GDB does.
 */
#ifndef ZETA_TESTS_GDBSERVER_FRAMES_H
#define ZETA_TESTS_GDBSERVER_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Everything that a link sent. All zero bytes: nothing yet. */
struct frames {
    uint8_t *bytes; /**< owned */
    size_t size;
    bool is_closed; /**< writing fails */
};

/** A zeta_gdb_write_fn; to is the struct frames. Aborts without memory. */
bool frames_write(void *to, const void *bytes, size_t size);

/**
 * Reads the frame that begins at a byte: its lead ('$', '%'), runs and escapes resolved, checksum
 * compared. Gives the bytes that it takes, 0 when it is none, or its payload has no room.
 */
size_t frames_read(const struct frames *frames, size_t at, char *out_lead, uint8_t *out_payload,
                   size_t capacity, size_t *out_size);

/** Forgets it. */
void frames_clear(struct frames *frames);

#endif
