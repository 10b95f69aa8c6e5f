/*
 * The server and the real GDB, with a scripted process that loads code and executes one line of it.
 */
#include "sdk/tools/zeta-gdbserver/server/server.h"
#include "tests/harness/control.h"
#include "tests/harness/device/debug_control.h"
#include "tests/metric_api/harness.h"
#include "tests/support/suite.h"

#include <arpa/inet.h>
#include <elf.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct world {
    const struct debug_control *control;
    struct zeta_gdb_process process;
    struct zeta_gdb_server server;
    pthread_t thread;
    int listener;
    uint64_t straight, image_bytes;
    pid_t gdb;
    int out;
    char text[65536];
    size_t text_size;
};

static void *serve(void *of)
{
    struct world *const world = of;

    world->server.in = world->server.out = accept(world->listener, NULL, NULL);
    (void)zeta_gdb_server_run(&world->server);
    (void)close(world->server.in);
    return NULL;
}

/* Loads the code as the process would. */
static void load_code(struct world *world)
{
    FILE *const file = fopen(GDB_KERNEL, "rb");
    uint8_t *const image = world->control->image();
    const Elf64_Ehdr *const header = (const void *)image;
    const Elf64_Phdr *segment;

    assert_non_null(file);
    world->image_bytes = fread(image, 1, DEBUG_CODE_BYTES, file);
    (void)fclose(file);
    segment = (const void *)(image + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_LOAD)
            memcpy(world->control->code() + segment[i].p_vaddr, image + segment[i].p_offset,
                   segment[i].p_filesz);
    world->straight = DEBUG_CODE + header->e_entry;
}

static int start(void **state)
{
    struct world *const world = calloc(1, sizeof(*world));
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    assert_non_null(world);
    EXPECT_OK(zeInit(0));
    world->control = harness_control("debug_control");
    world->control->reset();
    load_code(world);
    EXPECT_OK(zeta_gdb_process_attach(&world->process, find_device("debug3"), DEBUG_PID));
    world->server.process = &world->process;
    world->server.stop = -1;
    world->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(world->listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(world->listener, 1), 0);
    assert_int_equal(pthread_create(&world->thread, NULL, serve, world), 0);
    *state = world;
    return 0;
}

static int finish(void **state)
{
    struct world *const world = *state;

    (void)pthread_join(world->thread, NULL);
    (void)close(world->listener);
    zeta_gdb_process_detach(&world->process);
    free(world);
    return 0;
}

/* Starts GDB connected, with commands. */
static void start_gdb(struct world *world, const char *const *commands)
{
    struct sockaddr_in at;
    socklen_t size = sizeof(at);
    char connect[64];
    const char *arguments[128] = {"gdb-multiarch",
                                  "-nx",
                                  "-batch",
                                  "-ex",
                                  "set pagination off",
                                  "-ex",
                                  "set breakpoint pending on",
                                  "-ex",
                                  connect};
    size_t count = 9;
    posix_spawn_file_actions_t actions;
    int pair[2];

    assert_int_equal(getsockname(world->listener, (struct sockaddr *)&at, &size), 0);
    (void)snprintf(connect, sizeof(connect), "target remote 127.0.0.1:%u", ntohs(at.sin_port));
    for (; *commands; commands++) {
        arguments[count++] = "-ex";
        arguments[count++] = *commands;
    }
    assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, pair[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, pair[1], STDERR_FILENO);
    assert_int_equal(posix_spawnp(&world->gdb, arguments[0], &actions, NULL,
                                  (char **)(uintptr_t)arguments, environ),
                     0);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(pair[1]);
    world->out = pair[0];
}

/* Everything that GDB printed until it ended. */
static void end_gdb(struct world *world)
{
    ssize_t size;
    int status;

    while ((size = read(world->out, world->text + world->text_size,
                        sizeof(world->text) - 1 - world->text_size)) > 0)
        world->text_size += (size_t)size;
    (void)close(world->out);
    assert_int_equal(waitpid(world->gdb, &status, 0), world->gdb);
}

static void expect_lines(struct world *world, const char *const *lines)
{
    const char *at = world->text;

    for (; *lines; lines++) {
        const char *const found = strstr(at, *lines);

        if (!found)
            (void)fputs(world->text, stderr);
        if (!found)
            fail_msg("there is no \"%s\" behind the line before", *lines);
        at = found + strlen(*lines);
    }
}

static void load_module(struct world *world)
{
    const struct zeta_plugin_debug_event event = {
        .struct_size = sizeof(event),
        .kind = ZETA_PLUGIN_DEBUG_MODULE_LOADED,
        .u.module = {.image_begin = DEBUG_IMAGE,
                     .image_end = DEBUG_IMAGE + world->image_bytes,
                     .load = DEBUG_CODE,
                     .cookie = 7}};

    world->control->push(&event);
}

static void wait_for_acknowledge(struct world *world)
{
    while (world->control->counts().acknowledges == 0)
        (void)usleep(1000);
}

static void gdb__pending_breakpoint__resolves_stops_and_steps(void **state)
{
    struct world *const world = *state;
    static const char *const commands[] = {"break straight",
                                           "continue",
                                           "info threads",
                                           "p $local_x",
                                           "p values",
                                           "p/x $frm",
                                           "set var values[0] = 7",
                                           "p values[0]",
                                           "delete",
                                           "next",
                                           "next",
                                           "stepi",
                                           "info registers pc",
                                           "thread 2",
                                           "p $_thread",
                                           "info sharedlibrary",
                                           "detach",
                                           NULL};
    static const char *const lines[] = {
        "Breakpoint 1 (straight) pending.",
        "hit Breakpoint 1, straight (values=0x10020)",
        "Thread 1.1 \"control\"",
        "Thread 1.2 \"0.0.0.0 group 0,0,0 local 0,0,0\" straight (values=",
        "Thread 1.3 \"0.0.0.1 group 0,0,0 local 1,0,0\" straight (values=",
        "Thread 1.4 \"0.0.0.2 group 0,0,0 local 2,0,0\" straight (values=",
        "$1 = 0\n",
        "$2 = (int *) 0x10020\n",
        "$3 = 0x0\n",
        "$4 = 7\n",
        "seen = 2;",
        "seen = 3;",
        "<straight+",
        "$5 = 2\n",
        "Yes",
        "module-0.elf",
        "[Inferior 1 (process 1) detached]",
        NULL};

    start_gdb(world, commands);
    load_module(world);
    wait_for_acknowledge(world);
    world->control->memory()[192 - 24] = 0x20; /* values, as the function finds it */
    world->control->memory()[192 - 22] = 0x01;
    world->control->launch(0, 3, world->straight);
    end_gdb(world);
    expect_lines(world, lines);
}

SUITE(gdb)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gdb__pending_breakpoint__resolves_stops_and_steps, start,
                                        finish),
    };

    if (system("gdb-multiarch --version >/dev/null 2>&1") != 0) {
        (void)puts("skipped: there is no gdb-multiarch");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
