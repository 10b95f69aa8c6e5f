#include "riscv.h"

#include <string.h>

#include "sdk/tools/zeta-cc/program/llvm_more.h"

#define TRIPLE "riscv64-unknown-unknown-elf"
#define PROCESSOR "generic-rv64"
#define FEATURES "+m,+a,+f,+d,-relax"
/* Registers that whoever instruments the code finds free: calls preserve them. */
#define FEATURES_FEWER FEATURES ",+reserve-x24,+reserve-x25,+reserve-x26,+reserve-x27"
#define ABI "lp64d"

static LLVMTargetMachineRef create_machine(struct zeta_cc_program *program,
                                           const struct zeta_cc_options *options)
{
    static const LLVMCodeGenOptLevel levels[] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess,
                                                 LLVMCodeGenLevelDefault,
                                                 LLVMCodeGenLevelAggressive};
    LLVMTargetMachineRef machine = NULL;
    LLVMTargetRef target = NULL;
    char *message = NULL;

    program->features =
        options->profile_flags & ZETA_CC_PROFILE_FEWER_REGISTERS ? FEATURES_FEWER : FEATURES;
    program->has_no_tables = (options->profile_flags & ZETA_CC_PROFILE_FREE_REGISTERS) != 0;
    LLVMInitializeRISCVTargetInfo();
    LLVMInitializeRISCVTarget();
    LLVMInitializeRISCVTargetMC();
    LLVMInitializeRISCVAsmPrinter();
    LLVMInitializeRISCVAsmParser(); /* for inline assembly */
    /* Position independent: what other modules define is reached through tables. */
    if (LLVMGetTargetFromTriple(TRIPLE, &target, &message))
        LLVMDisposeMessage(message);
    else
        machine =
            LLVMCreateTargetMachine(target, TRIPLE, PROCESSOR, program->features,
                                    levels[program->level], LLVMRelocPIC, LLVMCodeModelMedium);
    if (machine)
        zeta_cc_machine_options(machine, options->contracts && program->level > 0, "lp64d");
    return machine;
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

static bool retarget(struct zeta_cc_program *program)
{
    static const char key[] = "target-abi";

    if (!zeta_cc_program_check_constructors(program))
        return false;
    if (!LLVMGetModuleFlag(program->module, key, sizeof(key) - 1))
        LLVMAddModuleFlag(program->module, LLVMModuleFlagBehaviorError, key, sizeof(key) - 1,
                          LLVMMDStringInContext2(program->context, ABI, sizeof(ABI) - 1));
    retarget_functions(program);
    place_local_variables(program->module);
    for (LLVMValueRef each = LLVMGetFirstGlobal(program->module); each;
         each = LLVMGetNextGlobal(each))
        zeta_cc_set_local(each, !LLVMIsDeclaration(each));
    zeta_cc_repair_debug(program->module);
    return zeta_cc_program_add_entries(program);
}

static bool emit_object(struct zeta_cc_program *program, struct zeta_cc_buffer *out_object)
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

static enum zeta_compile_status emit(struct zeta_cc_program *program,
                                     const struct zeta_cc_paths *paths, bool is_object,
                                     struct zeta_cc_buffer *out_result)
{
    struct zeta_cc_buffer object = {0};
    enum zeta_compile_status status = ZETA_COMPILE_OK;

    if (!emit_object(program, &object))
        status = ZETA_COMPILE_BUILD_FAILED;
    else if (is_object)
        zeta_cc_buffer_add(out_result, object.bytes, object.size);
    else
        status = zeta_cc_link(program, paths, &object, out_result);
    zeta_cc_buffer_finish(&object);
    return status;
}

static const char help[] =
    "usage: zeta-vgpu-cc [OPTION]... FILE...\n"
    "\n"
    "Compiles kernels for the virtual GPU of Zeta and links all files to one kernel file, which\n"
    "zeModuleCreate takes as a native module.\n"
    "\n"
    "FILE\n"
    "  .cl         OpenCL C, by default 2.0\n"
    "  .c          C with #include <vgpu.h>, for kernels with entries of their own\n"
    "  .bc .ll     LLVM bitcode or assembly (version 15) for spir64 or riscv64\n"
    "  .spv        SPIR-V 1.0 to 1.4 for OpenCL\n"
    "\n"
    "Output\n"
    "  -o FILE     name of the result; - for the standard output. Default: the first file's name\n"
    "              with .elf. It appears under its name when it is complete\n"
    "  -c          an object file\n"
    "  -emit-llvm  bitcode, -S LLVM assembly: what would be compiled, behind all optimisations\n"
    "\n"
    "Input\n"
    "  -x LANG     language of the files that follow: cl, c, ir, spirv, none (by name)\n"
    "  -D NAME[=VALUE], -U NAME, -I FOLDER, -W..., -w\n"
    "              as clang knows them\n"
    "  -cl-std=CL1.2|CL2.0|CL3.0 and the other -cl-... options of OpenCL\n"
    "  --spec-constant ID:TYPE:VALUE\n"
    "              value of a specialization constant; TYPE is bool, i8, i16, i32, i64, f32 or "
    "f64\n"
    "\n"
    "Code\n"
    "  -g          debug information; then without optimisation unless -O is given. SPIR-V\n"
    "              without any gets lines of what spirv-dis prints of it\n"
    "  -O0 .. -O3  default -O2. -cl-opt-disable and -ze-opt-disable mean -O0\n"
    "  -cl-mad-enable, -cl-unsafe-math-optimizations, -cl-fast-relaxed-math\n"
    "              also let a multiplication and an addition become one instruction. Otherwise\n"
    "              they stay two, and are counted as two\n"
    "  -zet-profile-flags N\n"
    "              for code that will be instrumented: 1 leaves s8 to s11 unused where\n"
    "              possible, 2 makes no jumps through tables, so that free registers can be told\n"
    "\n"
    "  --data FOLDER  where runtime.bc, support.a and vgpu.ld are\n"
    "  --help, --version\n"
    "\n"
    "Example: zeta-vgpu-cc kernel.cl -g -o kernel.elf\n";

/* Unrolling by the whole trip count fills all registers and spills. */
const struct zeta_cc_target zeta_cc_target = {
    .program = "zeta-vgpu-cc",
    .help = help,
    .ending = "elf",
    .device = "the virtual GPU",
    .processor = "RISC-V",
    .triple = TRIPLE,
    .sub_group_items = 1,
    .has_c = true,
    .create_machine = create_machine,
    .retarget = retarget,
    .emit = emit,
};
