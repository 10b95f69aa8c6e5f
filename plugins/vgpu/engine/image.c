#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine_priv.h"
#include "plugins/vgpu/runtime/vgpu_abi.h"

enum { PAGE_BYTES = 4096, MAX_NAME_BYTES = 1024, MAX_KERNELS = 1024 };

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
}

/* How far behind @base the image has to begin, so that its code has a place among other code. */
static bool find_shift(const struct zeta_vgpu_image *image, uint64_t base, uint64_t *out_shift)
{
    const struct zeta_vgpu_segment *text = &image->elf.segments[image->elf.text];
    const uint64_t wanted = base + text->address - image->elf.low;
    const uint64_t found = zeta_vgpu_space_code_place(image->space, wanted, text->memory_bytes);

    *out_shift = found - wanted;
    return found != 0;
}

/* Addresses for an image that may lie anywhere; NULL when there are none. */
static unsigned char *reserve_movable(const struct zeta_vgpu_image *image, size_t total)
{
    uint64_t slack = 0, shift = 0;

    for (;;) {
        unsigned char *memory = mmap(NULL, total + slack, PROT_NONE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        bool found;

        if (memory == MAP_FAILED)
            return NULL;
        found = find_shift(image, (uintptr_t)memory, &shift);
        if (!found || shift > slack) {
            (void)munmap(memory, total + slack);
            if (!found)
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

/* The addresses that the file wants, if they are free, else NULL. */
static unsigned char *reserve_fixed(const struct zeta_vgpu_image *image, size_t total)
{
    void *wanted = (void *)(uintptr_t)image->elf.low;
    void *memory = mmap(wanted, total, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    if (memory == MAP_FAILED || memory == wanted)
        return memory == wanted ? memory : NULL;
    (void)munmap(memory, total);
    return NULL;
}

/*
 * Reserves addresses from the image's begin to the end of its shared local memory window, so
 * that no allocation ever lies inside the window, and makes the image's part usable.
 */
static enum zeta_vgpu_result reserve(struct zeta_vgpu_image *image,
                                     struct zeta_vgpu_message *message)
{
    const struct zeta_vgpu_elf *elf = &image->elf;
    size_t used = elf->high - elf->low;
    size_t total = whole_pages(elf->slm_begin - elf->low + ZETA_VGPU_ELF_MAX_SLM_BYTES);
    unsigned char *memory =
        elf->movable ? reserve_movable(image, total) : reserve_fixed(image, total);

    if (!memory && !elf->movable)
        return zeta_vgpu_fail(
            message, ZETA_VGPU_INVALID_IMAGE,
            "the file wants addresses 0x%" PRIx64 " to 0x%" PRIx64
            ", which are in use or cannot be mapped: link it position-independent (-pie)",
            elf->low, elf->low + total);
    if (!memory)
        return zeta_vgpu_fail(message, ZETA_VGPU_OUT_OF_MEMORY,
                              "no room for %zu bytes of addresses", total);
    image->memory = memory;
    image->memory_bytes = total;
    image->base = (uintptr_t)memory;
    if (mprotect(memory, used, PROT_READ | PROT_WRITE) != 0)
        return zeta_vgpu_fail(message, ZETA_VGPU_OUT_OF_MEMORY, "no memory for %zu bytes of image",
                              used);
    return ZETA_VGPU_OK;
}

static enum zeta_vgpu_result copy_file(struct zeta_vgpu_image *image, const void *bytes,
                                       size_t size, struct zeta_vgpu_message *message)
{
    void *file;

    image->file_map_bytes = whole_pages(size);
    file = mmap(NULL, image->file_map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    if (file == MAP_FAILED)
        return zeta_vgpu_fail(message, ZETA_VGPU_OUT_OF_MEMORY, "no memory for a file of %zu bytes",
                              size);
    memcpy(file, bytes, size);
    image->file = file;
    image->elf.bytes = file;
    return ZETA_VGPU_OK;
}

static uint64_t loaded(const struct zeta_vgpu_image *image, uint64_t file_address)
{
    return file_address - image->elf.low + image->base;
}

static enum zeta_vgpu_result publish_ranges(struct zeta_vgpu_image *image,
                                            struct zeta_vgpu_message *message)
{
    for (uint32_t i = 0; i < image->elf.segment_count; i++) {
        const struct zeta_vgpu_segment *segment = &image->elf.segments[i];
        const void *begin = (void *)(uintptr_t)loaded(image, segment->address);
        bool added =
            i == image->elf.text
                ? zeta_vgpu_space_add_code(image->space, begin, segment->memory_bytes, &image->code)
                : zeta_vgpu_space_add(image->space, begin, segment->memory_bytes,
                                      segment->writable ? ZETA_VGPU_ACCESS_WRITE
                                                        : ZETA_VGPU_ACCESS_READ);

        if (!added)
            return zeta_vgpu_fail(message, ZETA_VGPU_OUT_OF_MEMORY,
                                  "no memory to register segment %u", i);
        image->ranges_added++;
    }
    if (!zeta_vgpu_space_add(image->space, image->file, image->file_map_bytes,
                             ZETA_VGPU_ACCESS_READ))
        return zeta_vgpu_fail(message, ZETA_VGPU_OUT_OF_MEMORY, "no memory to register the file");
    image->file_added = true;
    return ZETA_VGPU_OK;
}

static enum zeta_vgpu_result decode(struct zeta_vgpu_image *image,
                                    struct zeta_vgpu_message *message)
{
    const struct zeta_vgpu_segment *text = &image->elf.segments[image->elf.text];
    uint64_t begin = loaded(image, text->address);

    if (!zeta_rv64_code_create(&image->code, begin, (const void *)(uintptr_t)begin,
                               (uint32_t)(text->memory_bytes / 4)))
        return zeta_vgpu_fail(message, ZETA_VGPU_OUT_OF_MEMORY,
                              "no memory to decode %" PRIu64 " bytes", text->memory_bytes);
    return ZETA_VGPU_OK;
}

/* A terminated string in the loaded image, or NULL. */
static const char *image_string(const struct zeta_vgpu_image *image, uint64_t address)
{
    uint64_t offset = address - image->base;
    uint64_t used = image->elf.high - image->elf.low;
    uint64_t room;

    if (offset >= used)
        return NULL;
    room = used - offset < MAX_NAME_BYTES ? used - offset : MAX_NAME_BYTES;
    if (!memchr(image->memory + offset, 0, room))
        return NULL;
    return (const char *)image->memory + offset;
}

static enum zeta_vgpu_result read_arguments(struct zeta_vgpu_kernel *kernel,
                                            const unsigned char *infos,
                                            struct zeta_vgpu_message *message)
{
    uint32_t count = kernel->argument_count;
    struct zeta_vgpu_argument *arguments = calloc((size_t)count + 1, sizeof(*arguments));

    if (!arguments)
        return zeta_vgpu_fail(message, ZETA_VGPU_OUT_OF_MEMORY, "no memory for kernel arguments");
    kernel->arguments = arguments;
    for (uint32_t i = 0; i < count; i++) {
        struct vgpu_argument_info info;

        memcpy(&info, infos + i * sizeof(info), sizeof(info));
        if (info.kind > VGPU_ARGUMENT_LOCAL || info.size_bytes == 0 ||
            info.offset_bytes > kernel->argument_block_bytes ||
            info.size_bytes > kernel->argument_block_bytes - info.offset_bytes ||
            (info.kind != VGPU_ARGUMENT_VALUE && info.size_bytes != sizeof(uint64_t)))
            return zeta_vgpu_fail(
                message, ZETA_VGPU_INVALID_IMAGE,
                "kernel %s, argument %u: kind %u with %u bytes at offset %u does not fit "
                "its block of %u bytes",
                kernel->name, i, info.kind, info.size_bytes, info.offset_bytes,
                kernel->argument_block_bytes);
        arguments[i].kind = (enum zeta_vgpu_argument_kind)info.kind;
        arguments[i].size_bytes = info.size_bytes;
        arguments[i].offset_bytes = info.offset_bytes;
    }
    return ZETA_VGPU_OK;
}

/*
 * What records of newer files hold beyond what is needed to run the kernel. Texts are copied, since
 * kernels may write to the image. False without memory.
 */
static bool read_extra(const struct zeta_vgpu_image *image, struct zeta_vgpu_kernel *kernel,
                       const unsigned char *record, const struct vgpu_kernel_info *info)
{
    uint64_t at =
        sizeof(*info) + (uint64_t)info->argument_count * sizeof(struct vgpu_argument_info);
    struct vgpu_kernel_extra extra = {0};
    const char *attributes;

    if (info->record_bytes >= at + sizeof(extra))
        memcpy(&extra, record + at, sizeof(extra));
    attributes = extra.attributes ? image_string(image, extra.attributes) : NULL;
    kernel->attributes = strdup(attributes ? attributes : "");
    kernel->spill_bytes = extra.spill_bytes;
    if (extra.local_known == 1 && extra.local_bytes < kernel->slm_bytes)
        kernel->slm_bytes = extra.local_bytes;
    return kernel->attributes != NULL;
}

/* One record; @record points into the loaded image and has @info->record_bytes. */
static enum zeta_vgpu_result read_kernel(struct zeta_vgpu_image *image, const unsigned char *record,
                                         const struct vgpu_kernel_info *info,
                                         struct zeta_vgpu_message *message)
{
    struct zeta_vgpu_kernel *kernel = &image->kernels[image->kernel_count];
    const char *name = image_string(image, info->name);

    if (!name || !*name)
        return zeta_vgpu_fail(message, ZETA_VGPU_INVALID_IMAGE,
                              "kernel %u of .vgpu.info: no name at address 0x%" PRIx64,
                              image->kernel_count, info->name);
    if (!zeta_rv64_code_holds(&image->code, info->entry))
        return zeta_vgpu_fail(message, ZETA_VGPU_INVALID_IMAGE,
                              "kernel %s: its entry 0x%" PRIx64 " is not in the code", name,
                              info->entry);
    kernel->name = strdup(name);
    if (!kernel->name)
        return zeta_vgpu_fail(message, ZETA_VGPU_OUT_OF_MEMORY, "no memory for a kernel name");
    image->kernel_count++; /* from here on freed with the image */
    kernel->entry = info->entry;
    kernel->argument_count = info->argument_count;
    kernel->argument_block_bytes = info->argument_block_bytes;
    memcpy(kernel->required_group_size, info->required_group_size,
           sizeof(kernel->required_group_size));
    kernel->private_bytes = info->private_bytes;
    kernel->slm_bytes = image->elf.slm_bytes;
    if (!read_extra(image, kernel, record, info))
        return zeta_vgpu_fail(message, ZETA_VGPU_OUT_OF_MEMORY, "no memory for kernel attributes");
    return read_arguments(kernel, record + sizeof(*info), message);
}

static bool record_fits(const struct vgpu_kernel_info *info, uint64_t room)
{
    return info->magic == VGPU_INFO_MAGIC && info->record_bytes <= room &&
           info->record_bytes % 8 == 0 && info->argument_count <= VGPU_MAX_ARGUMENTS &&
           info->argument_block_bytes <= VGPU_MAX_ARGUMENT_BYTES &&
           info->record_bytes >=
               sizeof(*info) + (uint64_t)info->argument_count * sizeof(struct vgpu_argument_info);
}

static enum zeta_vgpu_result read_kernels(struct zeta_vgpu_image *image,
                                          struct zeta_vgpu_message *message)
{
    uint64_t bytes = image->elf.info_bytes;
    const unsigned char *table;
    uint64_t room = bytes / sizeof(struct vgpu_kernel_info);

    if (bytes == 0)
        return ZETA_VGPU_OK;
    table = image->memory + (image->elf.info_begin - image->elf.low);
    image->kernels = calloc(room < MAX_KERNELS ? room + 1 : MAX_KERNELS, sizeof(*image->kernels));
    if (!image->kernels)
        return zeta_vgpu_fail(message, ZETA_VGPU_OUT_OF_MEMORY, "no memory for the kernel table");
    for (uint64_t at = 0; bytes - at >= sizeof(struct vgpu_kernel_info);) {
        static const unsigned char padding[8];
        struct vgpu_kernel_info info;
        enum zeta_vgpu_result result;

        if (memcmp(table + at, padding, sizeof(padding)) == 0) {
            at += sizeof(padding);
            continue;
        }
        memcpy(&info, table + at, sizeof(info));
        if (!record_fits(&info, bytes - at) || image->kernel_count == MAX_KERNELS)
            return zeta_vgpu_fail(message, ZETA_VGPU_INVALID_IMAGE,
                                  ".vgpu.info at offset 0x%" PRIx64
                                  " is not a kernel record (magic 0x%x, %u bytes, %u arguments)",
                                  at, info.magic, info.record_bytes, info.argument_count);
        result = read_kernel(image, table + at, &info, message);
        if (result != ZETA_VGPU_OK)
            return result;
        at += info.record_bytes;
    }
    return ZETA_VGPU_OK;
}

/* Gives a copied file its place and reads it there. */
static enum zeta_vgpu_result place(struct zeta_vgpu_image *image, struct zeta_vgpu_message *message)
{
    enum zeta_vgpu_result result = reserve(image, message);

    if (result != ZETA_VGPU_OK)
        return result;
    if (!zeta_vgpu_elf_load(&image->elf, image->memory, image->base, message))
        return ZETA_VGPU_INVALID_IMAGE;
    result = decode(image, message);
    if (result == ZETA_VGPU_OK)
        result = zeta_vgpu_image_read_symbols(image, message);
    if (result == ZETA_VGPU_OK)
        result = read_kernels(image, message);
    if (result == ZETA_VGPU_OK)
        result = zeta_vgpu_image_divide_code(image, message);
    if (result == ZETA_VGPU_OK)
        result = publish_ranges(image, message);
    return result;
}

static enum zeta_vgpu_result load(struct zeta_vgpu_image *image, const void *bytes, size_t size,
                                  struct zeta_vgpu_message *message)
{
    enum zeta_vgpu_result result;

    if (!zeta_vgpu_elf_parse(bytes, size, &image->elf, message))
        return ZETA_VGPU_INVALID_IMAGE;
    result = copy_file(image, bytes, size, message);
    if (result != ZETA_VGPU_OK)
        return result;
    zeta_vgpu_space_lock_code(image->space);
    result = place(image, message);
    zeta_vgpu_space_unlock_code(image->space);
    return result;
}

enum zeta_vgpu_result zeta_vgpu_image_create(struct zeta_vgpu_space *space, const void *bytes,
                                             size_t size, struct zeta_vgpu_message *out_message,
                                             struct zeta_vgpu_image **out_image)
{
    struct zeta_vgpu_image *image;
    enum zeta_vgpu_result result;

    if (!space || !bytes)
        return zeta_vgpu_fail(out_message, ZETA_VGPU_INVALID_ARGUMENT, "no file to load");
    image = calloc(1, sizeof(*image));
    if (!image)
        return zeta_vgpu_fail(out_message, ZETA_VGPU_OUT_OF_MEMORY, "no memory for an image");
    image->space = space;
    result = load(image, bytes, size, out_message);
    if (result != ZETA_VGPU_OK) {
        zeta_vgpu_image_destroy(image);
        return result;
    }
    *out_image = image;
    return ZETA_VGPU_OK;
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

const void *zeta_vgpu_image_file(const struct zeta_vgpu_image *image, size_t *out_size)
{
    *out_size = image->elf.size;
    return image->file;
}

void zeta_vgpu_image_code_changed(struct zeta_vgpu_image *image, uint64_t address,
                                  size_t length_bytes)
{
    uint64_t begin = image->code.begin;
    uint64_t end = begin + (uint64_t)image->code.count * 4;
    uint64_t last = address + length_bytes;

    if (length_bytes == 0 || address >= end || last <= begin || last < address)
        return;
    if (address < begin)
        address = begin;
    if (last > end)
        last = end;
    zeta_rv64_code_update(&image->code, (const void *)(uintptr_t)begin,
                          (uint32_t)((address - begin) / 4),
                          (uint32_t)((last - 1 - begin) / 4 - (address - begin) / 4 + 1));
}
