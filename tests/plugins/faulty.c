/*
 * A plugin that does one thing wrong. The setting "fault" says which:
 *
 *   negotiation  negotiate-error, negotiate-crash, negotiate-abort, negotiate-exit, too-old
 *   answer       wrong-id, null-self, null-ops, small-answer, abi-not-offered
 *   tables       null-required, small-table, no-device-table, no-finish, no-compute-table,
 *                no-attach
 *   later        init-error, init-hang, init-crash, enumerate-error, rubbish-count, null-device,
 *                no-device-id, zero-timer, late-parent, properties-error, finish-crash
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "zeta/plugin.h"

struct zeta_plugin {
    const struct zeta_plugin_host_ops *services;
    struct zeta_plugin_host *host;
    char id[64];
    char fault[64];
    struct zeta_plugin_ops ops;
    struct zeta_plugin_device_ops device_ops;
    struct zeta_plugin_debug_ops debug_ops;
    struct zeta_plugin *next;
};

/* Instances that the host refuses are never finished; this keeps leak checkers quiet. */
static struct zeta_plugin *all;

/* The plugin has one device, whose address is that of this byte. */
static char the_device;

static struct zeta_plugin_string text(const char *words)
{
    return (struct zeta_plugin_string){.data = words, .size = strlen(words)};
}

static int has(const struct zeta_plugin *self, const char *fault)
{
    return strcmp(self->fault, fault) == 0;
}

static void crash(void)
{
    (void)raise(SIGSEGV);
}

static uint32_t init(struct zeta_plugin *self)
{
    if (has(self, "init-error")) {
        self->services->fail(self->host, ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS,
                             text("/dev/fake0 may not be opened; join the group render"));
        return ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS;
    }
    if (has(self, "init-crash"))
        crash();
    while (has(self, "init-hang"))
        (void)pause();
    return ZETA_PLUGIN_SUCCESS;
}

static void finish(struct zeta_plugin *self)
{
    if (has(self, "finish-crash"))
        crash();
}

static uint32_t enumerate(struct zeta_plugin *self, uint32_t capacity,
                          struct zeta_plugin_device **out_devices, uint32_t *out_count)
{
    if (has(self, "enumerate-error"))
        return ZETA_PLUGIN_UNKNOWN;
    if (has(self, "rubbish-count")) {
        *out_count = 0xdeadbeef;
        return ZETA_PLUGIN_SUCCESS;
    }
    if (capacity > 0)
        out_devices[0] =
            has(self, "null-device") ? NULL : (struct zeta_plugin_device *)(void *)&the_device;
    *out_count = 1;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_device_properties *out_properties)
{
    (void)device;
    if (has(self, "properties-error"))
        return ZETA_PLUGIN_DEVICE_LOST;
    out_properties->id = text(has(self, "no-device-id") ? "" : "faulty0");
    out_properties->timer_hz = has(self, "zero-timer") ? 0 : 1000;
    out_properties->parent = has(self, "late-parent") ? 5 : UINT32_MAX;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t read_clock(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_clock *out_clock)
{
    (void)self;
    (void)device;
    (void)out_clock;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t debug_properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                 struct zeta_plugin_debug_properties *out_properties)
{
    (void)self;
    (void)device;
    (void)out_properties;
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static void detach(struct zeta_plugin *self, struct zeta_plugin_debug_session *session)
{
    (void)self;
    (void)session;
}

static void read_fault(struct zeta_plugin *self)
{
    struct zeta_plugin_string value = {0};

    if (self->services->setting(self->host, text("fault"), &value) == ZETA_PLUGIN_SUCCESS &&
        value.size < sizeof(self->fault))
        memcpy(self->fault, value.data, value.size);
}

/* Faults that end the negotiation. */
static uint32_t fail_early(struct zeta_plugin *self)
{
    if (has(self, "negotiate-crash"))
        crash();
    if (has(self, "negotiate-abort"))
        abort();
    if (has(self, "negotiate-exit"))
        _exit(7);
    if (has(self, "too-old"))
        return ZETA_PLUGIN_UNSUPPORTED_VERSION;
    if (has(self, "negotiate-error")) {
        self->services->fail(self->host, ZETA_PLUGIN_DEPENDENCY_UNAVAILABLE,
                             text("the package fake-firmware is not installed"));
        return ZETA_PLUGIN_DEPENDENCY_UNAVAILABLE;
    }
    return ZETA_PLUGIN_SUCCESS;
}

static void fill_tables(struct zeta_plugin *self)
{
    self->device_ops = (struct zeta_plugin_device_ops){
        .struct_size = sizeof(self->device_ops),
        .enumerate = enumerate,
        .properties = properties,
        .clock = has(self, "null-required") ? NULL : read_clock,
    };
    if (has(self, "small-table"))
        self->device_ops.struct_size = offsetof(struct zeta_plugin_device_ops, properties);
    self->debug_ops = (struct zeta_plugin_debug_ops){
        .struct_size = sizeof(self->debug_ops),
        .properties = debug_properties,
        .detach = has(self, "no-attach") ? detach : NULL,
    };
    self->ops = (struct zeta_plugin_ops){
        .struct_size = sizeof(self->ops),
        .init = init,
        .finish = has(self, "no-finish") ? NULL : finish,
        .device = has(self, "no-device-table") ? NULL : &self->device_ops,
        .debug = &self->debug_ops,
    };
}

uint32_t zeta_plugin_negotiate(const struct zeta_plugin_offer *offer,
                               struct zeta_plugin_answer *out_answer)
{
    struct zeta_plugin *self = calloc(1, sizeof(*self));
    uint32_t result;

    if (!self)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    self->next = all;
    all = self;
    self->services = offer->ops;
    self->host = offer->host;
    memcpy(self->id, offer->id.data, offer->id.size);
    read_fault(self);
    result = fail_early(self);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    fill_tables(self);
    *out_answer = (struct zeta_plugin_answer){
        .struct_size = has(self, "small-answer") ? 16 : sizeof(*out_answer),
        .abi = has(self, "abi-not-offered") ? 99 : ZETA_PLUGIN_ABI,
        .self = has(self, "null-self") ? NULL : self,
        .ops = has(self, "null-ops") ? NULL : &self->ops,
        .id = text(has(self, "wrong-id") ? "somebody-else" : self->id),
        .version = text("0"),
    };
    return ZETA_PLUGIN_SUCCESS;
}
