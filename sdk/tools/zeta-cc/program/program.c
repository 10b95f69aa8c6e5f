#include "program.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "llvm_more.h"

const char *zeta_cc_value_name(LLVMValueRef value)
{
    size_t length = 0;

    return LLVMGetValueName2(value, &length);
}

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user)
{
    struct zeta_cc_program *program = user;
    LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
    char *text = NULL;

    if (severity != LLVMDSError && severity != LLVMDSWarning)
        return;
    text = LLVMGetDiagInfoDescription(info);
    if (severity == LLVMDSError) {
        zeta_cc_buffer_line(program->log, "error: %s", text);
        program->has_errors = true;
    } else {
        zeta_cc_buffer_line(program->log, "warning: %s", text);
    }
    LLVMDisposeMessage(text);
}

/* As compiled for the device; without conventions yet. */
static void set_layout(struct zeta_cc_program *program, LLVMModuleRef module)
{
    LLVMSetTarget(module, zeta_cc_target.triple);
    LLVMSetModuleDataLayout(module, program->layout);
}

void zeta_cc_program_begin_unit(struct zeta_cc_program *program)
{
    program->unit = LLVMModuleCreateWithNameInContext("unit", program->context);
    set_layout(program, program->unit);
}

bool zeta_cc_program_create(struct zeta_cc_program *program, const struct zeta_cc_options *options,
                            struct zeta_cc_buffer *log)
{
    *program = (struct zeta_cc_program){.log = log,
                                        .level = zeta_cc_options_level(options),
                                        .allows_imports = options->allows_imports};
    program->machine = zeta_cc_target.create_machine(program, options);
    if (!program->machine) {
        zeta_cc_buffer_line(log, "error: this LLVM was built without %s", zeta_cc_target.processor);
        return false;
    }
    program->layout = LLVMCreateTargetDataLayout(program->machine);
    program->context = LLVMContextCreate();
    /* Front ends write typed pointers; they are read as pointers without a type. */
    LLVMContextSetOpaquePointers(program->context, 1);
    LLVMContextSetDiagnosticHandler(program->context, on_diagnostic, program);
    program->module = LLVMModuleCreateWithNameInContext("program", program->context);
    set_layout(program, program->module);
    return true;
}

void zeta_cc_program_finish(struct zeta_cc_program *program)
{
    if (program->runtime)
        LLVMDisposeModule(program->runtime);
    if (program->unit)
        LLVMDisposeModule(program->unit);
    if (program->module)
        LLVMDisposeModule(program->module);
    if (program->context)
        LLVMContextDispose(program->context);
    if (program->layout)
        LLVMDisposeTargetData(program->layout);
    if (program->machine)
        LLVMDisposeTargetMachine(program->machine);
    zeta_cc_strings_finish(&program->kernels);
    zeta_cc_strings_finish(&program->imports);
    zeta_cc_buffer_finish(&program->notes);
    for (size_t i = 0; i < program->variable_count; i++) {
        free(program->variables[i].name);
        free(program->variables[i].own);
    }
    free(program->variables);
    free(program->local_bytes);
}

bool zeta_cc_program_add(struct zeta_cc_program *program, const char *name, const void *bytes,
                         size_t size)
{
    LLVMMemoryBufferRef memory = LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes, size, name);
    LLVMModuleRef module = NULL;
    char *message = NULL;
    bool is_broken = false;

    if (LLVMParseIRInContext(program->context, memory, &module, &message)) {
        zeta_cc_buffer_line(program->log, "error: %s: %s", name,
                            message ? message : "not readable");
        LLVMDisposeMessage(message);
        return false;
    }
    /* Bitcode of the user's may be broken in ways that a reader does not notice. */
    if (!program->has_errors) {
        is_broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &message);
        if (is_broken)
            zeta_cc_buffer_line(program->log, "error: %s: %s", name, message);
        LLVMDisposeMessage(message);
    }
    if (program->has_errors || is_broken) {
        LLVMDisposeModule(module);
        return false;
    }
    set_layout(program, module);
    return !LLVMLinkModules2(program->unit ? program->unit : program->module, module) &&
           !program->has_errors;
}

LLVMModuleRef zeta_cc_program_open_runtime(struct zeta_cc_program *program, const char *path)
{
    LLVMMemoryBufferRef memory = NULL;
    LLVMModuleRef module = NULL;
    char *message = NULL;

    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &memory, &message)) {
        zeta_cc_buffer_line(program->log, "error: the runtime library %s: %s", path, message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    if (LLVMGetBitcodeModuleInContext2(program->context, memory, &module)) {
        zeta_cc_buffer_line(program->log, "error: the runtime library %s is no bitcode", path);
        return NULL;
    }
    set_layout(program, module);
    return module;
}

static int compare_values(const void *left, const void *right)
{
    const uintptr_t a = (uintptr_t) * (const LLVMValueRef *)left;
    const uintptr_t b = (uintptr_t) * (const LLVMValueRef *)right;

    return (a > b) - (a < b);
}

bool zeta_cc_program_add_runtime(struct zeta_cc_program *program)
{
    /* Functions, then variables. */
    LLVMValueRef (*const first[])(LLVMModuleRef) = {LLVMGetFirstFunction, LLVMGetFirstGlobal};
    LLVMValueRef (*const next[])(LLVMValueRef) = {LLVMGetNextFunction, LLVMGetNextGlobal};
    LLVMModuleRef module = program->module;
    LLVMValueRef *old = NULL;
    size_t count = 0;
    bool is_fine;

    for (int k = 0; k < 2; k++) {
        for (LLVMValueRef each = first[k](module); each; each = next[k](each))
            count++;
    }
    old = zeta_cc_allocate(count, sizeof(LLVMValueRef));
    count = 0;
    for (int k = 0; k < 2; k++) {
        for (LLVMValueRef each = first[k](module); each; each = next[k](each)) {
            if (!LLVMIsDeclaration(each))
                old[count++] = each;
        }
    }
    qsort(old, count, sizeof(LLVMValueRef), compare_values);
    /* Functions of the library are linkonce, so only those that are used come along. */
    is_fine = !LLVMLinkModules2(module, program->runtime) && !program->has_errors;
    program->runtime = NULL;
    /* What was not there before came from the library, and other modules must not see it. */
    for (int k = 0; k < 2; k++) {
        for (LLVMValueRef each = first[k](module); each; each = next[k](each)) {
            if (LLVMIsDeclaration(each) || LLVMGetLinkage(each) == LLVMAppendingLinkage ||
                bsearch(&each, old, count, sizeof(LLVMValueRef), compare_values))
                continue;
            LLVMSetVisibility(each, LLVMDefaultVisibility);
            LLVMSetLinkage(each, LLVMInternalLinkage);
        }
    }
    free(old);
    return is_fine;
}

bool zeta_cc_program_optimise(struct zeta_cc_program *program)
{
    static const char *const pipelines[] = {"default<O0>", "default<O1>", "default<O2>",
                                            "default<O3>"};
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error;

    /* There are no vectors. */
    LLVMPassBuilderOptionsSetLoopUnrolling(options, zeta_cc_target.unrolls);
    LLVMPassBuilderOptionsSetLoopVectorization(options, 0);
    LLVMPassBuilderOptionsSetSLPVectorization(options, 0);
    error = LLVMRunPasses(program->module, pipelines[program->level], program->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (error) {
        char *message = LLVMGetErrorMessage(error);

        zeta_cc_buffer_line(program->log, "error: %s", message);
        LLVMDisposeErrorMessage(message);
        return false;
    }
    return !program->has_errors;
}
