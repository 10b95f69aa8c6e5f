/*
 * Which code is whose. A kernel is its entry stub and, where it is not inlined there, the function
 * of its name; compilers put them side by side, and what only this kernel calls beside them. So the
 * code of an image is cut at the lowest address of each kernel. What lies before the first one is
 * the first one's, and functions that several kernels call are those of the kernel before them.
 */
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"
#include "plugins/vgpu/machine/message.h"

/* Samples name instructions by their address divided by 8, so no kernel begins in between. */
enum { BEGIN_ALIGNMENT = 8 };

static int by_name(const void *left, const void *right)
{
    return strcmp((*(struct zeta_vgpu_kernel *const *)left)->name,
                  (*(struct zeta_vgpu_kernel *const *)right)->name);
}

static int by_begin(const void *left, const void *right)
{
    const uint64_t a = (*(struct zeta_vgpu_kernel *const *)left)->code_begin;
    const uint64_t b = (*(struct zeta_vgpu_kernel *const *)right)->code_begin;

    return (a > b) - (a < b);
}

/* Takes functions that have the name of a kernel into account; @kernels are sorted by name. */
static void find_bodies(const struct zeta_vgpu_image *image, struct zeta_vgpu_kernel **kernels)
{
    for (uint32_t i = 1; i < image->elf.symbols.count; i++) {
        struct zeta_vgpu_kernel wanted = {0}, *key = &wanted, **found;
        struct zeta_vgpu_elf_symbol symbol;
        uint64_t address;

        if (!zeta_vgpu_elf_symbol(&image->elf, &image->elf.symbols, i, &symbol) ||
            !symbol.defined || !symbol.function)
            continue;
        wanted.name = symbol.name;
        found = bsearch(&key, kernels, image->kernel_count, sizeof(*kernels), by_name);
        address = symbol.address - image->elf.low + image->base;
        if (found && zeta_rv64_code_holds(&image->code, address) && address < (*found)->code_begin)
            (*found)->code_begin = address;
    }
}

/* Cuts the code; @kernels are sorted by address, and those that begin at the same one share it. */
static void cut(const struct zeta_vgpu_image *image, struct zeta_vgpu_kernel **kernels)
{
    uint64_t begin, end;

    zeta_vgpu_image_text(image, &begin, &end);
    for (uint32_t i = image->kernel_count; i-- > 0;) {
        const uint64_t from = kernels[i]->code_begin;
        const bool is_first = from == kernels[0]->code_begin;

        kernels[i]->code_begin = is_first ? begin : from;
        kernels[i]->code_end = end;
        if (!is_first && kernels[i - 1]->code_begin < from)
            end = from;
    }
}

enum zeta_vgpu_result zeta_vgpu_image_divide_code(struct zeta_vgpu_image *image,
                                                  struct zeta_vgpu_message *message)
{
    const uint32_t count = image->kernel_count;
    struct zeta_vgpu_kernel **kernels;

    if (count == 0)
        return ZETA_VGPU_OK;
    kernels = calloc(count, sizeof(*kernels));
    if (!kernels)
        return zeta_vgpu_fail(message, ZETA_VGPU_OUT_OF_MEMORY,
                              "out of memory while dividing the code of %u kernels", count);
    for (uint32_t i = 0; i < count; i++) {
        kernels[i] = &image->kernels[i];
        kernels[i]->code_begin = kernels[i]->entry;
    }
    qsort(kernels, count, sizeof(*kernels), by_name);
    find_bodies(image, kernels);
    for (uint32_t i = 0; i < count; i++)
        kernels[i]->code_begin &= ~(uint64_t)(BEGIN_ALIGNMENT - 1);
    qsort(kernels, count, sizeof(*kernels), by_begin);
    cut(image, kernels);
    free((void *)kernels);
    return ZETA_VGPU_OK;
}
