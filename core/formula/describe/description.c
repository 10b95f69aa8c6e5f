#include "core/formula/describe/description.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/compile.h"
#include "core/formula/describe/describe.h"
#include "core/formula/sets/set.h"
#include "core/util/error.h"
#include "core/util/fork_state.h"

struct zeta_description {
    struct zeta_description *next; /**< used last comes first */
    uint64_t digest;
    char *text;
    size_t bytes;
    zet_metric_group_sampling_type_flag_t sampling; /* how its data came about */
    uint32_t users;
    struct zeta_catalog *catalog;
    struct zeta_compiled *compiled;
};

/** One for the process. */
struct cache {
    struct zeta_fork_state fork;
    struct zeta_description *first;
    uint32_t count;
};

static struct zeta_fork_root caches;
static _Atomic bool fork_hook_set;

static void forget_after_fork(void)
{
    zeta_fork_state_leave(&caches);
}

static struct cache *get_cache(void)
{
    if (!atomic_exchange(&fork_hook_set, true))
        (void)pthread_atfork(NULL, NULL, forget_after_fork);
    return zeta_fork_state_get(&caches, sizeof(struct cache));
}

static void destroy(struct zeta_description *description)
{
    if (!description)
        return;
    zeta_compiled_destroy(description->compiled);
    zeta_catalog_destroy(description->catalog);
    free(description->text);
    free(description);
}

/* Reading ---------------------------------------------------------------------------------------
 */

static ze_result_t refuse(const struct zeta_diagnostics *sink)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "the description of a set in the data cannot be used: %s", sink->first_error);
}

/** Reads and links the text; it holds one set, and nothing that this version skips. */
static ze_result_t read_text(struct zeta_description *description, struct zeta_diagnostics *sink)
{
    ze_result_t result = zeta_catalog_add_text(description->catalog, description->text,
                                               description->bytes, "description", sink);

    if (result == ZE_RESULT_SUCCESS && sink->count[ZETA_SEVERITY_WARNING] > 0)
        return zeta_error(
            ZE_RESULT_ERROR_UNSUPPORTED_VERSION,
            "the description of a set in the data has keys that this version does not know; "
            "use the version of Zeta that wrote it, or a newer one");
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_catalog_link(description->catalog, sink);
    if (result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        return result;
    if (result != ZE_RESULT_SUCCESS)
        return refuse(sink);
    if (zeta_catalog_set_count(description->catalog) != 1)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the description in the data holds %u sets, and one is needed",
                          zeta_catalog_set_count(description->catalog));
    return ZE_RESULT_SUCCESS;
}

static ze_result_t compile(struct zeta_description *description, struct zeta_diagnostics *sink)
{
    const struct zeta_set *set = zeta_catalog_set(description->catalog, 0);
    const bool query = description->sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    ze_result_t result;

    if ((set->sampling & (uint32_t)description->sampling) == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "set %s in the data is not %s-based",
                          set->name, zeta_set_sampling_word(description->sampling));
    result = (query ? zeta_set_compile_query : zeta_set_compile)(description->catalog, set, NULL,
                                                                 sink, &description->compiled);
    return result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
               ? result
               : refuse(sink);
}

static ze_result_t create(const char *text, size_t bytes,
                          zet_metric_group_sampling_type_flag_t sampling,
                          struct zeta_description **out_description)
{
    struct zeta_description *description = calloc(1, sizeof(*description));
    struct zeta_diagnostics sink = {0};
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    if (!description)
        return result;
    description->digest = zeta_describe_digest(text, bytes);
    description->sampling = sampling;
    description->bytes = bytes;
    description->text = malloc(bytes + 1);
    description->catalog = zeta_catalog_create();
    if (description->text && description->catalog) {
        memcpy(description->text, text, bytes);
        description->text[bytes] = '\0';
        result = read_text(description, &sink);
    }
    if (result == ZE_RESULT_SUCCESS)
        result = compile(description, &sink);
    if (result != ZE_RESULT_SUCCESS) {
        destroy(description);
        return result;
    }
    *out_description = description;
    return ZE_RESULT_SUCCESS;
}

/* Keeping ---------------------------------------------------------------------------------------
 */

/** Finds a description, puts it first and counts a user; NULL if there is none. */
static struct zeta_description *find_locked(struct cache *cache, const char *text, size_t bytes,
                                            zet_metric_group_sampling_type_flag_t sampling)
{
    for (struct zeta_description **link = &cache->first; *link; link = &(*link)->next) {
        struct zeta_description *found = *link;

        if (found->sampling != sampling || found->bytes != bytes ||
            memcmp(found->text, text, bytes) != 0)
            continue;
        *link = found->next;
        found->next = cache->first;
        cache->first = found;
        found->users++;
        return found;
    }
    return NULL;
}

/** Destroys descriptions that nobody uses, those that were not used for longest, until few are
 * left. */
static void trim_locked(struct cache *cache)
{
    while (cache->count > ZETA_DESCRIPTION_KEPT) {
        struct zeta_description **last = NULL;
        struct zeta_description *old;

        for (struct zeta_description **link = &cache->first; *link; link = &(*link)->next) {
            if ((*link)->users == 0)
                last = link;
        }
        if (!last)
            return;
        old = *last;
        *last = old->next;
        destroy(old);
        cache->count--;
    }
}

ze_result_t zeta_description_get(const char *text, size_t bytes,
                                 zet_metric_group_sampling_type_flag_t sampling,
                                 struct zeta_description **out_description)
{
    struct cache *cache = get_cache();
    struct zeta_description *made = NULL;
    struct zeta_description *found;
    ze_result_t result;

    if (!cache)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    (void)pthread_mutex_lock(&cache->fork.lock);
    found = find_locked(cache, text, bytes, sampling);
    (void)pthread_mutex_unlock(&cache->fork.lock);
    if (found) {
        *out_description = found;
        return ZE_RESULT_SUCCESS;
    }
    result = create(text, bytes, sampling, &made);
    if (result != ZE_RESULT_SUCCESS)
        return result;

    (void)pthread_mutex_lock(&cache->fork.lock);
    found = find_locked(cache, text, bytes, sampling);
    if (!found) {
        made->users = 1;
        made->next = cache->first;
        cache->first = found = made;
        cache->count++;
        made = NULL;
        trim_locked(cache);
    }
    (void)pthread_mutex_unlock(&cache->fork.lock);
    destroy(made);
    *out_description = found;
    return ZE_RESULT_SUCCESS;
}

void zeta_description_release(struct zeta_description *description)
{
    struct cache *cache = zeta_fork_state_peek(&caches);

    /* Without a cache this is the child of a fork that happened in between. */
    if (!description || !cache)
        return;
    (void)pthread_mutex_lock(&cache->fork.lock);
    description->users--;
    trim_locked(cache);
    (void)pthread_mutex_unlock(&cache->fork.lock);
}

uint64_t zeta_description_digest(const struct zeta_description *description)
{
    return description->digest;
}

struct zeta_compiled *zeta_description_compiled(const struct zeta_description *description)
{
    return description->compiled;
}

uint32_t zeta_description_count(void)
{
    struct cache *cache = zeta_fork_state_peek(&caches);
    uint32_t count = 0;

    if (!cache)
        return 0;
    (void)pthread_mutex_lock(&cache->fork.lock);
    count = cache->count;
    (void)pthread_mutex_unlock(&cache->fork.lock);
    return count;
}
