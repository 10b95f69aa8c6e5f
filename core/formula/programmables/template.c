#include "core/formula/programmables/template.h"

#include <stdio.h>
#include <string.h>

/** Bytes of the longest text that a template can become. */
#define TEXT_BYTES 1024u
/** Deepest nesting of placeholders in the texts of names. */
#define MAX_DEPTH 8u
/** Placeholders that one text may have, with those in the texts of names. */
#define MAX_PLACEHOLDERS 1024u

struct filling {
    struct zeta_arena *arena;
    const struct zeta_names *names;
    char text[TEXT_BYTES];
    size_t length;
    uint32_t placeholders;
    const char *wrong; /**< format with one name, NULL while all is well */
    char name[64];
};

static bool fail(struct filling *filling, const char *wrong, const char *name, size_t length)
{
    filling->wrong = wrong;
    (void)snprintf(filling->name, sizeof(filling->name), "%.*s", length < 60 ? (int)length : 60,
                   name);
    return false;
}

static bool append(struct filling *filling, const char *text, size_t length)
{
    if (length >= sizeof(filling->text) - filling->length)
        return fail(filling, "the text becomes too long at '%s'", text, length);
    memcpy(filling->text + filling->length, text, length);
    filling->length += length;
    return true;
}

static bool same(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

static const char *find(const struct zeta_names *names, const char *name, size_t length)
{
    for (uint32_t i = names->count; i-- > 0;) {
        if (same(names->lets[i].name, name, length))
            return names->lets[i].text;
    }
    return NULL;
}

static bool is_kept(const struct zeta_names *names, const char *name, size_t length)
{
    for (const char *const *kept = names->kept; kept && *kept; kept++) {
        if (same(*kept, name, length))
            return true;
    }
    return false;
}

static bool fill(struct filling *filling, const char *text, uint32_t depth)
{
    while (*text) {
        const size_t plain = strcspn(text, "{}");
        const char *name = text + plain + 1;
        const char *found;
        size_t length;

        if (!append(filling, text, plain))
            return false;
        if (text[plain] == '\0')
            return true;
        length = text[plain] == '{' ? strcspn(name, "{}") : 0;
        if (text[plain] == '}' || name[length] != '}')
            return fail(filling, "unmatched brace before '%s'", name, strlen(name));
        found = find(filling->names, name, length);
        if (++filling->placeholders > MAX_PLACEHOLDERS)
            return fail(filling, "too many placeholders at {%s}", name, length);
        if (found && depth == MAX_DEPTH)
            return fail(filling, "{%s} is nested too deep, perhaps in itself", name, length);
        if (found
                ? !fill(filling, found, depth + 1)
                : !is_kept(filling->names, name, length) || !append(filling, name - 1, length + 2))
            return filling->wrong ? false : fail(filling, "unknown placeholder {%s}", name, length);
        text = name + length + 1;
    }
    return true;
}

ze_result_t zeta_template_fill(struct zeta_arena *arena, const struct zeta_names *names,
                               const char *text, const char **out_text, const char **out_wrong)
{
    struct filling filling = {.arena = arena, .names = names};

    if (!fill(&filling, text, 0)) {
        char wrong[160];
        const char *at = strchr(filling.wrong, '%');

        /* The formats above hold one %s each. */
        (void)snprintf(wrong, sizeof(wrong), "%.*s%s%s", (int)(at - filling.wrong), filling.wrong,
                       filling.name, at + 2);
        *out_wrong = zeta_arena_copy(arena, wrong, strlen(wrong));
        return *out_wrong ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out_text = zeta_arena_copy(arena, filling.text, filling.length);
    return *out_text ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}
