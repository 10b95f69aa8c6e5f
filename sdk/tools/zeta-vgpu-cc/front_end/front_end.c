#include "front_end.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "spirv.h"

#define CLANG_PACKAGE "clang-15"
#define TRANSLATOR_PACKAGE "llvm-spirv-15"
/* What the runtime library has. */
#define EXTENSIONS                                                                                 \
    "-all,+cl_khr_fp64,+cl_khr_fp16,+cl_khr_byte_addressable_store,+cl_khr_int64_base_atomics,"    \
    "+cl_khr_int64_extended_atomics,+cl_khr_global_int32_base_atomics,"                            \
    "+cl_khr_global_int32_extended_atomics,+cl_khr_local_int32_base_atomics,"                      \
    "+cl_khr_local_int32_extended_atomics,+cl_khr_subgroups,+cl_intel_subgroups"
#define STANDARD_INPUT "/proc/self/fd/0"

/* What both languages of clang have in common. Passes run later, for RV64. */
static void add_common(struct zeta_cc_strings *arguments, const struct zeta_cc_input *input,
                       unsigned level)
{
    static const char *const always[] = {"-emit-llvm",
                                         "-c",
                                         "-o",
                                         "-",
                                         "-Xclang",
                                         "-disable-llvm-passes",
                                         "-fno-crash-diagnostics",
                                         "-Wno-unused-command-line-argument"};

    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        zeta_cc_strings_add(arguments, always[i]);
    zeta_cc_strings_add(arguments, level > 0 ? "-O2" : "-O0");
    if (level == 0) {
        zeta_cc_strings_add(arguments, "-Xclang");
        zeta_cc_strings_add(arguments, "-disable-O0-optnone");
    }
    if (input->options.has_debug) {
        zeta_cc_strings_add(arguments, "-g");
        zeta_cc_strings_add(arguments, "-gdwarf-4");
    }
    /* A multiplication and an addition stay two operations unless the program allows otherwise. */
    if (!input->options.contracts)
        zeta_cc_strings_add(arguments, "-ffp-contract=off");
    zeta_cc_strings_append(arguments, &input->options.front_end);
    if (input->is_file) {
        zeta_cc_strings_add(arguments, "--");
        zeta_cc_strings_add(arguments, input->name);
    } else {
        zeta_cc_strings_add(arguments, "-");
    }
}

static void opencl_arguments(struct zeta_cc_strings *arguments, const struct zeta_cc_input *input,
                             unsigned level)
{
    static const char *const flags[] = {"--target=spir64-unknown-unknown",
                                        "-x",
                                        "cl",
                                        "-Xclang",
                                        "-fdeclare-opencl-builtins",
                                        "-Xclang",
                                        "-finclude-default-header",
                                        "-cl-kernel-arg-info"};

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        zeta_cc_strings_add(arguments, flags[i]);
    zeta_cc_strings_add(arguments, "-cl-ext=" EXTENSIONS);
    /* What clang leaves to those who know the device, and what it assumes of all for spir64. */
    zeta_cc_strings_add(arguments, "-D__OPENCL_VERSION__=200");
    zeta_cc_strings_add(arguments, "-U__IMAGE_SUPPORT__");
    if (!input->options.standard)
        zeta_cc_strings_add(arguments, "-cl-std=CL2.0");
    add_common(arguments, input, level);
}

static void c_arguments(struct zeta_cc_strings *arguments, const struct zeta_cc_input *input,
                        const struct zeta_cc_paths *paths, unsigned level)
{
    static const char *const flags[] = {"--target=riscv64-unknown-elf",
                                        "-x",
                                        "c",
                                        "-march=rv64imafd",
                                        "-mabi=lp64d",
                                        "-mcmodel=medany",
                                        "-mno-relax",
                                        "-fPIC",
                                        "-ffreestanding",
                                        "-fno-math-errno",
                                        "-fno-asynchronous-unwind-tables",
                                        "-Werror=implicit-function-declaration"};

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        zeta_cc_strings_add(arguments, flags[i]);
    zeta_cc_strings_print(arguments, "-I%s/include", paths->data);
    add_common(arguments, input, level);
}

/* The module with the values of its constants, checked; to be freed. Null when it is bad. */
static uint32_t *prepare_spirv(const struct zeta_cc_input *input, struct zeta_cc_buffer *log)
{
    const struct zeta_cc_options *options = &input->options;
    size_t count = input->size / sizeof(uint32_t);
    uint32_t *words = zeta_cc_allocate(count, sizeof(*words));

    memcpy(words, input->bytes, count * sizeof(*words));
    if (input->size % sizeof(uint32_t) != 0) {
        zeta_cc_buffer_line(log, "error: %s: %zu bytes are no SPIR-V module: it has whole words",
                            input->name, input->size);
    } else if (zeta_cc_spirv_check(words, count, log) &&
               zeta_cc_spirv_specialize(words, count, options->constants, options->constant_count,
                                        log)) {
        return words;
    } else {
        zeta_cc_buffer_line(log, "note: that is about %s", input->name);
    }
    free(words);
    return NULL;
}

static enum vgpu_compile_status start_translator(struct zeta_cc_front_end *front_end,
                                                 const struct zeta_cc_input *input,
                                                 const struct zeta_cc_paths *paths,
                                                 struct zeta_cc_buffer *log)
{
    uint32_t *module = prepare_spirv(input, log);
    struct zeta_cc_strings arguments = {0};

    if (!module)
        return VGPU_COMPILE_BUILD_FAILED;
    zeta_cc_strings_add(&arguments, paths->translator);
    zeta_cc_strings_add(&arguments, "-r");
    zeta_cc_strings_add(&arguments, "--spirv-target-env=CL2.0");
    zeta_cc_strings_add(&arguments, STANDARD_INPUT);
    zeta_cc_strings_add(&arguments, "-o");
    zeta_cc_strings_add(&arguments, "-");
    zeta_cc_child_start(&front_end->child, &arguments, module, input->size);
    front_end->is_running = true;
    zeta_cc_strings_finish(&arguments);
    free(module);
    return VGPU_COMPILE_OK;
}

enum vgpu_compile_status zeta_cc_front_end_start(struct zeta_cc_front_end *front_end,
                                                 const struct zeta_cc_input *input,
                                                 const struct zeta_cc_paths *paths, unsigned level,
                                                 struct zeta_cc_buffer *log)
{
    struct zeta_cc_strings arguments = {0};

    *front_end = (struct zeta_cc_front_end){.input = input};
    if (input->language == ZETA_CC_IR)
        return VGPU_COMPILE_OK;
    if (input->language == ZETA_CC_SPIRV)
        return start_translator(front_end, input, paths, log);
    zeta_cc_strings_add(&arguments, paths->clang);
    if (input->language == ZETA_CC_OPENCL_C)
        opencl_arguments(&arguments, input, level);
    else
        c_arguments(&arguments, input, paths, level);
    zeta_cc_child_start(&front_end->child, &arguments, input->is_file ? NULL : input->bytes,
                        input->is_file ? 0 : input->size);
    front_end->is_running = true;
    zeta_cc_strings_finish(&arguments);
    return VGPU_COMPILE_OK;
}

/* Appends text with @name for the name of the standard input. */
static void add_messages(struct zeta_cc_buffer *log, const struct zeta_cc_buffer *messages,
                         const char *name)
{
    const char *at = messages->size ? messages->bytes : "";

    for (;;) {
        const char *found = strstr(at, STANDARD_INPUT);

        if (!found)
            break;
        zeta_cc_buffer_add(log, at, (size_t)(found - at));
        zeta_cc_buffer_add(log, name, strlen(name));
        at = found + strlen(STANDARD_INPUT);
    }
    zeta_cc_buffer_add(log, at, strlen(at));
    if (log->size > 0 && log->bytes[log->size - 1] != '\n')
        zeta_cc_buffer_add(log, "\n", 1);
}

enum vgpu_compile_status zeta_cc_child_status(enum zeta_cc_child_end end,
                                              const struct zeta_cc_child *child,
                                              const struct zeta_cc_buffer *messages,
                                              const char *program, const char *package,
                                              const char *name, struct zeta_cc_buffer *log)
{
    add_messages(log, messages, name);
    switch (end) {
    case ZETA_CC_CHILD_FINE:
        return VGPU_COMPILE_OK;
    case ZETA_CC_CHILD_MISSING:
        zeta_cc_buffer_line(log, "error: %s cannot be started: %s. Install the package %s", program,
                            strerror(child->error), package);
        return child->error == ENOENT ? VGPU_COMPILE_TOOL_MISSING : VGPU_COMPILE_BUILD_FAILED;
    case ZETA_CC_CHILD_CRASHED:
        zeta_cc_buffer_line(log, "error: %s crashed (signal %d) over %s", program,
                            WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0, name);
        return VGPU_COMPILE_BUILD_FAILED;
    default:
        if (messages->size == 0)
            zeta_cc_buffer_line(log, "error: %s failed over %s without a message", program, name);
        return VGPU_COMPILE_BUILD_FAILED;
    }
}

enum vgpu_compile_status zeta_cc_front_end_finish(struct zeta_cc_front_end *front_end,
                                                  struct zeta_cc_buffer *out_bitcode,
                                                  struct zeta_cc_buffer *log)
{
    const struct zeta_cc_input *input = front_end->input;
    const bool is_spirv = input->language == ZETA_CC_SPIRV;
    struct zeta_cc_buffer messages = {0};
    enum vgpu_compile_status status;
    enum zeta_cc_child_end end;

    if (!front_end->is_running) {
        zeta_cc_buffer_add(out_bitcode, input->bytes, input->size);
        return VGPU_COMPILE_OK;
    }
    end = zeta_cc_child_end(&front_end->child, out_bitcode, &messages);
    front_end->is_running = false;
    status =
        zeta_cc_child_status(end, &front_end->child, &messages, is_spirv ? "llvm-spirv" : "clang",
                             is_spirv ? TRANSLATOR_PACKAGE : CLANG_PACKAGE, input->name, log);
    if (status == VGPU_COMPILE_OK && out_bitcode->size == 0) {
        zeta_cc_buffer_line(log, "error: %s: nothing came out of the front end", input->name);
        status = VGPU_COMPILE_BUILD_FAILED;
    }
    zeta_cc_buffer_finish(&messages);
    return status;
}

void zeta_cc_front_end_abandon(struct zeta_cc_front_end *front_end)
{
    struct zeta_cc_buffer unwanted = {0};

    (void)zeta_cc_child_end(&front_end->child, &unwanted, &unwanted);
    front_end->is_running = false;
    zeta_cc_buffer_finish(&unwanted);
}
