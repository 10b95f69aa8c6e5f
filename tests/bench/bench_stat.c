/*
 * What `zeta stat` costs while it samples an Intel GPU of the emulated kernel: processor time per
 * second at 1 kHz and 10 kHz, without what making the reports takes. Beside it i915-perf-recorder
 * of intel-gpu-tools with the same periods, which writes reports to a file and calculates nothing.
 * Each runs for a longer and a shorter time: the difference has neither start nor end in it. The
 * timer thread of the emulated kernel counts as theirs.
 */
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/bench/bench.h"
#include "tests/kmd/kmd.h"

enum { ROUNDS = 3, SHORT_S = 1, LONG_S = 3, ARGUMENTS = 16 };

#define RECORDER "i915-perf-recorder"

static const char zeta[] = ZETA_BUILD_DIR "/bin/zeta";

/* The recorder's period is twice what it is asked for. */
static const struct program {
    const char *rate, *name;
    const char *arguments[ARGUMENTS];
    bool is_interrupted; /* it does not end by itself */
} programs[] = {
    {"1 kHz", "zeta stat", {zeta, "stat", "-g", "RenderBasic", "-p", "1ms", "-a"}, false},
    {"1 kHz", RECORDER, {RECORDER, "-m", "RenderBasic", "-p", "0.0005", "-o"}, true},
    {"10 kHz", "zeta stat", {zeta, "stat", "-g", "RenderBasic", "-p", "100us", "-a"}, false},
    {"10 kHz", RECORDER, {RECORDER, "-m", "RenderBasic", "-p", "0.00005", "-o"}, true},
};

/* What one run took and made. */
struct run {
    double process, emulation; /* seconds of the processor */
    double reports;
};

static double seconds_of(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

/* In the child; both programs are quiet about what they sampled. */
static void execute(const struct program *program, const char *folder, unsigned length_s)
{
    char file[512], length[16];
    char *arguments[ARGUMENTS + 3];
    size_t count = 0;

    for (; program->arguments[count]; count++)
        arguments[count] = strdup(program->arguments[count]);
    (void)snprintf(file, sizeof(file), "%s/recording", folder);
    (void)snprintf(length, sizeof(length), "%us", length_s);
    if (program->is_interrupted) {
        arguments[count++] = file;
    } else {
        arguments[count++] = strdup("--for");
        arguments[count++] = length;
    }
    arguments[count] = NULL;
    (void)setenv("LD_PRELOAD", KMD_PRELOAD, 1);
    if (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))
        (void)execvp(arguments[0], arguments);
    _exit(127);
}

static bool run_once(const struct program *program, struct kmd_machine *machine, unsigned length_s,
                     struct run *out_run)
{
    const uint64_t emulation_ns = kmd_statistic(machine, 0, KMD_STAT_READ_NS);
    const uint64_t reports = kmd_statistic(machine, 0, KMD_STAT_REPORTS_MADE);
    struct rusage usage;
    int status = 0;
    const pid_t child = fork();

    if (child == 0)
        execute(program, kmd_folder(machine), length_s);
    if (child < 0)
        return false;
    if (program->is_interrupted) {
        (void)sleep(length_s);
        (void)kill(child, SIGINT);
    }
    if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return false;
    *out_run = (struct run){
        .process = seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime),
        .emulation = (double)(kmd_statistic(machine, 0, KMD_STAT_READ_NS) - emulation_ns) * 1e-9,
        .reports = (double)(kmd_statistic(machine, 0, KMD_STAT_REPORTS_MADE) - reports),
    };
    return true;
}

static void measure(const struct program *program, struct kmd_machine *machine)
{
    struct bench_rounds ours = {0}, emulation = {0}, reports = {0};
    const double length = LONG_S - SHORT_S;

    for (int i = 0; i < ROUNDS; i++) {
        struct run shorter, longer;

        if (!run_once(program, machine, SHORT_S, &shorter) ||
            !run_once(program, machine, LONG_S, &longer)) {
            (void)printf("  %-6s %-20s cannot be run\n", program->rate, program->name);
            return;
        }
        bench_add(&emulation, (longer.emulation - shorter.emulation) / length * 1e3);
        bench_add(&ours, (longer.process - shorter.process) / length * 1e3 -
                             emulation.values[emulation.count - 1]);
        bench_add(&reports, (longer.reports - shorter.reports) / length);
    }
    (void)printf("  %-6s %-20s %5.0f reports/s: %5.1f ms/s (%5.1f), %.1f %% of one core; "
                 "emulation of reads %.1f ms/s\n",
                 program->rate, program->name, bench_median(&reports), bench_least(&ours),
                 bench_median(&ours), bench_least(&ours) / 10, bench_least(&emulation));
    (void)fflush(stdout);
}

int main(void)
{
    const struct kmd_config config = {
        .device_count = 1, .devices = {{.platform = "tgl-gt2"}}, .is_privileged = true};
    struct kmd_machine *machine = kmd_start(&config);

    if (!machine)
        return 1;
    (void)setenv("ZETA_CONFIG", "none", 1);
    bench_begin("sampling an emulated Tiger Lake from outside: processor time per second, best of "
                "3 rounds (median)",
                NULL);
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        measure(&programs[i], machine);
    kmd_stop(machine);
    return 0;
}
