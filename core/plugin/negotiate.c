/*
 * The one call that settles the interface version, and the checks of its answer.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/plugin/entry.h"
#include "core/plugin/host.h"

#define ABI_MIN 1u
#define ABI_MAX ZETA_PLUGIN_ABI

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A slot of an operation table: all are function pointers of one size, behind struct_size. */
typedef void (*slot_fn)(void);

/* Name and place of a function that has to be there. */
struct required {
    const char *name;
    size_t offset;
};

#define REQUIRED(table, member)                                                                    \
    {                                                                                              \
#member, offsetof(struct table, member)                                                    \
    }

static const struct required device_required[] = {
    REQUIRED(zeta_plugin_device_ops, enumerate),
    REQUIRED(zeta_plugin_device_ops, properties),
    REQUIRED(zeta_plugin_device_ops, clock),
};

/* The first ones are all that is required of a plugin with queues that does not compute. */
static const struct required compute_required[] = {
    REQUIRED(zeta_plugin_compute_ops, queue_create),
    REQUIRED(zeta_plugin_compute_ops, queue_destroy),
    REQUIRED(zeta_plugin_compute_ops, submit),
    REQUIRED(zeta_plugin_compute_ops, wake),
    REQUIRED(zeta_plugin_compute_ops, queue_status),
    REQUIRED(zeta_plugin_compute_ops, memory_allocate),
    REQUIRED(zeta_plugin_compute_ops, memory_free),
    REQUIRED(zeta_plugin_compute_ops, module_create),
    REQUIRED(zeta_plugin_compute_ops, module_destroy),
    REQUIRED(zeta_plugin_compute_ops, module_kernel_names),
    REQUIRED(zeta_plugin_compute_ops, module_native_image),
    REQUIRED(zeta_plugin_compute_ops, module_global),
    REQUIRED(zeta_plugin_compute_ops, kernel_create),
    REQUIRED(zeta_plugin_compute_ops, kernel_destroy),
    REQUIRED(zeta_plugin_compute_ops, kernel_properties),
};

#define QUEUE_FUNCTIONS 5u /* of compute_required */

static const struct required metric_required[] = {
    REQUIRED(zeta_plugin_metric_ops, symbols),      REQUIRED(zeta_plugin_metric_ops, limits),
    REQUIRED(zeta_plugin_metric_ops, stream_open),  REQUIRED(zeta_plugin_metric_ops, stream_read),
    REQUIRED(zeta_plugin_metric_ops, stream_close),
};

static const struct required tracer_required[] = {
    REQUIRED(zeta_plugin_tracer_ops, open),    REQUIRED(zeta_plugin_tracer_ops, enable),
    REQUIRED(zeta_plugin_tracer_ops, disable), REQUIRED(zeta_plugin_tracer_ops, state),
    REQUIRED(zeta_plugin_tracer_ops, read),    REQUIRED(zeta_plugin_tracer_ops, pending),
    REQUIRED(zeta_plugin_tracer_ops, close),
};

/* The first one is all that is required of a plugin that only says why nothing can be debugged. */
static const struct required debug_required[] = {
    REQUIRED(zeta_plugin_debug_ops, properties),
    REQUIRED(zeta_plugin_debug_ops, attach),
    REQUIRED(zeta_plugin_debug_ops, detach),
    REQUIRED(zeta_plugin_debug_ops, descriptor),
    REQUIRED(zeta_plugin_debug_ops, next_event),
    REQUIRED(zeta_plugin_debug_ops, acknowledge),
    REQUIRED(zeta_plugin_debug_ops, halt),
    REQUIRED(zeta_plugin_debug_ops, resume),
    REQUIRED(zeta_plugin_debug_ops, memory_read),
    REQUIRED(zeta_plugin_debug_ops, memory_write),
    REQUIRED(zeta_plugin_debug_ops, registers_read),
    REQUIRED(zeta_plugin_debug_ops, registers_write),
};

/* What a manifest that promises queries has to bring. */
static const struct required query_required[] = {
    REQUIRED(zeta_plugin_metric_ops, query_pool_create),
    REQUIRED(zeta_plugin_metric_ops, query_pool_destroy),
    REQUIRED(zeta_plugin_metric_ops, query_reset),
    REQUIRED(zeta_plugin_metric_ops, query_collect),
};

/* One table of the answer and where its copy goes. */
struct table {
    const char *name;
    const void *theirs;
    const void *stubs;
    void *copy;
    size_t size;
    const struct required *required;
    size_t required_count;
};

/* The slot at an offset of a plugin's table, NULL if the table ends before it. */
static slot_fn slot_of(const void *theirs, size_t offset)
{
    uint64_t struct_size;
    slot_fn slot;

    memcpy(&struct_size, theirs, sizeof(struct_size));
    if (offset + sizeof(slot) > struct_size)
        return NULL;
    memcpy(&slot, (const char *)theirs + offset, sizeof(slot));
    return slot;
}

static bool copy_table(struct zeta_plugin_host *entry, const struct table *table)
{
    for (size_t i = 0; i < table->required_count; i++) {
        if (!slot_of(table->theirs, table->required[i].offset))
            return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_REFUSED,
                                   "The plugin's table \"%s\" lacks the function %s, which every "
                                   "plugin with that table has to have.",
                                   table->name, table->required[i].name);
    }
    memcpy(table->copy, table->stubs, table->size);
    for (size_t offset = sizeof(uint64_t); offset < table->size; offset += sizeof(slot_fn)) {
        slot_fn slot = slot_of(table->theirs, offset);

        if (slot)
            memcpy((char *)table->copy + offset, &slot, sizeof(slot));
    }
    return true;
}

/* Checks that the tables have what the manifest promises, and fills the backend from them. */
static bool copy_tables(struct zeta_plugin_host *entry, const struct zeta_plugin_ops *ops)
{
    const uint32_t metric_groups = 1u << ZETA_GROUP_METRIC_STREAM | 1u << ZETA_GROUP_METRIC_QUERY |
                                   1u << ZETA_GROUP_METRIC_TRACER |
                                   1u << ZETA_GROUP_METRIC_PROGRAMMABLE;
    const uint32_t provides = entry->manifest.provides;
    const bool computes = (provides & 1u << ZETA_GROUP_COMPUTE) != 0;
    const bool queries = (provides & 1u << ZETA_GROUP_METRIC_QUERY) != 0;
    struct zeta_backend *backend = &entry->backend;
    const struct zeta_plugin_compute_ops *compute =
        ZETA_PLUGIN_HAS(ops, compute) ? ops->compute : NULL;
    const struct zeta_plugin_metric_ops *metric = ZETA_PLUGIN_HAS(ops, metric) ? ops->metric : NULL;
    const struct zeta_plugin_tracer_ops *tracer = ZETA_PLUGIN_HAS(ops, tracer) ? ops->tracer : NULL;
    const struct zeta_plugin_debug_ops *debug = ZETA_PLUGIN_HAS(ops, debug) ? ops->debug : NULL;
    const char *missing = NULL;
    bool has_queries = metric != NULL;
    bool debugs = false;

    for (size_t i = 1; debug && i < COUNT(debug_required); i++)
        debugs = debugs || slot_of(debug, debug_required[i].offset);
    const struct table tables[] = {
        {"device", ops->device, &zeta_stub_device_ops, &backend->device, sizeof(backend->device),
         device_required, COUNT(device_required)},
        {"compute", compute, &zeta_stub_compute_ops, &backend->compute, sizeof(backend->compute),
         compute_required, computes ? COUNT(compute_required) : QUEUE_FUNCTIONS},
        {"metric", metric, &zeta_stub_metric_ops, &backend->metric, sizeof(backend->metric),
         metric_required, COUNT(metric_required)},
        {"tracer", tracer, &zeta_stub_tracer_ops, &backend->tracer, sizeof(backend->tracer),
         tracer_required, COUNT(tracer_required)},
        {"debug", debug, &zeta_stub_debug_ops, &backend->debug, sizeof(backend->debug),
         debug_required, debugs ? COUNT(debug_required) : 1},
    };

    backend->has_stream_pending =
        metric && slot_of(metric, offsetof(struct zeta_plugin_metric_ops, stream_pending));
    backend->has_stream_stop =
        metric && slot_of(metric, offsetof(struct zeta_plugin_metric_ops, stream_stop));
    backend->has_sharing =
        compute && slot_of(compute, offsetof(struct zeta_plugin_compute_ops, memory_export)) &&
        slot_of(compute, offsetof(struct zeta_plugin_compute_ops, memory_import));
    for (size_t i = 0; i < COUNT(tables); i++) {
        if (!tables[i].theirs)
            memcpy(tables[i].copy, tables[i].stubs, tables[i].size);
        else if (!copy_table(entry, &tables[i]))
            return false;
    }
    for (size_t i = 0; has_queries && i < COUNT(query_required); i++)
        has_queries = slot_of(metric, query_required[i].offset) != NULL;
    if (computes && !compute)
        missing = "compute, but the plugin gave no table \"compute\"";
    else if ((provides & metric_groups) && !metric)
        missing = "metrics, but the plugin gave no table \"metric\"";
    else if (queries && !has_queries)
        missing = "metric.query, but the plugin's table \"metric\" lacks the functions query_*";
    else if (queries && !compute)
        missing = "metric.query, but the plugin has no queues in which queries could begin and "
                  "end; it gave no table \"compute\", of which the functions of queues are enough";
    else if ((provides & 1u << ZETA_GROUP_METRIC_TRACER) && !tracer)
        missing = "metric.tracer, but the plugin gave no table \"tracer\"";
    else if ((provides & 1u << ZETA_GROUP_DEBUG) && !debug)
        missing = "debug, but the plugin gave no table \"debug\"";
    return !missing ||
           zeta_entry_stop(entry, ZETA_PLUGIN_STATE_REFUSED, "The manifest promises %s.", missing);
}

bool zeta_check_abi(struct zeta_plugin_host *entry)
{
    const struct zeta_manifest *manifest = &entry->manifest;

    if (manifest->abi_max < ABI_MIN)
        return zeta_entry_stop(
            entry, ZETA_PLUGIN_STATE_REFUSED,
            "The plugin is too old: it supports interfaces %u to %u, this library "
            "%u to %u. Install a newer plugin.",
            manifest->abi_min, manifest->abi_max, ABI_MIN, ABI_MAX);
    if (manifest->abi_min > ABI_MAX)
        return zeta_entry_stop(
            entry, ZETA_PLUGIN_STATE_REFUSED,
            "The plugin is too new: it supports interfaces %u to %u, this library "
            "%u to %u. Install a newer libzeta.",
            manifest->abi_min, manifest->abi_max, ABI_MIN, ABI_MAX);
    return true;
}

static struct zeta_plugin_string string_of(const char *text)
{
    return (struct zeta_plugin_string){.data = text, .size = strlen(text)};
}

bool zeta_negotiate(struct zeta_plugin_host *entry, zeta_plugin_negotiate_fn negotiate)
{
    struct zeta_backend *backend = &entry->backend;
    const struct zeta_plugin_offer offer = {
        .struct_size = sizeof(offer),
        .abi_min = ABI_MIN,
        .abi_max = ABI_MAX,
        .ops = &zeta_host_services,
        .host = entry,
        .id = string_of(entry->manifest.id),
        .data_dir = string_of(entry->data_dir),
        .host_version = string_of(ZETA_VERSION),
    };
    /* The plugin may be older or newer than we are; it writes no more than this size. */
    struct zeta_plugin_answer answer = {.struct_size = sizeof(answer)};
    uint32_t result = negotiate(&offer, &answer);

    backend->id = entry->manifest.id;
    if (result != ZETA_PLUGIN_SUCCESS) {
        const char *sentence = zeta_services_failure(entry, result);

        if (result == ZETA_PLUGIN_UNSUPPORTED_VERSION)
            return zeta_entry_stop(
                entry, ZETA_PLUGIN_STATE_REFUSED,
                "The plugin supports none of the interfaces %u to %u of this library (its manifest "
                "says %u to %u); use a plugin and a libzeta of the same release.%s%s",
                ABI_MIN, ABI_MAX, entry->manifest.abi_min, entry->manifest.abi_max,
                sentence ? " " : "", sentence ? sentence : "");
        return zeta_entry_stop(
            entry, ZETA_PLUGIN_STATE_FAILED, "Negotiation failed with 0x%08x%s%s", result,
            sentence ? ": " : "; the plugin gave no reason.", sentence ? sentence : "");
    }
    backend->self = answer.self; /* kept even if it is refused: nobody else knows it any more */
    if (!ZETA_PLUGIN_HAS(&answer, version))
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_REFUSED,
                               "The plugin's answer has %llu bytes, fewer than the %zu of "
                               "interface %u.",
                               (unsigned long long)answer.struct_size, sizeof(answer), ABI_MIN);
    if (answer.abi < ABI_MIN || answer.abi > ABI_MAX)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_REFUSED,
                               "The plugin chose interface %u, which was not offered (%u to %u).",
                               answer.abi, ABI_MIN, ABI_MAX);
    if (answer.id.size != strlen(backend->id) || !answer.id.data ||
        memcmp(answer.id.data, backend->id, (size_t)answer.id.size) != 0)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_REFUSED,
                               "The library calls itself \"%.*s\", but the manifest says \"%s\".",
                               answer.id.size > 63 ? 63 : (int)answer.id.size,
                               answer.id.data ? answer.id.data : "", backend->id);
    if (!answer.self)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_REFUSED,
                               "The plugin gave a null pointer as itself.");
    if (!answer.ops)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_REFUSED,
                               "The plugin gave no table of operations.");
    if (!ZETA_PLUGIN_HAS(answer.ops, finish) || !answer.ops->finish)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_REFUSED,
                               "The plugin's table lacks the function finish, which every plugin "
                               "has to have.");
    if (!ZETA_PLUGIN_HAS(answer.ops, device) || !answer.ops->device)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_REFUSED,
                               "The plugin gave no table \"device\", which every plugin has to "
                               "have.");
    entry->init = answer.ops->init;
    entry->finish = answer.ops->finish;
    if (!copy_tables(entry, answer.ops))
        return false;
    entry->reported_version =
        strndup(answer.version.data ? answer.version.data : "",
                answer.version.data && answer.version.size < 256 ? (size_t)answer.version.size : 0);
    if (!entry->reported_version)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_FAILED, "There is no memory for it.");
    backend->version = entry->reported_version;
    backend->manifest = entry->path;
    backend->data_dir = entry->data_dir;
    backend->device_class = entry->manifest.device_class;
    return true;
}
