#include "tests/gdbserver/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool frames_write(void *to, const void *bytes, size_t size)
{
    struct frames *const frames = to;

    if (frames->is_closed)
        return false;
    frames->bytes = realloc(frames->bytes, frames->size + size + 1);
    if (!frames->bytes)
        abort();
    memcpy(frames->bytes + frames->size, bytes, size);
    frames->size += size;
    return true;
}

size_t frames_read(const struct frames *frames, size_t at, char *out_lead, uint8_t *out_payload,
                   size_t capacity, size_t *out_size)
{
    const uint8_t *const bytes = frames->bytes + at;
    const size_t size = frames->size - at;
    const uint8_t *const end = size > 0 ? memchr(bytes, '#', size) : NULL;
    char sum_text[3];
    uint8_t sum = 0;
    size_t count = 0;

    if (!end || end + 2 >= bytes + size || (bytes[0] != '$' && bytes[0] != '%'))
        return 0;
    for (const uint8_t *byte = bytes + 1; byte < end; byte++)
        sum = (uint8_t)(sum + *byte);
    (void)snprintf(sum_text, sizeof(sum_text), "%02x", sum);
    if (memcmp(sum_text, end + 1, 2) != 0)
        return 0;
    for (const uint8_t *byte = bytes + 1; byte < end; byte++) {
        size_t times = 1;
        uint8_t value = *byte;

        if (value == '*') {
            if (count == 0 || byte + 1 == end || byte[1] < 32 || byte[1] > 126)
                return 0;
            value = out_payload[count - 1];
            times = *++byte - 29U;
        } else if (value == '}' && byte + 1 < end) {
            value = *++byte ^ 0x20;
        } else if (value == '$' || value == '}') {
            return 0;
        }
        if (times > capacity - count)
            return 0;
        memset(out_payload + count, value, times);
        count += times;
    }
    *out_lead = (char)bytes[0];
    *out_size = count;
    return (size_t)(end + 3 - bytes);
}

void frames_clear(struct frames *frames)
{
    free(frames->bytes);
    *frames = (struct frames){0};
}
