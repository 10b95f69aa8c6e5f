#include "sdk/tools/zeta/sampling/session.h"

#include <string.h>

#include "sdk/tools/zeta/inventory/plugin_list.h"
#include "sdk/tools/zeta/output/message.h"
#include <zeta/clock.h>

static uint64_t shorter(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int read_streams(struct zeta_session *session)
{
    int status = zeta_sampler_read(&session->sampler);

    if (status == ZETA_EXIT_OK && session->after_read)
        status = session->after_read(session->user);
    return status;
}

static uint64_t pause_ns_of(const struct zeta_session *session)
{
    const uint64_t pause_ns = zeta_sampler_pause_ns(&session->sampler);

    return session->pause_limit_ns ? shorter(pause_ns, session->pause_limit_ns) : pause_ns;
}

/*
 * Reads until a condition of the streams holds, somebody asks to end or patience is at its end.
 * What counts are the pauses between reads: who stood still with the whole machine has not waited.
 */
static int read_until(struct zeta_session *session,
                      bool (*holds)(const struct zeta_session *, uint64_t), uint64_t argument,
                      uint64_t patience_ns, bool *out_holds)
{
    const uint64_t pause_ns =
        shorter(pause_ns_of(session), zeta_sampler_period_ns(&session->sampler) / 2 + 100000);
    const unsigned interrupts = session->child.interrupts;

    for (uint64_t waited_ns = 0;; waited_ns += pause_ns) {
        if (read_streams(session) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        *out_holds = holds(session, argument);
        if (*out_holds || session->child.interrupts > interrupts || waited_ns > patience_ns)
            return ZETA_EXIT_OK;
        zeta_child_wait(&session->child, pause_ns);
    }
}

static bool has_started(const struct zeta_session *session, uint64_t unused)
{
    (void)unused;
    return zeta_sampler_has_started(&session->sampler);
}

static bool has_reached(const struct zeta_session *session, uint64_t device_ticks)
{
    return zeta_sampler_reaches(&session->sampler, device_ticks) ||
           zeta_sampler_is_over(&session->sampler);
}

static uint64_t patience(const struct zeta_session *session)
{
    return 3000000000 + 3 * zeta_sampler_period_ns(&session->sampler);
}

/*
 * When a run of a certain time is at its end, whatever has come by then: a period later than asked,
 * as a kernel may keep the newest report for itself. Shorter periods have a second for slow hosts.
 */
static uint64_t limit_ns(const struct zeta_session *session, uint64_t open_ns)
{
    const uint64_t period_ns = zeta_sampler_period_ns(&session->sampler);

    if (session->program || session->for_ns == 0)
        return UINT64_MAX;
    return open_ns + session->for_ns + (period_ns > 1000000000 ? period_ns : 1000000000);
}

/* Why a device gives no report, and what to do. */
static const char *why_silent(const struct zeta_device_entry *device)
{
    if (strcmp(device->info.device_class, "software") == 0)
        return "A virtual device with clock: virtual gives reports only while it works, and cannot "
               "be sampled from another process";
    return "A GPU that sleeps gives none: run something on it meanwhile, or keep it awake; if that "
           "does not help, see dmesg and zeta selftest";
}

/* What the program does must lie between two reports: here is the first of them. */
static int wait_for_first_report(struct zeta_session *session)
{
    bool is_there = false;
    int status = read_until(session, has_started, 0, patience(session), &is_there);

    if (status == ZETA_EXIT_OK && !is_there && session->child.interrupts == 0)
        return zeta_print_failure("%s gave no report; nothing was run. %s",
                                  session->device->properties.name, why_silent(session->device));
    return status;
}

/* And here is the last: one that ends after the program. */
static int wait_for_last_report(struct zeta_session *session, uint64_t limit)
{
    const uint64_t now_ns = zeta_monotonic_ns();
    uint64_t end_ticks = 0;
    bool is_there = false;
    int status = zeta_sampler_now(&session->sampler, &end_ticks);

    if (status == ZETA_EXIT_OK)
        status =
            read_until(session, has_reached, end_ticks,
                       shorter(patience(session), limit > now_ns ? limit - now_ns : 0), &is_there);
    if (status == ZETA_EXIT_OK && !is_there)
        zeta_print_note("%s gave no report after the end; the last reports may be missing",
                        session->device->properties.name);
    return status;
}

static bool is_over(const struct zeta_session *session, uint64_t end_ns)
{
    if (session->program)
        return session->child.has_ended;
    if (session->child.interrupts > 0 || zeta_sampler_is_over(&session->sampler))
        return true;
    return zeta_monotonic_ns() >= end_ns;
}

/* The program goes on when the sampling fails; its exit status is awaited either way. */
static int sample(struct zeta_session *session, uint64_t limit)
{
    const uint64_t pause_ns = pause_ns_of(session);
    const uint64_t end_ns =
        session->for_ns ? shorter(zeta_monotonic_ns() + session->for_ns, limit) : UINT64_MAX;
    int status = ZETA_EXIT_OK;

    while (!is_over(session, end_ns)) {
        const uint64_t now_ns = zeta_monotonic_ns();

        zeta_child_wait(&session->child, now_ns < end_ns ? shorter(pause_ns, end_ns - now_ns) : 0);
        if (status == ZETA_EXIT_OK)
            status = read_streams(session);
        if (status != ZETA_EXIT_OK && !session->program)
            break;
    }
    if (status == ZETA_EXIT_OK)
        status = wait_for_last_report(session, limit);
    return status;
}

int zeta_session_opened(const struct zeta_session *session, int status)
{
    if (status != ZETA_EXIT_OK && strcmp(session->device->info.device_class, "hardware") == 0)
        zeta_plugin_list_suggest_software();
    return status;
}

int zeta_session_run(struct zeta_session *session)
{
    const uint64_t start_ns = zeta_monotonic_ns();
    const uint64_t start_cpu_ns = zeta_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    int status = wait_for_first_report(session);

    if (status != ZETA_EXIT_OK)
        return status;
    /* A terminal's signal that came until now does not reach a program that is started later. */
    if (session->program)
        zeta_child_wait(&session->child, 0);
    /* Without a program that is how it ends, however early. */
    if (session->program && session->child.interrupts > 0)
        return ZETA_EXIT_SIGNAL + session->child.last_interrupt;
    if (session->program) {
        status = zeta_child_start(&session->child, session->program, session->variables);
        if (status != ZETA_EXIT_OK)
            return status;
    }
    session->was_started = true;
    status = sample(session, limit_ns(session, start_ns));
    session->elapsed_ns = zeta_monotonic_ns() - start_ns;
    session->cpu_ns = zeta_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_cpu_ns;
    return status;
}

int zeta_session_exit_code(const struct zeta_session *session, int status)
{
    if (session->program && zeta_child_exit_code(&session->child) != ZETA_EXIT_OK)
        return zeta_child_exit_code(&session->child);
    return status;
}
