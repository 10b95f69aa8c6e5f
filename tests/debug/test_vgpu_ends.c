/* Debugging a process on the virtual GPU: either side ends in the middle of a call, of each. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <zeta/vgpu_debug.h>

#include "debuggee.h"
#include "tests/forked.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum call {
    ATTACH,
    DETACH,
    READ_EVENT,
    ACKNOWLEDGE,
    INTERRUPT,
    RESUME,
    READ_MEMORY,
    WRITE_MEMORY,
    READ_REGISTERS,
    WRITE_REGISTERS,
    LIST_SETS,
    LIST_SETS_OF_THREAD,
    CALLS
};

/* What calls are made with: a thread that is stopped, and a module that waits to be acknowledged.
 */
struct scene {
    struct bench bench;
    ze_device_thread_t thread;
    zet_debug_event_t event;
};

static ze_result_t make_call(struct scene *scene, enum call call)
{
    const zet_debug_memory_space_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                                .address = scene->bench.flag + 64};
    zet_debug_session_handle_t *session = &scene->bench.session;
    ze_result_t result;
    uint64_t value = 0;
    uint32_t count = 0;

    switch (call) {
    case ATTACH:
        return debugger_try(scene->bench.debuggee.pid, session);
    case DETACH:
        result = zetDebugDetach(*session);
        *session = NULL;
        return result;
    case READ_EVENT:
        return zetDebugReadEvent(*session, UINT64_MAX, &scene->event);
    case ACKNOWLEDGE:
        return zetDebugAcknowledgeEvent(*session, &scene->event);
    case INTERRUPT:
        return zetDebugInterrupt(*session, everything);
    case RESUME:
        return zetDebugResume(*session, everything);
    case READ_MEMORY:
        return zetDebugReadMemory(*session, everything, &desc, 4, &value);
    case WRITE_MEMORY:
        return zetDebugWriteMemory(*session, scene->thread, &desc, 4, &value);
    case READ_REGISTERS:
        return zetDebugReadRegisters(*session, scene->thread, ZETA_VGPU_REGISTERS_F, 0, 1, &value);
    case WRITE_REGISTERS:
        return zetDebugWriteRegisters(*session, scene->thread, ZETA_VGPU_REGISTERS_F, 0, 1, &value);
    case LIST_SETS:
        return zetDebugGetRegisterSetProperties(debugger_device(), &count, NULL);
    default:
        return zetDebugGetThreadRegisterSetProperties(*session, scene->thread, &count, NULL);
    }
}

/*
 * Attaches and reads what is there already. Whoever had attached before is dead, and the process
 * finds that out before it looks at the next one.
 */
static void attach(struct bench *bench)
{
    bench->session = debugger_attach(bench->debuggee.pid);
    (void)debugger_expect(bench->session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    (void)debugger_expect(bench->session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
}

/* Stops the thread that spins, unless the call wants it to run. */
static void set_scene(struct scene *scene, enum call call)
{
    interrupt(&scene->bench);
    scene->thread = find_stopped(&scene->bench);
    if (call == INTERRUPT)
        EXPECT_OK(zetDebugResume(scene->bench.session, everything));
}

static void stop(const struct debuggee *debuggee)
{
    int status;

    assert_int_equal(kill(debuggee->pid, SIGSTOP), 0);
    assert_int_equal(waitpid(debuggee->pid, &status, WUNTRACED), debuggee->pid);
}

/* ---- a debugger is killed ------------------------------------------------------------------- */

static void say(int socket)
{
    assert_int_equal(send(socket, "x", 1, MSG_NOSIGNAL), 1);
}

static void hear(int socket)
{
    char letter;

    assert_int_equal(read(socket, &letter, 1), 1);
}

/* Makes a call again and again; others with it where it needs them. */
static void call_on_and_on(struct scene *scene, enum call call)
{
    zet_debug_event_t event;

    for (;;) {
        if (call == ATTACH || call == DETACH) {
            EXPECT_OK(make_call(scene, ATTACH));
            EXPECT_OK(make_call(scene, DETACH));
        } else if (call == INTERRUPT || call == RESUME) {
            EXPECT_OK(make_call(scene, INTERRUPT));
            EXPECT_OK(zetDebugReadEvent(scene->bench.session, UINT64_MAX, &event));
            EXPECT_OK(make_call(scene, RESUME));
        } else if (call == ACKNOWLEDGE) {
            EXPECT_OK(make_call(scene, READ_EVENT));
            if ((scene->event.flags & ZET_DEBUG_EVENT_FLAG_NEED_ACK) != 0)
                EXPECT_OK(make_call(scene, ACKNOWLEDGE));
        } else if (call == READ_EVENT) {
            EXPECT_RESULT(zetDebugReadEvent(scene->bench.session, 0, &event), ZE_RESULT_NOT_READY);
        } else {
            EXPECT_OK(make_call(scene, call));
        }
    }
}

/*
 * A child that makes a call, once it was told to: once, and waits then, or for ever. It says when
 * it is ready for a module to be acknowledged, when it is ready for the call, and when it makes it.
 */
static pid_t start_caller(const struct bench *bench, enum call call, bool once, int *out_socket)
{
    struct scene scene = {.bench = *bench};
    int sockets[2];
    pid_t child;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    child = fork_child();
    assert_cmp(child, >=, 0);
    *out_socket = sockets[0];
    if (child != 0) {
        (void)close(sockets[1]);
        return child;
    }
    if (call != ATTACH && (once || call != DETACH)) {
        attach(&scene.bench);
        set_scene(&scene, once || call != RESUME ? call : INTERRUPT);
    }
    say(sockets[1]);
    if (once && call == ACKNOWLEDGE)
        scene.event = debugger_expect(scene.bench.session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    say(sockets[1]);
    hear(sockets[1]);
    say(sockets[1]);
    if (!once)
        call_on_and_on(&scene, call);
    (void)make_call(&scene, call);
    for (;;)
        (void)pause();
}

static void end_caller(pid_t caller, int socket)
{
    int status;

    assert_int_equal(kill(caller, SIGKILL), 0);
    assert_int_equal(waitpid(caller, &status, 0), caller);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    (void)close(socket);
}

/* A program with a kernel that spins, and nobody attached. */
static struct bench start_program(void)
{
    struct bench bench = bench_start(0);

    spin(&bench);
    EXPECT_OK(zetDebugDetach(bench.session));
    return bench;
}

/* It works as if nobody had ever debugged it. */
static void end_program(struct bench *bench)
{
    attach(bench);
    end_spin(bench);
    bench_end(bench);
}

/* Rules 27.3, 27.19. The process is stopped, so the call is one that waits for its answer. */
static void debugger__killed_in_a_call_that_waits__next_one_attaches(void **state)
{
    struct bench b = start_program();

    (void)state;
    for (enum call call = ATTACH; call < CALLS; call++) {
        int socket;
        const pid_t caller = start_caller(&b, call, true, &socket);

        hear(socket);
        if (call == ACKNOWLEDGE)
            debuggee_tell(&b.debuggee, DEBUGGEE_MODULE, 0);
        hear(socket);
        stop(&b.debuggee);
        say(socket);
        hear(socket);
        await_sleep(caller);
        end_caller(caller, socket);
        assert_int_equal(kill(b.debuggee.pid, SIGCONT), 0);
        if (call == ACKNOWLEDGE) {
            (void)debuggee_hear(&b.debuggee);
            (void)debuggee_do(&b.debuggee, DEBUGGEE_MODULE_DESTROY, 0);
        }
        attach(&b);
        interrupt(&b);
        EXPECT_OK(zetDebugDetach(b.session));
    }
    end_program(&b);
}

/* Rule 27.3. At any moment: the process answers all the while. */
static void debugger__killed_at_any_moment_of_each_call__next_one_attaches(void **state)
{
    enum { MOMENTS = 4, LOADS = 8 };
    struct bench b = start_program();

    (void)state;
    for (unsigned i = 0; i < CALLS * MOMENTS; i++) {
        const struct timespec moment = {.tv_nsec = (i / CALLS) * 150000};
        const enum call call = (enum call)(i % CALLS);
        int socket;
        const pid_t caller = start_caller(&b, call, false, &socket);

        hear(socket);
        hear(socket);
        for (unsigned k = 0; call == ACKNOWLEDGE && k < LOADS; k++) {
            debuggee_tell(&b.debuggee, DEBUGGEE_MODULE, 0);
            debuggee_tell(&b.debuggee, DEBUGGEE_MODULE_DESTROY, 0);
        }
        say(socket);
        hear(socket);
        (void)nanosleep(&moment, NULL);
        end_caller(caller, socket);
        for (unsigned k = 0; call == ACKNOWLEDGE && k < 2 * LOADS; k++)
            (void)debuggee_hear(&b.debuggee);
        attach(&b);
        interrupt(&b);
        EXPECT_OK(zetDebugDetach(b.session));
    }
    end_program(&b);
}

/* ---- a debugged process ends ---------------------------------------------------------------- */

/* A process at which a call can be made. */
static struct scene start_scene(enum call call)
{
    struct scene scene = {.bench = bench_start(0)};

    spin(&scene.bench);
    set_scene(&scene, call);
    if (call == ACKNOWLEDGE) {
        debuggee_tell(&scene.bench.debuggee, DEBUGGEE_MODULE, 0);
        scene.event = debugger_expect(scene.bench.session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    } else if (call == ATTACH) {
        EXPECT_OK(zetDebugDetach(scene.bench.session));
    }
    return scene;
}

/* Rules 27.11 and 27.19: the registers are known already. */
static void debuggee__killed_in_each_call__result_that_says_so(void **state)
{
    static const ze_result_t expected[CALLS] = {
        [ATTACH] = ZE_RESULT_ERROR_NOT_AVAILABLE,
        [ACKNOWLEDGE] = ZE_RESULT_ERROR_DEVICE_LOST,
        [INTERRUPT] = ZE_RESULT_ERROR_DEVICE_LOST,
        [RESUME] = ZE_RESULT_ERROR_DEVICE_LOST,
        [READ_MEMORY] = ZE_RESULT_ERROR_DEVICE_LOST,
        [WRITE_MEMORY] = ZE_RESULT_ERROR_DEVICE_LOST,
        [READ_REGISTERS] = ZE_RESULT_SUCCESS,
        [WRITE_REGISTERS] = ZE_RESULT_ERROR_DEVICE_LOST,
    };

    (void)state;
    for (enum call call = ATTACH; call < CALLS; call++) {
        struct scene scene = start_scene(call);
        zet_debug_session_handle_t *session = &scene.bench.session;
        pid_t killer;
        int status;

        stop(&scene.bench.debuggee);
        killer = fork_child();
        if (killer == 0) {
            await_sleep(getppid());
            _exit(kill(scene.bench.debuggee.pid, SIGKILL));
        }
        EXPECT_RESULT(make_call(&scene, call), expected[call]);
        assert_int_equal(waitpid(killer, &status, 0), killer);
        assert_int_equal(status, 0);
        if (call == READ_EVENT)
            assert_int_equal(scene.event.type, ZET_DEBUG_EVENT_TYPE_DETACHED);
        else if (call != ATTACH && call != DETACH)
            (void)debugger_expect(*session, ZET_DEBUG_EVENT_TYPE_DETACHED);
        if (call != ATTACH && call != DETACH && call != LIST_SETS)
            EXPECT_RESULT(make_call(&scene, call), ZE_RESULT_ERROR_DEVICE_LOST);
        if (call != ATTACH && call != DETACH)
            EXPECT_OK(zetDebugDetach(*session));
        debuggee_kill(&scene.bench.debuggee);
    }
}

/* The results that a call may have while its process ends. */
static bool is_result_at_an_end(enum call call, ze_result_t result)
{
    if (result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_DEVICE_LOST)
        return true;
    if (call == ACKNOWLEDGE)
        return result == ZE_RESULT_ERROR_INVALID_ARGUMENT; /* the second time */
    if (call == INTERRUPT)
        return result == ZE_RESULT_NOT_READY || result == ZE_RESULT_ERROR_NOT_AVAILABLE;
    return call == RESUME && result == ZE_RESULT_ERROR_NOT_AVAILABLE;
}

/* Rule 27.11. It exits while the call is made again and again, until the last event is there. */
static void debuggee__exits_in_each_call__events_end_with_detached(void **state)
{
    (void)state;
    for (enum call call = READ_EVENT; call < CALLS; call++) {
        struct scene scene = start_scene(call);
        zet_debug_event_t event = {.type = ZET_DEBUG_EVENT_TYPE_INVALID};

        debuggee_tell(&scene.bench.debuggee, DEBUGGEE_FINISH, 0);
        while (event.type != ZET_DEBUG_EVENT_TYPE_DETACHED) {
            const ze_result_t result = make_call(&scene, call);

            if (!is_result_at_an_end(call, result))
                fail_msg("call %d: 0x%08x", (int)call, (unsigned)result);
            if (call == READ_EVENT)
                event = scene.event;
            else
                (void)zetDebugReadEvent(scene.bench.session, 0, &event);
        }
        EXPECT_OK(zetDebugDetach(scene.bench.session));
        debuggee_kill(&scene.bench.debuggee);
    }
}

/* Rule 27.2. */
static void debuggee__exits_while_it_is_attached_to__not_available(void **state)
{
    struct scene scene = start_scene(ATTACH);
    ze_result_t result = ZE_RESULT_SUCCESS;

    (void)state;
    debuggee_tell(&scene.bench.debuggee, DEBUGGEE_FINISH, 0);
    while (result != ZE_RESULT_ERROR_NOT_AVAILABLE) {
        result = make_call(&scene, ATTACH);
        if (result == ZE_RESULT_SUCCESS)
            EXPECT_OK(make_call(&scene, DETACH));
        else
            assert_int_equal(result, ZE_RESULT_ERROR_NOT_AVAILABLE);
    }
    debuggee_kill(&scene.bench.debuggee);
}

/* Rule 27.11. A thread that goes on may end the process at once; the call that let it has
 * succeeded. */
static void resume__ends_the_process__success(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        struct scene scene = start_scene(RESUME);
        const uint32_t zero = 0;

        debugger_write(scene.bench.session, scene.bench.flag, sizeof(zero), &zero);
        debuggee_tell(&scene.bench.debuggee, DEBUGGEE_WAIT_AND_VANISH, 0);
        EXPECT_OK(make_call(&scene, RESUME));
        (void)debugger_expect(scene.bench.session, ZET_DEBUG_EVENT_TYPE_DETACHED);
        EXPECT_OK(zetDebugDetach(scene.bench.session));
        debuggee_kill(&scene.bench.debuggee);
    }
}

/* Rule 27.11. The same for the process's own thread. */
static void acknowledge__ends_the_process__success(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        struct debuggee d = debuggee_start();
        zet_debug_session_handle_t session = debugger_attach(d.pid);
        zet_debug_event_t load;

        debuggee_tell(&d, DEBUGGEE_LOAD_AND_VANISH, 0);
        load = debugger_expect(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
        EXPECT_OK(zetDebugAcknowledgeEvent(session, &load));
        (void)debugger_expect(session, ZET_DEBUG_EVENT_TYPE_DETACHED);
        EXPECT_OK(zetDebugDetach(session));
        debuggee_kill(&d);
    }
}

SUITE(vgpu_ends)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(debugger__killed_in_a_call_that_waits__next_one_attaches),
        cmocka_unit_test(debugger__killed_at_any_moment_of_each_call__next_one_attaches),
        cmocka_unit_test(debuggee__killed_in_each_call__result_that_says_so),
        cmocka_unit_test(debuggee__exits_in_each_call__events_end_with_detached),
        cmocka_unit_test(debuggee__exits_while_it_is_attached_to__not_available),
        cmocka_unit_test(resume__ends_the_process__success),
        cmocka_unit_test(acknowledge__ends_the_process__success),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
