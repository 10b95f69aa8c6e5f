/*
 * What a test can do with the fake device beside using it through the API.
 *
 * The fake device computes nothing: its kernels are functions of the plugin that tests steer. They
 * are named in the native image, which is the text "FAKE" and names separated by blanks:
 *
 *   add    (pointer to u64, u64 value)      adds value to *pointer once per work-group
 *   size   (pointer to u64, local memory)   stores the size of the local memory
 *   hold                                    runs until compute_control.release(), or forever
 *   fault                                   fails, and the device is lost until the queue is gone
 *   refuse                                  fails, but the device stays
 *   any    (unknown, unknown)               is "add", whose arguments nobody described
 *
 * Its metrics (metrics/fake.yaml) count, in queries, what a queue did; its streams hold markers.
 *
 * A word "-x" in the image imports the name x, a word "+x" exports it.
 */
#ifndef ZETA_TESTS_HARNESS_DEVICE_COMPUTE_CONTROL_H
#define ZETA_TESTS_HARNESS_DEVICE_COMPUTE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_IMAGE "FAKE add size hold fault refuse"
#define FAKE_TIMER_HZ UINT64_C(25000000)
#define FAKE_END_SENTENCE "a query ends on a queue on which it was not begun"
#define FAKE_FAULT_SENTENCE "kernel fault stored to address 16 in work-item 3"

/** What the devices without compute (bare.c) say, and the uuid of set Work. */
#define BARE_NO_QUERIES "The narrow unit forgets what it counted."
#define BARE_QUERY_NOTE "Queries count the time stamps of their queue."
#define BARE_WORK_UUID "5d2f8c1e-3b47-4a90-9e6d-0f1a2b3c4d5e"

/** Functions of the loaded plugin; the symbol "compute_control" of its library. */
struct compute_control {
    void (*release)(void);          /**< lets every "hold" end, also later ones, until hold() */
    void (*hold)(void);             /**< makes later ones wait again; so it is at the start */
    uint32_t (*holding)(void);      /**< kernels that are held now */
    uint32_t (*live_kernels)(void); /**< kernels of the plugin that were not destroyed */
    uint32_t (*live_modules)(void);
    uint32_t (*live_memory)(void);     /**< allocations */
    void (*set_ticks)(uint64_t ticks); /**< makes the timer stand there; 0: it runs */
    void (*set_late)(uint32_t ms); /**< delay between the last command and the report of its end */
    void (*withhold)(bool value);  /**< reports come only in queue_wait(), which there is then */
    uint32_t (*looks)(void);       /**< calls of queue_wait() so far */
    void (*refuse_submissions)(uint32_t result); /**< they fail with it; 0: they work */
    uint32_t (*live_pools)(void);                /**< of queries */
    void (*refuse_pools)(uint32_t result);       /**< new pools fail with it; 0: they work */
    void (*refuse_queries)(uint32_t result); /**< the same for resetting and collecting queries */
};

/** The table of the library that libzeta has opened (harness_control). */
__attribute__((visibility("default"))) extern const struct compute_control compute_control;

#endif
