#include "child.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/forked.h"
#include "tests/support/compare.h"

/* Children that nobody has waited for; more are only killed with their parent. */
static pid_t living[16];

/* Puts a process in the place of another one; 0 is none. */
static void note(pid_t old, pid_t new)
{
    for (size_t i = 0; i < sizeof(living) / sizeof(living[0]); i++) {
        if (living[i] != old)
            continue;
        living[i] = new;
        return;
    }
}

void child_say(int descriptor)
{
    if (write(descriptor, "x", 1) != 1)
        _exit(9);
}

bool child_hear(int descriptor)
{
    char letter;

    return read(descriptor, &letter, 1) == 1 && letter == 'x';
}

struct child child_start(child_fn function)
{
    int up[2], down[2];
    struct child child;

    assert_int_equal(pipe2(up, O_CLOEXEC), 0);
    assert_int_equal(pipe2(down, O_CLOEXEC), 0);
    child.pid = fork_child();
    assert_cmp(child.pid, >=, 0);
    if (child.pid == 0) {
        const struct child parent = {getppid(), down[0], up[1]};

        alarm(600);
        function(&parent);
        _exit(0);
    }
    note(0, child.pid);
    close(up[1]);
    close(down[0]);
    child.from = up[0];
    child.to = down[1];
    return child;
}

int child_end(struct child *child)
{
    int status = -1;

    /* Later children hold copies of the pipe, so closing it would not be heard. */
    (void)!write(child->to, "q", 1);
    close(child->to);
    close(child->from);
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    note(child->pid, 0);
    return status;
}

int child_teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(living) / sizeof(living[0]); i++) {
        if (living[i] == 0)
            continue;
        (void)kill(living[i], SIGKILL);
        (void)waitpid(living[i], NULL, 0);
        living[i] = 0;
    }
    return 0;
}
