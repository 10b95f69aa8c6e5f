/*
 * How a test plays the hardware of the fake tracer backend.
 *
 * The backend is a real plugin, opened by the library; the test finds its control table in the same
 * shared object (harness_control). One counter numbers all events of a device and is their time,
 * ten ticks each, so that a reader can tell which ones it got and in which order they happened.
 *
 * Devices: "trace0" (no tiles) and "trace1" with the tiles "trace1.0" and "trace1.1". Their timer
 * runs at 19.2 MHz and has 36 valid bits; records carry more of them.
 */
#ifndef ZETA_TESTS_HARNESS_DEVICE_TRACER_CONTROL_H
#define ZETA_TESTS_HARNESS_DEVICE_TRACER_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_RECORD_BYTES 32u
#define TRACE_TICKS_PER_EVENT 10u
#define TRACE_TIMER_HZ UINT64_C(19200000)
#define TRACE_VALID_BITS 36u
/** Stands above the valid bits of every time stamp. */
#define TRACE_TICKS_NOISE (UINT64_C(5) << TRACE_VALID_BITS)

/** What the backend says of the unit "kernels". */
#define TRACE_NOTE "Events of this process only."

/** Name of the event of a number, if that is even; its id is the value of the record. */
#define TRACE_NAME "kernel <%u>"

/** Types of records; events.yaml. */
enum { TRACE_ENABLED = 1, TRACE_DISABLED = 2, TRACE_BEGIN = 3, TRACE_END = 4, TRACE_COPY = 5 };

/** A record as it stands in memory, little-endian. */
struct trace_record {
    uint16_t type;
    uint8_t tile;
    uint8_t unit; /**< 0: kernels, 1: copies */
    uint32_t id;
    uint64_t ticks;
    uint64_t value; /**< 100 times the id */
    uint64_t mark;
};

/** What the backend saw of the library since the last reset. */
struct trace_counts {
    uint32_t opens, closes;
    uint32_t enables, disables;
    uint32_t last_synchronous;
    uint32_t overlaps; /**< calls for one tracer at the same time: must stay 0 */
    uint32_t units;    /**< of the last open, and what follows too */
    uint64_t notify_bytes;
    uint64_t ring_bytes;
};

/** All functions may be called from any thread. Units: "kernels", "copies", "others". */
struct trace_control {
    /** Forgets everything that was set, for the next test. No tracer is open. */
    void (*reset)(void);
    /** Events happen; they are recorded if a tracer of the unit is on or stopping. */
    void (*push)(const char *device, const char *unit, uint16_t type, uint32_t count);
    /** The next record of the unit's tracer comes after a break. */
    void (*lose)(const char *device, const char *unit, uint32_t lost);
    /** Reads fail with this result once nothing is left; 0: they work again. */
    void (*fail_reads)(const char *device, uint32_t result);
    /** Opening (enabling, disabling) fails with this result; 0: it works again. */
    void (*refuse_open)(const char *device, uint32_t result, const char *sentence);
    void (*refuse_switch)(const char *device, uint32_t result);
    /** While it holds, what is asked for asynchronously stays pending; false: it takes effect. */
    void (*hold)(const char *device, bool yes);
    /** Capacity of rings, whatever is wanted; 0: what is wanted. */
    void (*ring)(uint64_t bytes);
    /** Whether tracers have a descriptor (default: yes). */
    void (*descriptors)(bool yes);
    struct trace_counts (*counts)(const char *device);
    /** True while a tracer holds the unit. */
    bool (*is_held)(const char *device, const char *unit);
    /** Records that wait in the backend for a unit. */
    uint64_t (*waiting)(const char *device, const char *unit);
};

/** The table of the library that libzeta has opened (harness_control). */
__attribute__((visibility("default"))) extern const struct trace_control trace_control;

#endif
