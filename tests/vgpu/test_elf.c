/* Files that are not what they should be: a sentence each, never a crash. */
#include "rig.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A good file, and a copy to spoil. */
struct files {
    struct zeta_vgpu_space *space;
    unsigned char *good;
    unsigned char *bad;
    size_t size;
};

static int read_files(void **state)
{
    static struct files files;

    files.space = zeta_vgpu_space_create();
    assert_non_null(files.space);
    files.good = rig_read_file(KERNEL_DIR "/basic.elf", &files.size);
    files.bad = malloc(files.size);
    assert_non_null(files.bad);
    memcpy(files.bad, files.good, files.size);
    *state = &files;
    return 0;
}

static int drop_files(void **state)
{
    struct files *files = *state;

    free(files->good);
    free(files->bad);
    zeta_vgpu_space_destroy(files->space);
    return 0;
}

/* Loads the spoilt copy; gives the message, or NULL when it loaded after all. */
static const char *load(const struct files *files, size_t size)
{
    static struct zeta_vgpu_message message;
    struct zeta_vgpu_image *image = NULL;
    enum zeta_vgpu_result result;

    message.text[0] = '\0';
    result = zeta_vgpu_image_create(files->space, files->bad, size, &message, &image);
    if (result == ZETA_VGPU_OK) {
        zeta_vgpu_image_destroy(image);
        return NULL;
    }
    assert_null(image);
    assert_int_equal(result, ZETA_VGPU_INVALID_IMAGE);
    assert_cmp(strlen(message.text), >, 10);
    return message.text;
}

static void expect(struct files *files, const char *words)
{
    const char *message = load(files, files->size);

    if (!message)
        fail_msg("loaded, expected: %s", words);
    if (!strstr(message, words))
        fail_msg("expected \"%s\" in: %s", words, message);
    memcpy(files->bad, files->good, files->size);
}

static Elf64_Ehdr *header(struct files *files)
{
    return (Elf64_Ehdr *)files->bad;
}

static Elf64_Phdr *segment(struct files *files, unsigned index)
{
    return (Elf64_Phdr *)(files->bad + header(files)->e_phoff) + index;
}

static Elf64_Shdr *section(struct files *files, const char *name)
{
    Elf64_Shdr *sections = (Elf64_Shdr *)(files->bad + header(files)->e_shoff);
    const char *names = (const char *)files->bad + sections[header(files)->e_shstrndx].sh_offset;

    for (unsigned i = 0; i < header(files)->e_shnum; i++) {
        if (strcmp(names + sections[i].sh_name, name) == 0)
            return &sections[i];
    }
    fail_msg("no section %s", name);
    return NULL;
}

static void good_file__loads__has_all_kernels(void **state)
{
    struct files *files = *state;
    struct zeta_vgpu_image *image = NULL;
    uint64_t begin, end;
    size_t size;

    assert_int_equal(zeta_vgpu_image_create(files->space, files->good, files->size, NULL, &image),
                     ZETA_VGPU_OK);
    assert_int_equal(zeta_vgpu_image_kernel_count(image), 16);
    for (uint32_t i = 0; i < 16; i++) {
        const struct zeta_vgpu_kernel *kernel = zeta_vgpu_image_kernel(image, i);

        zeta_vgpu_image_text(image, &begin, &end);
        assert_cmp(kernel->entry, >=, begin);
        assert_cmp(kernel->entry, <, end);
        assert_ptr_equal(zeta_vgpu_image_find_kernel(image, kernel->name), kernel);
    }
    assert_null(zeta_vgpu_image_find_kernel(image, "absent"));
    assert_memory_equal(zeta_vgpu_image_file(image, &size), files->good, files->size);
    assert_int_equal(size, files->size);
    assert_true(zeta_vgpu_space_covers(files->space, begin, end - begin, ZETA_VGPU_ACCESS_READ));
    assert_false(zeta_vgpu_space_covers(files->space, begin, 4, ZETA_VGPU_ACCESS_WRITE));
    zeta_vgpu_image_destroy(image);
    assert_false(zeta_vgpu_space_covers(files->space, begin, 4, ZETA_VGPU_ACCESS_READ));
}

/* Rule 6.29. */
static void good_file__low_addresses_taken__has_others(void **state)
{
    /* Of 4 GiB of low addresses, code that lies somewhere else, and never runs, left an eighth. */
    static void *const taken = (void *)UINT64_C(0x4000000000000000);
    const uint64_t free_bytes = UINT64_C(0x20000000);
    struct files *files = *state;
    struct zeta_vgpu_image *images[2];
    uint64_t begin[2], end[2];

    assert_true(zeta_vgpu_space_add_code(files->space, taken, UINT32_MAX - free_bytes + 1,
                                         (struct zeta_rv64_code *)files));
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(
            zeta_vgpu_image_create(files->space, files->good, files->size, NULL, &images[i]),
            ZETA_VGPU_OK);
        zeta_vgpu_image_text(images[i], &begin[i], &end[i]);
        assert_in_range((uint32_t)begin[i], UINT32_MAX - free_bytes + 1, UINT32_MAX);
    }
    assert_true((uint32_t)end[0] <= (uint32_t)begin[1] || (uint32_t)end[1] <= (uint32_t)begin[0]);
    zeta_vgpu_image_destroy(images[0]);
    zeta_vgpu_image_destroy(images[1]);
    assert_true(zeta_vgpu_space_remove(files->space, taken));
}

static void good_file__code__is_divided_among_its_kernels(void **state)
{
    struct files *files = *state;
    struct zeta_vgpu_image *image = NULL;
    uint64_t begin, end, sum = 0;

    assert_int_equal(zeta_vgpu_image_create(files->space, files->good, files->size, NULL, &image),
                     ZETA_VGPU_OK);
    zeta_vgpu_image_text(image, &begin, &end);
    for (uint32_t i = 0; i < zeta_vgpu_image_kernel_count(image); i++) {
        const struct zeta_vgpu_kernel *kernel = zeta_vgpu_image_kernel(image, i);
        struct zeta_vgpu_symbol function;

        assert_in_range(kernel->entry, kernel->code_begin, kernel->code_end - 1);
        if (zeta_vgpu_image_find_symbol(image, kernel->name, &function))
            assert_in_range(function.address, kernel->code_begin, kernel->code_end - 1);
        sum += kernel->code_end - kernel->code_begin;
    }
    assert_int_equal(sum, end - begin);
    zeta_vgpu_image_destroy(image);
}

static void header__wrong__says_what(void **state)
{
    struct files *files = *state;

    files->bad[0] = 'M';
    expect(files, "not an ELF file: it begins with 4d 45");
    files->bad[EI_CLASS] = ELFCLASS32;
    expect(files, "ELF class 1");
    files->bad[EI_DATA] = ELFDATA2MSB;
    expect(files, "byte order");
    header(files)->e_machine = EM_X86_64;
    expect(files, "ELF machine 62, expected 243");
    header(files)->e_type = ET_REL;
    expect(files, "link the object first");
    header(files)->e_type = ET_EXEC;
    expect(files, "addresses below 0x10000");
    header(files)->e_flags |= 1;
    expect(files, "compressed");
    header(files)->e_phentsize = 8;
    expect(files, "program headers of 8 bytes");
    header(files)->e_phoff = UINT64_MAX - 8;
    expect(files, "beyond the file");
    header(files)->e_shnum = 60000;
    expect(files, "60000 sections");
    header(files)->e_shoff = UINT64_MAX;
    expect(files, "section headers");
}

static void segments__wrong__says_which(void **state)
{
    struct files *files = *state;

    segment(files, 0)->p_filesz = UINT64_MAX;
    expect(files, "segment 0");
    segment(files, 0)->p_offset = UINT64_MAX - 16;
    expect(files, "beyond the file");
    segment(files, 1)->p_vaddr = UINT64_MAX - 4096;
    expect(files, "segment 1: address");
    segment(files, 2)->p_memsz = UINT64_C(1) << 40;
    expect(files, "span");
    segment(files, 0)->p_flags |= PF_W;
    expect(files, "writable and executable");
    segment(files, 0)->p_flags &= ~(uint32_t)PF_X;
    expect(files, "0 executable segments");
    segment(files, 1)->p_flags |= PF_X;
    expect(files, "2 executable segments");
    segment(files, 1)->p_vaddr = segment(files, 0)->p_vaddr;
    expect(files, "overlaps");
    segment(files, 0)->p_vaddr += 2;
    segment(files, 0)->p_memsz -= 8;
    segment(files, 0)->p_filesz -= 8;
    expect(files, "not a multiple of 4");
}

static void slm__wrong__says_what(void **state)
{
    struct files *files = *state;

    section(files, ".slm")->sh_type = SHT_PROGBITS;
    expect(files, "cannot be initialised");
    section(files, ".slm")->sh_size = UINT64_C(1) << 32;
    expect(files, "section .slm");
    section(files, ".slm")->sh_addr += 8;
    segment(files, header(files)->e_phnum - 1u)->p_vaddr += 8;
    expect(files, "must lie behind the image");
    section(files, ".slm")->sh_addr = UINT64_MAX;
    expect(files, "section .slm");
}

static void kernel_table__wrong__says_where(void **state)
{
    struct files *files = *state;
    uint32_t *record = (uint32_t *)(files->bad + section(files, ".vgpu.info")->sh_offset);

    record[0] = 0x12345678;
    expect(files, "magic 0x12345678");
    record[1] = 7;
    expect(files, "not a kernel record");
    record[1] = UINT32_MAX & ~7u;
    expect(files, "not a kernel record");
    record[10] = 1000; /* arguments */
    expect(files, "1000 arguments");
    record[11] = 2; /* bytes of the block */
    expect(files, "argument 0");
    record[12] = 9; /* kind of the first argument */
    expect(files, "kind 9");
    section(files, ".vgpu.info")->sh_addr = 0x10000000;
    expect(files, "not part of the image");
    section(files, ".vgpu.info")->sh_size = UINT64_MAX;
    expect(files, "not part of the image");
}

static void relocations__wrong__says_where(void **state)
{
    struct files *files = *state;
    Elf64_Rela *relocation = (Elf64_Rela *)(files->bad + section(files, ".rela.dyn")->sh_offset);
    Elf64_Dyn *dynamic = (Elf64_Dyn *)(files->bad + section(files, ".dynamic")->sh_offset);

    relocation->r_offset = UINT64_MAX - 3;
    expect(files, "outside the image");
    relocation->r_info = 99;
    expect(files, "relocation type 99");
    relocation->r_info = (UINT64_C(77) << 32) | 2;
    expect(files, "symbol 77");
    dynamic->d_tag = DT_NEEDED;
    expect(files, "shared library");
    for (; dynamic->d_tag != DT_RELASZ; dynamic++)
        assert_cmp(dynamic->d_tag, !=, DT_NULL);
    dynamic->d_un.d_val = UINT64_MAX;
    expect(files, "not in the image");
}

static void symbols__wrong__says_where(void **state)
{
    struct files *files = *state;

    section(files, ".symtab")->sh_offset = UINT64_MAX;
    expect(files, "symbol table");
    section(files, ".symtab")->sh_link = 60000;
    expect(files, "symbol table");
    section(files, ".strtab")->sh_size = UINT64_MAX;
    expect(files, "symbol names");
}

static void truncated__any_length__is_refused_or_harmless(void **state)
{
    struct files *files = *state;

    for (size_t size = 0; size < files->size; size += size < 512 ? 1 : 509)
        (void)load(files, size);
    assert_non_null(load(files, 0));
    assert_non_null(load(files, 63));
    assert_non_null(load(files, 4096));
}

/* Bytes that matter are at the begin and in the tables; both are hit often. */
static void mutated__many_ways__never_crashes(void **state)
{
    struct files *files = *state;
    size_t tables = header(files)->e_shoff;
    uint32_t seed = 2024;
    unsigned refused = 0;

    for (unsigned round = 0; round < 3000; round++) {
        for (unsigned i = 0; i < 1 + round % 3; i++) {
            size_t room, at;

            seed = seed * 1664525 + 1013904223;
            room = seed >> 30 == 0 ? files->size : seed >> 30 == 1 ? files->size - tables : 512;
            at = (seed >> 4) % room + (seed >> 30 == 1 ? tables : 0);
            files->bad[at] = (unsigned char)(seed >> 22);
        }
        refused += load(files, files->size) != NULL;
        memcpy(files->bad, files->good, files->size);
    }
    assert_cmp(refused, >, 100);
}

static void null_or_empty__loaded__is_refused(void **state)
{
    struct files *files = *state;
    struct zeta_vgpu_image *image = NULL;

    assert_int_equal(zeta_vgpu_image_create(files->space, NULL, 0, NULL, &image),
                     ZETA_VGPU_INVALID_ARGUMENT);
    assert_int_equal(zeta_vgpu_image_create(files->space, "", 0, NULL, &image),
                     ZETA_VGPU_INVALID_IMAGE);
    zeta_vgpu_image_destroy(NULL);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, read_files, drop_files)

SUITE(elf)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(good_file__loads__has_all_kernels),
        WITH_FILES(good_file__low_addresses_taken__has_others),
        WITH_FILES(good_file__code__is_divided_among_its_kernels),
        WITH_FILES(header__wrong__says_what),
        WITH_FILES(segments__wrong__says_which),
        WITH_FILES(slm__wrong__says_what),
        WITH_FILES(kernel_table__wrong__says_where),
        WITH_FILES(relocations__wrong__says_where),
        WITH_FILES(symbols__wrong__says_where),
        WITH_FILES(truncated__any_length__is_refused_or_harmless),
        WITH_FILES(mutated__many_ways__never_crashes),
        WITH_FILES(null_or_empty__loaded__is_refused),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
