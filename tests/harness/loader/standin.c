/*
 * Opening drivers and their tables, initialisation, and the end.
 *
 * One candidate and no request for interception: direct mode, the driver's pointers are called as
 * they are. Otherwise every call finds its driver through the handle.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin_priv.h"

struct standin_counters standin_counters;
const struct standin_tables *_Atomic standin_application;
struct standin_driver **standin_order;
uint32_t standin_driver_count;

/* Nothing here is allocated: a loader that is closed leaves no memory behind. */
#define MOST_DRIVERS 16u

static struct standin_driver drivers[MOST_DRIVERS];
static struct standin_driver *order[MOST_DRIVERS];
static char list[16384];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && strcmp(value, "1") == 0;
}

const struct standin_tables *standin_application_tables(void)
{
    return atomic_load_explicit(&standin_application, memory_order_acquire);
}

ze_result_t standin_check_set(const struct standin_set *set, ze_api_version_t since)
{
    if (!set || !atomic_load_explicit(&set->valid, memory_order_relaxed))
        return ZE_RESULT_ERROR_UNINITIALIZED;
    return set->version < since ? ZE_RESULT_ERROR_UNSUPPORTED_VERSION : ZE_RESULT_SUCCESS;
}

/* Splits the list as it stands: blanks stay part of the names. */
static void list_candidates(void)
{
    const char *value = getenv("ZE_ENABLE_ALT_DRIVERS");

    (void)snprintf(list, sizeof(list), "%s", value ? value : "libze_intel_gpu.so.1");
    for (char *word = list; word && standin_driver_count < MOST_DRIVERS; standin_driver_count++) {
        char *comma = strchr(word, ',');

        if (comma)
            *comma = '\0';
        drivers[standin_driver_count].path = word;
        drivers[standin_driver_count].failure = ZE_RESULT_ERROR_UNINITIALIZED;
        order[standin_driver_count] = &drivers[standin_driver_count];
        word = comma ? comma + 1 : NULL;
    }
    standin_order = order;
    atomic_store(&standin_counters.mode,
                 standin_driver_count == 1 && !is_set("ZE_ENABLE_LOADER_INTERCEPT")
                     ? STANDIN_DIRECT
                     : STANDIN_INTERCEPT);
}

/* Asks for one table; ABSENT where the driver has no such getter. */
enum answer { FILLED, FAILED, ABSENT };

static enum answer request_table(struct standin_driver *driver,
                                 const struct standin_request *request, ze_result_t *out_result)
{
    ze_result_t (*getter)(ze_api_version_t, void *) = NULL;
    /* Tables that this loader does not pass on are asked for all the same. */
    uint64_t other[512] = {0};
    void *symbol = dlsym(driver->library, request->getter);
    void *table = request->offset == STANDIN_NOWHERE ? (void *)other
                                                     : (char *)&driver->tables + request->offset;

    STANDIN_COUNT(tables_requested);
    if (!symbol) {
        STANDIN_COUNT(getters_missing);
        return ABSENT;
    }
    memcpy(&getter, &symbol, sizeof(symbol));
    *out_result = getter(ZE_API_VERSION_1_17, table);
    if (*out_result == ZE_RESULT_SUCCESS)
        return FILLED;
    STANDIN_COUNT(getters_failed);
    return FAILED;
}

/*
 * Direct mode: ze, zet, zes, zer. A failure is found at the next request, which is never made for
 * the last one.
 */
static ze_result_t request_direct(struct standin_driver *driver)
{
    ze_result_t stored = ZE_RESULT_SUCCESS;

    for (size_t i = 0; i < standin_request_count; i++) {
        ze_result_t result = ZE_RESULT_SUCCESS;

        if (stored != ZE_RESULT_SUCCESS)
            return stored;
        if (request_table(driver, &standin_requests[i], &result) == FAILED &&
            standin_requests[i].required)
            stored = result;
    }
    return ZE_RESULT_SUCCESS;
}

/* All tables of one API; false as soon as a required one fails. */
static bool request_all_of(struct standin_driver *driver, enum standin_api api)
{
    for (size_t i = 0; i < standin_request_count; i++) {
        ze_result_t result = ZE_RESULT_SUCCESS;

        if (standin_requests[i].api == api &&
            request_table(driver, &standin_requests[i], &result) == FAILED &&
            standin_requests[i].required)
            return false;
    }
    return true;
}

/* Intercept mode: ze, zes, zet, zer; after a failure in the middle the rest stays empty. */
static ze_result_t request_intercept(struct standin_driver *driver)
{
    if (!request_all_of(driver, STANDIN_ZE) || !driver->tables.ze.Global.pfnInit)
        return ZE_RESULT_ERROR_UNINITIALIZED;
    if (request_all_of(driver, STANDIN_ZES) && request_all_of(driver, STANDIN_ZET))
        (void)request_all_of(driver, STANDIN_ZER);
    return ZE_RESULT_SUCCESS;
}

static void open_driver(struct standin_driver *driver)
{
    bool direct = atomic_load(&standin_counters.mode) == STANDIN_DIRECT;

    if (!driver->library) {
        driver->library = dlopen(driver->path, RTLD_LAZY | RTLD_LOCAL);
        if (!driver->library)
            return;
        STANDIN_COUNT(drivers_opened);
    }
    driver->failure = direct ? request_direct(driver) : request_intercept(driver);
    if (driver->failure == ZE_RESULT_SUCCESS)
        STANDIN_COUNT(drivers_in_use);
}

/* Opens what is not open and asks for every table, also again: getters are idempotent. */
static ze_result_t open_drivers(void)
{
    ze_result_t result = ZE_RESULT_ERROR_UNINITIALIZED;

    if (standin_driver_count == 0)
        list_candidates();
    atomic_store(&standin_counters.drivers_in_use, 0);
    for (uint32_t i = 0; i < standin_driver_count; i++) {
        open_driver(&drivers[i]);
        if (result != ZE_RESULT_SUCCESS)
            result = drivers[i].failure;
    }
    if (result == ZE_RESULT_SUCCESS)
        atomic_store_explicit(&standin_application,
                              atomic_load(&standin_counters.mode) == STANDIN_DIRECT
                                  ? &drivers[0].tables
                                  : &standin_intercept,
                              memory_order_release);
    return result;
}

static ze_result_t forward_init(ze_init_flags_t flags)
{
    const struct standin_tables *tables = standin_application_tables();

    if (tables != &standin_intercept)
        STANDIN_COUNT(inits_forwarded);
    if (!tables->ze.Global.pfnInit)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return tables->ze.Global.pfnInit(flags);
}

/* zeInit: once in the life of the process; later calls get the first answer. */
ze_result_t standin_init(ze_init_flags_t flags)
{
    static atomic_bool done;
    static ze_result_t answer;

    /* No lock once it is done: a forked child may find it taken for ever. */
    if (atomic_load(&done))
        return answer;
    (void)pthread_mutex_lock(&lock);
    if (!atomic_load(&done)) {
        answer = open_drivers();
        if (answer == ZE_RESULT_SUCCESS)
            answer = forward_init(flags);
        atomic_store(&done, true);
    }
    (void)pthread_mutex_unlock(&lock);
    return answer;
}

/* The tables for zeInitDrivers, once; zeInit may have asked for them too. */
static ze_result_t open_for_init_drivers(void)
{
    static atomic_bool done;
    static ze_result_t answer;

    if (atomic_load(&done))
        return answer;
    (void)pthread_mutex_lock(&lock);
    if (!atomic_load(&done)) {
        answer = open_drivers();
        atomic_store(&done, true);
    }
    (void)pthread_mutex_unlock(&lock);
    return answer;
}

/* zeInitDrivers: the call itself goes on each time. */
ze_result_t standin_init_drivers(uint32_t *count, ze_driver_handle_t *handles,
                                 ze_init_driver_type_desc_t *desc)
{
    ze_result_t answer = open_for_init_drivers();
    const struct standin_tables *tables;

    if (answer != ZE_RESULT_SUCCESS)
        return answer;
    tables = standin_application_tables();
    if (!tables->ze.Global.pfnInitDrivers)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (tables != &standin_intercept)
        STANDIN_COUNT(init_drivers_forwarded);
    return tables->ze.Global.pfnInitDrivers(count, handles, desc);
}

/* Drivers are closed from here, whatever their threads do at the moment. */
__attribute__((destructor)) static void close_drivers(void)
{
    atomic_store(&standin_application, NULL);
    for (uint32_t i = 0; i < standin_driver_count; i++) {
        if (drivers[i].library && dlclose(drivers[i].library) == 0)
            STANDIN_COUNT(drivers_closed);
    }
}
