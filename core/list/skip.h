/*
 * Commands that a list records without doing what they say: those between begin and end of an
 * execution query. They still wait for their events and signal them.
 */
#ifndef ZETA_CORE_LIST_SKIP_H
#define ZETA_CORE_LIST_SKIP_H

#include "core/list/list.h"

/**
 * From the next append on, commands of the list are skipped until zeta_list_skip_end() names the
 * same thing. Skipping already: nothing changes.
 */
void zeta_list_skip_begin(struct zeta_command_list *list, const void *what);
void zeta_list_skip_end(struct zeta_command_list *list, const void *what);

/** Makes barriers of the work of an append to a list that skips. */
void zeta_append_skip(const struct zeta_append *append);

/** UNSUPPORTED_FEATURE, with a sentence, if the list skips: for what cannot be skipped. */
ze_result_t zeta_list_refuse_skip(const struct zeta_command_list *list, const char *what);

#endif
