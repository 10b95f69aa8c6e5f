#ifndef ZETA_PLUGINS_VGPU_DEBUG_PROTOCOL_H
#define ZETA_PLUGINS_VGPU_DEBUG_PROTOCOL_H

/*
 * What debugger and debuggee say to each other: frames of a header and a payload on a stream
 * socket. The debuggee greets; then each request has one answer, in order, and events come between
 * them. Both run the same version on the same machine, so numbers are as they are in memory.
 *
 *     debuggee                                         debugger
 *     GREETING, events of what is there already  --->
 *                                                <---  a request
 *     events, ANSWER, events                     --->
 *
 * Nobody trusts the other: every frame is checked before its content is used.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugins/vgpu/engine/debug.h"

/** Of the protocol; both sides have the same. */
#define ZETA_VGPU_DEBUG_VERSION 3u

/** Most bytes of memory that one request moves. */
#define ZETA_VGPU_DEBUG_CHUNK (UINT32_C(1) << 20)

/** Images that are larger are not sent when they are unloaded. */
#define ZETA_VGPU_DEBUG_IMAGE_LIMIT (UINT32_C(64) << 20)

enum zeta_vgpu_debug_kind {
    /** Of the debuggee: GREETING with result NOT_AVAILABLE and the pid of the debugger that is
     * attached in arguments[0], or a struct zeta_vgpu_debug_greeting. */
    ZETA_VGPU_DEBUG_GREETING = 1,
    ZETA_VGPU_DEBUG_ANSWER,
    ZETA_VGPU_DEBUG_QUEUE_CREATED,
    ZETA_VGPU_DEBUG_QUEUE_DESTROYED,
    ZETA_VGPU_DEBUG_MODULE_LOADED,   /**< begin and end of the image, load address, cookie */
    ZETA_VGPU_DEBUG_MODULE_UNLOADED, /**< the same; the image */
    ZETA_VGPU_DEBUG_CHANGED,         /**< something of what THREADS tells */

    /** Of the debugger. Masks are of all threads of the root device. */
    ZETA_VGPU_DEBUG_ACKNOWLEDGE, /**< cookie */
    ZETA_VGPU_DEBUG_HALT,        /**< payload: mask. Answer: number of the halt */
    ZETA_VGPU_DEBUG_RESUME,      /**< payload: mask */
    ZETA_VGPU_DEBUG_THREADS, /**< Answer: number of the last halt that is done; masks stopped and
                                  excepted, then a struct zeta_vgpu_debug_fault for each newly
                                  excepted thread that has one */
    /** Space, address, bytes; thread. A failure says in arguments[0] which byte is not there. */
    ZETA_VGPU_DEBUG_MEMORY_CHECK, /**< that all of it can be read */
    ZETA_VGPU_DEBUG_MEMORY_READ,  /**< Answer: the bytes */
    ZETA_VGPU_DEBUG_MEMORY_WRITE, /**< payload: the bytes */
    ZETA_VGPU_DEBUG_SNAPSHOTS,    /**< payload: mask. Answer: a struct zeta_vgpu_debug_snapshot of
                                       each thread of it that is stopped; 1 if nothing executes
                                       before a thread is resumed, else 0 */
    ZETA_VGPU_DEBUG_REGISTERS_WRITE, /**< type, first, count; thread. payload: the registers */
    ZETA_VGPU_DEBUG_KINDS
};

/** Who sends a frame. */
enum zeta_vgpu_debug_sender { ZETA_VGPU_DEBUG_DEBUGGEE, ZETA_VGPU_DEBUG_DEBUGGER };

struct zeta_vgpu_debug_header {
    uint32_t bytes; /**< of the payload, which follows */
    uint32_t kind;
    uint32_t result; /**< of a GREETING or an ANSWER: one of the plugin interface */
    uint32_t thread; /**< or ZETA_PLUGIN_DEBUG_NO_THREAD */
    uint64_t arguments[4];
};

struct zeta_vgpu_debug_greeting {
    uint32_t version;
    uint32_t shape[4]; /**< slices of the root device, subslices, EUs, threads in each */
};

/** An access of a thread that failed. */
struct zeta_vgpu_debug_fault {
    uint64_t address;
    uint32_t reason; /**< numerically zet_debug_page_fault_reason_t */
    uint32_t thread;
};

/** Bytes that came or wait to be sent: those from begin to end. Zero-initialised: none. */
struct zeta_vgpu_debug_buffer {
    uint8_t *bytes;
    size_t begin, end, capacity;
};

/** Frees the memory; the buffer is empty then. */
void zeta_vgpu_debug_buffer_finish(struct zeta_vgpu_debug_buffer *buffer);

/** Appends bytes; false without memory. */
bool zeta_vgpu_debug_append(struct zeta_vgpu_debug_buffer *buffer, const void *bytes, size_t size);

/** Appends a frame, whose header's bytes say how large the payload is; all of it or, without
 * memory, nothing. */
bool zeta_vgpu_debug_put(struct zeta_vgpu_debug_buffer *buffer,
                         const struct zeta_vgpu_debug_header *header, const void *payload);

/** What came of a try to move bytes or to take a frame. */
enum zeta_vgpu_debug_progress {
    ZETA_VGPU_DEBUG_NONE, /**< not now */
    ZETA_VGPU_DEBUG_SOME,
    ZETA_VGPU_DEBUG_END /**< end of the stream, no memory, or a frame that is none */
};

/** Reads what has come, without waiting. */
enum zeta_vgpu_debug_progress zeta_vgpu_debug_receive(int socket,
                                                      struct zeta_vgpu_debug_buffer *buffer);

/** Sends what the socket takes without waiting; NONE when nothing is left. */
enum zeta_vgpu_debug_progress zeta_vgpu_debug_send(int socket,
                                                   struct zeta_vgpu_debug_buffer *buffer);

/**
 * Takes the oldest frame, if all of it is there and somebody like the sender may send it: the
 * payload has a size that its kind can have on a device of so many threads, and numbers of threads
 * exist.
 *
 * @out_payload  header->bytes of them, not aligned; valid until the buffer is used again
 */
enum zeta_vgpu_debug_progress zeta_vgpu_debug_take(struct zeta_vgpu_debug_buffer *buffer,
                                                   enum zeta_vgpu_debug_sender sender,
                                                   uint32_t threads,
                                                   struct zeta_vgpu_debug_header *out_header,
                                                   const void **out_payload);

/** Words of a thread mask. */
static inline uint32_t zeta_vgpu_debug_words(uint32_t threads)
{
    return threads / 64 + (threads % 64 != 0);
}

#endif
