/*
 * The compiler of a device, zeta-vgpu-cc or zeta-nv-cc. As a command see --help; with --serve it
 * answers one request of the plugin.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <llvm-c/ErrorHandling.h>
#include <sha2.h>

#include "command.h"
#include "sdk/tools/zeta-cc/program/program.h"
#include "sdk/tools/zeta-cc/request/confine.h"
#include "sdk/tools/zeta-cc/request/request.h"

/* Where the answer goes. LLVM's handler of fatal errors has no argument. */
static int answer_file = -1;
static struct zeta_cc_buffer answer_log;

static int answer(enum zeta_compile_status status, const struct zeta_cc_buffer *image)
{
    struct zeta_compile_answer header = {.magic = ZETA_COMPILE_ANSWER_MAGIC,
                                         .version = ZETA_COMPILE_VERSION,
                                         .status = status,
                                         .log_bytes = answer_log.size,
                                         .image_bytes = image->size};
    SHA2_CTX digest;

    SHA256Init(&digest);
    SHA256Update(&digest, (const uint8_t *)answer_log.bytes, answer_log.size);
    SHA256Update(&digest, (const uint8_t *)image->bytes, image->size);
    SHA256Final(header.digest, &digest);
    return zeta_cc_write(answer_file, &header, sizeof(header)) &&
                   zeta_cc_write(answer_file, answer_log.bytes, answer_log.size) &&
                   zeta_cc_write(answer_file, image->bytes, image->size)
               ? EXIT_SUCCESS
               : EXIT_FAILURE;
}

/* LLVM cannot go on; what it was asked to do it cannot do. */
static void end_fatally(const char *reason)
{
    static const struct zeta_cc_buffer nothing = {0};

    zeta_cc_buffer_line(&answer_log, "error: LLVM: %s", reason);
    _exit(answer(ZETA_COMPILE_BUILD_FAILED, &nothing));
}

static enum zeta_compile_status compile_request(const struct zeta_cc_request *request,
                                                const struct zeta_cc_paths *paths,
                                                struct zeta_cc_buffer *out_image)
{
    static const enum zeta_cc_language languages[] = {ZETA_CC_SPIRV, ZETA_CC_IR, ZETA_CC_OPENCL_C};
    static struct zeta_cc_input inputs[ZETA_COMPILE_MAX_IMAGES];
    struct zeta_cc_job job = {
        .inputs = inputs, .input_count = request->image_count, .paths = *paths};
    enum zeta_compile_status status;

    for (uint32_t i = 0; i < request->image_count; i++) {
        const struct zeta_cc_request_image *image = &request->images[i];

        inputs[i] = (struct zeta_cc_input){.language = languages[request->format],
                                           .name = "module",
                                           .bytes = image->bytes,
                                           .size = image->size};
        zeta_cc_options_read(&inputs[i].options, image->options, image->options_bytes, &answer_log);
        for (uint32_t k = 0; k < image->constant_count; k++) {
            struct zeta_compile_constant given;
            struct zeta_cc_constant constant = {0};

            (void)zeta_cc_request_constant(image, k, &given);
            constant.id = given.id;
            constant.size_bytes = given.size_bytes;
            memcpy(&constant.value, given.value, given.size_bytes);
            zeta_cc_options_add_constant(&inputs[i].options, &constant);
        }
        zeta_cc_options_merge(&job.options, &inputs[i].options);
    }
    status = zeta_cc_compile(&job, out_image, &answer_log);
    for (uint32_t i = 0; i < request->image_count; i++)
        zeta_cc_options_finish(&inputs[i].options);
    return status;
}

/*
 * Whoever asked may be killed meanwhile. Nobody reads the answer then, and this process and what it
 * started end; the plugin makes it the first of a group of its own.
 */
static void *watch_reader(void *unused)
{
    struct pollfd end = {.fd = answer_file};

    while (poll(&end, 1, -1) < 0 && errno == EINTR)
        continue;
    if ((end.revents & (POLLERR | POLLHUP)) == 0)
        return unused;
    if (getpgrp() == getpid())
        (void)kill(0, SIGKILL);
    _exit(EXIT_FAILURE);
}

/* Reads one request (zeta/compiler/protocol.h) from the standard input and answers it on the
 * standard output.
 */
static int serve(const struct zeta_cc_paths *paths)
{
    static struct zeta_cc_request request;
    struct zeta_cc_buffer message = {0};
    struct zeta_cc_buffer image = {0};
    enum zeta_compile_status status = ZETA_COMPILE_BAD_REQUEST;
    const char *reason = "the request cannot be read";
    pthread_t watcher;
    int exit_status;

    (void)zeta_cc_confine();
    /* Whatever prints on the standard output must not get into the answer. */
    answer_file = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (answer_file < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return EXIT_FAILURE;
    if (pthread_create(&watcher, NULL, watch_reader, NULL) == 0)
        (void)pthread_detach(watcher);
    LLVMInstallFatalErrorHandler(end_fatally);
    if (zeta_cc_buffer_read(&message, STDIN_FILENO) &&
        zeta_cc_request_read(message.bytes ? message.bytes : "", message.size, &request, &reason))
        status = compile_request(&request, paths, &image);
    else
        zeta_cc_buffer_line(&answer_log, "error: %s", reason);
    if (status != ZETA_COMPILE_OK)
        image.size = 0;
    exit_status = answer(status, &image);
    zeta_cc_buffer_finish(&message);
    zeta_cc_buffer_finish(&image);
    zeta_cc_buffer_finish(&answer_log);
    return exit_status;
}

/* The folder of the program's data: from <prefix>/libexec/zeta/<program> to <prefix>/share. */
static bool find_data(struct zeta_cc_buffer *out_folder)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (length <= 0)
        return false;
    path[length] = '\0';
    for (int i = 0; i < 3; i++) {
        char *slash = strrchr(path, '/');

        if (!slash)
            return false;
        *slash = '\0';
    }
    zeta_cc_buffer_print(out_folder, "%s/%s", path, ZETA_CC_DATA);
    return true;
}

int main(int count, char **arguments)
{
    struct zeta_cc_paths paths = {
        .clang = ZETA_CC_CLANG, .translator = ZETA_CC_TRANSLATOR, .linker = ZETA_CC_LINKER};
    struct zeta_cc_buffer data = {0};
    struct zeta_cc_command command;
    int status;

    (void)signal(SIGCHLD, SIG_DFL); /* ignored it would take exit statuses away */
    if (!find_data(&data)) {
        (void)fprintf(stderr, "%s: does not find its own file; is /proc mounted?\n",
                      zeta_cc_target.program);
        return ZETA_CC_EXIT_FAILED;
    }
    paths.data = data.bytes;
    if (count == 2 && strcmp(arguments[1], "--serve") == 0) {
        (void)signal(SIGPIPE, SIG_IGN);
        status = serve(&paths);
    } else {
        status = zeta_cc_command_read(&command, count - 1, arguments + 1);
        if (status == ZETA_CC_EXIT_OK)
            status = zeta_cc_command_run(&command, &paths);
        zeta_cc_command_finish(&command);
    }
    zeta_cc_buffer_finish(&data);
    return status;
}
