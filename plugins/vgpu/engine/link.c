/*
 * Names that images offer each other. What an image offers is the defined part of its dynamic
 * symbols, what it needs the undefined part; a weak need may stay open and is address 0 then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct zeta_vgpu_symbol *)left)->name,
                  ((const struct zeta_vgpu_symbol *)right)->name);
}

static bool in_slm(const struct zeta_vgpu_image *image, uint64_t file_address)
{
    return image->elf.slm_bytes > 0 && file_address - image->elf.slm_begin < image->elf.slm_bytes;
}

/* A symbol as others see it; false when it is none that they could use. */
static bool usable(const struct zeta_vgpu_image *image, const struct zeta_vgpu_elf_symbol *from,
                   struct zeta_vgpu_symbol *out_symbol)
{
    uint64_t used = image->elf.high - image->elf.low;

    if (!from->defined || !from->global || in_slm(image, from->address) ||
        from->address < image->elf.low || from->address - image->elf.low >= used)
        return false;
    *out_symbol = (struct zeta_vgpu_symbol){.name = from->name,
                                            .address = from->address - image->elf.low + image->base,
                                            .size_bytes = from->size_bytes,
                                            .function = from->function,
                                            .weak = from->weak};
    return true;
}

static void sort_symbol(struct zeta_vgpu_image *image, uint32_t index)
{
    struct zeta_vgpu_elf_symbol symbol;

    if (!zeta_vgpu_elf_symbol(&image->elf, &image->elf.dynamic, index, &symbol))
        return;
    if (symbol.defined && (symbol.function || symbol.object) &&
        usable(image, &symbol, &image->exports[image->export_count]))
        image->export_count++;
    else if (!symbol.defined && symbol.global && !symbol.weak)
        image->imports[image->import_count++] = symbol.name;
}

enum zeta_vgpu_result zeta_vgpu_image_read_symbols(struct zeta_vgpu_image *image,
                                                   struct zeta_vgpu_message *message)
{
    uint32_t count = image->elf.dynamic.count;

    image->exports = calloc((size_t)count + 1, sizeof(*image->exports));
    image->imports = calloc((size_t)count + 1, sizeof(*image->imports));
    if (!image->exports || !image->imports)
        return zeta_vgpu_fail(message, ZETA_VGPU_OUT_OF_MEMORY, "no memory for %u symbols", count);
    for (uint32_t i = 1; i < count; i++)
        sort_symbol(image, i);
    if (image->export_count > 1)
        qsort(image->exports, image->export_count, sizeof(*image->exports), by_name);
    image->bound = image->import_count == 0;
    return ZETA_VGPU_OK;
}

static const struct zeta_vgpu_symbol *find_export(const struct zeta_vgpu_image *image,
                                                  const char *name)
{
    const struct zeta_vgpu_symbol wanted = {.name = name};

    return image->export_count == 0
               ? NULL
               : bsearch(&wanted, image->exports, image->export_count, sizeof(wanted), by_name);
}

const struct zeta_vgpu_symbol *zeta_vgpu_image_exports(const struct zeta_vgpu_image *image,
                                                       uint32_t *out_count)
{
    *out_count = image->export_count;
    return image->exports;
}

const char *const *zeta_vgpu_image_imports(const struct zeta_vgpu_image *image, uint32_t *out_count)
{
    *out_count = image->bound ? 0 : image->import_count;
    return image->imports;
}

bool zeta_vgpu_image_find_symbol(const struct zeta_vgpu_image *image, const char *name,
                                 struct zeta_vgpu_symbol *out_symbol)
{
    const struct zeta_vgpu_symbol *offered = find_export(image, name);

    if (offered) {
        *out_symbol = *offered;
        return true;
    }
    for (uint32_t i = 1; i < image->elf.symbols.count; i++) {
        struct zeta_vgpu_elf_symbol symbol;

        if (zeta_vgpu_elf_symbol(&image->elf, &image->elf.symbols, i, &symbol) &&
            strcmp(symbol.name, name) == 0 && usable(image, &symbol, out_symbol))
            return true;
    }
    return false;
}

/* A link in progress. */
struct link {
    struct zeta_vgpu_image *const *images;
    uint32_t count;
    zeta_vgpu_link_report report;
    void *user;
    uint32_t problems;
};

static void complain(struct link *link, const char *what, const char *name)
{
    char text[400];

    link->problems++;
    (void)snprintf(text, sizeof(text), "%s: %.300s", what, name);
    if (link->report)
        link->report(link->user, text);
}

/* Address of a name that @taker needs; 0 when nobody offers it. */
static uint64_t resolve(struct link *link, const struct zeta_vgpu_image *taker,
                        const struct zeta_vgpu_elf_symbol *wanted)
{
    const struct zeta_vgpu_symbol *best = NULL;
    bool twice = false;

    for (uint32_t i = 0; i < link->count; i++) {
        const struct zeta_vgpu_symbol *found =
            link->images[i] == taker ? NULL : find_export(link->images[i], wanted->name);

        if (!found)
            continue;
        twice |= best && !best->weak && !found->weak;
        if (!best || (best->weak && !found->weak))
            best = found;
    }
    if (twice)
        complain(link, "several modules export", wanted->name);
    else if (!best && !wanted->weak)
        complain(link, "no module exports", wanted->name);
    return best ? best->address : 0;
}

/* Addresses of all names that an image needs, one per dynamic symbol; NULL without memory. */
static uint64_t *resolve_all(struct link *link, const struct zeta_vgpu_image *taker)
{
    uint64_t *addresses = calloc((size_t)taker->elf.dynamic.count + 1, sizeof(*addresses));

    for (uint32_t i = 1; addresses && i < taker->elf.dynamic.count; i++) {
        struct zeta_vgpu_elf_symbol symbol;

        if (zeta_vgpu_elf_symbol(&taker->elf, &taker->elf.dynamic, i, &symbol) && !symbol.defined &&
            symbol.global)
            addresses[i] = resolve(link, taker, &symbol);
    }
    return addresses;
}

static enum zeta_vgpu_result link_images(struct link *link, uint64_t **addresses)
{
    for (uint32_t i = 0; i < link->count; i++) {
        if (link->images[i]->bound)
            continue;
        addresses[i] = resolve_all(link, link->images[i]);
        if (!addresses[i])
            return ZETA_VGPU_OUT_OF_MEMORY;
    }
    if (link->problems > 0)
        return ZETA_VGPU_INVALID_IMAGE;
    for (uint32_t i = 0; i < link->count; i++) {
        if (link->images[i]->bound)
            continue;
        zeta_vgpu_elf_bind(&link->images[i]->elf, link->images[i]->memory, addresses[i]);
        link->images[i]->bound = true;
    }
    return ZETA_VGPU_OK;
}

enum zeta_vgpu_result zeta_vgpu_image_link(struct zeta_vgpu_image *const *images, uint32_t count,
                                           zeta_vgpu_link_report report, void *user)
{
    struct link link = {.images = images, .count = count, .report = report, .user = user};
    uint64_t **addresses = calloc((size_t)count + 1, sizeof(*addresses));
    enum zeta_vgpu_result result;

    if (!addresses)
        return ZETA_VGPU_OUT_OF_MEMORY;
    result = link_images(&link, addresses);
    for (uint32_t i = 0; i < count; i++)
        free(addresses[i]);
    free((void *)addresses);
    return result;
}
