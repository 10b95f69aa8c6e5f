/*
 * Any bytes given as the set files of one provider, divided by lines of "%%". A file that is
 * refused leaves nothing behind, and the canonical text of each set means what the set means,
 * whatever it shares with others.
 *
 * Rule 10.12.
 */
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/compile.h"
#include "core/formula/describe/describe.h"
#include "core/formula/sets/set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_BYTES 20000u
#define MAX_FILES 8u

struct file {
    const char *text;
    size_t length;
    bool accepted;
};

static bool any_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    (void)context;
    *out_value = (struct zeta_number){ZETA_EXPR_U64, {.u64 = (unsigned char)name[0]}};
    return true;
}

/** The pieces between the lines of "%%"; the last takes the rest. */
static uint32_t divide(const char *text, size_t length, struct file *files)
{
    uint32_t count = 0;

    while (count < MAX_FILES) {
        const char *end = count + 1 < MAX_FILES ? memmem(text, length, "\n%%\n", 4) : NULL;
        const size_t piece = end ? (size_t)(end - text) + 1 : length;

        files[count++] = (struct file){.text = text, .length = piece};
        if (!end)
            break;
        text += piece + 3;
        length -= piece + 3;
    }
    return count;
}

/** The canonical text of a set; NULL data if the device does not have the set. */
static struct zeta_text describe(const struct zeta_catalog *catalog, const struct zeta_set *set)
{
    const struct zeta_symbol_lookup symbols = {.find = any_symbol, .context = NULL};
    struct zeta_compiled *compiled = NULL;
    struct zeta_text text = {0};

    if (zeta_set_compile(catalog, set, &symbols, NULL, &compiled) != ZE_RESULT_SUCCESS)
        return text;
    if (zeta_describe_set(compiled, &text) != ZE_RESULT_SUCCESS)
        abort();
    zeta_compiled_destroy(compiled);
    return text;
}

static bool same(const struct zeta_text *a, const struct zeta_text *b)
{
    return (!a->data && !b->data) || (a->data && b->data && strcmp(a->data, b->data) == 0);
}

/** Reads a canonical text again: it gives itself. */
static void check_text(const struct zeta_text *text)
{
    struct zeta_catalog *catalog = zeta_catalog_create();
    struct zeta_text again;

    if (!catalog || zeta_catalog_add_text(catalog, text->data, strlen(text->data), "again", NULL) ||
        zeta_catalog_link(catalog, NULL) || zeta_catalog_set_count(catalog) != 1)
        abort();
    again = describe(catalog, zeta_catalog_set(catalog, 0));
    if (!same(text, &again))
        abort();
    free(again.data);
    zeta_catalog_destroy(catalog);
}

static void compare(const struct zeta_catalog *all, const struct zeta_catalog *accepted)
{
    if (zeta_catalog_set_count(all) != zeta_catalog_set_count(accepted))
        abort();
    for (uint32_t i = 0; i < zeta_catalog_set_count(all); i++) {
        struct zeta_text one = describe(all, zeta_catalog_set(all, i));
        struct zeta_text other = describe(accepted, zeta_catalog_set(accepted, i));

        if (!same(&one, &other))
            abort();
        if (one.data)
            check_text(&one);
        free(one.data);
        free(other.data);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct file files[MAX_FILES];
    struct zeta_catalog *all;
    struct zeta_catalog *accepted;
    uint32_t count;

    if (size > MAX_BYTES)
        return 0;
    all = zeta_catalog_create();
    accepted = zeta_catalog_create();
    if (!all || !accepted)
        abort();
    count = divide((const char *)data, size, files);
    for (uint32_t i = 0; i < count; i++) {
        struct file *file = &files[i];

        file->accepted =
            zeta_catalog_add_whole(all, "f", file->text, file->length, NULL) == ZE_RESULT_SUCCESS;
        if (file->accepted && zeta_catalog_add_text(accepted, file->text, file->length, "f",
                                                    NULL) != ZE_RESULT_SUCCESS)
            abort();
    }
    (void)zeta_catalog_link(all, NULL);
    (void)zeta_catalog_link(accepted, NULL);
    compare(all, accepted);
    zeta_catalog_destroy(all);
    zeta_catalog_destroy(accepted);
    return 0;
}
