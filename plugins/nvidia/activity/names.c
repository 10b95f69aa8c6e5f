#include "plugins/nvidia/activity/names.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64, PLACES_PER_NAME = 2 };

/* FNV-1a. */
static uint64_t hash(const char *text)
{
    uint64_t value = UINT64_C(0xcbf29ce484222325);

    for (; *text; text++)
        value = (value ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return value;
}

/* The place of a text, or the free one where it would be. */
static uint32_t *find(const struct nvidia_names *names, const char *text)
{
    uint32_t at = (uint32_t)(hash(text) % names->place_count);

    while (names->places[at] != 0 && strcmp(names->texts[names->places[at] - 1], text) != 0)
        at = (at + 1) % names->place_count;
    return &names->places[at];
}

/* Makes room for one more. On failure the table is as it was. */
static int grow(struct nvidia_names *names)
{
    const uint32_t room = names->room > 0 ? 2 * names->room : FIRST_ROOM;
    uint32_t *places = calloc((size_t)room * PLACES_PER_NAME, sizeof(*places));
    char **texts = places ? realloc(names->texts, room * sizeof(char *)) : NULL;

    if (!texts) {
        free(places);
        return -1;
    }
    free(names->places);
    names->texts = texts;
    names->places = places;
    names->place_count = room * PLACES_PER_NAME;
    names->room = room;
    for (uint32_t i = 0; i < names->count; i++)
        *find(names, names->texts[i]) = i + 1;
    return 0;
}

uint64_t nvidia_names_get(struct nvidia_names *names, const char *text)
{
    uint32_t *place;

    if (names->count == names->room && grow(names) != 0)
        return 0;
    place = find(names, text);
    if (*place == 0) {
        char *copy = strdup(text);

        if (!copy)
            return 0;
        names->texts[names->count++] = copy;
        *place = names->count;
    }
    return *place;
}

const char *nvidia_names_text(const struct nvidia_names *names, uint64_t number)
{
    return number > 0 && number <= names->count ? names->texts[number - 1] : NULL;
}

void nvidia_names_finish(struct nvidia_names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        free(names->texts[i]);
    free(names->texts);
    free(names->places);
    *names = (struct nvidia_names){0};
}
