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

#define TRIPLE "riscv64-unknown-unknown-elf"
#define PROCESSOR "generic-rv64"
#define FEATURES "+m,+a,+f,+d,-relax"
/* Registers that whoever instruments the code finds free: calls preserve them. */
#define FEATURES_FEWER FEATURES ",+reserve-x24,+reserve-x25,+reserve-x26,+reserve-x27"
#define ABI "lp64d"

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

/* As compiled for RV64; without conventions yet. */
static void set_layout(struct zeta_cc_program *program, LLVMModuleRef module)
{
    LLVMSetTarget(module, TRIPLE);
    LLVMSetModuleDataLayout(module, program->layout);
}

bool zeta_cc_program_create(struct zeta_cc_program *program, const struct zeta_cc_options *options,
                            struct zeta_cc_buffer *log)
{
    static const LLVMCodeGenOptLevel levels[] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess,
                                                 LLVMCodeGenLevelDefault,
                                                 LLVMCodeGenLevelAggressive};
    const unsigned level = zeta_cc_options_level(options);
    LLVMTargetRef target = NULL;
    char *message = NULL;

    *program = (struct zeta_cc_program){
        .log = log,
        .level = level,
        .features =
            options->profile_flags & ZETA_CC_PROFILE_FEWER_REGISTERS ? FEATURES_FEWER : FEATURES,
        .has_no_tables = (options->profile_flags & ZETA_CC_PROFILE_FREE_REGISTERS) != 0,
    };
    LLVMInitializeRISCVTargetInfo();
    LLVMInitializeRISCVTarget();
    LLVMInitializeRISCVTargetMC();
    LLVMInitializeRISCVAsmPrinter();
    LLVMInitializeRISCVAsmParser(); /* for inline assembly */
    /* Position independent: what other modules define is reached through tables. */
    if (LLVMGetTargetFromTriple(TRIPLE, &target, &message))
        LLVMDisposeMessage(message);
    else
        program->machine =
            LLVMCreateTargetMachine(target, TRIPLE, PROCESSOR, program->features, levels[level],
                                    LLVMRelocPIC, LLVMCodeModelMedium);
    if (!program->machine) {
        zeta_cc_buffer_line(log, "error: this LLVM was built without RISC-V");
        return false;
    }
    zeta_cc_machine_options(program->machine, options->contracts && level > 0);
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
    return !LLVMLinkModules2(program->module, module) && !program->has_errors;
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

/* The same for all, or functions would not be inlined into each other. */
static void set_attributes(const struct zeta_cc_program *program, LLVMValueRef function)
{
    /*
     * no-builtins: loops stay loops, which is what counters are compared with. no-jump-tables: the
     * code says itself where it goes.
     */
    const char *const replaced[][2] = {{"target-cpu", PROCESSOR},
                                       {"target-features", program->features},
                                       {"no-builtins", ""},
                                       {"no-jump-tables", "true"}};
    const size_t count = program->has_no_tables ? 4 : 3;
    LLVMContextRef context = program->context;
    const unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", strlen("nounwind"));
    const unsigned uwtable = LLVMGetEnumAttributeKindForName("uwtable", strlen("uwtable"));

    for (size_t i = 0; i < count; i++) {
        const char *name = replaced[i][0];
        const char *value = replaced[i][1];

        LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateStringAttribute(context, name, (unsigned)strlen(name),
                                                          value, (unsigned)strlen(value)));
    }
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(context, nounwind, 0));
    /* With tables for exceptions the code generator would leave out those for debuggers. */
    LLVMRemoveEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                   uwtable);
    /* Debuggers find frames by their description; the register is worth more. */
    LLVMRemoveStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                     "frame-pointer", (unsigned)strlen("frame-pointer"));
}

/*
 * No convention extends narrow integers, so no function may rely on it: the runtime library
 * does not, and front ends differ.
 */
static void drop_extension(LLVMValueRef value, unsigned count)
{
    static const char *const names[] = {"signext", "zeroext"};

    for (size_t i = 0; i < 2; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));

        for (unsigned k = 0; k <= count; k++) {
            if (LLVMIsAFunction(value))
                LLVMRemoveEnumAttributeAtIndex(value, k, kind);
            else
                LLVMRemoveCallSiteEnumAttribute(value, k, kind);
        }
    }
}

static void retarget_functions(struct zeta_cc_program *program)
{
    for (LLVMValueRef each = LLVMGetFirstFunction(program->module); each;
         each = LLVMGetNextFunction(each)) {
        if (LLVMGetIntrinsicID(each) != 0)
            continue;
        if (LLVMGetFunctionCallConv(each) == ZETA_CC_SPIR_KERNEL && !LLVMIsDeclaration(each)) {
            zeta_cc_strings_add(&program->kernels, zeta_cc_value_name(each));
            /* Programs ask for pointers to kernels, as to any function. */
            LLVMSetLinkage(each, LLVMExternalLinkage);
            LLVMSetVisibility(each, LLVMDefaultVisibility);
        }
        if (LLVMGetFunctionCallConv(each) != LLVMFastCallConv)
            LLVMSetFunctionCallConv(each, LLVMCCallConv);
        set_attributes(program, each);
        drop_extension(each, LLVMCountParams(each));
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(each); block;
             block = LLVMGetNextBasicBlock(block)) {
            for (LLVMValueRef call = LLVMGetFirstInstruction(block); call;
                 call = LLVMGetNextInstruction(call)) {
                if (!LLVMIsACallInst(call) && !LLVMIsAInvokeInst(call))
                    continue;
                if (LLVMGetInstructionCallConv(call) != LLVMFastCallConv)
                    LLVMSetInstructionCallConv(call, LLVMCCallConv);
                drop_extension(call, LLVMGetNumArgOperands(call));
            }
        }
        zeta_cc_set_local(each, !LLVMIsDeclaration(each));
    }
}

/*
 * Variables that a work-group shares. Optimisations may make new ones from parts of old ones and
 * then forget the section, so this is also done behind them.
 */
static void place_local_variables(LLVMModuleRef module)
{
    for (LLVMValueRef each = LLVMGetFirstGlobal(module); each; each = LLVMGetNextGlobal(each)) {
        if (LLVMGetPointerAddressSpace(LLVMTypeOf(each)) != ZETA_CC_SPACE_LOCAL)
            continue;
        LLVMSetSection(each, ".bss.slm");
        if (LLVMIsDeclaration(each))
            continue;
        LLVMSetInitializer(each, LLVMConstNull(LLVMGlobalGetValueType(each)));
        LLVMSetVisibility(each, LLVMDefaultVisibility);
        LLVMSetLinkage(each, LLVMInternalLinkage);
    }
}

bool zeta_cc_program_retarget(struct zeta_cc_program *program)
{
    static const char *const around[] = {"llvm.global_ctors", "llvm.global_dtors"};
    static const char key[] = "target-abi";

    for (size_t i = 0; i < 2; i++) {
        LLVMValueRef list = LLVMGetNamedGlobal(program->module, around[i]);

        if (!list || LLVMGetArrayLength(LLVMGlobalGetValueType(list)) == 0)
            continue;
        zeta_cc_buffer_line(program->log,
                            "error: the program has functions that run before or after its "
                            "kernels (%s), which the virtual GPU does not do",
                            around[i]);
        return false;
    }
    if (!LLVMGetModuleFlag(program->module, key, sizeof(key) - 1))
        LLVMAddModuleFlag(program->module, LLVMModuleFlagBehaviorError, key, sizeof(key) - 1,
                          LLVMMDStringInContext2(program->context, ABI, sizeof(ABI) - 1));
    retarget_functions(program);
    place_local_variables(program->module);
    for (LLVMValueRef each = LLVMGetFirstGlobal(program->module); each;
         each = LLVMGetNextGlobal(each))
        zeta_cc_set_local(each, !LLVMIsDeclaration(each));
    zeta_cc_repair_debug(program->module);
    return true;
}

bool zeta_cc_program_optimise(struct zeta_cc_program *program)
{
    static const char *const pipelines[] = {"default<O0>", "default<O1>", "default<O2>",
                                            "default<O3>"};
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error;

    /* Unrolling by the whole trip count fills all registers and spills; there are no vectors. */
    LLVMPassBuilderOptionsSetLoopUnrolling(options, 0);
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

bool zeta_cc_program_emit(struct zeta_cc_program *program, struct zeta_cc_buffer *out_object)
{
    LLVMMemoryBufferRef memory = NULL;
    char *message = NULL;

    place_local_variables(program->module);
    zeta_cc_program_overlay_locals(program);
    zeta_cc_program_place_code(program);
    if (LLVMTargetMachineEmitToMemoryBuffer(program->machine, program->module, LLVMObjectFile,
                                            &message, &memory)) {
        zeta_cc_buffer_line(program->log, "error: %s", message);
        LLVMDisposeMessage(message);
        return false;
    }
    zeta_cc_buffer_add(out_object, LLVMGetBufferStart(memory), LLVMGetBufferSize(memory));
    LLVMDisposeMemoryBuffer(memory);
    return !program->has_errors;
}
