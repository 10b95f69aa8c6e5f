/* A process with a timer whose signals come all the time uses the device as any other does. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host.h"

/*
 * As file systems in memory have it that end this at a signal: a timer that is faster than they are
 * never lets them come to the end.
 */
__attribute__((visibility("default"))) int posix_fallocate(int descriptor, off_t offset,
                                                           off_t length)
{
    int (*next)(int, off_t, off_t);
    sigset_t blocked;

    *(void **)&next = dlsym(RTLD_NEXT, "posix_fallocate");
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &blocked), 0);
    return sigismember(&blocked, SIGALRM) ? next(descriptor, offset, length) : EINTR;
}

static void instance__signals_all_the_time__is_made_and_joined(void **state)
{
    const struct zeta_plugin_queue_desc desc = {.struct_size = sizeof(desc)};
    struct zeta_plugin_queue *queue = NULL;
    struct host host;
    sigset_t blocked;

    (void)state;
    host_open(&host, NULL);
    assert_int_equal(host.compute->queue_create(host.self, host.device, &desc, &queue),
                     ZETA_PLUGIN_SUCCESS);
    host.compute->queue_destroy(host.self, queue);
    host_close(&host);
    /* They are let in again. */
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &blocked), 0);
    assert_false(sigismember(&blocked, SIGALRM));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instance__signals_all_the_time__is_made_and_joined),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
