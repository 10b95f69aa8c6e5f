/*
 * A small host for the plugin of the virtual GPU: opens its library as libzeta does and drives it
 * through the plugin interface, without any of the core.
 */
#ifndef ZETA_TESTS_VGPU_PLUGIN_HOST_H
#define ZETA_TESTS_VGPU_PLUGIN_HOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/plugin.h>

/** One event. Zero-initialised: not signalled. */
struct zeta_plugin_event {
    _Atomic uint32_t signalled;
    struct zeta_plugin_times times; /**< of the last signal */
};

/** A name and a value; arrays end with a null name. */
struct host_setting {
    const char *name;
    const char *value;
};

/** An initialised plugin with its first device. */
struct host {
    void *library;
    struct zeta_plugin_host *services;
    struct zeta_plugin *self;
    const struct zeta_plugin_ops *ops;
    const struct zeta_plugin_device_ops *device_ops;
    const struct zeta_plugin_compute_ops *compute;
    const struct zeta_plugin_metric_ops *metric;
    struct zeta_plugin_device *device;
};

/** Opens, negotiates, initialises; fails the test if something goes wrong. */
void host_open(struct host *host, const struct host_setting *settings);

/** The same, but gives the result of init(); on failure only host_error() and host_close() work. */
uint32_t host_try_open(struct host *host, const struct host_setting *settings);

/** Finishes the plugin. */
void host_close(struct host *host);

/** The last sentence that the plugin left, on any thread. */
const char *host_error(const struct host *host);

/** What the plugin has written to the log so far, line by line; the begin of it. */
const char *host_log(const struct host *host);

/** What kernels printed so far. */
const char *host_output(const struct host *host);

struct zeta_plugin_string host_string(const char *text);

/** A submission that somebody can wait for. */
struct host_work {
    _Atomic uint32_t done;
    uint32_t result;
};

/** Submits commands (of type struct zeta_plugin_command, in a row). Gives submit()'s result. */
uint32_t host_submit(struct host *host, struct zeta_plugin_queue *queue,
                     const struct zeta_plugin_command *commands, uint64_t count,
                     struct host_work *work);

/** Waits at most 20 s and gives the result; UINT32_MAX if it did not finish. */
uint32_t host_wait(const struct host_work *work);

/** Submits and waits; a submission that is refused gives the refusal. */
uint32_t host_run(struct host *host, struct zeta_plugin_queue *queue,
                  const struct zeta_plugin_command *commands, uint64_t count);

/** Queue of a group of the first device. */
struct zeta_plugin_queue *host_queue(struct host *host, uint32_t ordinal);

/** Allocates shared memory, filled with zeros. */
void *host_allocate(struct host *host, uint64_t size_bytes);

/** Signals an event as an application would. */
void host_signal(struct host *host, struct zeta_plugin_event *event);

/** Command with its sizes filled in. */
struct zeta_plugin_command host_command(uint32_t type);
struct zeta_plugin_command host_copy(void *target, const void *source, uint64_t size_bytes);

/** Opens a stream on a unit; result of stream_open. */
uint32_t host_stream(struct host *host, const char *unit, uint64_t period_ns,
                     uint64_t notify_records, const char *const *selections,
                     struct zeta_plugin_stream **out_stream);

/** Waits (at most 20 s) until so many reports are pending. */
bool host_pending(struct host *host, struct zeta_plugin_stream *stream, uint64_t count);

/** Reads what is there, at most capacity reports; gives the number of reports. */
uint64_t host_read(struct host *host, struct zeta_plugin_stream *stream, void *buffer,
                   uint64_t capacity, struct zeta_plugin_read *out_read);

/**
 * Reads until a report is there that is younger than the call, so that it knows all that happened
 * before. Across breaks. Gives the number of reports: of more than capacity (at least 2) the first
 * one, and of the newest those that fit. Fails the test after 20 s.
 */
uint64_t host_read_past_now(struct host *host, struct zeta_plugin_stream *stream, void *buffer,
                            uint64_t capacity);

/** A word of a report. */
uint32_t report_u32(const void *report, uint32_t offset);

/** Its id, and its time stamp of 34 bits, of which two stand behind the id. */
uint32_t report_id(const void *report);
uint64_t report_ticks(const void *report);

/** Counter A<index> of a report, 40 or 32 bits. */
uint64_t report_counter(const void *report, uint32_t index);

/** Sleeps. */
void host_sleep_ms(unsigned ms);

#endif
