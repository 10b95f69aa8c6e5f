#include "program.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "llvm_more.h"

enum { MAX_DEPTH = 64 };

/* Builtins of OpenCL begin with one of these, and what they would need. null: just missing. */
static const struct {
    const char *lacks;
    const char *prefixes[18];
} families[] = {
    {"images are",
     {"read_image", "write_image", "get_image_", "__spirv_Image", "__spirv_SampledImage"}},
    {"samplers are", {"__translate_sampler_initializer", "sampler"}},
    {"pipes are",
     {"__read_pipe", "__write_pipe", "__reserve_", "__commit_", "__get_pipe",
      "__work_group_reserve_", "__work_group_commit_", "__sub_group_reserve_",
      "__sub_group_commit_", "is_valid_reserve_id"}},
    {"kernels that start kernels are",
     {"__enqueue_kernel", "__get_kernel_", "enqueue_marker", "get_default_queue", "ndrange_",
      "retain_event", "release_event", "create_user_event", "is_valid_event",
      "set_user_event_status", "capture_event_profiling_info"}},
    {"motion estimation is", {"intel_sub_group_avc"}},
    {NULL,
     {"intel_", "sub_group_", "work_group_", "atomic_", "atom_", "native_", "half_", "convert_",
      "vload", "vstore", "async_", "get_", "to_", "arm_dot", "dot_"}},
    {NULL, {"__spirv_", "__to_", "__vgpu_", "__zeta_", "printf"}},
};

/* Types of arguments that the engine cannot set; images are all that begin with image1d and so on.
 */
static const struct {
    const char *name;
    const char *what;
} foreign_types[] = {
    {"sampler_t", "a sampler"},
    {"queue_t", "a queue"},
    {"clk_event_t", "an event"},
    {"event_t", "an event"},
    {"pipe", "a pipe"},
    {"reserve_id_t", "a pipe"},
    {"intel_sub_group", "motion estimation"},
};

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The part of a mangled name that is the name; the name itself when it is not mangled. */
static const char *base_name(const char *name, struct zeta_cc_buffer *scratch)
{
    size_t length = 0;
    const char *at = name + 2;

    if (!starts_with(name, "_Z") || !isdigit((unsigned char)*at))
        return name;
    while (isdigit((unsigned char)*at) && length < 4096)
        length = length * 10 + (size_t)(*at++ - '0');
    if (strlen(at) < length)
        return name;
    scratch->size = 0;
    zeta_cc_buffer_add(scratch, at, length);
    return length > 0 ? scratch->bytes : name;
}

/* The function that uses a value; null: none does. */
static LLVMValueRef user_function(LLVMValueRef value)
{
    LLVMValueRef use = zeta_cc_first_use(value);

    return use ? LLVMGetBasicBlockParent(LLVMGetInstructionParent(use)) : NULL;
}

static void report_missing(struct zeta_cc_program *program, LLVMValueRef global, const char *base,
                           const char *lacks)
{
    LLVMValueRef use = zeta_cc_first_use(global), user = user_function(global);
    char *words = zeta_cc_demangle(zeta_cc_value_name(global));

    /* A kernel that comes to it by calls; the nearest function when there is none. */
    for (unsigned depth = 0; user && depth < MAX_DEPTH; depth++) {
        LLVMValueRef caller = user_function(user);

        if (LLVMGetFunctionCallConv(user) == ZETA_CC_SPIR_KERNEL || !caller || caller == user)
            break;
        user = caller;
    }
    if (lacks)
        zeta_cc_buffer_print(program->log, "error: %s not supported by %s: %s used", lacks,
                             zeta_cc_target.device, base);
    else
        zeta_cc_buffer_print(program->log, "error: %s has no builtin function %s; it is used",
                             zeta_cc_target.device, words ? words : base);
    if (user)
        zeta_cc_buffer_print(program->log, " in %s %s",
                             LLVMGetFunctionCallConv(user) == ZETA_CC_SPIR_KERNEL ? "kernel"
                                                                                  : "function",
                             zeta_cc_value_name(user));
    if (use)
        zeta_cc_where(use, program->log);
    zeta_cc_buffer_print(program->log, "\n");
    free(words);
}

/* An undefined function or variable: an import, or false. */
static bool check_global(struct zeta_cc_program *program, LLVMValueRef global,
                         LLVMModuleRef runtime)
{
    struct zeta_cc_buffer scratch = {0}, other = {0};
    const char *name = zeta_cc_value_name(global);
    const char *base = base_name(name, &scratch);
    bool is_builtin = false;
    const char *lacks = NULL;

    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]) && !is_builtin; i++) {
        const char *const *prefix = families[i].prefixes;

        /* Without a mangled name only those that are never a user's. */
        for (; *prefix && !is_builtin; prefix++)
            is_builtin = starts_with(base, *prefix) &&
                         (base != name || **prefix == '_' || strcmp(base, *prefix) == 0);
        lacks = families[i].lacks;
    }
    /* The runtime library has a function with this name and other parameters. */
    for (LLVMValueRef each = runtime ? LLVMGetFirstFunction(runtime) : NULL;
         each && !is_builtin && base != name; each = LLVMGetNextFunction(each))
        is_builtin = strcmp(base_name(zeta_cc_value_name(each), &other), base) == 0;
    if (is_builtin)
        report_missing(program, global, base, lacks);
    else
        zeta_cc_strings_add(&program->imports, name);
    zeta_cc_buffer_finish(&scratch);
    zeta_cc_buffer_finish(&other);
    return !is_builtin;
}

static bool is_wanted(LLVMValueRef global)
{
    const char *name = zeta_cc_value_name(global);
    const char *const *provided = zeta_cc_target.provided;

    while (provided && *provided && strcmp(name, *provided) != 0)
        provided++;
    return LLVMIsDeclaration(global) && LLVMGetFirstUse(global) && !starts_with(name, "llvm.") &&
           !(provided && *provided);
}

bool zeta_cc_program_check_symbols(struct zeta_cc_program *program, const char *path)
{
    LLVMModuleRef runtime = NULL;
    bool is_fine = true;

    for (LLVMValueRef each = LLVMGetFirstFunction(program->module); each;
         each = LLVMGetNextFunction(each)) {
        if (!is_wanted(each) || LLVMGetIntrinsicID(each) != 0)
            continue;
        if (!runtime)
            runtime = zeta_cc_program_open_runtime(program, path);
        is_fine &= check_global(program, each, runtime);
    }
    for (LLVMValueRef each = LLVMGetFirstGlobal(program->module); each;
         each = LLVMGetNextGlobal(each)) {
        if (is_wanted(each))
            is_fine &= check_global(program, each, runtime);
    }
    if (runtime)
        LLVMDisposeModule(runtime);
    return is_fine;
}

/* What a type or a quality of an argument is when it cannot be set, or null. */
static const char *foreign_type(const char *type)
{
    static const char *const images[] = {"image1d", "image2d", "image3d"};

    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
        if (starts_with(type, images[i]) && type[strlen(images[i])] != '\0')
            return "an image";
    }
    for (size_t i = 0; i < sizeof(foreign_types) / sizeof(foreign_types[0]); i++) {
        if (strcmp(type, foreign_types[i].name) == 0)
            return foreign_types[i].what;
    }
    return NULL;
}

/* Metadata holds texts without a terminator. */
static const char *text_at(LLVMValueRef kernel, const char *list, unsigned index,
                           struct zeta_cc_buffer *text)
{
    LLVMValueRef operand = zeta_cc_metadata_operand(kernel, list, index);
    unsigned length = 0;
    const char *bytes = operand ? LLVMGetMDString(operand, &length) : NULL;

    text->size = 0;
    zeta_cc_buffer_add(text, bytes, bytes ? length : 0);
    return text->size > 0 ? text->bytes : "";
}

static bool check_arguments(struct zeta_cc_program *program, LLVMValueRef kernel)
{
    static const char list[] = "kernel_arg_base_type";
    struct zeta_cc_buffer type = {0}, quality = {0};
    bool is_fine = true;

    for (unsigned i = 0; zeta_cc_metadata_operand(kernel, list, i); i++) {
        const char *name = text_at(kernel, list, i, &type);
        const char *what = foreign_type(name);

        if (!what)
            what = foreign_type(text_at(kernel, "kernel_arg_type_qual", i, &quality));
        if (!what)
            continue;
        zeta_cc_buffer_print(
            program->log, "error: kernel %s: argument %u is %s (%s), which is not supported by %s",
            zeta_cc_value_name(kernel), i, what, name, zeta_cc_target.device);
        zeta_cc_where_begins(kernel, program->log);
        zeta_cc_buffer_print(program->log, "\n");
        is_fine = false;
    }
    zeta_cc_buffer_finish(&type);
    zeta_cc_buffer_finish(&quality);
    return is_fine;
}

bool zeta_cc_program_check_kernels(struct zeta_cc_program *program)
{
    bool is_fine = true;

    for (LLVMValueRef each = LLVMGetFirstFunction(program->module); each;
         each = LLVMGetNextFunction(each)) {
        uint32_t sub_group;

        if (LLVMGetFunctionCallConv(each) != ZETA_CC_SPIR_KERNEL || LLVMIsDeclaration(each))
            continue;
        is_fine &= check_arguments(program, each);
        sub_group = zeta_cc_metadata_number(each, "intel_reqd_sub_group_size", 0);
        if (sub_group > 0 && sub_group != zeta_cc_target.sub_group_items) {
            zeta_cc_buffer_print(program->log,
                                 "error: kernel %s requires sub-groups of %u items, those of %s "
                                 "have %u",
                                 zeta_cc_value_name(each), sub_group, zeta_cc_target.device,
                                 zeta_cc_target.sub_group_items);
            zeta_cc_where_begins(each, program->log);
            zeta_cc_buffer_print(program->log, "\n");
            is_fine = false;
        }
    }
    return is_fine;
}

bool zeta_cc_program_check_constructors(const struct zeta_cc_program *program)
{
    static const char *const around[] = {"llvm.global_ctors", "llvm.global_dtors"};

    for (size_t i = 0; i < 2; i++) {
        LLVMValueRef list = LLVMGetNamedGlobal(program->module, around[i]);

        if (!list || LLVMGetArrayLength(LLVMGlobalGetValueType(list)) == 0)
            continue;
        zeta_cc_buffer_line(program->log,
                            "error: the program has functions that run before or after its "
                            "kernels (%s), which is not supported by %s",
                            around[i], zeta_cc_target.device);
        return false;
    }
    return true;
}
