#ifndef ZETA_PLUGINS_NVIDIA_ACTIVITY_NAMES_H
#define ZETA_PLUGINS_NVIDIA_ACTIVITY_NAMES_H

/*
 * Numbers for names of kernels. CUPTI's texts live as long as a callback; records hold a number.
 */

#include <stdint.h>

/** All zero bytes: empty. The owner serialises calls. */
struct nvidia_names {
    char **texts; /**< number 1 is the first */
    uint32_t count, room;
    uint32_t *places; /**< hash table: numbers, 0: free */
    uint32_t place_count;
};

/** The number of a text, at least 1, the same each time; 0 without memory. The text is copied. */
uint64_t nvidia_names_get(struct nvidia_names *names, const char *text);

/** The text of a number, NULL if there is none. Lives as long as the table. */
const char *nvidia_names_text(const struct nvidia_names *names, uint64_t number);

void nvidia_names_finish(struct nvidia_names *names);

#endif
