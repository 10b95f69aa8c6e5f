#include "ptx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Support.h>

#include "lines.h"
#include "sdk/tools/zeta-cc/program/llvm_more.h"
#include "spaces.h"

#define TRIPLE "nvptx64-nvidia-cuda"
/* The oldest version that knows sm_80; drivers of CUDA 11 and newer take it. */
#define FEATURES "+ptx70"

/* What this LLVM knows, oldest first; the driver compiles PTX of older processors for newer ones.
 */
static const unsigned processors[] = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80};

/*
 * How large a loop may become by unrolling it until none is left, in LLVM's units: by default 150,
 * at -O3 300. With this loops of 64 turns of a few instructions go, as with nvcc. Those that stay
 * get as many turns in one as there.
 */
static void allow_unrolling(void)
{
    static const char *const words[] = {"zeta-nv-cc", "-unroll-threshold=600"};

    LLVMParseCommandLineOptions(2, words, NULL);
}

static LLVMTargetMachineRef create_machine(struct zeta_cc_program *program,
                                           const struct zeta_cc_options *options)
{
    static const LLVMCodeGenOptLevel levels[] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess,
                                                 LLVMCodeGenLevelDefault,
                                                 LLVMCodeGenLevelAggressive};
    const unsigned wanted = options->processor ? options->processor : 80;
    unsigned processor = processors[0];
    struct zeta_cc_buffer name = {0};
    LLVMTargetMachineRef machine = NULL;
    LLVMTargetRef target = NULL;
    char *message = NULL;

    for (size_t i = 0; i < sizeof(processors) / sizeof(processors[0]); i++)
        processor = processors[i] <= wanted ? processors[i] : processor;
    zeta_cc_buffer_print(&name, "sm_%u", processor);
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    allow_unrolling();
    if (LLVMGetTargetFromTriple(TRIPLE, &target, &message))
        LLVMDisposeMessage(message);
    else
        machine =
            LLVMCreateTargetMachine(target, TRIPLE, name.bytes, FEATURES, levels[program->level],
                                    LLVMRelocDefault, LLVMCodeModelDefault);
    if (machine)
        zeta_cc_machine_options(machine, options->contracts && program->level > 0, NULL);
    zeta_cc_buffer_finish(&name);
    return machine;
}

static LLVMAttributeRef attribute(const struct zeta_cc_program *program, const char *name)
{
    return LLVMCreateEnumAttribute(program->context,
                                   LLVMGetEnumAttributeKindForName(name, strlen(name)), 0);
}

/*
 * Which items are at a place is asked by an instruction (activemask) in assembly. Two of them in
 * the branches of an if say different things, though they look alike: they must not become one
 * before it.
 */
static void keep_apart(const struct zeta_cc_program *program, LLVMValueRef call)
{
    if (LLVMIsAInlineAsm(LLVMGetCalledValue(call)))
        LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                 attribute(program, "nomerge"));
}

/*
 * One convention; attributes that would keep functions from being inlined into each other go. Any
 * function may come to a barrier, which has to stay in one place for all items: SPIR-V says that of
 * the barrier only. Optimisations drop it where it is needless.
 */
static void retarget_functions(struct zeta_cc_program *program)
{
    static const char *const dropped[] = {"target-cpu", "target-features", "tune-cpu",
                                          "no-builtins", "frame-pointer"};
    static const char *const added[] = {"nounwind", "convergent"};
    const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

    for (LLVMValueRef each = LLVMGetFirstFunction(program->module); each;
         each = LLVMGetNextFunction(each)) {
        if (LLVMGetIntrinsicID(each) != 0)
            continue;
        if (LLVMGetFunctionCallConv(each) == ZETA_CC_SPIR_KERNEL && !LLVMIsDeclaration(each))
            zeta_cc_strings_add(&program->kernels, zeta_cc_value_name(each));
        LLVMSetFunctionCallConv(each, LLVMCCallConv);
        for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
            LLVMRemoveStringAttributeAtIndex(each, whole, dropped[i], (unsigned)strlen(dropped[i]));
        for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++)
            LLVMAddAttributeAtIndex(each, whole, attribute(program, added[i]));
        /* Modules of programs export nothing: what entries do not use goes. */
        if (!LLVMIsDeclaration(each))
            LLVMSetLinkage(each, LLVMInternalLinkage);
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(each); block;
             block = LLVMGetNextBasicBlock(block)) {
            for (LLVMValueRef call = LLVMGetFirstInstruction(block); call;
                 call = LLVMGetNextInstruction(call)) {
                if (!LLVMIsACallInst(call))
                    continue;
                LLVMSetInstructionCallConv(call, LLVMCCallConv);
                keep_apart(program, call);
            }
        }
    }
}

/* Shared memory has no initial value. Other variables stay where programs can ask for them. */
static void retarget_variables(struct zeta_cc_program *program)
{
    for (LLVMValueRef each = LLVMGetFirstGlobal(program->module); each;
         each = LLVMGetNextGlobal(each)) {
        if (LLVMIsDeclaration(each) ||
            LLVMGetPointerAddressSpace(LLVMTypeOf(each)) != ZETA_CC_PTX_SHARED)
            continue;
        LLVMSetInitializer(each, LLVMGetUndef(LLVMGlobalGetValueType(each)));
        LLVMSetVisibility(each, LLVMDefaultVisibility);
        LLVMSetLinkage(each, LLVMInternalLinkage);
    }
}

static bool retarget(struct zeta_cc_program *program)
{
    if (!zeta_cc_program_check_constructors(program) || !zeta_cc_ptx_tell_symbols(program))
        return false;
    retarget_functions(program);
    if (!zeta_cc_ptx_check_calls(program))
        return false;
    /* Nothing is refused behind this. */
    zeta_cc_ptx_keep_lines(program->module);
    zeta_cc_ptx_map_spaces(program->module);
    retarget_variables(program);
    return zeta_cc_ptx_add_entries(program);
}

/*
 * Names in PTX have letters, digits, _ and $, and begin with a letter, or with _ or $ and one more;
 * those of entries were checked.
 */
static void make_name_legal(struct zeta_cc_program *program, LLVMValueRef value)
{
    const char *old = zeta_cc_value_name(value);
    bool is_legal = isalpha((unsigned char)old[0]) ||
                    (old[0] != '\0' && !isdigit((unsigned char)old[0]) && old[1] != '\0');
    struct zeta_cc_buffer name = {0};
    size_t base;

    zeta_cc_buffer_print(&name, "%s%s", is_legal ? "" : "_z", old);
    for (size_t i = 0; i < name.size; i++) {
        if (isalnum((unsigned char)name.bytes[i]) || strchr("_$", name.bytes[i]))
            continue;
        name.bytes[i] = '_';
        is_legal = false;
    }
    base = name.size;
    for (unsigned i = 1; !is_legal && (LLVMGetNamedGlobal(program->module, name.bytes) ||
                                       LLVMGetNamedFunction(program->module, name.bytes));
         i++) {
        name.size = base;
        zeta_cc_buffer_print(&name, "_%u", i);
    }
    if (!is_legal)
        LLVMSetValueName2(value, name.bytes, name.size);
    zeta_cc_buffer_finish(&name);
}

static enum zeta_compile_status emit(struct zeta_cc_program *program,
                                     const struct zeta_cc_paths *paths, bool is_object,
                                     struct zeta_cc_buffer *out_result)
{
    LLVMMemoryBufferRef memory = NULL;
    char *message = NULL;

    (void)paths;
    (void)is_object; /* PTX is all that there is */
    zeta_cc_ptx_lower_hidden(program);
    zeta_cc_ptx_lower_orders(program);
    zeta_cc_ptx_lower_rotations(program);
    for (LLVMValueRef each = LLVMGetFirstFunction(program->module); each;
         each = LLVMGetNextFunction(each)) {
        if (LLVMGetIntrinsicID(each) == 0)
            make_name_legal(program, each);
    }
    for (LLVMValueRef each = LLVMGetFirstGlobal(program->module); each;
         each = LLVMGetNextGlobal(each)) {
        struct zeta_cc_buffer name = {0};

        zeta_cc_buffer_print(&name, "%s", zeta_cc_value_name(each));
        make_name_legal(program, each);
        zeta_cc_ptx_tell_variable(program, name.bytes, zeta_cc_value_name(each));
        zeta_cc_buffer_finish(&name);
    }
    if (LLVMTargetMachineEmitToMemoryBuffer(program->machine, program->module, LLVMAssemblyFile,
                                            &message, &memory)) {
        zeta_cc_buffer_line(program->log, "error: %s", message);
        LLVMDisposeMessage(message);
        return ZETA_COMPILE_BUILD_FAILED;
    }
    zeta_cc_buffer_add(out_result, program->notes.bytes, program->notes.size);
    zeta_cc_buffer_add(out_result, LLVMGetBufferStart(memory), LLVMGetBufferSize(memory));
    LLVMDisposeMemoryBuffer(memory);
    return program->has_errors ? ZETA_COMPILE_BUILD_FAILED : ZETA_COMPILE_OK;
}

static const char help[] =
    "usage: zeta-nv-cc [OPTION]... FILE...\n"
    "\n"
    "Compiles kernels for NVIDIA's GPUs and links all files to one PTX text, which zeModuleCreate\n"
    "takes as a native module, and so does the driver.\n"
    "\n"
    "FILE\n"
    "  .cl         OpenCL C, by default 2.0\n"
    "  .bc .ll     LLVM bitcode or assembly (version 15) for spir64\n"
    "  .spv        SPIR-V 1.0 to 1.4 for OpenCL\n"
    "\n"
    "Output\n"
    "  -o FILE     name of the result; - for the standard output. Default: the first file's name\n"
    "              with .ptx. It appears under its name when it is complete\n"
    "  -emit-llvm  bitcode, -S LLVM assembly: what would be compiled, behind all optimisations\n"
    "\n"
    "Input\n"
    "  -x LANG     language of the files that follow: cl, ir, spirv, none (by name)\n"
    "  -D NAME[=VALUE], -U NAME, -I FOLDER, -W..., -w\n"
    "              as clang knows them\n"
    "  -cl-std=CL1.2|CL2.0|CL3.0 and the other -cl-... options of OpenCL\n"
    "  --spec-constant ID:TYPE:VALUE\n"
    "              value of a specialization constant; TYPE is bool, i8, i16, i32, i64, f32 or "
    "f64\n"
    "\n"
    "Code\n"
    "  --gpu sm_NN compute capability of the GPU, sm_80 by default; PTX runs on newer ones too\n"
    "  -g          lines of the source (.file and .loc); then without optimisation unless -O is "
    "given\n"
    "  -O0 .. -O3  default -O2. -cl-opt-disable and -ze-opt-disable mean -O0\n"
    "  -cl-mad-enable, -cl-unsafe-math-optimizations, -cl-fast-relaxed-math\n"
    "              also let a multiplication and an addition become one instruction. Otherwise\n"
    "              they stay two, and are counted as two\n"
    "\n"
    "  --imports   what no file defines is an import, told in a comment: zeModuleDynamicLink finds "
    "it\n"
    "  --data FOLDER  where runtime.bc is\n"
    "  --help, --version\n"
    "\n"
    "Example: zeta-nv-cc kernel.cl --gpu sm_90 -o kernel.ptx\n";

static const char *const provided[] = {ZETA_CC_PTX_OFFSET, ZETA_CC_PTX_PRINT, NULL};

const struct zeta_cc_target zeta_cc_target = {
    .program = "zeta-nv-cc",
    .help = help,
    .ending = "ptx",
    .device = "an NVIDIA GPU",
    .processor = "NVPTX",
    .triple = TRIPLE,
    .sub_group_items = 32,
    .unrolls = true,
    .provided = provided,
    .create_machine = create_machine,
    .retarget = retarget,
    .emit = emit,
};
