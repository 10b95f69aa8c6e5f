#include "footprint.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Noise: caches of the C library, an arena or stack that another thread got. */
#define HEAP_NOISE_BYTES (64 << 10)
#define RESIDENT_NOISE_BYTES (1 << 20)
#define MAPPING_NOISE 4

static FILE *open_file(const char *path)
{
    FILE *file = fopen(path, "re");

    if (!file) {
        perror(path);
        exit(2);
    }
    return file;
}

static int64_t count_lines(const char *path)
{
    FILE *file = open_file(path);
    int64_t lines = 0;

    for (int c = fgetc(file); c != EOF; c = fgetc(file))
        lines += c == '\n';
    (void)fclose(file);
    return lines;
}

static int64_t count_entries(const char *path)
{
    DIR *directory = opendir(path);
    int64_t entries = 0;

    if (!directory) {
        perror(path);
        exit(2);
    }
    while (readdir(directory))
        entries++;
    (void)closedir(directory);
    return entries - 2; /* . and .. */
}

static int64_t read_status(const char *key)
{
    FILE *file = open_file("/proc/self/status");
    char line[256];
    int64_t value = -1;

    while (value < 0 && fgets(line, sizeof(line), file)) {
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtoll(line + strlen(key), NULL, 10);
    }
    (void)fclose(file);
    return value;
}

struct footprint footprint_take(void)
{
    struct mallinfo2 heap;
    struct footprint now = {0};

    (void)malloc_trim(0);
    heap = mallinfo2();
    now.heap_bytes = (int64_t)(heap.uordblks + heap.hblkhd);
    now.resident_bytes = read_status("VmRSS:") * 1024;
    now.threads = read_status("Threads:");
    now.descriptors = count_entries("/proc/self/fd");
    now.mappings = count_lines("/proc/self/maps");
    return now;
}

static bool compare(const char *what, int64_t before, int64_t after, int64_t noise)
{
    bool grew = after - before > noise;

    (void)printf("  %-12s %12lld -> %12lld %+12lld%s\n", what, (long long)before, (long long)after,
                 (long long)(after - before), grew ? "  GREW" : "");
    return grew;
}

bool footprint_grew(const struct footprint *before, const struct footprint *after, bool resident)
{
    bool grew = compare("heap", before->heap_bytes, after->heap_bytes, HEAP_NOISE_BYTES);

    grew |= compare("resident", before->resident_bytes, after->resident_bytes,
                    resident ? RESIDENT_NOISE_BYTES : INT64_MAX);
    grew |= compare("descriptors", before->descriptors, after->descriptors, 0);
    grew |= compare("mappings", before->mappings, after->mappings, MAPPING_NOISE);
    grew |= compare("threads", before->threads, after->threads, 0);
    return grew;
}
