/* Activity records of CUPTI, as any bytes, through reading, naming and sorting. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/nvidia/activity/event.h"
#include "plugins/nvidia/activity/names.h"
#include "plugins/nvidia/activity/window.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NAME_AT = 104, STEP = 8 };

/* A kernel's name is an address: here that of a text of ours, which is the rest of the input. */
static void read_one(const uint8_t *data, size_t size, struct nvidia_names *names,
                     struct nvidia_window *window)
{
    uint8_t *record = malloc(size);
    char *text = malloc(size + 1);
    struct nvidia_event_text found;
    struct nvidia_event event;

    if (record && text) {
        memcpy(record, data, size);
        memcpy(text, data, size);
        text[size] = '\0';
        if (size >= NAME_AT + sizeof(text) && record[NAME_AT] != 0)
            memcpy(record + NAME_AT, &text, sizeof(text));
        else if (size >= NAME_AT + sizeof(text))
            memset(record + NAME_AT, 0, sizeof(text));
        if (nvidia_event_read(record, size, &event, &found)) {
            if (event.ticks < event.begin || event.type < NVIDIA_EVENT_KERNEL)
                abort();
            event.name = found.name ? nvidia_names_get(names, found.name) : 0;
            if (found.name && strcmp(nvidia_names_text(names, event.name), found.name) != 0)
                abort();
            (void)nvidia_window_put(window, &event);
        }
    }
    free(text);
    free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nvidia_names names = {0};
    struct nvidia_window window = {0};
    struct nvidia_event event;
    uint64_t last = 0;

    for (size_t at = 0; at < size; at += STEP)
        read_one(data + at, size - at, &names, &window);
    while (nvidia_window_take(&window, UINT64_MAX, &event)) {
        if (event.ticks < last)
            abort();
        last = event.ticks;
    }
    nvidia_window_finish(&window);
    nvidia_names_finish(&names);
    return 0;
}
