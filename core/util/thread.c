#include "core/util/thread.h"

#include <signal.h>
#include <string.h>

#include "core/util/error.h"

ze_result_t zeta_thread_start(const char *name, void *(*run)(void *context), void *context,
                              pthread_t *out_thread)
{
    sigset_t all;
    sigset_t before;
    int failure;

    /* A new thread inherits the mask, so no signal can slip in before it blocks them itself. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    failure = pthread_create(out_thread, NULL, run, context);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0)
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                          "The system gave no thread for %s (%s). Raise the limit of processes "
                          "(ulimit -u) or free memory.",
                          name, strerrordesc_np(failure));
    (void)pthread_setname_np(*out_thread, name);
    return ZE_RESULT_SUCCESS;
}
