/*
 * A stand-in for the newest Level Zero loader, written from the contract between loader and driver:
 * what it requests from drivers, in which order, and how it passes calls on. It has no layers.
 *
 * Tests preload libze_standin.so, or open it; its exported ze and zet functions are the loader.
 * Beside them it exports the variable below, so that a test can prove what was active.
 */
#ifndef ZETA_TESTS_STANDIN_H
#define ZETA_TESTS_STANDIN_H

#include <stdatomic.h>
#include <stdint.h>

enum standin_mode {
    STANDIN_UNUSED,
    STANDIN_DIRECT,    /**< one driver; its table pointers are called as they are */
    STANDIN_INTERCEPT, /**< several, or forced: every call goes to the driver of its handle */
};

/** What happened in this process. Symbol "standin_counters"; read it at any time. */
struct standin_counters {
    _Atomic uint32_t mode;             /**< enum standin_mode */
    _Atomic uint32_t drivers_opened;   /**< libraries that dlopen accepted */
    _Atomic uint32_t drivers_in_use;   /**< whose tables were complete */
    _Atomic uint32_t drivers_ddi;      /**< driver handles that are called through their prefix */
    _Atomic uint32_t tables_requested; /**< calls of getters of drivers */
    _Atomic uint32_t getters_missing;  /**< getters that a driver does not export */
    _Atomic uint32_t getters_failed;   /**< getters that answered with an error */
    _Atomic uint32_t inits_forwarded;  /**< zeInit calls that reached a driver */
    _Atomic uint32_t init_drivers_forwarded;
    _Atomic uint32_t sorts;              /**< times that drivers were put in order */
    _Atomic uint32_t own_getters_called; /**< a driver called a getter by its exported name */
    _Atomic uint32_t drivers_closed;     /**< dlclose, by the destructor */
    _Atomic uint64_t calls_by_handle;    /**< calls that went through the prefix of a handle */
    _Atomic uint64_t calls_wrapped;      /**< calls that exchanged objects for handles */
    _Atomic uint64_t objects_made;       /**< objects of the loader around handles of drivers */
    _Atomic uint64_t objects_live;
};

#endif
