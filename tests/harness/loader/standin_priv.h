/*
 * What the files of the stand-in loader share, the generated one (standin_api.c) included.
 */
#ifndef ZETA_TESTS_STANDIN_PRIV_H
#define ZETA_TESTS_STANDIN_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_ddi.h>
#include <level_zero/zer_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>

#include "standin.h"
#include "standin_kinds.h"

/** All tables by value; part of this binary only. */
struct standin_tables {
    ze_dditable_t ze;
    zet_dditable_t zet;
    zes_dditable_t zes; /**< null members in intercept mode */
    zer_dditable_t zer;
};

/** The API that a table belongs to; decides about the order of requests. */
enum standin_api { STANDIN_ZE, STANDIN_ZET, STANDIN_ZES, STANDIN_ZER };

/** The place of a table that is asked for and not kept. */
#define STANDIN_NOWHERE SIZE_MAX

/** One table to ask a driver for. */
struct standin_request {
    const char *getter;
    enum standin_api api;
    size_t offset; /**< into struct standin_tables, or STANDIN_NOWHERE */
    bool required; /**< a getter that fails has consequences; one that is missing never has */
};

/** In the order in which a loader in direct mode asks. */
extern const struct standin_request standin_requests[];
extern const size_t standin_request_count;

/** A driver library. */
struct standin_driver {
    const char *path;
    void *library;                /**< NULL: could not be opened, or was dropped */
    struct standin_tables tables; /**< as its getters filled them */
    ze_result_t failure;          /**< why it is not in use */
    uint32_t rank;                /**< place in the order of drivers, smaller first */
    bool ddi;                     /**< its handles begin with tables and are not wrapped */
};

/** Beginning of a dispatch set, the same for every API. */
struct standin_set {
    ze_api_version_t version;
    _Atomic uint8_t valid; /**< the driver clears it while calls go on */
};

/** What an object behind a handle begins with when calls go by handle. */
struct standin_prefix {
    const ze_dditable_driver_t *core;
    const zet_dditable_driver_t *tools;
    const void *sysman;
    const zer_dditable_driver_t *runtime; /**< NULL in an object of the loader */
};

/** The loader's own object around a handle of a driver without such a prefix. */
struct standin_object {
    struct standin_prefix prefix;
    struct standin_driver *driver;
    void *handle;
    struct standin_object *next;
};

/** Handles of the driver for an array of objects. */
struct standin_array {
    void **handles;
    void *few[32];
};

extern struct standin_counters standin_counters __attribute__((visibility("default")));

#define STANDIN_COUNT(counter)                                                                     \
    ((void)atomic_fetch_add_explicit(&standin_counters.counter, 1, memory_order_relaxed))

/** What the exported functions call; set by the first initialisation that succeeds. */
extern const struct standin_tables *_Atomic standin_application;

/** Functions that find the driver through the handle; generated. */
extern const struct standin_tables standin_intercept;

/** The sets that objects of the loader begin with; generated. */
extern const ze_dditable_driver_t standin_wrapped_ze;
extern const zet_dditable_driver_t standin_wrapped_zet;

/** The drivers in their order; complete after the first initialisation. */
extern struct standin_driver **standin_order;
extern uint32_t standin_driver_count;

/** The tables for a call of the application; NULL before the first initialisation. */
const struct standin_tables *standin_application_tables(void);

/** What the exported zeInit and zeInitDrivers do. */
ze_result_t standin_init(ze_init_flags_t flags);
ze_result_t standin_init_drivers(uint32_t *count, ze_driver_handle_t *handles,
                                 ze_init_driver_type_desc_t *desc);

/** SUCCESS, or why a call by handle is refused. Any pointer to a set, also null. */
ze_result_t standin_check_set(const struct standin_set *set, ze_api_version_t since);

/** Puts the drivers into their order and finds out whose handles need no wrapping; once. */
void standin_sort(bool with_init_drivers);

/** Functions without a handle, in intercept mode. */
ze_result_t ZE_APICALL intercept_zeInit(ze_init_flags_t flags);
ze_result_t ZE_APICALL intercept_zeInitDrivers(uint32_t *pCount, ze_driver_handle_t *phDrivers,
                                               ze_init_driver_type_desc_t *desc);
ze_result_t ZE_APICALL intercept_zeDriverGet(uint32_t *pCount, ze_driver_handle_t *phDrivers);
ze_result_t ZE_APICALL intercept_zerGetLastErrorDescription(const char **ppString);
uint32_t ZE_APICALL intercept_zerTranslateDeviceHandleToIdentifier(ze_device_handle_t hDevice);
ze_device_handle_t ZE_APICALL intercept_zerTranslateIdentifierToDeviceHandle(uint32_t identifier);
ze_context_handle_t ZE_APICALL intercept_zerGetDefaultContext(void);

/**
 * The loader's object for a handle, the same one each time; the handle itself if the driver's
 * handles are not wrapped. Null stays null.
 */
void *standin_wrap(enum standin_kind kind, struct standin_driver *driver, void *handle);

/** The driver's handle behind an object. Null stays null. */
void *standin_unwrap(const void *object);

/** Frees an object whose handle the driver destroyed. */
void standin_release(enum standin_kind kind, void *object);

/** Exchanges an array, which may be null; ends with standin_array_finish(). */
void standin_array_unwrap(struct standin_array *array, const void *objects, uint32_t count);
void standin_array_finish(struct standin_array *array);

#endif
