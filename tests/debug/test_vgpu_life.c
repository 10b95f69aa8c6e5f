/* Debugging a process on the virtual GPU: attaching, events and images, the end of either side. */
#include <errno.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debuggee.h"
#include "plugins/vgpu/debug/protocol.h"
#include "tests/forked.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static void expect_quiet(zet_debug_session_handle_t session)
{
    zet_debug_event_t event;

    EXPECT_RESULT(zetDebugReadEvent(session, 0, &event), ZE_RESULT_NOT_READY);
}

/* The image that an event names. */
static void expect_image(zet_debug_session_handle_t session, const zet_debug_event_t *event,
                         zet_debug_memory_space_type_t space)
{
    const zet_debug_memory_space_desc_t desc = {
        .stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
        .type = space,
        .address = event->info.module.moduleBegin,
    };
    const size_t size = event->info.module.moduleEnd - event->info.module.moduleBegin;

    /* The layer does not know the space of images. */
    if (space == ZET_DEBUG_MEMORY_SPACE_TYPE_ELF && harness_mode() & HARNESS_VALIDATION)
        return;
    FILE *file = fopen(DEBUG_KERNELS, "rb");
    char *got = malloc(size), *wanted = malloc(size);

    assert_non_null(file);
    assert_int_equal(fread(wanted, 1, size, file), size);
    assert_int_equal(fgetc(file), EOF);
    (void)fclose(file);
    EXPECT_OK(zetDebugReadMemory(session, everything, &desc, size, got));
    assert_memory_equal(got, wanted, size);
    free(got);
    free(wanted);
}

/* Rules 27.4, 27.5, 27.18. */
static void life__attached_before_the_first_queue__all_events_in_order(void **state)
{
    struct debuggee d = debuggee_start();
    zet_debug_session_handle_t session = debugger_attach(d.pid);
    zet_debug_event_t load, unload;

    (void)state;
    expect_quiet(session);
    for (unsigned i = 0; i < 3; i++) {
        (void)debuggee_do(&d, DEBUGGEE_QUEUE, 0);
        (void)debugger_expect(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
        (void)debuggee_do(&d, DEBUGGEE_IMMEDIATE, 0);
        debuggee_tell(&d, DEBUGGEE_MODULE, 0);
        load = debugger_expect(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
        assert_int_equal(load.flags, ZET_DEBUG_EVENT_FLAG_NEED_ACK);
        expect_image(session, &load, ZET_DEBUG_MEMORY_SPACE_TYPE_ELF);
        expect_image(session, &load, ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT);
        assert_false(debuggee_answered(&d));
        EXPECT_OK(zetDebugAcknowledgeEvent(session, &load));
        EXPECT_RESULT(zetDebugAcknowledgeEvent(session, &load), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        (void)debuggee_hear(&d);
        (void)debuggee_do(&d, DEBUGGEE_MODULE_DESTROY, 0);
        unload = debugger_expect(session, ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD);
        assert_int_equal(unload.info.module.load, load.info.module.load);
        assert_int_equal(unload.info.module.moduleBegin, load.info.module.moduleBegin);
        expect_image(session, &unload, ZET_DEBUG_MEMORY_SPACE_TYPE_ELF);
        (void)debuggee_do(&d, DEBUGGEE_QUEUE_DESTROY, 0);
        expect_quiet(session);
        (void)debuggee_do(&d, DEBUGGEE_QUEUE_DESTROY, 0);
        (void)debugger_expect(session, ZET_DEBUG_EVENT_TYPE_PROCESS_EXIT);
    }
    EXPECT_OK(zetDebugDetach(session));
    debuggee_finish(&d);
}

/* Rule 27.4. */
static void life__attached_late__queues_and_living_modules_come_first(void **state)
{
    struct debuggee d = debuggee_start();
    zet_debug_session_handle_t session;
    zet_debug_event_t load;

    (void)state;
    (void)debuggee_do(&d, DEBUGGEE_MODULE, 0);
    (void)debuggee_do(&d, DEBUGGEE_MODULE, 0);
    (void)debuggee_do(&d, DEBUGGEE_MODULE_DESTROY, 0);
    (void)debuggee_do(&d, DEBUGGEE_QUEUE, 0);
    (void)debuggee_do(&d, DEBUGGEE_QUEUE, 0);
    session = debugger_attach(d.pid);
    (void)debugger_expect(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    load = debugger_expect(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    assert_int_equal(load.flags, 0);
    expect_image(session, &load, ZET_DEBUG_MEMORY_SPACE_TYPE_ELF);
    expect_quiet(session);
    EXPECT_OK(zetDebugDetach(session));
    debuggee_finish(&d);
}

/* Rule 27.3. */
static void life__attached_a_thousand_times__process_works_on(void **state)
{
    struct debuggee d = debuggee_start();

    (void)state;
    (void)debuggee_do(&d, DEBUGGEE_QUEUE, 0);
    (void)debuggee_do(&d, DEBUGGEE_MODULE, 0);
    for (unsigned i = 0; i < 1000; i++) {
        /* That the last one is gone is known before the next one is admitted. */
        zet_debug_session_handle_t session = debugger_attach(d.pid);

        (void)debugger_expect(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
        (void)debugger_expect(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
        EXPECT_OK(zetDebugDetach(session));
    }
    (void)debuggee_do(&d, DEBUGGEE_LAUNCH, DEBUGGEE_LOCAL);
    assert_int_equal(debuggee_do(&d, DEBUGGEE_WAIT, 0), ZE_RESULT_SUCCESS);
    assert_int_equal(debuggee_do(&d, DEBUGGEE_READ_FLAG, 0), 0x1005);
    debuggee_finish(&d);
}

/* Rule 27.2: who is refused, and what it is told. */
static void attach__impossible__result_and_sentence(void **state)
{
    struct debuggee d = debuggee_start_bare();
    zet_debug_session_handle_t session = (zet_debug_session_handle_t)&d, first;
    char text[64];

    (void)state;
    EXPECT_RESULT(debugger_try(4000000, &session), ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("there is no process 4000000");
    assert_null(session);
    EXPECT_RESULT(debugger_try(d.pid, &session), ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("ZET_ENABLE_PROGRAM_DEBUGGING=1");
    (void)debuggee_do(&d, DEBUGGEE_INIT, 0);
    EXPECT_RESULT(debugger_try(d.pid, &session), ZE_RESULT_ERROR_NOT_AVAILABLE);
    debuggee_finish(&d);

    d = debuggee_start();
    first = debugger_attach(d.pid);
    EXPECT_RESULT(debugger_try(d.pid, &session), ZE_RESULT_ERROR_NOT_AVAILABLE);
    (void)snprintf(text, sizeof(text), "process %d debugs", (int)getpid());
    expect_sentence(text);
    assert_null(session);
    EXPECT_OK(zetDebugDetach(first));
    debuggee_kill(&d);
    EXPECT_RESULT(debugger_try(d.pid, &session), ZE_RESULT_ERROR_NOT_AVAILABLE);
}

/* Starts a program with this environment that does not use the library, and tries to attach. */
static void expect_too_early(const char *const *environment, const char *sentence)
{
    zet_debug_session_handle_t session;
    int ready[2];
    char letter;
    pid_t child;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ready), 0);
    child = fork_child();
    assert_cmp(child, >=, 0);
    if (child == 0) {
        (void)dup2(ready[1], 0);
        (void)dup2(ready[1], 1);
        (void)execle("/bin/sh", "sh", "-c", "echo; read wait", NULL,
                     (char *const *)(uintptr_t)environment);
        _exit(1);
    }
    assert_int_equal(read(ready[0], &letter, 1), 1);
    EXPECT_RESULT(debugger_try(child, &session), ZE_RESULT_NOT_READY);
    expect_sentence(sentence);
    (void)kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    (void)close(ready[0]);
    (void)close(ready[1]);
}

/* A program that began with the variable and has not come to the library; and one that shows no
 * environment, as one does whose execve() has not returned. */
static void attach__too_early__not_ready(void **state)
{
    static const char *const allowed[] = {"ZET_ENABLE_PROGRAM_DEBUGGING=1", NULL};
    static const char *const allowed_too[] = {"ZET_ENABLE_PROGRAM_DEBUGGING=0x2", NULL};

    (void)state;
    expect_too_early(allowed, "try again");
    expect_too_early(allowed_too, "try again");
    expect_too_early(allowed + 1, "has no environment");
}

/* Sockets that killed processes left in the folder, as a glob pattern finds them. */
static size_t count_sockets(pid_t pid)
{
    char pattern[1024];
    glob_t found;
    size_t count;

    (void)snprintf(pattern, sizeof(pattern), "%s/zeta-vgpu-debug-%d-*", getenv("XDG_RUNTIME_DIR"),
                   (int)pid);
    count = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

/*
 * Rule 27.16. Nobody else can open it; the next process that listens removes what dead ones left.
 * It may be that of another test, so that this one has a folder of its own.
 */
static void socket__of_a_process__private_and_not_left_behind(void **state)
{
    char *shared = strdup(getenv("XDG_RUNTIME_DIR"));
    char path[1024], folder[512];
    struct debuggee d, next;
    struct stat status;

    (void)state;
    (void)snprintf(folder, sizeof(folder), "%s/XXXXXX", shared);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("XDG_RUNTIME_DIR", folder, 1), 0);
    d = debuggee_start();
    (void)snprintf(path, sizeof(path), "%s/zeta-vgpu-debug-%d-vgpu0", getenv("XDG_RUNTIME_DIR"),
                   (int)d.pid);
    assert_int_equal(stat(path, &status), 0);
    assert_true(S_ISSOCK(status.st_mode));
    assert_int_equal(status.st_mode & 0777, 0600);
    debuggee_kill(&d);
    assert_int_equal(count_sockets(d.pid), 1);
    next = debuggee_start();
    assert_int_equal(count_sockets(d.pid), 0);
    assert_int_equal(count_sockets(next.pid), 1);
    debuggee_finish(&next);
    assert_int_equal(system("rm -r \"$XDG_RUNTIME_DIR\""), 0);
    assert_int_equal(setenv("XDG_RUNTIME_DIR", shared, 1), 0);
    free(shared);
}

/* A child that exits, which has all that its parent registered. */
static uint64_t run_child(ze_context_handle_t context, ze_device_handle_t device)
{
    const pid_t child = fork_runner();
    int status = 1;

    (void)context;
    (void)device;
    if (child == 0)
        exit(0);
    return waitpid(child, &status, 0) == child && status == 0;
}

/* Its own, and no other process's. */
static void socket__process_exits__removed(void **state)
{
    struct debuggee d = debuggee_start();
    const pid_t pid = d.pid;

    (void)state;
    assert_int_equal(debuggee_do(&d, DEBUGGEE_CALL, (uintptr_t)run_child), 1);
    assert_int_equal(count_sockets(pid), 1);
    debuggee_finish(&d);
    assert_int_equal(count_sockets(pid), 0);
}

/* Ids of processes are those of a container; a folder can be that of several. */
static void socket__of_a_process_that_cannot_be_seen__left_alone(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const pid_t gone = fork_child();
    struct debuggee d;

    (void)state;
    if (gone == 0)
        _exit(0);
    assert_int_equal(waitpid(gone, NULL, 0), gone);
    assert_int_equal(chdir(getenv("XDG_RUNTIME_DIR")), 0);
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "zeta-vgpu-debug-%d-vgpu0",
                   (int)gone);
    assert_int_equal(bind(file, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(file, 8), 0);
    d = debuggee_start();
    assert_int_equal(count_sockets(gone), 1);
    assert_int_equal(accept(file, NULL, NULL), -1);
    assert_int_equal(errno, EAGAIN);
    (void)close(file);
    debuggee_finish(&d);
    d = debuggee_start();
    assert_int_equal(count_sockets(gone), 0);
    debuggee_finish(&d);
}

/* Rule 27.23. */
static void start__debugger_is_the_parent__waits_until_it_attaches(void **state)
{
    struct debuggee d;
    struct pollfd answer = {.events = POLLIN};
    zet_debug_session_handle_t session = NULL;
    char wait[64];

    (void)state;
    (void)snprintf(wait, sizeof(wait), "%d:vgpu0", (int)getpid());
    assert_int_equal(setenv("ZETA_DEBUG_WAIT", wait, 1), 0);
    d = debuggee_start_bare();
    debuggee_tell(&d, DEBUGGEE_INIT, 1);
    while (count_sockets(d.pid) == 0)
        (void)usleep(1000);
    answer.fd = d.socket;
    assert_int_equal(poll(&answer, 1, 50), 0);
    session = debugger_attach(d.pid);
    (void)debuggee_hear(&d);
    EXPECT_OK(zetDebugDetach(session));
    debuggee_finish(&d);

    /* What has the variable and another parent does not wait, nor for another device. */
    assert_int_equal(setenv("ZETA_DEBUG_WAIT", "1:vgpu0", 1), 0);
    d = debuggee_start();
    debuggee_finish(&d);
    (void)snprintf(wait, sizeof(wait), "%d:vgpu1", (int)getpid());
    assert_int_equal(setenv("ZETA_DEBUG_WAIT", wait, 1), 0);
    d = debuggee_start();
    debuggee_finish(&d);
    assert_int_equal(unsetenv("ZETA_DEBUG_WAIT"), 0);
}

/* The debugger may have another folder than the process began with. */
static void attach__from_another_folder__finds_the_process(void **state)
{
    struct debuggee d = debuggee_start();
    char *folder = strdup(getenv("XDG_RUNTIME_DIR"));

    (void)state;
    assert_int_equal(setenv("XDG_RUNTIME_DIR", "/nowhere", 1), 0);
    EXPECT_OK(zetDebugDetach(debugger_attach(d.pid)));
    assert_int_equal(setenv("XDG_RUNTIME_DIR", folder, 1), 0);
    free(folder);
    debuggee_finish(&d);
}

/* Rule 27.20. A child of a process is one of its own: it listens when it is initialised. */
static void fork__of_a_debugged_process__is_debugged_by_itself(void **state)
{
    zet_debug_session_handle_t session, other;
    struct debuggee d;
    pid_t child;

    (void)state;
    if (NO_THREADS_AFTER_FORK)
        skip();
    d = debuggee_start();
    session = debugger_attach(d.pid);
    child = (pid_t)debuggee_do(&d, DEBUGGEE_FORK, 1);
    other = debugger_attach(child);
    EXPECT_OK(zetDebugDetach(other));
    (void)debuggee_do(&d, DEBUGGEE_QUEUE, 0);
    (void)debugger_expect(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    EXPECT_OK(zetDebugDetach(session));
    (void)kill(child, SIGKILL);
    debuggee_finish(&d);
}

/* Rules 27.3, 27.18. */
static void detach__load_not_acknowledged__process_goes_on(void **state)
{
    struct debuggee d = debuggee_start();
    zet_debug_session_handle_t session = debugger_attach(d.pid);

    (void)state;
    debuggee_tell(&d, DEBUGGEE_MODULE, 0);
    (void)debugger_expect(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    EXPECT_OK(zetDebugDetach(session));
    (void)debuggee_hear(&d);
    debuggee_finish(&d);
}

/* A child that attaches; it says when it has the load, and waits for its death. */
static pid_t start_debugger(pid_t pid)
{
    int ready[2];
    char letter;
    pid_t child;

    assert_int_equal(pipe(ready), 0);
    child = fork_child();
    assert_cmp(child, >=, 0);
    if (child == 0) {
        zet_debug_session_handle_t session = debugger_attach(pid);

        (void)debugger_expect(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
        /* Somebody else has its descriptors still. */
        if (fork_runner() == 0)
            (void)pause();
        (void)!write(ready[1], "x", 1);
        (void)pause();
        _exit(0);
    }
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], &letter, 1), 1);
    (void)close(ready[0]);
    return child;
}

/* Rule 27.3. */
static void debugger__killed__counts_as_detached(void **state)
{
    struct debuggee d = debuggee_start();
    zet_debug_session_handle_t session;
    pid_t debugger;

    (void)state;
    debuggee_tell(&d, DEBUGGEE_MODULE, 0);
    (void)debuggee_hear(&d);
    debugger = start_debugger(d.pid);
    debuggee_tell(&d, DEBUGGEE_MODULE, 0);
    assert_int_equal(kill(debugger, SIGKILL), 0);
    assert_int_equal(waitpid(debugger, NULL, 0), debugger);
    (void)debuggee_hear(&d);
    session = debugger_attach(d.pid);
    (void)debugger_expect(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    (void)debugger_expect(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    EXPECT_OK(zetDebugDetach(session));
    debuggee_finish(&d);
}

/* Rule 27.11; its child has its descriptors still. */
static void debuggee__killed__detached_is_the_last_event(void **state)
{
    struct debuggee d = debuggee_start();
    zet_debug_session_handle_t session = debugger_attach(d.pid);
    zet_debug_event_t event;
    uint64_t child;

    (void)state;
    child = debuggee_do(&d, DEBUGGEE_FORK, 0);
    (void)debuggee_do(&d, DEBUGGEE_QUEUE, 0);
    debuggee_kill(&d);
    (void)debugger_expect(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    event = debugger_expect(session, ZET_DEBUG_EVENT_TYPE_DETACHED);
    assert_int_equal(event.info.detached.reason, ZET_DEBUG_DETACH_REASON_HOST_EXIT);
    EXPECT_RESULT(zetDebugInterrupt(session, everything), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_OK(zetDebugDetach(session));
    (void)kill((pid_t)child, SIGKILL);
}

/* An exit is an end too, with what comes before it. */
static void debuggee__exits__events_and_then_detached(void **state)
{
    struct debuggee d = debuggee_start();
    zet_debug_session_handle_t session = debugger_attach(d.pid);

    (void)state;
    (void)debuggee_do(&d, DEBUGGEE_QUEUE, 0);
    debuggee_finish(&d);
    (void)debugger_expect(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    (void)debugger_expect(session, ZET_DEBUG_EVENT_TYPE_DETACHED);
    EXPECT_OK(zetDebugDetach(session));
}

/* Rule 27.19. A debuggee under SIGSTOP is waited for by calls, and not for ever by an attach. */
static void debuggee__stopped__calls_wait_and_attaching_does_not(void **state)
{
    struct debuggee d = debuggee_start();
    zet_debug_session_handle_t session;
    uint32_t number = 0;
    uint64_t flag;
    int status;

    (void)state;
    flag = debuggee_do(&d, DEBUGGEE_FLAG, 0);
    assert_int_equal(kill(d.pid, SIGSTOP), 0);
    assert_int_equal(waitpid(d.pid, &status, WUNTRACED), d.pid);
    EXPECT_RESULT(debugger_try(d.pid, &session), ZE_RESULT_NOT_READY);
    expect_sentence("CONT");
    assert_int_equal(kill(d.pid, SIGCONT), 0);
    session = debugger_attach(d.pid);
    assert_int_equal(kill(d.pid, SIGSTOP), 0);
    assert_int_equal(waitpid(d.pid, &status, WUNTRACED), d.pid);
    if (fork_child() == 0) {
        await_sleep(getppid());
        _exit(kill(d.pid, SIGCONT));
    }
    number = 1;
    debugger_read(session, flag, sizeof(number), &number);
    assert_int_equal(number, 0);
    EXPECT_OK(zetDebugDetach(session));
    debuggee_finish(&d);
    (void)wait(&status);
}

/* Connects to the socket of a process as anybody could, and takes the greeting. */
static int connect_raw(pid_t pid)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct zeta_vgpu_debug_header header;
    struct zeta_vgpu_debug_greeting greeting;
    const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    /* The whole path is longer than an address. */
    assert_int_equal(chdir(getenv("XDG_RUNTIME_DIR")), 0);
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "zeta-vgpu-debug-%d-vgpu0",
                   (int)pid);
    assert_int_equal(connect(file, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(recv(file, &header, sizeof(header), MSG_WAITALL), sizeof(header));
    assert_int_equal(header.kind, ZETA_VGPU_DEBUG_GREETING);
    assert_int_equal(header.result, 0);
    assert_int_equal(recv(file, &greeting, sizeof(greeting), MSG_WAITALL), sizeof(greeting));
    return file;
}

/* Rule 27.19. Those who gave up stand in line still. */
static void attach__to_a_stopped_process_again_and_again__not_ready(void **state)
{
    struct debuggee d = debuggee_start();
    zet_debug_session_handle_t session;
    int files[16];
    int status;

    (void)state;
    assert_int_equal(kill(d.pid, SIGSTOP), 0);
    assert_int_equal(waitpid(d.pid, &status, WUNTRACED), d.pid);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};

        assert_int_equal(chdir(getenv("XDG_RUNTIME_DIR")), 0);
        (void)snprintf(address.sun_path, sizeof(address.sun_path), "zeta-vgpu-debug-%d-vgpu0",
                       (int)d.pid);
        files[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)connect(files[i], (struct sockaddr *)&address, sizeof(address));
    }
    EXPECT_RESULT(debugger_try(d.pid, &session), ZE_RESULT_NOT_READY);
    expect_sentence("CONT");
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        (void)close(files[i]);
    assert_int_equal(kill(d.pid, SIGCONT), 0);
    while (debugger_try(d.pid, &session) == ZE_RESULT_NOT_READY)
        ;
    assert_non_null(session);
    EXPECT_OK(zetDebugDetach(session));
    debuggee_finish(&d);
}

/* Requests that no debugger of ours would send are answered with a failure; what is no request
 * ends the connection; the process does not mind. */
static void target__hostile_debugger__refuses_and_lives(void **state)
{
    enum { REGISTERS = ZETA_VGPU_DEBUG_REGISTERS_WRITE };
    struct debuggee d = debuggee_start();
    const struct zeta_vgpu_debug_header bad[] = {
        {.kind = ZETA_VGPU_DEBUG_ACKNOWLEDGE},
        {.kind = ZETA_VGPU_DEBUG_ACKNOWLEDGE, .arguments = {99}},
        {.kind = ZETA_VGPU_DEBUG_MEMORY_READ, .thread = ANY, .arguments = {0, 0, 1u << 20}},
        {.kind = ZETA_VGPU_DEBUG_MEMORY_READ, .thread = ANY, .arguments = {0, 0, UINT64_MAX}},
        {.kind = ZETA_VGPU_DEBUG_MEMORY_READ, .thread = ANY, .arguments = {77, 0, 4}},
        {.kind = ZETA_VGPU_DEBUG_MEMORY_READ, .thread = ANY, .arguments = {1, 0, 4}},
        {.kind = ZETA_VGPU_DEBUG_MEMORY_READ, .thread = 3, .arguments = {1, 0, 4}},
        {.kind = ZETA_VGPU_DEBUG_MEMORY_CHECK, .thread = ANY, .arguments = {0, 1, UINT64_MAX}},
        {.kind = ZETA_VGPU_DEBUG_MEMORY_CHECK, .thread = ANY, .arguments = {2, 0, 1}},
        {.kind = REGISTERS, .bytes = 4, .thread = ANY, .arguments = {4, 0, 1}},
        {.kind = REGISTERS, .bytes = 8, .thread = 3, .arguments = {0x10001, 0, 1}},
        {.kind = REGISTERS, .bytes = 16, .arguments = {0x10001, 30, 2}},
        {.kind = REGISTERS, .bytes = 16, .arguments = {0x10001, UINT64_MAX, 2}},
        {.kind = REGISTERS, .bytes = 8, .arguments = {0x10001, 1, UINT64_MAX}},
        {.kind = REGISTERS, .bytes = 8, .arguments = {4711, 0, 1}},
    };
    struct zeta_vgpu_debug_header answer;
    uint8_t noise[4096];
    int file;

    (void)state;
    (void)debuggee_do(&d, DEBUGGEE_QUEUE, 0);
    (void)debuggee_do(&d, DEBUGGEE_QUEUE_DESTROY, 0);
    file = connect_raw(d.pid);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const size_t bytes = sizeof(bad[i]) + bad[i].bytes;

        memset(noise, 0, sizeof(noise));
        memcpy(noise, &bad[i], sizeof(bad[i]));
        assert_int_equal(send(file, noise, bytes, 0), bytes);
        assert_int_equal(recv(file, &answer, sizeof(answer), MSG_WAITALL), sizeof(answer));
        assert_int_equal(answer.kind, ZETA_VGPU_DEBUG_ANSWER);
        assert_int_not_equal(answer.result, 0);
        assert_int_equal(answer.bytes, 0);
    }
    memset(noise, 0xff, sizeof(noise));
    assert_int_equal(send(file, noise, sizeof(noise), MSG_NOSIGNAL), sizeof(noise));
    assert_true(recv(file, noise, sizeof(noise), 0) <= 0);
    (void)close(file);

    file = connect_raw(d.pid);
    (void)close(file);
    (void)debuggee_do(&d, DEBUGGEE_QUEUE, 0);
    debuggee_finish(&d);
}

/* A debugger that asks without end, and reads the answers. */
static void ask_without_end(int file)
{
    const struct zeta_vgpu_debug_header request = {.kind = ZETA_VGPU_DEBUG_ACKNOWLEDGE};
    static struct zeta_vgpu_debug_header requests[512];
    static char answers[1 << 16];
    size_t sent = 0;

    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
        requests[i] = request;
    for (;;) {
        const ssize_t more = send(file, (char *)requests + sent, sizeof(requests) - sent,
                                  MSG_DONTWAIT | MSG_NOSIGNAL);

        if (more < 0 && errno != EAGAIN)
            _exit(0);
        sent = more > 0 ? (sent + (size_t)more) % sizeof(requests) : sent;
        (void)!recv(file, answers, sizeof(answers), MSG_DONTWAIT);
    }
}

/* Neither who else wants to attach has to wait, nor the end of the process. */
static void target__asked_without_end__refuses_others_and_ends(void **state)
{
    struct debuggee d = debuggee_start();
    zet_debug_session_handle_t session;
    int file, status;
    pid_t asker;

    (void)state;
    (void)debuggee_do(&d, DEBUGGEE_QUEUE, 0);
    (void)debuggee_do(&d, DEBUGGEE_QUEUE_DESTROY, 0);
    file = connect_raw(d.pid);
    asker = fork_child();
    if (asker == 0)
        ask_without_end(file);
    (void)close(file);
    EXPECT_RESULT(debugger_try(d.pid, &session), ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("already");
    debuggee_finish(&d);
    assert_int_equal(waitpid(asker, &status, 0), asker);
    assert_int_equal(status, 0);
}

/* Rule 27.12. Any alignment, large and small; what is not there leaves the buffer alone. */
static void memory__of_the_process__read_and_written_or_refused(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer does not know the space of images");
    struct debuggee d = debuggee_start();
    zet_debug_session_handle_t session = debugger_attach(d.pid);
    const uint64_t flag = debuggee_do(&d, DEBUGGEE_FLAG, 0);
    zet_debug_memory_space_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC};
    const char pattern[] = "unaligned";
    char bytes[64], text[40];

    (void)state;
    debugger_write(session, flag + 7, sizeof(pattern), pattern);
    debugger_read(session, flag, sizeof(bytes), bytes);
    assert_memory_equal(bytes + 7, pattern, sizeof(pattern));
    assert_int_equal(bytes[6], 0);
    desc.address = flag + 4096 - 8;
    memset(bytes, 0x5a, sizeof(bytes));
    EXPECT_RESULT(zetDebugReadMemory(session, everything, &desc, sizeof(bytes), bytes),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    (void)snprintf(text, sizeof(text), "no such memory at 0x%" PRIx64, flag + 4096);
    expect_sentence(text);
    assert_int_equal(bytes[0], 0x5a);
    desc.address = flag;
    EXPECT_RESULT(zetDebugReadMemory(session, everything, &desc, (size_t)1 << 62, bytes),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_int_equal(bytes[0], 0x5a);
    desc.address = 16;
    EXPECT_RESULT(zetDebugWriteMemory(session, everything, &desc, 4, bytes),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    desc.type = ZET_DEBUG_MEMORY_SPACE_TYPE_ELF;
    desc.address = flag;
    EXPECT_RESULT(zetDebugReadMemory(session, everything, &desc, 4, bytes),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_RESULT(zetDebugWriteMemory(session, everything, &desc, 4, bytes),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_OK(zetDebugDetach(session));
    debuggee_finish(&d);
}

/* What neither kernels nor the program may write, a debugger writes nevertheless. */
static void memory__mapped_read_only__written(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer wants an address to reserve");
    struct debuggee d = debuggee_start();
    zet_debug_session_handle_t session = debugger_attach(d.pid);
    const uint64_t address = debuggee_do(&d, DEBUGGEE_READ_ONLY, 0);
    const char text[] = "on both sides of the border";
    char got[sizeof(text)];

    (void)state;
    debugger_write(session, address + 1, sizeof(text), text);
    debugger_read(session, address + 1, sizeof(got), got);
    assert_string_equal(got, text);
    debugger_write(session, address - 7, sizeof(text), text);
    debugger_read(session, address - 7, sizeof(got), got);
    assert_string_equal(got, text);
    EXPECT_OK(zetDebugDetach(session));
    debuggee_finish(&d);
}

SUITE(vgpu_life)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(life__attached_before_the_first_queue__all_events_in_order),
        cmocka_unit_test(life__attached_late__queues_and_living_modules_come_first),
        cmocka_unit_test(life__attached_a_thousand_times__process_works_on),
        cmocka_unit_test(attach__impossible__result_and_sentence),
        cmocka_unit_test(attach__too_early__not_ready),
        cmocka_unit_test(socket__of_a_process__private_and_not_left_behind),
        cmocka_unit_test(socket__process_exits__removed),
        cmocka_unit_test(socket__of_a_process_that_cannot_be_seen__left_alone),
        cmocka_unit_test(start__debugger_is_the_parent__waits_until_it_attaches),
        cmocka_unit_test(attach__from_another_folder__finds_the_process),
        cmocka_unit_test(fork__of_a_debugged_process__is_debugged_by_itself),
        cmocka_unit_test(detach__load_not_acknowledged__process_goes_on),
        cmocka_unit_test(debugger__killed__counts_as_detached),
        cmocka_unit_test(debuggee__killed__detached_is_the_last_event),
        cmocka_unit_test(debuggee__exits__events_and_then_detached),
        cmocka_unit_test(debuggee__stopped__calls_wait_and_attaching_does_not),
        cmocka_unit_test(attach__to_a_stopped_process_again_and_again__not_ready),
        cmocka_unit_test(target__hostile_debugger__refuses_and_lives),
        cmocka_unit_test(target__asked_without_end__refuses_others_and_ends),
        cmocka_unit_test(memory__of_the_process__read_and_written_or_refused),
        cmocka_unit_test(memory__mapped_read_only__written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
