#include "front_end.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Programs that do a part of the work ---- */

#define STANDARD_INPUT "/proc/self/fd/0"

/* A file without a name, open at its begin; -1 when there is none. */
static int memory_file(const char *name, const void *bytes, size_t size)
{
    int file = memfd_create(name, MFD_CLOEXEC);

    if (file < 0)
        return -1;
    if (!zeta_cc_write(file, bytes, size)) {
        (void)close(file);
        return -1;
    }
    (void)lseek(file, 0, SEEK_SET);
    return file;
}

/*
 * Nothing that the caller set changes how modules are compiled. Signals are as after login: the
 * caller may have blocked or ignored some.
 */
static int spawn(struct zeta_cc_child *child, const struct zeta_cc_strings *arguments)
{
    static char locale[] = "LC_ALL=C", path[] = "PATH=/usr/bin:/bin";
    char *const environment[] = {locale, path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t signals;
    int error;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    (void)sigemptyset(&signals);
    (void)posix_spawnattr_setsigmask(&attributes, &signals);
    (void)sigfillset(&signals);
    (void)posix_spawnattr_setsigdefault(&attributes, &signals);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    error = posix_spawn_file_actions_adddup2(&actions, child->input, STDIN_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, child->output, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, child->messages, STDERR_FILENO);
    if (error == 0)
        error = posix_spawn(&child->process, arguments->list[0], &actions, &attributes,
                            arguments->list, environment);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    return error;
}

void zeta_cc_child_start(struct zeta_cc_child *child, const struct zeta_cc_strings *arguments,
                         const void *input, size_t size)
{
    struct rlimit limit;

    *child = (struct zeta_cc_child){.input = memory_file("input", input, size),
                                    .output = memory_file("output", NULL, 0),
                                    .messages = memory_file("messages", NULL, 0)};
    if (child->input < 0 || child->output < 0 || child->messages < 0)
        child->error = errno ? errno : ENOMEM;
    else
        child->error = spawn(child, arguments);
    if (child->error != 0) {
        child->process = 0;
        return;
    }
    /*
     * A few wrong bits of a module make a translator ask for all the memory of the machine. It
     * cannot have the limit before it starts, but takes longer than this to load its libraries.
     */
    if (prlimit(child->process, RLIMIT_AS, NULL, &limit) == 0 &&
        limit.rlim_cur > ZETA_CC_CHILD_MEMORY_BYTES) {
        limit.rlim_cur = ZETA_CC_CHILD_MEMORY_BYTES;
        (void)prlimit(child->process, RLIMIT_AS, &limit, NULL);
    }
}

enum zeta_cc_child_end zeta_cc_child_end(struct zeta_cc_child *child,
                                         struct zeta_cc_buffer *out_output,
                                         struct zeta_cc_buffer *out_messages)
{
    const int files[] = {child->input, child->output, child->messages};
    enum zeta_cc_child_end end = ZETA_CC_CHILD_MISSING;

    if (child->process > 0) {
        while (waitpid(child->process, &child->status, 0) < 0 && errno == EINTR)
            continue;
        end = !WIFEXITED(child->status)         ? ZETA_CC_CHILD_CRASHED
              : WEXITSTATUS(child->status) == 0 ? ZETA_CC_CHILD_FINE
                                                : ZETA_CC_CHILD_FAILED;
        /* The child wrote through the same position. */
        (void)lseek(child->output, 0, SEEK_SET);
        (void)lseek(child->messages, 0, SEEK_SET);
        (void)zeta_cc_buffer_read(out_output, child->output);
        (void)zeta_cc_buffer_read(out_messages, child->messages);
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (files[i] >= 0)
            (void)close(files[i]);
    }
    child->process = 0;
    return end;
}

/* Appends text with @name for the name of the standard input. */
static void add_messages(struct zeta_cc_buffer *log, const struct zeta_cc_buffer *messages,
                         const char *name)
{
    const char *at = messages->size ? messages->bytes : "";
    const char *found;

    for (; (found = strstr(at, STANDARD_INPUT)) != NULL; at = found + strlen(STANDARD_INPUT)) {
        zeta_cc_buffer_add(log, at, (size_t)(found - at));
        zeta_cc_buffer_add(log, name, strlen(name));
    }
    zeta_cc_buffer_add(log, at, strlen(at));
    if (log->size > 0 && log->bytes[log->size - 1] != '\n')
        zeta_cc_buffer_add(log, "\n", 1);
}

enum zeta_compile_status zeta_cc_child_finish(struct zeta_cc_child *child,
                                              const struct zeta_cc_tool *tool, const char *name,
                                              struct zeta_cc_buffer *out_output,
                                              struct zeta_cc_buffer *log)
{
    struct zeta_cc_buffer messages = {0};
    enum zeta_cc_child_end end = zeta_cc_child_end(child, out_output, &messages);
    enum zeta_compile_status status = ZETA_COMPILE_BUILD_FAILED;

    add_messages(log, &messages, name);
    if (end == ZETA_CC_CHILD_FINE)
        status = ZETA_COMPILE_OK;
    else if (end == ZETA_CC_CHILD_MISSING)
        zeta_cc_buffer_line(log, "error: %s cannot be started: %s. Install the package %s",
                            tool->name, strerror(child->error), tool->package);
    else if (end == ZETA_CC_CHILD_CRASHED)
        zeta_cc_buffer_line(log, "error: %s crashed (signal %d) over %s", tool->name,
                            WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0, name);
    else if (messages.size == 0)
        zeta_cc_buffer_line(log, "error: %s failed over %s without a message", tool->name, name);
    if (end == ZETA_CC_CHILD_MISSING && child->error == ENOENT)
        status = ZETA_COMPILE_TOOL_MISSING;
    zeta_cc_buffer_finish(&messages);
    return status;
}

/* ---- clang and llvm-spirv ---- */

/* What the runtime library has. */
#define EXTENSIONS                                                                                 \
    "-all,+cl_khr_fp64,+cl_khr_fp16,+cl_khr_byte_addressable_store,+cl_khr_int64_base_atomics,"    \
    "+cl_khr_int64_extended_atomics,+cl_khr_global_int32_base_atomics,"                            \
    "+cl_khr_global_int32_extended_atomics,+cl_khr_local_int32_base_atomics,"                      \
    "+cl_khr_local_int32_extended_atomics,+cl_khr_subgroups,+cl_intel_subgroups"

static void clang_arguments(struct zeta_cc_strings *arguments, const struct zeta_cc_input *input,
                            const struct zeta_cc_paths *paths, unsigned level)
{
    zeta_cc_strings_add(arguments, paths->clang);
    if (input->language == ZETA_CC_OPENCL_C) {
        zeta_cc_strings_split(arguments, "--target=spir64-unknown-unknown -x cl "
                                         "-Xclang -fdeclare-opencl-builtins "
                                         "-Xclang -finclude-default-header "
                                         "-cl-kernel-arg-info -cl-ext=" EXTENSIONS);
        /* What clang leaves to those who know the device, and what it assumes for all spir64. */
        zeta_cc_strings_split(arguments, "-D__OPENCL_VERSION__=200 -U__IMAGE_SUPPORT__");
        if (!input->options.standard)
            zeta_cc_strings_add(arguments, "-cl-std=CL2.0");
    } else {
        zeta_cc_strings_split(arguments,
                              "--target=riscv64-unknown-elf -x c -march=rv64imafd -mabi=lp64d "
                              "-mcmodel=medany -mno-relax -fPIC -ffreestanding -fno-math-errno "
                              "-fno-asynchronous-unwind-tables "
                              "-Werror=implicit-function-declaration");
        zeta_cc_strings_print(arguments, "-I%s/include", paths->data);
    }
    /* Passes run later, for RV64. */
    zeta_cc_strings_split(arguments, "-emit-llvm -c -o - -Xclang -disable-llvm-passes "
                                     "-fno-crash-diagnostics -Wno-unused-command-line-argument");
    zeta_cc_strings_split(arguments, level > 0 ? "-O2" : "-O0 -Xclang -disable-O0-optnone");
    if (input->options.has_debug)
        zeta_cc_strings_split(arguments, "-g -gdwarf-4");
    /* A multiplication and an addition stay two operations unless the program allows otherwise. */
    if (!input->options.contracts)
        zeta_cc_strings_add(arguments, "-ffp-contract=off");
    for (size_t i = 0; i < input->options.front_end.count; i++)
        zeta_cc_strings_add(arguments, input->options.front_end.list[i]);
    if (input->is_file)
        zeta_cc_strings_add(arguments, "--");
    zeta_cc_strings_add(arguments, input->is_file ? input->name : "-");
}

enum zeta_compile_status zeta_cc_front_end_start(struct zeta_cc_front_end *front_end,
                                                 const struct zeta_cc_input *input,
                                                 const struct zeta_cc_paths *paths, unsigned level,
                                                 struct zeta_cc_buffer *log)
{
    const struct zeta_cc_options *options = &input->options;
    const size_t count = input->size / sizeof(uint32_t);
    struct zeta_cc_strings arguments = {0};
    struct zeta_cc_buffer lined = {0};
    uint32_t *words = NULL;

    *front_end = (struct zeta_cc_front_end){.input = input};
    if (input->language == ZETA_CC_IR)
        return ZETA_COMPILE_OK;
    if (input->language != ZETA_CC_SPIRV) {
        clang_arguments(&arguments, input, paths, level);
        zeta_cc_child_start(&front_end->child, &arguments, input->bytes,
                            input->is_file ? 0 : input->size);
    } else {
        if (input->size % sizeof(uint32_t) != 0) {
            zeta_cc_buffer_line(log,
                                "error: %s: %zu bytes are no SPIR-V module: it has whole words",
                                input->name, input->size);
            return ZETA_COMPILE_BUILD_FAILED;
        }
        /* A copy, with the values of its constants. */
        words = zeta_cc_allocate(count, sizeof(*words));
        memcpy(words, input->bytes, input->size);
        if (!zeta_cc_spirv_check(words, count, log) ||
            !zeta_cc_spirv_specialize(words, count, options->constants, options->constant_count,
                                      log)) {
            zeta_cc_buffer_line(log, "note: that is about %s", input->name);
            free(words);
            return ZETA_COMPILE_BUILD_FAILED;
        }
        /* Who instruments code wants to know where it is, and wants it optimised as ever. */
        if (options->has_debug || options->profile_flags != 0)
            (void)zeta_cc_spirv_add_lines(words, count, input->bytes, &lined);
        zeta_cc_strings_add(&arguments, paths->translator);
        zeta_cc_strings_split(&arguments, "-r --spirv-target-env=CL2.0 " STANDARD_INPUT " -o -");
        zeta_cc_child_start(&front_end->child, &arguments,
                            lined.size > 0 ? (const void *)lined.bytes : words,
                            lined.size > 0 ? lined.size : input->size);
    }
    front_end->is_running = true;
    zeta_cc_strings_finish(&arguments);
    zeta_cc_buffer_finish(&lined);
    free(words);
    return ZETA_COMPILE_OK;
}

enum zeta_compile_status zeta_cc_front_end_finish(struct zeta_cc_front_end *front_end,
                                                  struct zeta_cc_buffer *out_bitcode,
                                                  struct zeta_cc_buffer *log)
{
    static const struct zeta_cc_tool clang = {"clang", "clang-15"};
    static const struct zeta_cc_tool translator = {"llvm-spirv", "llvm-spirv-15"};
    const struct zeta_cc_input *input = front_end->input;
    enum zeta_compile_status status;

    if (!front_end->is_running) {
        zeta_cc_buffer_add(out_bitcode, input->bytes, input->size);
        return ZETA_COMPILE_OK;
    }
    front_end->is_running = false;
    status = zeta_cc_child_finish(&front_end->child,
                                  input->language == ZETA_CC_SPIRV ? &translator : &clang,
                                  input->name, out_bitcode, log);
    if (status != ZETA_COMPILE_OK || out_bitcode->size > 0)
        return status;
    zeta_cc_buffer_line(log, "error: %s: nothing came out of the front end", input->name);
    return ZETA_COMPILE_BUILD_FAILED;
}
