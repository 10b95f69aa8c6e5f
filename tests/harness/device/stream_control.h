/*
 * How a test plays the hardware of the fake backend.
 *
 * The backend is a real plugin, opened by the library; the test finds its control table in the same
 * shared object (harness_control). Records are made of their number n, so that a reader can
 * tell which ones it got: report id n, time 25 n ticks, counters A[0] = n and A[1] = 3 n, and the
 * tile.
 *
 * Devices: "fake0" (no tiles) and "fake1" with the tiles "fake1.0" and "fake1.1", which have all
 * optional functions; "bare0", which has none of them.
 */
#ifndef ZETA_TESTS_HARNESS_DEVICE_STREAM_CONTROL_H
#define ZETA_TESTS_HARNESS_DEVICE_STREAM_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_RECORD_BYTES 64u
#define FAKE_TICKS_PER_RECORD 25u
#define FAKE_MARK 0x5ec0edu

/** Why a program of a stream or of a query needs another number of passes than one. */
#define FAKE_STREAM_REASON "The unit takes few selections at a time."
#define FAKE_QUERY_REASON "Queries take few selections at a time."

/** Why devices lack sets that they could have. */
#define FAKE_SETS_NOTE "The scripted device would have more sets with a newer library."

/** A record as it stands in memory, little-endian. */
struct fake_record {
    uint32_t report_id;
    uint32_t timestamp;
    uint32_t a[2];
    uint32_t tile;
    uint32_t zero[10];
    uint32_t mark; /**< FAKE_MARK: a record of only zero bytes would be padding */
};

enum { FAKE_ENTRIES = 8 };

/** What the backend saw of the library. */
struct stream_counts {
    uint32_t opens;
    uint32_t closes;
    uint32_t stops;
    uint32_t reads;
    uint32_t overlaps;       /**< calls for one stream at the same time: must stay 0 */
    uint64_t notify_records; /**< of the last open */
    uint64_t ring_records;   /**< wanted by the last open */
    uint64_t period_ns;      /**< wanted by the last open */
    uint32_t program_entries;
    char register_classes[FAKE_ENTRIES][16]; /**< of the first entries */
    char digest[64];
    char uuid[40]; /**< of the program, or empty */
};

/** Called inside stream_read, on the thread of the call. */
typedef void (*stream_hook)(void *context);

/** All functions may be called from any thread. Units: "u0", "u1", "u2". */
struct stream_control {
    /** Forgets everything that was set, for the next test. No stream is open. */
    void (*reset)(void);
    /** The hardware writes count more records to the open stream of the unit. */
    void (*push)(const char *device, const char *unit, uint32_t count);
    /** The next record comes after a break; lost records are skipped (0: unknown number). */
    void (*gap)(const char *device, const char *unit, uint32_t lost, uint32_t reason);
    /** Reads fail with this result once nothing is left; 0: they work again. */
    void (*fail_reads)(const char *device, const char *unit, uint32_t result);
    /** Opening fails with this result; 0: it works again. */
    void (*refuse)(const char *device, const char *unit, uint32_t result, uint32_t holder_pid);
    /** Whether the first record is there when the stream opens (default: yes). */
    void (*first_at_open)(bool yes);
    /** Capacity of rings, whatever is wanted; 0: what is wanted. */
    void (*ring)(uint32_t records);
    /** The hook of stream_read; NULL: none. */
    void (*hook)(stream_hook hook, void *context);
    /** Programs that a device can run at the same time; 0: any number. */
    void (*together)(uint32_t count);
    /**
     * Programs need a pass for each so many entries (0: any number; UINT32_MAX: they never run).
     * The hook is called when it is asked about one, on that thread; NULL: none.
     */
    void (*passes)(uint32_t entries, stream_hook hook, void *context);
    /** What was seen since the last reset. */
    struct stream_counts (*counts)(const char *device, const char *unit);
    /** True while a stream of the unit samples. */
    bool (*is_running)(const char *device, const char *unit);
};

/** The table of the library that libzeta has opened (harness_control). */
__attribute__((visibility("default"))) extern const struct stream_control stream_control;

#endif
