#include "link.h"

#include <string.h>

#include "elf_file.h"
#include "needs.h"

#define LINKER_PACKAGE "lld-15"

static void linker_words(struct zeta_cc_words *words, const struct zeta_cc_program *program,
                         const struct zeta_cc_paths *paths)
{
    static const char *const flags[] = {"--no-relax",
                                        "--gc-sections",
                                        "--export-dynamic",
                                        "--threads=1",
                                        "--build-id=none",
                                        "-z",
                                        "norelro",
                                        "-e",
                                        "0",
                                        "-o",
                                        "-",
                                        "/proc/self/fd/0"};

    zeta_cc_words_add(words, paths->linker);
    if (program->imports.count > 0) {
        zeta_cc_words_add(words, "-shared");
        zeta_cc_words_add(words, "-Bsymbolic");
    } else {
        zeta_cc_words_add(words, "-pie");
        zeta_cc_words_add(words, "--no-dynamic-linker");
    }
    zeta_cc_words_print(words, "-T%s/vgpu.ld", paths->data);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        zeta_cc_words_add(words, flags[i]);
    /* The runtime's own information is of no use without the program's. */
    if (LLVMGetNamedMetadataNumOperands(program->module, "llvm.dbg.cu") == 0)
        zeta_cc_words_add(words, "--strip-debug");
    /* Taken only when code generation called something of it. */
    zeta_cc_words_print(words, "%s/support.a", paths->data);
}

static bool is_import(const struct zeta_cc_program *program, const char *name)
{
    for (size_t i = 0; i < program->imports.count; i++) {
        if (strcmp(program->imports.list[i], name) == 0)
            return true;
    }
    return false;
}

/* A linker lets everything undefined pass when there are imports. */
static bool check_imports(const struct zeta_cc_program *program, const struct zeta_cc_buffer *elf)
{
    struct zeta_cc_elf_symbols symbols;
    bool is_fine = true;

    if (!zeta_cc_elf_symbols(elf->bytes, elf->size, &symbols))
        return true;
    for (size_t i = 1; i < symbols.count; i++) {
        struct zeta_cc_elf_symbol symbol = zeta_cc_elf_symbol(&symbols, i);

        if (symbol.is_defined || symbol.name[0] == '\0' || is_import(program, symbol.name))
            continue;
        zeta_cc_buffer_line(program->log, "error: the runtime library has no %s", symbol.name);
        is_fine = false;
    }
    return is_fine;
}

enum vgpu_compile_status zeta_cc_link(const struct zeta_cc_program *program,
                                      const struct zeta_cc_paths *paths,
                                      const struct zeta_cc_buffer *object,
                                      struct zeta_cc_buffer *out_elf)
{
    struct zeta_cc_buffer messages = {0};
    struct zeta_cc_words words = {0};
    enum vgpu_compile_status status;
    enum zeta_cc_child_end end;
    struct zeta_cc_child child;

    linker_words(&words, program, paths);
    zeta_cc_child_start(&child, &words, object->bytes, object->size);
    zeta_cc_words_finish(&words);
    end = zeta_cc_child_end(&child, out_elf, &messages);
    status = zeta_cc_child_status(end, &child, &messages, "ld.lld", LINKER_PACKAGE, "program",
                                  program->log);
    zeta_cc_buffer_finish(&messages);
    if (status != VGPU_COMPILE_OK)
        return status;
    if (program->imports.count > 0 && !check_imports(program, out_elf))
        return VGPU_COMPILE_BUILD_FAILED;
    zeta_cc_needs_write(program, out_elf);
    return VGPU_COMPILE_OK;
}
