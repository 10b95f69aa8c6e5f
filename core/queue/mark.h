/*
 * How far the queues of a context have come at a moment, to ask later whether all that had been
 * submitted then is over, without waiting.
 */
#ifndef ZETA_CORE_QUEUE_MARK_H
#define ZETA_CORE_QUEUE_MARK_H

#include <stdbool.h>

#include <level_zero/ze_api.h>

struct zeta_context;
struct zeta_queue_marks;

/**
 * Notes the newest submission of each queue of a context that still has work. The queues may be
 * destroyed meanwhile; the context lives longer than the marks. Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_queue_marks_create(struct zeta_context *context,
                                    struct zeta_queue_marks **out_marks);

/**
 * True once all of it has ended, also by failing or with its queue; always true for NULL. Marks
 * that were made later pass no earlier. Calls no backend.
 */
bool zeta_queue_marks_passed(const struct zeta_queue_marks *marks);

/** Forgets them. NULL is allowed. */
void zeta_queue_marks_destroy(struct zeta_queue_marks *marks);

#endif
