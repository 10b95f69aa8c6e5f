/*
 * What packets are made of: hexadecimal numbers and bytes, threads, keywords. Answers are written
 * to memory streams with stdio.
 */
#ifndef ZETA_GDBSERVER_PACKET_TEXT_H
#define ZETA_GDBSERVER_PACKET_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** What is left to read of a packet. Functions that fail leave it as it was. */
struct zeta_gdb_text {
    const char *at;
    const char *end; /**< behind the last byte */
};

/** In place of a thread's or a process's number. */
#define ZETA_GDB_ANY 0
#define ZETA_GDB_ALL (-1)

/** A thread as packets name it: "p1.2a", "p1" (all of it), "2a", "-1", "0". */
struct zeta_gdb_thread_id {
    int64_t process; /**< ZETA_GDB_ANY where the packet names none */
    int64_t thread;  /**< at most UINT32_MAX; ZETA_GDB_ANY, ZETA_GDB_ALL */
};

/** Value of a hexadecimal digit, -1 for any other character. */
int zeta_gdb_digit(char digit);

/** Takes these characters if they come next. */
bool zeta_gdb_take(struct zeta_gdb_text *text, const char *characters);

/** Takes a number of 1 to 16 hexadecimal digits. */
bool zeta_gdb_take_number(struct zeta_gdb_text *text, uint64_t *out_number);

/** Takes size bytes, two digits each. out_bytes may be written to on failure. */
bool zeta_gdb_take_bytes(struct zeta_gdb_text *text, void *out_bytes, size_t size);

/** Takes a thread. */
bool zeta_gdb_take_thread(struct zeta_gdb_text *text, struct zeta_gdb_thread_id *out_thread);

/** Takes everything up to a character, and the character; everything that is left without it. */
struct zeta_gdb_text zeta_gdb_take_field(struct zeta_gdb_text *text, char separator);

/** Writes bytes, two digits each. */
void zeta_gdb_put_bytes(FILE *answer, const void *bytes, size_t size);

#endif
