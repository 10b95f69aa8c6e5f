/*
 * A library of a few functions that answer what a test wants and note what they were given, so that
 * a test sees what becomes of an old call. Two drivers; the first has a device with two parts, of
 * which the second has a part of its own, the other has one device.
 */
#ifndef ZETA_TESTS_COMPAT_FAKE_H
#define ZETA_TESTS_COMPAT_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <level_zero/zet_api.h>

#if defined(__cplusplus)
extern "C" {
#endif

#include <cmocka.h>

/** What the last call of a function that old names lead to was given. */
struct seen {
    const char *function;
    ze_context_handle_t context;
    const void *handle;  /**< the first one that is no context */
    const void *group;   /**< of metrics */
    const void *event;   /**< the last one */
    const void *pointer; /**< descriptor, properties or raw data */
    uint32_t stype;      /**< of the descriptor or properties */
    const void *chain;   /**< their pNext */
    uint32_t values[3];  /**< members of the descriptor, or counts, in their order */
    uint64_t size;       /**< a timeout, or bytes of raw data */
    const void *out;     /**< where the result goes */
};

extern struct seen seen;

/** Calls of zeContextCreate since the program began. */
extern uint32_t fake_contexts_created;

/** What functions that are noted answer; SUCCESS after fake_reset(). */
extern ze_result_t fake_result;

/** What zeDriverGet answers; SUCCESS after fake_reset(). */
extern ze_result_t fake_drivers_result;

/** Forgets what was seen. */
void fake_reset(void);

/** Handles. A device: 0 of the first driver, 1 and 2 its parts, 3 the part of 2, 4 of the second.
 */
ze_driver_handle_t fake_driver(unsigned index);
ze_device_handle_t fake_device(unsigned index);

/** The default context of a driver, for the library that has one. */
ze_context_handle_t fake_default_context(unsigned index);

/** Any handle of another kind, with an index below 16. */
void *fake_handle(unsigned index);

#if defined(__cplusplus)
}
#endif

#endif
