/*
 * What zeta record costs the program that it records: a matrix product alone, with a stream, with
 * its calls too, and with its events too, in turn. Then what a long recording takes: as many
 * reports as come in a tenth of an hour at 1 kHz (an hour, if the second argument is "hour"), at a
 * hundred times the rate.
 *
 * bench_record [SIZE [hour]]
 *
 * The program is started by this one, which takes its times: "bench_record --time FILE
 * multiplier...".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/bench/bench.h"

#define ROUNDS 5u
#define MOST_WORDS 24u
#define POLL_US 2000u
#define LONG_PERIOD_NS 10240u
#define REPORTS_OF_HOUR 3600000u

static const char zeta[] = ZETA_BUILD_DIR "/bin/zeta";
static const char multiplier[] = ZETA_BUILD_DIR "/bin/matmul";

/** Times of one process and those that it waited for. */
struct times {
    double wall_s;
    double cpu_s;
    double memory_mib; /**< most of the process itself; as often as it was looked at */
};

static void fail(const char *what)
{
    (void)fprintf(stderr, "bench_record: %s: %s\n", what, strerror(errno));
    exit(1);
}

/** Most resident memory of a process so far in MiB; 0 if it is not there any more. */
static double peak_mib(pid_t process)
{
    char path[64];
    char line[256];
    double kib = 0;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%ld/status", (long)process);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtod(line + 6, NULL);
    }
    if (file)
        (void)fclose(file);
    return kib / 1024;
}

/** What a process is started for. */
enum purpose {
    PURPOSE_TIMES = 0,
    PURPOSE_MEMORY = 1, /**< it is looked at all the time */
    PURPOSE_WORDS = 2,  /**< and what it says on stderr is shown */
};

static void become(const char *const *words, enum purpose purpose)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    (void)dup2(nowhere, STDOUT_FILENO);
    if (purpose == PURPOSE_MEMORY)
        (void)dup2(nowhere, STDERR_FILENO);
    /* It changes no word, says POSIX; only its type is older than const. */
    (void)execv(words[0], (char *const *)(uintptr_t)words);
    _exit(127);
}

static struct times run(const char *const *words, enum purpose purpose)
{
    const double begin = bench_seconds(CLOCK_MONOTONIC);
    struct times times = {0};
    struct rusage usage = {0};
    int status = 0;
    pid_t child = fork();

    if (child < 0)
        fail("fork");
    if (child == 0)
        become(words, purpose);
    for (;;) {
        const double memory = peak_mib(child);
        const pid_t ended = wait4(child, &status, purpose == PURPOSE_TIMES ? 0 : WNOHANG, &usage);

        times.memory_mib = memory > times.memory_mib ? memory : times.memory_mib;
        if (ended == child)
            break;
        if (ended < 0 && errno != EINTR)
            fail("wait4");
        (void)usleep(POLL_US);
    }
    times.wall_s = bench_seconds(CLOCK_MONOTONIC) - begin;
    times.cpu_s = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6 +
                  (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec * 1e-6;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        errno = ECHILD;
        fail(words[0]);
    }
    return times;
}

/** The other end of "--time": runs a program without looking at it and writes its times. */
static int take_times(char **arguments)
{
    const struct times times = run((const char *const *)arguments + 1, PURPOSE_TIMES);
    FILE *file = fopen(arguments[0], "w");

    if (!file || fprintf(file, "%.6f %.6f\n", times.wall_s, times.cpu_s) < 0 || fclose(file) != 0)
        fail(arguments[0]);
    return 0;
}

static struct times read_times(const char *path)
{
    struct times times = {0};
    FILE *file = fopen(path, "r");

    if (!file || fscanf(file, "%lf %lf", &times.wall_s, &times.cpu_s) != 2)
        fail(path);
    (void)fclose(file);
    return times;
}

/** One way to run the program. */
struct way {
    const char *name;
    const char *options[6]; /**< of zeta record; none: alone */
    struct bench_rounds wall_s, cpu_s, recorder_s, rate_kb, memory_mib;
};

struct place {
    char folder[sizeof(ZETA_BUILD_DIR) + 32];
    char times[sizeof(ZETA_BUILD_DIR) + 48];
    char recording[sizeof(ZETA_BUILD_DIR) + 48];
    char self[4096];
    const char *size;
};

static uint64_t file_bytes(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0)
        fail(path);
    return (uint64_t)status.st_size;
}

static void run_once(struct place *place, struct way *way)
{
    const char *words[MOST_WORDS] = {0};
    unsigned count = 0;
    struct times all, program;

    if (way->options[0]) {
        words[count++] = zeta;
        words[count++] = "record";
        for (unsigned i = 0; way->options[i]; i++)
            words[count++] = way->options[i];
        words[count++] = "-o";
        words[count++] = place->recording;
        words[count++] = "--";
    }
    words[count++] = place->self;
    words[count++] = "--time";
    words[count++] = place->times;
    words[count++] = multiplier;
    words[count++] = place->size;
    all = run(words, PURPOSE_MEMORY);
    program = read_times(place->times);
    bench_add(&way->wall_s, program.wall_s);
    bench_add(&way->cpu_s, program.cpu_s);
    if (!way->options[0])
        return;
    bench_add(&way->recorder_s, all.cpu_s - program.cpu_s);
    bench_add(&way->rate_kb, (double)file_bytes(place->recording) / all.wall_s / 1e3);
    bench_add(&way->memory_mib, all.memory_mib);
    (void)unlink(place->recording);
}

static void print_way(const struct way *way, const struct way *alone)
{
    const double more = bench_least(&way->cpu_s) / bench_least(&alone->cpu_s) - 1;

    (void)printf("  %-22s %7.3f (%7.3f)  %7.3f (%7.3f)", way->name, bench_least(&way->wall_s),
                 bench_median(&way->wall_s), bench_least(&way->cpu_s), bench_median(&way->cpu_s));
    if (way->options[0])
        (void)printf("  %+6.1f %%  %6.3f (%6.3f)  %8.0f  %6.1f", 100 * more,
                     bench_least(&way->recorder_s), bench_median(&way->recorder_s),
                     bench_median(&way->rate_kb), bench_most(&way->memory_mib));
    (void)printf("\n");
    (void)fflush(stdout);
}

static void measure_program(struct place *place)
{
    static struct way ways[] = {
        {.name = "alone"},
        {.name = "1 stream at 1 kHz", .options = {"-g", "ComputeBasic", "-p", "1ms", "--no-trace"}},
        {.name = "+ calls and kernels", .options = {"-g", "ComputeBasic", "-p", "1ms"}},
        {.name = "+ events of kernels",
         .options = {"-g", "ComputeBasic", "-p", "1ms", "-eKernelEvents"}},
    };
    const size_t count = sizeof(ways) / sizeof(ways[0]);

    /* Each round begins with another way: the first may find the machine in another state. */
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < count; i++)
            run_once(place, &ways[(round + i) % count]);
    }
    (void)printf("  %-22s %17s  %17s  %8s  %15s  %8s  %6s\n", "matmul", "seconds", "its CPU s",
                 "more CPU", "recorder CPU s", "kB/s", "MiB");
    for (size_t i = 0; i < count; i++)
        print_way(&ways[i], &ways[0]);
}

static void measure_long(struct place *place, bool is_hour)
{
    const double reports = is_hour ? REPORTS_OF_HOUR : REPORTS_OF_HOUR / 10;
    char duration[32];
    char period[32];
    const char *const words[] = {zeta,   "record", "-a",     "-g", "ComputeBasic",   "-p",
                                 period, "--for",  duration, "-o", place->recording, NULL};
    const char *const report[] = {zeta, "report", place->recording, NULL};
    struct times written, read;

    (void)snprintf(period, sizeof(period), "%uns", LONG_PERIOD_NS);
    (void)snprintf(duration, sizeof(duration), "%.0fms", reports * LONG_PERIOD_NS / 1e6);
    written = run(words, PURPOSE_WORDS);
    read = run(report, PURPOSE_MEMORY);
    (void)printf("  reports of %s at 1 kHz: %.1f MB, recorder %.1f MiB and %.2f s of CPU time; "
                 "zeta report %.1f MiB and %.2f s\n",
                 is_hour ? "an hour" : "6 minutes", (double)file_bytes(place->recording) / 1e6,
                 written.memory_mib, written.cpu_s, read.memory_mib, read.cpu_s);
    (void)unlink(place->recording);
}

static void open_place(struct place *place, const char *size)
{
    (void)snprintf(place->folder, sizeof(place->folder), "%s/bench/record-XXXXXX", ZETA_BUILD_DIR);
    if (!mkdtemp(place->folder))
        fail(place->folder);
    (void)snprintf(place->times, sizeof(place->times), "%s/times", place->folder);
    (void)snprintf(place->recording, sizeof(place->recording), "%s/run.zeta", place->folder);
    if (readlink("/proc/self/exe", place->self, sizeof(place->self) - 1) < 0)
        fail("/proc/self/exe");
    place->size = size;
}

int main(int count, char **arguments)
{
    struct place place = {0};

    if (count > 3 && strcmp(arguments[1], "--time") == 0)
        return take_times(arguments + 2);
    bench_use_virtual_gpu();
    open_place(&place, count > 1 ? arguments[1] : "384");
    bench_begin("record: best of 5 rounds (median), beside the program alone", NULL);
    measure_program(&place);
    measure_long(&place, count > 2 && strcmp(arguments[2], "hour") == 0);
    (void)unlink(place.times);
    (void)rmdir(place.folder);
    return 0;
}
