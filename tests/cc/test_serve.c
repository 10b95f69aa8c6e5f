/* One request, one answer: good ones, bad ones, and modules that are damaged on purpose. */
#include "run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "tests/vgpu/rig.h"
#include <sha2.h>
#include <zeta/compiler/protocol.h>

/* A request that grows. */
struct request {
    unsigned char *bytes;
    size_t size;
};

/* An answer, checked. */
struct answer {
    struct run_result result;
    struct zeta_compile_answer header;
    char *log; /* terminated */
    const unsigned char *image;
};

static void add(struct request *request, const void *bytes, size_t size)
{
    request->bytes = realloc(request->bytes, request->size + size + 1);
    assert_non_null(request->bytes);
    if (size > 0)
        memcpy(request->bytes + request->size, bytes, size);
    request->size += size;
}

static void begin(struct request *request, uint32_t format, uint32_t images)
{
    const struct zeta_compile_request header = {ZETA_COMPILE_REQUEST_MAGIC, ZETA_COMPILE_VERSION,
                                                format, images};

    *request = (struct request){0};
    add(request, &header, sizeof(header));
}

static void add_image(struct request *request, const void *image, size_t size, const char *options)
{
    const struct zeta_compile_image header = {size, (uint32_t)strlen(options), 0};

    add(request, &header, sizeof(header));
    add(request, options, strlen(options));
    add(request, image, size);
}

/* Sends it and checks the form of what comes back. */
static void ask(struct request *request, struct answer *answer)
{
    static char program[] = COMPILER, serve[] = "--serve";
    char *const words[] = {program, serve, NULL};
    const unsigned char *bytes;
    SHA2_CTX sha;
    uint8_t digest[32];

    run_program(&answer->result, words, request->bytes, request->size);
    free(request->bytes);
    *request = (struct request){0};
    bytes = (const unsigned char *)answer->result.output;
    assert_cmp(answer->result.output_size, >=, sizeof(answer->header));
    memcpy(&answer->header, bytes, sizeof(answer->header));
    assert_int_equal(answer->header.magic, ZETA_COMPILE_ANSWER_MAGIC);
    assert_int_equal(answer->header.version, ZETA_COMPILE_VERSION);
    bytes += sizeof(answer->header);
    assert_int_equal(answer->result.output_size, sizeof(answer->header) + answer->header.log_bytes +
                                                     answer->header.image_bytes);
    SHA256Init(&sha);
    SHA256Update(&sha, (const uint8_t *)bytes,
                 answer->header.log_bytes + answer->header.image_bytes);
    SHA256Final(digest, &sha);
    assert_memory_equal(digest, answer->header.digest, sizeof(digest));
    answer->log = strndup((const char *)bytes, answer->header.log_bytes);
    assert_non_null(answer->log);
    answer->image = bytes + answer->header.log_bytes;
}

static void finish(struct answer *answer)
{
    free(answer->log);
    run_finish(&answer->result);
}

static const char doubles[] = "kernel void k(global int *a) { a[get_global_id(0)] *= 2; }\n";

static void run_answer(const struct answer *answer)
{
    struct zeta_vgpu_engine_config config = rig_config(1);
    FILE *file = fopen(run_path("answer.elf"), "wb");
    struct rig *rig = calloc(1, sizeof(*rig));
    int32_t *data;

    assert_non_null(rig);
    assert_non_null(file);
    assert_int_equal(fwrite(answer->image, 1, answer->header.image_bytes, file),
                     answer->header.image_bytes);
    assert_int_equal(fclose(file), 0);
    rig_open_path(rig, run_path("answer.elf"), &config);
    data = (int32_t *)rig->memory;
    data[3] = 21;
    assert_int_equal(rig_run(rig, "k", &data, 1, 4), ZETA_VGPU_OK);
    assert_int_equal(data[3], 42);
    rig_close(rig);
    free(rig);
}

static void serve__opencl_c__an_elf_file_that_runs(void **state)
{
    struct request request;
    struct answer answer;

    (void)state;
    begin(&request, ZETA_COMPILE_OPENCL_C, 1);
    add_image(&request, doubles, strlen(doubles), "-cl-std=CL1.2 -cl-mad-enable");
    ask(&request, &answer);
    assert_int_equal(answer.header.status, ZETA_COMPILE_OK);
    assert_string_equal(answer.log, "");
    assert_int_equal(run_exit(&answer.result), 0);
    run_answer(&answer);
    finish(&answer);
}

static void serve__error_in_source__line_in_the_log(void **state)
{
    static const char text[] = "kernel void k(global int *a)\n{\n    a[0] = b;\n}\n";
    struct request request;
    struct answer answer;

    (void)state;
    begin(&request, ZETA_COMPILE_OPENCL_C, 1);
    add_image(&request, text, strlen(text), "-what");
    ask(&request, &answer);
    assert_int_equal(answer.header.status, ZETA_COMPILE_BUILD_FAILED);
    assert_int_equal(answer.header.image_bytes, 0);
    assert_non_null(strstr(answer.log, "unknown build option -what is ignored"));
    assert_non_null(strstr(answer.log, ":3:12: error: use of undeclared identifier 'b'"));
    finish(&answer);
}

static void *read_spirv(size_t *out_size)
{
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/control.spv", KERNEL_DIR);
    return rig_read_file(path, out_size);
}

static void serve__spirv_and_another__linked(void **state)
{
    struct request request;
    struct answer answer;
    size_t size;
    void *module;

    (void)state;
    if (!HAS_SPIRV)
        skip();
    module = read_spirv(&size);
    begin(&request, ZETA_COMPILE_SPIRV, 1);
    add_image(&request, module, size, "-zet-profile-flags 0x1");
    ask(&request, &answer);
    assert_int_equal(answer.header.status, ZETA_COMPILE_OK);
    assert_string_equal(answer.log, "");
    assert_memory_equal(answer.image, "\177ELF", 4);
    finish(&answer);
    /* The same twice: its kernels are there twice. */
    begin(&request, ZETA_COMPILE_SPIRV, 2);
    add_image(&request, module, size, "");
    add_image(&request, module, size, "");
    ask(&request, &answer);
    assert_int_equal(answer.header.status, ZETA_COMPILE_BUILD_FAILED);
    assert_non_null(strstr(answer.log, "multiply defined"));
    finish(&answer);
    free(module);
}

static void serve__no_request__says_so(void **state)
{
    struct request request = {0};
    struct answer answer;

    (void)state;
    ask(&request, &answer);
    assert_int_equal(answer.header.status, ZETA_COMPILE_BAD_REQUEST);
    assert_non_null(strstr(answer.log, "shorter than its header"));
    finish(&answer);
    begin(&request, 17, 1);
    ask(&request, &answer);
    assert_int_equal(answer.header.status, ZETA_COMPILE_BAD_REQUEST);
    finish(&answer);
}

/* Whatever arrives, there is an answer, and it is no kernel file made of nothing. Rule 23.12. */
static void serve__damaged_spirv__a_log_each_time(void **state)
{
    uint32_t random = 12345;
    size_t size;
    unsigned char *module;

    (void)state;
    if (!HAS_SPIRV)
        skip();
    module = read_spirv(&size);
    for (int i = 0; i < 24; i++) {
        unsigned char *copy = malloc(size);
        struct request request;
        struct answer answer;
        size_t length = size;

        assert_non_null(copy);
        memcpy(copy, module, size);
        random = random * 1664525 + 1013904223;
        if (i % 3 == 0)
            length = random % size; /* truncated at any byte */
        else if (i % 3 == 1)
            length = random % size & ~(size_t)3;
        for (int k = 0; i % 3 == 2 && k < 4; k++) {
            random = random * 1664525 + 1013904223;
            copy[20 + random % (size - 20)] ^= (unsigned char)(1 << (random >> 29));
        }
        begin(&request, ZETA_COMPILE_SPIRV, 1);
        add_image(&request, copy, length, "");
        ask(&request, &answer);
        if (answer.header.status == ZETA_COMPILE_OK)
            assert_memory_equal(answer.image, "\177ELF", 4);
        else
            assert_cmp(answer.header.log_bytes, >, 0);
        /* What ends between two instructions may be a smaller module. */
        if (length % 4 != 0)
            assert_int_equal(answer.header.status, ZETA_COMPILE_BUILD_FAILED);
        finish(&answer);
        free(copy);
    }
    free(module);
}

/* Rule 23.12. */
static void serve__bitcode_of_nonsense__a_log(void **state)
{
    static const char *const texts[] = {"", "BC\xc0\xde", "text", "define void @f("};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct request request;
        struct answer answer;

        begin(&request, ZETA_COMPILE_BITCODE, 1);
        add_image(&request, texts[i], strlen(texts[i]), "");
        ask(&request, &answer);
        if (i > 0)
            assert_int_equal(answer.header.status, ZETA_COMPILE_BUILD_FAILED);
        finish(&answer);
    }
}

/* Starts the compiler as the plugin does, first of a group; gives our ends of its streams. */
static pid_t start(const struct request *request, int *out_answer)
{
    static char program[] = COMPILER, serve[] = "--serve";
    char *const words[] = {program, serve, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int asked[2], answered[2];
    pid_t process = -1;

    assert_int_equal(pipe2(asked, O_CLOEXEC), 0);
    assert_int_equal(pipe2(answered, O_CLOEXEC), 0);
    assert_int_equal(posix_spawnattr_init(&attributes), 0);
    assert_int_equal(posix_spawnattr_setpgroup(&attributes, 0), 0);
    assert_int_equal(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP), 0);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, asked[0], 0), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, answered[1], 1), 0);
    assert_int_equal(posix_spawn(&process, program, &actions, &attributes, words, NULL), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    assert_int_equal(close(asked[0]), 0);
    assert_int_equal(close(answered[1]), 0);
    assert_int_equal(write(asked[1], request->bytes, request->size), request->size);
    assert_int_equal(close(asked[1]), 0);
    *out_answer = answered[0];
    return process;
}

/* Where the kernel lets a process give up something, this one has. */
static void expect_confined(pid_t process)
{
    char path[64], line[256];
    bool was_told = false;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%ld/status", (long)process);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        if (strncmp(line, "NoNewPrivs:", 11) != 0)
            continue;
        was_told = true;
        assert_string_equal(line, "NoNewPrivs:\t1\n");
    }
    (void)fclose(file);
    assert_true(was_told);
}

/* The front end waits for the rest of a file, and would for ever. Rule 6.2. */
static void serve__nobody_reads_the_answer__ends_with_its_children(void **state)
{
    const char *pipe_path = run_path("endless.h");
    struct request request;
    struct pollfd end = {0};
    char text[600];
    pid_t process;
    int answer = -1, status = 0;

    (void)state;
    (void)run_folder();
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    (void)snprintf(text, sizeof(text), "#include \"%s\"\n%s", pipe_path, doubles);
    begin(&request, ZETA_COMPILE_OPENCL_C, 1);
    add_image(&request, text, strlen(text), "");
    process = start(&request, &answer);
    free(request.bytes);
    /* Returns when the front end has it open. */
    end.fd = open(pipe_path, O_WRONLY | O_CLOEXEC);
    assert_cmp(end.fd, >=, 0);
    assert_int_equal(waitpid(process, &status, WNOHANG), 0);
    expect_confined(process);
    assert_int_equal(close(answer), 0);
    assert_int_equal(poll(&end, 1, -1), 1);
    assert_cmp((end.revents & POLLERR), !=, 0);
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFSIGNALED(status));
    assert_cmp(WTERMSIG(status), ==, SIGKILL);
    assert_int_equal(close(end.fd), 0);
    assert_int_equal(unlink(pipe_path), 0);
}

SUITE(serve)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serve__opencl_c__an_elf_file_that_runs),
        cmocka_unit_test(serve__error_in_source__line_in_the_log),
        cmocka_unit_test(serve__spirv_and_another__linked),
        cmocka_unit_test(serve__no_request__says_so),
        cmocka_unit_test(serve__damaged_spirv__a_log_each_time),
        cmocka_unit_test(serve__bitcode_of_nonsense__a_log),
        cmocka_unit_test(serve__nobody_reads_the_answer__ends_with_its_children),
    };

    return cmocka_run_group_tests(tests, NULL, run_clean);
}
