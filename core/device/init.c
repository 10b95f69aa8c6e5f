#include "core/device/init.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/api/loader.h"
#include "core/device/device.h"
#include "core/object/object.h"
#include "core/plugin/host.h"
#include "core/settings/settings.h"
#include "core/trace/trace.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/fork_state.h"
#include "core/util/log.h"
#include "zeta_impl.h"

/* What initialisation made, in this process; its lock is held while it is made. */
struct generation {
    struct zeta_fork_state fork;
    struct zeta_driver_set set;
    bool is_debuggable; /* debuggers may attach */
};

_Atomic uint32_t zeta_core_state_word = ZETA_CORE_NEVER;

static _Atomic bool metrics_wanted;

static void start_anew_in_child(void)
{
    uint32_t ready = ZETA_CORE_READY;

    atomic_store(&metrics_wanted, false);
    atomic_compare_exchange_strong(&zeta_core_state_word, &ready, ZETA_CORE_FORKED);
}

static struct zeta_fork_root generations = {.in_child = start_anew_in_child};

/*
 * The loader closes drivers from its own destructor, when plugins may be gone already: nothing is
 * freed and nobody is called here.
 */
ZETA_AT_UNLOAD static void mark_dead(void)
{
    atomic_store(&zeta_core_state_word, ZETA_CORE_DEAD);
    zeta_trace_close();
    zeta_dispatch_set_valid(false);
    zeta_object_close();
}

static ze_result_t start(struct generation *generation)
{
    static atomic_bool logged;
    const void *tables[4];
    ze_result_t result;

    zeta_error_clear();
    result = zeta_settings_load();
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_object_init();
    if (result == ZE_RESULT_SUCCESS) {
        zeta_dispatch_fill(tables);
        zeta_object_set_dispatch(tables);
        result = zeta_plugin_host_start();
    }
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_drivers_create(&generation->set);
    if (result == ZE_RESULT_SUCCESS) {
        atomic_store(&zeta_core_state_word, ZETA_CORE_READY);
        return result;
    }
    /* Without a driver no program can ask for the sentence; logged once, programs try again. */
    const char *sentence = zeta_error_describe();
    if (!atomic_exchange(&logged, true))
        zeta_log(ZETA_LOG_ERROR, "init", "initialisation failed with 0x%08x: %s", (unsigned)result,
                 *sentence ? sentence : "no reason was given");
    zeta_object_close();
    return result;
}

/* Once in each process: every backend that debugs one of the devices is told. */
static void let_debuggers_attach(void)
{
    struct generation *generation = zeta_fork_state_peek(&generations);
    size_t count;
    const struct zeta_backend_device *devices = zeta_plugin_host_devices(&count);

    (void)pthread_mutex_lock(&generation->fork.lock);
    for (size_t i = 0; !generation->is_debuggable && i < count; i++) {
        const struct zeta_backend *backend = devices[i].providers[ZETA_GROUP_DEBUG].backend;
        size_t before = 0;

        while (before < i && devices[before].providers[ZETA_GROUP_DEBUG].backend != backend)
            before++;
        if (!backend || before < i)
            continue;
        if (zeta_backend_result(backend, backend->debug.enable(backend->self),
                                "letting debuggers attach") != ZE_RESULT_SUCCESS)
            zeta_log(ZETA_LOG_WARN, "debug", "debuggers cannot attach to this process: %s",
                     zeta_error_describe());
    }
    generation->is_debuggable = true;
    (void)pthread_mutex_unlock(&generation->fork.lock);
}

ze_result_t zeta_core_init(void)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (zeta_plugin_host_starting())
        return zeta_error(ZE_RESULT_ERROR_UNINITIALIZED,
                          "a plugin initialised the library that was just opening it; a plugin "
                          "must not use the API of its host");
    if (!zeta_core_is_initialised()) {
        struct generation *generation = zeta_fork_state_get(&generations, sizeof(*generation));

        if (!generation)
            return zeta_error_no_memory("the library");
        /* One thread starts, the others wait for it. */
        (void)pthread_mutex_lock(&generation->fork.lock);
        const uint32_t state = atomic_load(&zeta_core_state_word);
        if (state == ZETA_CORE_DEAD)
            result = zeta_error(ZE_RESULT_ERROR_UNINITIALIZED,
                                "the library is being unloaded and cannot be initialised again");
        else if (state != ZETA_CORE_READY)
            result = start(generation);
        (void)pthread_mutex_unlock(&generation->fork.lock);
    }
    /* Once enabled is enabled: groups that a program may have stay usable. */
    if (result == ZE_RESULT_SUCCESS && zeta_settings_switch("ZET_ENABLE_METRICS"))
        atomic_store(&metrics_wanted, true);
    if (result == ZE_RESULT_SUCCESS && zeta_settings_switch("ZET_ENABLE_PROGRAM_DEBUGGING"))
        let_debuggers_attach();
    return result;
}

bool zeta_core_metrics_wanted(void)
{
    return atomic_load(&metrics_wanted);
}

const struct zeta_driver_set *zeta_core_drivers(void)
{
    const struct generation *generation = zeta_fork_state_peek(&generations);

    return &generation->set;
}

/* Of a library that is initialised. */
static void list_drivers(uint32_t *count, ze_driver_handle_t *handles)
{
    const struct zeta_driver_set *set = zeta_core_drivers();
    uint32_t n = zeta_count_clip(count, set->count, handles);

    for (uint32_t i = 0; i < n; i++)
        handles[i] = (ze_driver_handle_t)set->drivers[i];
}

ze_result_t ZE_APICALL impl_zeInit(ze_init_flags_t flags)
{
    if (flags == ZE_INIT_FLAG_VPU_ONLY)
        return zeta_error(ZE_RESULT_ERROR_UNINITIALIZED,
                          "only VPU drivers were asked for, and Zeta has none");
    return zeta_core_init();
}

ze_result_t ZE_APICALL impl_zeInitDrivers(uint32_t *pCount, ze_driver_handle_t *phDrivers,
                                          ze_init_driver_type_desc_t *desc)
{
    ze_result_t result = zeta_core_init();

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if ((desc->flags & ZE_INIT_DRIVER_TYPE_FLAG_GPU) == 0) {
        *pCount = 0;
        return ZE_RESULT_SUCCESS;
    }
    list_drivers(pCount, phDrivers);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDriverGet(uint32_t *pCount, ze_driver_handle_t *phDrivers)
{
    if (atomic_load(&zeta_core_state_word) == ZETA_CORE_NEVER)
        return zeta_error(ZE_RESULT_ERROR_UNINITIALIZED,
                          "zeDriverGet was called before zeInit or zeInitDrivers");
    ze_result_t result = zeta_core_init();
    if (result != ZE_RESULT_SUCCESS)
        return result;
    list_drivers(pCount, phDrivers);
    return ZE_RESULT_SUCCESS;
}

/* ---- the runtime API: numbers of devices ---- */

/* The devices in the order of their numbers, as far as somebody looks. */
struct search {
    uint32_t identifier;              /* what is looked for, or UINT32_MAX */
    const struct zeta_device *device; /* what is looked for, or NULL */
    uint32_t passed;                  /* number of the next device */
    struct zeta_device *found;
};

static void visit(struct search *search, struct zeta_device *device)
{
    if (search->found)
        return;
    if (search->passed == search->identifier || device == search->device)
        search->found = device;
    else
        search->passed++;
}

/* First what zeDeviceGet gives, driver by driver; then tiles; then roots behind tiles. */
static void walk(struct search *search)
{
    const struct zeta_driver_set *set = zeta_core_drivers();

    for (unsigned pass = 0; pass < 3; pass++) {
        for (uint32_t d = 0; d < set->count; d++) {
            const struct zeta_driver *driver = set->drivers[d];

            for (uint32_t i = 0; i < driver->device_count; i++) {
                struct zeta_device *device = driver->devices[i];

                for (uint32_t t = 0; pass == 1 && t < device->tile_count; t++)
                    visit(search, device->tiles[t]);
                if (pass == 0)
                    visit(search, device);
                if (pass == 2 && device->parent && !device->alone &&
                    (i == 0 || driver->devices[i - 1]->parent != device->parent))
                    visit(search, device->parent);
            }
        }
    }
}

ze_result_t ZE_APICALL impl_zerGetLastErrorDescription(const char **ppString)
{
    *ppString = zeta_error_describe();
    return ZE_RESULT_SUCCESS;
}

uint32_t ZE_APICALL impl_zerTranslateDeviceHandleToIdentifier(ze_device_handle_t hDevice)
{
    struct search search = {.identifier = UINT32_MAX, .device = (struct zeta_device *)hDevice};

    walk(&search);
    if (search.found)
        return search.passed;
    (void)zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                     "device %s is hidden from this process by ZE_AFFINITY_MASK",
                     search.device->name);
    return UINT32_MAX;
}

ze_device_handle_t ZE_APICALL impl_zerTranslateIdentifierToDeviceHandle(uint32_t identifier)
{
    struct search search = {.identifier = identifier};

    walk(&search);
    if (!search.found)
        (void)zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                         "no device has the number %u; there are %u", identifier, search.passed);
    return (ze_device_handle_t)search.found;
}
