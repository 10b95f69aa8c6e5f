#include "link.h"

#include <string.h>

#define LINKER_PACKAGE "lld-15"

/* Offers what others may take: functions and variables with external linkage, but no kernels. */
static void add_exports(struct zeta_cc_strings *arguments, const struct zeta_cc_program *program,
                        LLVMValueRef global, LLVMValueRef (*next)(LLVMValueRef))
{
    for (; global; global = next(global)) {
        const char *name = zeta_cc_value_name(global);

        if (zeta_cc_is_defined(global) && LLVMGetLinkage(global) != LLVMInternalLinkage &&
            LLVMGetLinkage(global) != LLVMPrivateLinkage &&
            LLVMGetVisibility(global) == LLVMDefaultVisibility &&
            !zeta_cc_strings_have(&program->kernels, name))
            zeta_cc_strings_print(arguments, "--export-dynamic-symbol=%s", name);
    }
}

static void linker_arguments(struct zeta_cc_strings *arguments,
                             const struct zeta_cc_program *program,
                             const struct zeta_cc_paths *paths)
{
    static const char *const flags[] = {"-pie",
                                        "--no-dynamic-linker",
                                        "--no-relax",
                                        "--gc-sections",
                                        "-Bsymbolic",
                                        "--threads=1",
                                        "--build-id=none",
                                        "-z",
                                        "norelro",
                                        "-e",
                                        "0",
                                        "-o",
                                        "-",
                                        "/proc/self/fd/0"};

    zeta_cc_strings_add(arguments, paths->linker);
    zeta_cc_strings_print(arguments, "-T%s/vgpu.ld", paths->data);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        zeta_cc_strings_add(arguments, flags[i]);
    if (program->imports.count > 0)
        zeta_cc_strings_add(arguments, "--unresolved-symbols=ignore-all");
    add_exports(arguments, program, LLVMGetFirstFunction(program->module), LLVMGetNextFunction);
    add_exports(arguments, program, LLVMGetFirstGlobal(program->module), LLVMGetNextGlobal);
    /* The runtime's own information is of no use without the program's. */
    if (LLVMGetNamedMetadataNumOperands(program->module, "llvm.dbg.cu") == 0)
        zeta_cc_strings_add(arguments, "--strip-debug");
    /* Taken only when code generation called something of it. */
    zeta_cc_strings_print(arguments, "%s/support.a", paths->data);
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

        if (symbol.is_defined || symbol.name[0] == '\0' ||
            zeta_cc_strings_have(&program->imports, symbol.name))
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
    struct zeta_cc_strings arguments = {0};
    enum vgpu_compile_status status;
    enum zeta_cc_child_end end;
    struct zeta_cc_child child;

    linker_arguments(&arguments, program, paths);
    zeta_cc_child_start(&child, &arguments, object->bytes, object->size);
    zeta_cc_strings_finish(&arguments);
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
