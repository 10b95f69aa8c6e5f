/*
 * Images: where they are loaded, their kernels, and the names that they offer each other. An image
 * offers the defined part of its dynamic symbols and needs the undefined part; a weak need may stay
 * open and is address 0 then.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine_priv.h"
#include "plugins/vgpu/runtime/vgpu_abi.h"

enum {
    PAGE_BYTES = 4096,
    MAX_NAME_BYTES = 1024,
    MAX_KERNELS = 1024,
    /* Samples name instructions by their address divided by 8, so no kernel begins in between. */
    KERNEL_ALIGNMENT = 8
};

#define RESERVED MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
}

static uint64_t loaded(const struct zeta_vgpu_image *image, uint64_t file_address)
{
    return file_address - image->elf.low + image->base;
}

/*
 * Addresses for an image that may lie anywhere, so that its code has a place among other code; NULL
 * when there are none.
 */
static unsigned char *reserve_movable(const struct zeta_vgpu_image *image, size_t total)
{
    const struct zeta_vgpu_elf_segment *text = &image->elf.segments[image->elf.text];
    uint64_t slack = 0;

    for (;;) {
        unsigned char *memory = mmap(NULL, total + slack, PROT_NONE, RESERVED, -1, 0);
        const uint64_t wanted = (uintptr_t)memory + text->address - image->elf.low;
        uint64_t found, shift;

        if (memory == MAP_FAILED)
            return NULL;
        found = zeta_vgpu_space_code_place(image->space, wanted, text->memory_bytes);
        shift = found - wanted;
        if (found == 0 || shift > slack) {
            (void)munmap(memory, total + slack);
            if (found == 0)
                return NULL;
            slack = shift;
            continue;
        }
        if (shift > 0)
            (void)munmap(memory, shift);
        if (shift < slack)
            (void)munmap(memory + shift + total, slack - shift);
        return memory + shift;
    }
}

/*
 * Reserves addresses from the image's begin to the end of its shared local memory window, so
 * that no allocation ever lies inside the window, and makes the image's part usable.
 */
static enum zeta_vgpu_result reserve(struct zeta_vgpu_image *image,
                                     struct zeta_vgpu_message *message)
{
    const struct zeta_vgpu_elf *elf = &image->elf;
    const size_t total = whole_pages(elf->slm_begin - elf->low + ZETA_VGPU_ELF_MAX_SLM_BYTES);
    void *wanted = (void *)(uintptr_t)elf->low;
    void *memory = elf->movable
                       ? reserve_movable(image, total)
                       : mmap(wanted, total, PROT_NONE, RESERVED | MAP_FIXED_NOREPLACE, -1, 0);

    if (!elf->movable && memory != wanted) {
        if (memory != MAP_FAILED)
            (void)munmap(memory, total);
        return zeta_vgpu_fail(
            message, ZETA_VGPU_INVALID_IMAGE,
            "the file needs the addresses 0x%" PRIx64 " to 0x%" PRIx64
            ", which are in use or cannot be mapped: link it position-independent (-pie)",
            elf->low, elf->low + total);
    }
    if (!memory)
        return ZETA_VGPU_OUT_OF_MEMORY;
    image->memory = memory;
    image->memory_bytes = total;
    image->base = (uintptr_t)memory;
    return mprotect(memory, elf->high - elf->low, PROT_READ | PROT_WRITE) == 0
               ? ZETA_VGPU_OK
               : ZETA_VGPU_OUT_OF_MEMORY;
}

/* Makes segments and file visible to kernels. */
static bool publish_ranges(struct zeta_vgpu_image *image)
{
    for (uint32_t i = 0; i < image->elf.segment_count; i++) {
        const struct zeta_vgpu_elf_segment *segment = &image->elf.segments[i];
        const void *begin = (void *)(uintptr_t)loaded(image, segment->address);
        bool added =
            i == image->elf.text
                ? zeta_vgpu_space_add_code(image->space, begin, segment->memory_bytes, &image->code)
                : zeta_vgpu_space_add(image->space, begin, segment->memory_bytes,
                                      segment->writable ? ZETA_VGPU_ACCESS_WRITE
                                                        : ZETA_VGPU_ACCESS_READ);

        if (!added)
            return false;
        image->ranges_added++;
    }
    image->file_added = zeta_vgpu_space_add(image->space, image->file, image->file_map_bytes,
                                            ZETA_VGPU_ACCESS_READ);
    return image->file_added;
}

/* A terminated string in the loaded image, or NULL. */
static const char *image_string(const struct zeta_vgpu_image *image, uint64_t address)
{
    const char *string = (const char *)(uintptr_t)address;
    const uint64_t offset = address - image->base, used = image->elf.high - image->elf.low;
    const uint64_t room = used - offset < MAX_NAME_BYTES ? used - offset : MAX_NAME_BYTES;

    return offset < used && memchr(string, 0, room) ? string : NULL;
}

/*
 * One record of @info->record_bytes in the loaded image. Texts are copied, since kernels may write
 * to the image. Newer files hold more than what is needed to run the kernel.
 */
static enum zeta_vgpu_result read_kernel(struct zeta_vgpu_image *image, const unsigned char *record,
                                         const struct vgpu_kernel_info *info,
                                         struct zeta_vgpu_message *message)
{
    const uint64_t extra_at =
        sizeof(*info) + (uint64_t)info->argument_count * sizeof(struct vgpu_argument_info);
    struct zeta_vgpu_kernel *kernel = &image->kernels[image->kernel_count];
    const char *name = image_string(image, info->name), *attributes = NULL;
    struct vgpu_argument_info *arguments;
    struct vgpu_kernel_extra extra = {0};

    if (!name || !*name)
        return zeta_vgpu_fail(message, ZETA_VGPU_INVALID_IMAGE,
                              "kernel %u of .vgpu.info: no name at address 0x%" PRIx64,
                              image->kernel_count, info->name);
    if (!zeta_rv64_code_holds(&image->code, info->entry))
        return zeta_vgpu_fail(message, ZETA_VGPU_INVALID_IMAGE,
                              "kernel %s: its entry 0x%" PRIx64 " is not in the code", name,
                              info->entry);
    if (info->record_bytes >= extra_at + sizeof(extra))
        memcpy(&extra, record + extra_at, sizeof(extra));
    if (extra.attributes)
        attributes = image_string(image, extra.attributes);
    *kernel = (struct zeta_vgpu_kernel){
        .name = strdup(name),
        .entry = info->entry,
        .code_begin = info->entry,
        .argument_count = info->argument_count,
        .argument_block_bytes = info->argument_block_bytes,
        .private_bytes = info->private_bytes,
        .spill_bytes = extra.spill_bytes,
        .attributes = strdup(attributes ? attributes : ""),
        .slm_bytes = extra.local_known == 1 && extra.local_bytes < image->elf.slm_bytes
                         ? extra.local_bytes
                         : image->elf.slm_bytes,
    };
    memcpy(kernel->required_group_size, info->required_group_size,
           sizeof(kernel->required_group_size));
    kernel->arguments = arguments = calloc((size_t)info->argument_count + 1, sizeof(*arguments));
    image->kernel_count++; /* from here on freed with the image */
    if (!kernel->name || !kernel->attributes || !arguments)
        return ZETA_VGPU_OUT_OF_MEMORY;
    memcpy(arguments, record + sizeof(*info), info->argument_count * sizeof(*arguments));
    for (uint32_t i = 0; i < info->argument_count; i++) {
        const struct vgpu_argument_info argument = arguments[i];

        if (argument.kind > VGPU_ARGUMENT_LOCAL || argument.size_bytes == 0 ||
            argument.offset_bytes > info->argument_block_bytes ||
            argument.size_bytes > info->argument_block_bytes - argument.offset_bytes ||
            (argument.kind != VGPU_ARGUMENT_VALUE && argument.size_bytes != sizeof(uint64_t)))
            return zeta_vgpu_fail(
                message, ZETA_VGPU_INVALID_IMAGE,
                "kernel %s, argument %u: kind %u with %u bytes at offset %u does not fit "
                "its block of %u bytes",
                kernel->name, i, argument.kind, argument.size_bytes, argument.offset_bytes,
                info->argument_block_bytes);
    }
    return ZETA_VGPU_OK;
}

static enum zeta_vgpu_result read_kernels(struct zeta_vgpu_image *image,
                                          struct zeta_vgpu_message *message)
{
    static const unsigned char padding[8];
    const uint64_t bytes = image->elf.info_bytes, room = bytes / sizeof(struct vgpu_kernel_info);
    enum zeta_vgpu_result result = ZETA_VGPU_OK;
    const unsigned char *table;

    if (bytes == 0)
        return ZETA_VGPU_OK;
    table = image->memory + (image->elf.info_begin - image->elf.low);
    image->kernels = calloc(room < MAX_KERNELS ? room + 1 : MAX_KERNELS, sizeof(*image->kernels));
    if (!image->kernels)
        return ZETA_VGPU_OUT_OF_MEMORY;
    for (uint64_t at = 0;
         result == ZETA_VGPU_OK && bytes - at >= sizeof(struct vgpu_kernel_info);) {
        struct vgpu_kernel_info info;

        if (memcmp(table + at, padding, sizeof(padding)) == 0) {
            at += sizeof(padding);
            continue;
        }
        memcpy(&info, table + at, sizeof(info));
        if (info.magic != VGPU_INFO_MAGIC || info.record_bytes > bytes - at ||
            info.record_bytes % 8 != 0 || info.argument_count > VGPU_MAX_ARGUMENTS ||
            info.argument_block_bytes > VGPU_MAX_ARGUMENT_BYTES ||
            info.record_bytes <
                sizeof(info) + (uint64_t)info.argument_count * sizeof(struct vgpu_argument_info) ||
            image->kernel_count == MAX_KERNELS)
            return zeta_vgpu_fail(message, ZETA_VGPU_INVALID_IMAGE,
                                  ".vgpu.info at offset 0x%" PRIx64
                                  " is not a kernel record (magic 0x%x, %u bytes, %u arguments)",
                                  at, info.magic, info.record_bytes, info.argument_count);
        result = read_kernel(image, table + at, &info, message);
        at += info.record_bytes;
    }
    return result;
}

static int kernels_by_name(const void *left, const void *right)
{
    return strcmp((*(struct zeta_vgpu_kernel *const *)left)->name,
                  (*(struct zeta_vgpu_kernel *const *)right)->name);
}

static int kernels_by_begin(const void *left, const void *right)
{
    const uint64_t a = (*(struct zeta_vgpu_kernel *const *)left)->code_begin;
    const uint64_t b = (*(struct zeta_vgpu_kernel *const *)right)->code_begin;

    return (a > b) - (a < b);
}

/*
 * Divides the code among the kernels; false without memory. A kernel is its entry stub and, where
 * it is not inlined there, the function of its name; compilers put them side by side, and what only
 * this kernel calls beside them. So the code is cut at the lowest address of each kernel. What lies
 * before the first one is the first one's, and functions that several kernels call are those of the
 * kernel before them. Kernels that begin at the same address share it.
 */
static bool divide_code(struct zeta_vgpu_image *image)
{
    const uint32_t count = image->kernel_count;
    struct zeta_vgpu_kernel **kernels = calloc((size_t)count + 1, sizeof(*kernels));
    uint64_t begin, end;

    if (!kernels)
        return false;
    for (uint32_t i = 0; i < count; i++)
        kernels[i] = &image->kernels[i];
    qsort(kernels, count, sizeof(*kernels), kernels_by_name);
    for (uint32_t i = 1; i < image->elf.symbols.count; i++) {
        struct zeta_vgpu_kernel wanted = {0}, *key = &wanted, **found;
        struct zeta_vgpu_symbol symbol;
        uint64_t address;

        if (!zeta_vgpu_elf_symbol(&image->elf, &image->elf.symbols, i, &symbol) ||
            !symbol.defined || !symbol.function)
            continue;
        wanted.name = symbol.name;
        found = bsearch(&key, kernels, count, sizeof(*kernels), kernels_by_name);
        address = loaded(image, symbol.address);
        if (found && zeta_rv64_code_holds(&image->code, address) && address < (*found)->code_begin)
            (*found)->code_begin = address;
    }
    for (uint32_t i = 0; i < count; i++)
        kernels[i]->code_begin &= ~(uint64_t)(KERNEL_ALIGNMENT - 1);
    qsort(kernels, count, sizeof(*kernels), kernels_by_begin);
    zeta_vgpu_image_text(image, &begin, &end);
    for (uint32_t i = count; i-- > 0;) {
        const uint64_t from = kernels[i]->code_begin;
        const bool is_first = from == kernels[0]->code_begin;

        kernels[i]->code_begin = is_first ? begin : from;
        kernels[i]->code_end = end;
        if (!is_first && kernels[i - 1]->code_begin < from)
            end = from;
    }
    free((void *)kernels);
    return true;
}

static int symbols_by_name(const void *left, const void *right)
{
    return strcmp(((const struct zeta_vgpu_symbol *)left)->name,
                  ((const struct zeta_vgpu_symbol *)right)->name);
}

/* A symbol as other images see it; false when it is none that they could use. */
static bool usable(const struct zeta_vgpu_image *image, const struct zeta_vgpu_symbol *from,
                   struct zeta_vgpu_symbol *out_symbol)
{
    const struct zeta_vgpu_elf *elf = &image->elf;

    if (!from->defined || !from->global || from->address - elf->slm_begin < elf->slm_bytes ||
        from->address - elf->low >= elf->high - elf->low)
        return false;
    *out_symbol = *from;
    out_symbol->address = loaded(image, from->address);
    return true;
}

/* Lists what the image offers and needs; false without memory. */
static bool read_symbols(struct zeta_vgpu_image *image)
{
    const uint32_t count = image->elf.dynamic.count;

    image->exports = calloc((size_t)count + 1, sizeof(*image->exports));
    image->imports = calloc((size_t)count + 1, sizeof(*image->imports));
    if (!image->exports || !image->imports)
        return false;
    for (uint32_t i = 1; i < count; i++) {
        struct zeta_vgpu_symbol symbol;

        if (!zeta_vgpu_elf_symbol(&image->elf, &image->elf.dynamic, i, &symbol))
            continue;
        if (symbol.defined && (symbol.function || symbol.object) &&
            usable(image, &symbol, &image->exports[image->export_count]))
            image->export_count++;
        else if (!symbol.defined && symbol.global && !symbol.weak)
            image->imports[image->import_count++] = symbol.name;
    }
    qsort(image->exports, image->export_count, sizeof(*image->exports), symbols_by_name);
    image->bound = image->import_count == 0;
    return true;
}

/* Gives a copied file its place and reads it there. */
static enum zeta_vgpu_result place(struct zeta_vgpu_image *image, struct zeta_vgpu_message *message)
{
    const struct zeta_vgpu_elf_segment *text = &image->elf.segments[image->elf.text];
    enum zeta_vgpu_result result = reserve(image, message);
    uint64_t begin;

    if (result != ZETA_VGPU_OK)
        return result;
    if (!zeta_vgpu_elf_load(&image->elf, image->memory, image->base, message))
        return ZETA_VGPU_INVALID_IMAGE;
    begin = loaded(image, text->address);
    if (!zeta_rv64_code_create(&image->code, begin, (const void *)(uintptr_t)begin,
                               (uint32_t)(text->memory_bytes / 4)) ||
        !read_symbols(image))
        return ZETA_VGPU_OUT_OF_MEMORY;
    result = read_kernels(image, message);
    if (result != ZETA_VGPU_OK)
        return result;
    return divide_code(image) && publish_ranges(image) ? ZETA_VGPU_OK : ZETA_VGPU_OUT_OF_MEMORY;
}

enum zeta_vgpu_result zeta_vgpu_image_create(struct zeta_vgpu_space *space, const void *bytes,
                                             size_t size, struct zeta_vgpu_message *out_message,
                                             struct zeta_vgpu_image **out_image)
{
    enum zeta_vgpu_result result = ZETA_VGPU_OUT_OF_MEMORY;
    struct zeta_vgpu_image *image;
    void *file;

    if (!space || !bytes)
        return zeta_vgpu_fail(out_message, ZETA_VGPU_INVALID_ARGUMENT, "no file to load");
    image = calloc(1, sizeof(*image));
    if (!image)
        goto out;
    image->space = space;
    if (!zeta_vgpu_elf_parse(bytes, size, &image->elf, out_message)) {
        result = ZETA_VGPU_INVALID_IMAGE;
        goto out;
    }
    image->file_map_bytes = whole_pages(size);
    file = mmap(NULL, image->file_map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    if (file == MAP_FAILED)
        goto out;
    memcpy(file, bytes, size);
    image->file = file;
    image->elf.bytes = file;
    zeta_vgpu_space_lock_code(image->space);
    result = place(image, out_message);
    zeta_vgpu_space_unlock_code(image->space);

out:
    if (result == ZETA_VGPU_OK) {
        *out_image = image;
        return ZETA_VGPU_OK;
    }
    zeta_vgpu_image_destroy(image);
    return result == ZETA_VGPU_OUT_OF_MEMORY
               ? zeta_vgpu_fail(out_message, result,
                                "no memory, or no addresses, for an image from a file of %zu bytes",
                                size)
               : result;
}

void zeta_vgpu_image_destroy(struct zeta_vgpu_image *image)
{
    if (!image)
        return;
    if (image->file_added)
        (void)zeta_vgpu_space_remove(image->space, image->file);
    for (uint32_t i = 0; i < image->ranges_added; i++)
        (void)zeta_vgpu_space_remove(
            image->space, (void *)(uintptr_t)loaded(image, image->elf.segments[i].address));
    for (uint32_t i = 0; i < image->kernel_count; i++) {
        free((char *)(uintptr_t)image->kernels[i].name);
        free((char *)(uintptr_t)image->kernels[i].attributes);
        free((void *)(uintptr_t)image->kernels[i].arguments);
    }
    free(image->kernels);
    free(image->exports);
    free((void *)image->imports);
    zeta_rv64_code_finish(&image->code);
    if (image->memory)
        (void)munmap(image->memory, image->memory_bytes);
    if (image->file)
        (void)munmap(image->file, image->file_map_bytes);
    free(image);
}

uint32_t zeta_vgpu_image_kernel_count(const struct zeta_vgpu_image *image)
{
    return image->kernel_count;
}

const struct zeta_vgpu_kernel *zeta_vgpu_image_kernel(const struct zeta_vgpu_image *image,
                                                      uint32_t index)
{
    return &image->kernels[index];
}

const struct zeta_vgpu_kernel *zeta_vgpu_image_find_kernel(const struct zeta_vgpu_image *image,
                                                           const char *name)
{
    for (uint32_t i = 0; i < image->kernel_count; i++) {
        if (strcmp(image->kernels[i].name, name) == 0)
            return &image->kernels[i];
    }
    return NULL;
}

void zeta_vgpu_image_text(const struct zeta_vgpu_image *image, uint64_t *out_begin,
                          uint64_t *out_end)
{
    *out_begin = image->code.begin;
    *out_end = image->code.begin + (uint64_t)image->code.count * 4;
}

uint64_t zeta_vgpu_image_offset(const struct zeta_vgpu_image *image)
{
    return image->base - image->elf.low;
}

const void *zeta_vgpu_image_file(const struct zeta_vgpu_image *image, size_t *out_size)
{
    *out_size = image->elf.size;
    return image->file;
}

static const struct zeta_vgpu_symbol *find_export(const struct zeta_vgpu_image *image,
                                                  const char *name)
{
    const struct zeta_vgpu_symbol wanted = {.name = name};

    return bsearch(&wanted, image->exports, image->export_count, sizeof(wanted), symbols_by_name);
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
        struct zeta_vgpu_symbol symbol;

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

/* Address of a name that @taker needs; 0 when no image offers it. */
static uint64_t resolve(struct link *link, const struct zeta_vgpu_image *taker,
                        const struct zeta_vgpu_symbol *wanted)
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

enum zeta_vgpu_result zeta_vgpu_image_link(struct zeta_vgpu_image *const *images, uint32_t count,
                                           zeta_vgpu_link_report report, void *user)
{
    struct link link = {.images = images, .count = count, .report = report, .user = user};
    /* By image, for each that is not bound: an address for each dynamic symbol. */
    uint64_t **addresses = calloc((size_t)count + 1, sizeof(*addresses));
    enum zeta_vgpu_result result = ZETA_VGPU_OUT_OF_MEMORY;

    if (!addresses)
        return result;
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_vgpu_elf *elf = &images[i]->elf;
        struct zeta_vgpu_symbol symbol;

        if (images[i]->bound)
            continue;
        addresses[i] = calloc((size_t)elf->dynamic.count + 1, sizeof(*addresses[i]));
        if (!addresses[i])
            goto out;
        for (uint32_t k = 1; k < elf->dynamic.count; k++) {
            if (zeta_vgpu_elf_symbol(elf, &elf->dynamic, k, &symbol) && !symbol.defined &&
                symbol.global)
                addresses[i][k] = resolve(&link, images[i], &symbol);
        }
    }
    result = link.problems > 0 ? ZETA_VGPU_INVALID_IMAGE : ZETA_VGPU_OK;
    for (uint32_t i = 0; i < count && result == ZETA_VGPU_OK; i++) {
        if (images[i]->bound)
            continue;
        zeta_vgpu_elf_bind(&images[i]->elf, images[i]->memory, addresses[i]);
        images[i]->bound = true;
    }

out:
    for (uint32_t i = 0; i < count; i++)
        free(addresses[i]);
    free((void *)addresses);
    return result;
}
