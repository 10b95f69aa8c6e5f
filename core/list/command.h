/*
 * What core/device needs to know of this folder.
 */
#ifndef ZETA_CORE_LIST_COMMAND_H
#define ZETA_CORE_LIST_COMMAND_H

/** Registers the finishers of events, pools, fences, queues and command lists. */
void zeta_command_set_finishers(void);

#endif
