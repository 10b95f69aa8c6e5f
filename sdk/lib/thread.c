#include <zeta/thread.h>

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

void zeta_sleep_until(uint64_t until_ns)
{
    const struct timespec until = zeta_clock_timespec(until_ns);
    const int slack_ns = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);

    /* The kernel adds 50 microseconds to each wait otherwise. */
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    if (slack_ns > 0)
        (void)prctl(PR_SET_TIMERSLACK, (unsigned long)slack_ns, 0UL, 0UL, 0UL);
}

void zeta_condition_init(pthread_cond_t *out_condition)
{
    pthread_condattr_t attributes;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(out_condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

int zeta_thread_start(pthread_t *out_thread, void *(*run)(void *argument), void *argument,
                      const char *name)
{
    sigset_t all, before;
    int error;

    (void)sigfillset(&all);
    error = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (error != 0)
        return error;
    error = pthread_create(out_thread, NULL, run, argument);
    if (error == 0)
        (void)pthread_setname_np(*out_thread, name);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
