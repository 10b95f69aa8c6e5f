#include "core/trace/hazard.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/membarrier.h>

#define CACHE_LINE_BYTES 64

/* How many hazard pointers there may be before those of ended threads are searched. */
#define FIRST_SEARCH 64

_Atomic bool zeta_hazard_fenced = true;

static struct zeta_hazard *_Atomic first;
static _Atomic uint32_t hazard_count;
static _Atomic uint32_t next_search = FIRST_SEARCH;
static _Atomic uint32_t claims;

static uint64_t new_claim(void)
{
    return (uint64_t)(uint32_t)gettid() | (uint64_t)atomic_fetch_add(&claims, 1) << 32;
}

/*
 * False only if it is certain that the thread ended. A free hazard pointer has no owner, although
 * it still names what a thread left there that ended inside a call.
 */
static bool is_alive(uint64_t claim)
{
    return claim != 0 &&
           (syscall(SYS_tgkill, getpid(), (pid_t)(uint32_t)claim, 0) == 0 || errno != ESRCH);
}

static struct zeta_hazard *find_free(void)
{
    for (struct zeta_hazard *hazard = atomic_load(&first); hazard; hazard = hazard->next) {
        uint64_t nobody = 0;

        if (atomic_load(&hazard->claim) == 0 &&
            atomic_compare_exchange_strong(&hazard->claim, &nobody, new_claim())) {
            zeta_hazard_clear(hazard);
            return hazard;
        }
    }
    return NULL;
}

/*
 * Frees hazard pointers of threads that ended; seldom enough to cost nothing in the mean. A new
 * thread can have the id of one that ended, whose hazard pointer is then freed when the new one has
 * ended too.
 */
static void free_of_ended_threads(void)
{
    uint32_t alive = 0;

    for (struct zeta_hazard *hazard = atomic_load(&first); hazard; hazard = hazard->next) {
        uint64_t claim = atomic_load(&hazard->claim);

        if (is_alive(claim))
            alive++;
        else
            (void)atomic_compare_exchange_strong(&hazard->claim, &claim, 0);
    }
    atomic_store(&next_search, 2 * alive + FIRST_SEARCH);
}

struct zeta_hazard *zeta_hazard_claim(void)
{
    struct zeta_hazard *hazard = find_free();

    if (!hazard && atomic_load(&hazard_count) >= atomic_load(&next_search)) {
        free_of_ended_threads();
        hazard = find_free();
    }
    if (hazard)
        return hazard;
    _Static_assert(sizeof(*hazard) <= CACHE_LINE_BYTES, "a hazard has a cache line of its own");
    hazard = aligned_alloc(CACHE_LINE_BYTES, CACHE_LINE_BYTES);
    if (!hazard)
        return NULL;
    *hazard = (struct zeta_hazard){.claim = new_claim(), .next = atomic_load(&first)};
    while (!atomic_compare_exchange_weak(&first, &hazard->next, hazard))
        ;
    atomic_fetch_add(&hazard_count, 1);
    return hazard;
}

void zeta_hazard_release(struct zeta_hazard *hazard)
{
    atomic_store(&hazard->claim, 0);
}

static int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0U, 0);
}

void zeta_hazard_barrier_init(void)
{
    if (atomic_load(&zeta_hazard_fenced) &&
        membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0)
        atomic_store(&zeta_hazard_fenced, false);
}

void zeta_hazard_barrier(void)
{
    static const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};

    if (atomic_load(&zeta_hazard_fenced) || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
        return;
    /*
     * The kernel took back what it gave (a filter of system calls was installed meanwhile). Calls
     * use fences from now on; those that saw the old value made their store long before this ends.
     */
    atomic_store(&zeta_hazard_fenced, true);
    (void)nanosleep(&pause, NULL);
}

bool zeta_hazard_protects(const void *value)
{
    for (struct zeta_hazard *hazard = atomic_load(&first); hazard; hazard = hazard->next) {
        uint64_t claim = atomic_load(&hazard->claim);

        if (atomic_load(&hazard->value) == value && is_alive(claim))
            return true;
    }
    return false;
}

void zeta_hazards_forget(void)
{
    for (struct zeta_hazard *hazard = atomic_load(&first); hazard; hazard = hazard->next) {
        /* Ordered after what the owner did, also if it ended inside a call. */
        (void)atomic_exchange(&hazard->value, NULL);
        hazard->more = NULL;
        hazard->more_count = 0;
        atomic_store(&hazard->claim, 0);
    }
    atomic_store(&next_search, FIRST_SEARCH);
    atomic_store(&zeta_hazard_fenced, true);
}
