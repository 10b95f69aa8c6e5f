/*
 * The first and the last line of a trace: what is known of the process, and what was lost.
 */
#ifndef ZETA_CORE_TRACE_FILE_HEAD_H
#define ZETA_CORE_TRACE_FILE_HEAD_H

#include <stddef.h>
#include <stdint.h>

enum { ZETA_TRACE_HEAD_BYTES = 4096, ZETA_TRACE_TAIL_BYTES = 512 };

/** Writes the head into ZETA_TRACE_HEAD_BYTES blanks: name and command of the process, clocks. */
void zeta_trace_head_write(char *head);

/** Changes the number of lost records in a head, in place. */
void zeta_trace_head_count(char *head, uint64_t lost);

/** Makes the tail that ends the array; gives its size. */
size_t zeta_trace_tail_make(uint64_t lost, char tail[ZETA_TRACE_TAIL_BYTES]);

#endif
