#include "protocol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <zeta/plugin.h>

/* Bytes that one system call takes from a socket. */
#define RECEIVE_BYTES 65536u

void zeta_vgpu_debug_buffer_finish(struct zeta_vgpu_debug_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct zeta_vgpu_debug_buffer){0};
}

/* Makes room behind the end. */
static bool reserve(struct zeta_vgpu_debug_buffer *buffer, size_t size)
{
    const size_t used = buffer->end - buffer->begin;
    uint8_t *bytes;

    if (size <= buffer->capacity - buffer->end)
        return true;
    if (used > 0)
        memmove(buffer->bytes, buffer->bytes + buffer->begin, used);
    buffer->begin = 0;
    buffer->end = used;
    if (size <= buffer->capacity - used)
        return true;
    bytes = realloc(buffer->bytes, 2 * used + size);
    if (!bytes)
        return false;
    buffer->bytes = bytes;
    buffer->capacity = 2 * used + size;
    return true;
}

bool zeta_vgpu_debug_append(struct zeta_vgpu_debug_buffer *buffer, const void *bytes, size_t size)
{
    if (size == 0)
        return true;
    if (!reserve(buffer, size))
        return false;
    memcpy(buffer->bytes + buffer->end, bytes, size);
    buffer->end += size;
    return true;
}

bool zeta_vgpu_debug_put(struct zeta_vgpu_debug_buffer *buffer,
                         const struct zeta_vgpu_debug_header *header, const void *payload)
{
    return reserve(buffer, sizeof(*header) + header->bytes) &&
           zeta_vgpu_debug_append(buffer, header, sizeof(*header)) &&
           zeta_vgpu_debug_append(buffer, payload, header->bytes);
}

enum zeta_vgpu_debug_progress zeta_vgpu_debug_receive(int socket,
                                                      struct zeta_vgpu_debug_buffer *buffer)
{
    ssize_t received;

    if (!reserve(buffer, RECEIVE_BYTES))
        return ZETA_VGPU_DEBUG_END;
    do
        received = recv(socket, buffer->bytes + buffer->end, RECEIVE_BYTES, MSG_DONTWAIT);
    while (received < 0 && errno == EINTR);
    if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return ZETA_VGPU_DEBUG_NONE;
    if (received <= 0)
        return ZETA_VGPU_DEBUG_END;
    buffer->end += (size_t)received;
    return ZETA_VGPU_DEBUG_SOME;
}

enum zeta_vgpu_debug_progress zeta_vgpu_debug_send(int socket,
                                                   struct zeta_vgpu_debug_buffer *buffer)
{
    while (buffer->begin < buffer->end) {
        const ssize_t sent = send(socket, buffer->bytes + buffer->begin,
                                  buffer->end - buffer->begin, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK ? ZETA_VGPU_DEBUG_SOME
                                                           : ZETA_VGPU_DEBUG_END;
        buffer->begin += (size_t)sent;
    }
    return ZETA_VGPU_DEBUG_NONE;
}

/* Whether the kind exists, comes from this side, and the payload can be one of it. */
static bool is_plausible(const struct zeta_vgpu_debug_header *header,
                         enum zeta_vgpu_debug_sender sender, uint32_t threads)
{
    const uint32_t mask = zeta_vgpu_debug_words(threads) * (uint32_t)sizeof(uint64_t);
    const uint32_t list = 2 * mask + threads * (uint32_t)sizeof(struct zeta_vgpu_debug_fault);
    const uint32_t chunk = ZETA_VGPU_DEBUG_CHUNK;
    const uint32_t snapshots = threads * (uint32_t)sizeof(struct zeta_vgpu_debug_snapshot);
    const uint32_t most = list > snapshots ? list : snapshots, answer = most > chunk ? most : chunk;
    const struct {
        enum zeta_vgpu_debug_sender sender;
        uint32_t least, most;
        bool has_thread; /* else its number means nothing */
    } kinds[ZETA_VGPU_DEBUG_KINDS] = {
        [ZETA_VGPU_DEBUG_GREETING] = {ZETA_VGPU_DEBUG_DEBUGGEE, 0,
                                      sizeof(struct zeta_vgpu_debug_greeting), false},
        [ZETA_VGPU_DEBUG_ANSWER] = {ZETA_VGPU_DEBUG_DEBUGGEE, 0, answer, false},
        [ZETA_VGPU_DEBUG_QUEUE_CREATED] = {ZETA_VGPU_DEBUG_DEBUGGEE, 0, 0, false},
        [ZETA_VGPU_DEBUG_QUEUE_DESTROYED] = {ZETA_VGPU_DEBUG_DEBUGGEE, 0, 0, false},
        [ZETA_VGPU_DEBUG_MODULE_LOADED] = {ZETA_VGPU_DEBUG_DEBUGGEE, 0, 0, false},
        [ZETA_VGPU_DEBUG_MODULE_UNLOADED] = {ZETA_VGPU_DEBUG_DEBUGGEE, 0,
                                             ZETA_VGPU_DEBUG_IMAGE_LIMIT, false},
        [ZETA_VGPU_DEBUG_CHANGED] = {ZETA_VGPU_DEBUG_DEBUGGEE, 0, 0, false},
        [ZETA_VGPU_DEBUG_ACKNOWLEDGE] = {ZETA_VGPU_DEBUG_DEBUGGER, 0, 0, false},
        [ZETA_VGPU_DEBUG_HALT] = {ZETA_VGPU_DEBUG_DEBUGGER, mask, mask, false},
        [ZETA_VGPU_DEBUG_RESUME] = {ZETA_VGPU_DEBUG_DEBUGGER, mask, mask, false},
        [ZETA_VGPU_DEBUG_THREADS] = {ZETA_VGPU_DEBUG_DEBUGGER, 0, 0, false},
        [ZETA_VGPU_DEBUG_MEMORY_CHECK] = {ZETA_VGPU_DEBUG_DEBUGGER, 0, 0, true},
        [ZETA_VGPU_DEBUG_MEMORY_READ] = {ZETA_VGPU_DEBUG_DEBUGGER, 0, 0, true},
        [ZETA_VGPU_DEBUG_MEMORY_WRITE] = {ZETA_VGPU_DEBUG_DEBUGGER, 1, chunk, true},
        [ZETA_VGPU_DEBUG_SNAPSHOTS] = {ZETA_VGPU_DEBUG_DEBUGGER, mask, mask, false},
        [ZETA_VGPU_DEBUG_REGISTERS_WRITE] = {ZETA_VGPU_DEBUG_DEBUGGER, 1, chunk, true},
    };
    const uint32_t kind = header->kind;

    return kind > 0 && kind < ZETA_VGPU_DEBUG_KINDS && kinds[kind].sender == sender &&
           header->bytes >= kinds[kind].least && header->bytes <= kinds[kind].most &&
           (!kinds[kind].has_thread || header->thread < threads ||
            header->thread == ZETA_PLUGIN_DEBUG_NO_THREAD);
}

enum zeta_vgpu_debug_progress zeta_vgpu_debug_take(struct zeta_vgpu_debug_buffer *buffer,
                                                   enum zeta_vgpu_debug_sender sender,
                                                   uint32_t threads,
                                                   struct zeta_vgpu_debug_header *out_header,
                                                   const void **out_payload)
{
    const size_t size = buffer->end - buffer->begin;
    struct zeta_vgpu_debug_header header;

    if (size < sizeof(header))
        return ZETA_VGPU_DEBUG_NONE;
    memcpy(&header, buffer->bytes + buffer->begin, sizeof(header));
    if (!is_plausible(&header, sender, threads))
        return ZETA_VGPU_DEBUG_END;
    if (size - sizeof(header) < header.bytes)
        return ZETA_VGPU_DEBUG_NONE;
    *out_header = header;
    *out_payload = buffer->bytes + buffer->begin + sizeof(header);
    buffer->begin += sizeof(header) + header.bytes;
    return ZETA_VGPU_DEBUG_SOME;
}
