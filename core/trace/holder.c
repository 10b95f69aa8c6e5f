#include "core/trace/holder.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/membarrier.h>

#define CACHE_LINE_BYTES 64

/* How many holders there may be before their owners are looked for. */
#define FIRST_LOOK 64

_Atomic bool zeta_trace_fenced = true;

static struct zeta_trace_holder *_Atomic first;
static _Atomic uint32_t holder_count;
static _Atomic uint32_t next_look = FIRST_LOOK;
static _Atomic uint32_t claims;

static uint64_t new_claim(void)
{
    return (uint64_t)(uint32_t)gettid() | (uint64_t)atomic_fetch_add(&claims, 1) << 32;
}

/*
 * False only if it is certain that the thread ended. Of a free holder nobody is the owner, although
 * it still holds what a thread left there that ended inside a call.
 */
static bool is_alive(uint64_t claim)
{
    return claim != 0 &&
           (syscall(SYS_tgkill, getpid(), (pid_t)(uint32_t)claim, 0) == 0 || errno != ESRCH);
}

static struct zeta_trace_holder *take(struct zeta_trace_holder *holder)
{
    uint64_t nobody = 0;

    if (!atomic_compare_exchange_strong(&holder->claim, &nobody, new_claim()))
        return NULL;
    zeta_trace_drop(holder);
    return holder;
}

static struct zeta_trace_holder *find_free(void)
{
    struct zeta_trace_holder *taken = NULL;

    for (struct zeta_trace_holder *holder = atomic_load(&first); holder && !taken;
         holder = holder->next) {
        if (atomic_load(&holder->claim) == 0)
            taken = take(holder);
    }
    return taken;
}

/*
 * Frees the holders of threads that ended; seldom enough to cost nothing in the mean. A new thread
 * can have the id of one that ended, whose holder then waits until the new one has ended too.
 */
static void look_for_the_dead(void)
{
    uint32_t alive = 0;

    for (struct zeta_trace_holder *holder = atomic_load(&first); holder; holder = holder->next) {
        uint64_t claim = atomic_load(&holder->claim);

        if (is_alive(claim))
            alive++;
        else
            (void)atomic_compare_exchange_strong(&holder->claim, &claim, 0);
    }
    atomic_store(&next_look, 2 * alive + FIRST_LOOK);
}

static struct zeta_trace_holder *make(void)
{
    struct zeta_trace_holder *holder = aligned_alloc(CACHE_LINE_BYTES, CACHE_LINE_BYTES);

    _Static_assert(sizeof(*holder) <= CACHE_LINE_BYTES, "a holder has a cache line of its own");
    if (!holder)
        return NULL;
    *holder = (struct zeta_trace_holder){.claim = new_claim(), .next = atomic_load(&first)};
    while (!atomic_compare_exchange_weak(&first, &holder->next, holder))
        ;
    atomic_fetch_add(&holder_count, 1);
    return holder;
}

struct zeta_trace_holder *zeta_trace_holder_claim(void)
{
    struct zeta_trace_holder *holder = find_free();

    if (!holder && atomic_load(&holder_count) >= atomic_load(&next_look)) {
        look_for_the_dead();
        holder = find_free();
    }
    return holder ? holder : make();
}

void zeta_trace_holder_release(struct zeta_trace_holder *holder)
{
    atomic_store(&holder->claim, 0);
}

static int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0U, 0);
}

void zeta_trace_barrier_init(void)
{
    if (atomic_load(&zeta_trace_fenced) &&
        membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0)
        atomic_store(&zeta_trace_fenced, false);
}

void zeta_trace_barrier(void)
{
    static const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};

    if (atomic_load(&zeta_trace_fenced) || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
        return;
    /*
     * The kernel took back what it gave (a filter of system calls was installed meanwhile). Calls
     * use fences from now on; those that saw the old value made their store long before this ends.
     */
    atomic_store(&zeta_trace_fenced, true);
    (void)nanosleep(&moment, NULL);
}

bool zeta_trace_is_held(const void *value)
{
    for (struct zeta_trace_holder *holder = atomic_load(&first); holder; holder = holder->next) {
        uint64_t claim = atomic_load(&holder->claim);

        if (atomic_load(&holder->held) == value && is_alive(claim))
            return true;
    }
    return false;
}

void zeta_trace_holders_forget(void)
{
    for (struct zeta_trace_holder *holder = atomic_load(&first); holder; holder = holder->next) {
        /* Behind what its owner did, also of one that ended unwatched. */
        (void)atomic_exchange(&holder->held, NULL);
        holder->more = NULL;
        holder->more_count = 0;
        atomic_store(&holder->claim, 0);
    }
    atomic_store(&next_look, FIRST_LOOK);
    atomic_store(&zeta_trace_fenced, true);
}
