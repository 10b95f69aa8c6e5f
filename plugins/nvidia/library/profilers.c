/*
 * Who may have the counters of a GPU: CUPTI does not tell, but /proc shows which processes have the
 * vendor's libraries of profilers open.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/nvidia/library/cupti.h"

/* Room that names of processes get in a sentence; the rest is counted. */
enum { NAMES_BYTES = 500 };

/* Whether a process has one of the libraries; false also where it may not be asked. */
static bool has_library(const char *root, const char *pid)
{
    char path[PATH_MAX], *line = NULL;
    size_t bytes = 0;
    bool found = false;
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/proc/%s/maps", root, pid);
    file = fopen(path, "re");
    while (file && !found && getline(&line, &bytes, file) >= 0)
        found = strstr(line, "/libcupti.so") || strstr(line, "/libnvperf_");
    free(line);
    if (file)
        (void)fclose(file);
    return found;
}

/* Adds "name (pid)" to a list, if there is room. */
static bool add_process(const char *root, const char *pid, char *list, size_t capacity_bytes)
{
    const size_t length = strlen(list);
    char path[PATH_MAX], name[32] = "a process";
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/proc/%s/comm", root, pid);
    file = fopen(path, "re");
    if (file && fgets(name, sizeof(name), file))
        name[strcspn(name, "\n")] = '\0';
    if (file)
        (void)fclose(file);
    if (length + strlen(name) + strlen(pid) + sizeof(",  ()") > capacity_bytes)
        return false;
    (void)snprintf(list + length, capacity_bytes - length, "%s%s (%s)", length > 0 ? ", " : "",
                   name, pid);
    return true;
}

/* Lists the processes but this one; how many there was no room for. */
static uint32_t list_processes(const char *root, char *list, size_t capacity_bytes)
{
    char path[PATH_MAX], self[16];
    const struct dirent *entry;
    uint32_t more = 0;
    DIR *folder;

    (void)snprintf(path, sizeof(path), "%s/proc", root);
    (void)snprintf(self, sizeof(self), "%d", (int)getpid());
    folder = opendir(path);
    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            strcmp(entry->d_name, self) != 0 && has_library(root, entry->d_name))
            more += !add_process(root, entry->d_name, list, capacity_bytes);
    if (folder)
        (void)closedir(folder);
    return more;
}

void nvidia_explain_busy(const char *root, char *text, size_t capacity_bytes)
{
    char list[NAMES_BYTES] = "", rest[32] = "";
    const uint32_t more = list_processes(root, list, sizeof(list));

    if (more > 0)
        (void)snprintf(rest, sizeof(rest), " and %u more", more);
    (void)snprintf(
        text, capacity_bytes,
        "another profiler has the counters: a process that samples with Zeta, ncu, nsys, "
        "or a DCGM watch on a GPU before Hopper (dcgmi profile --pause, afterwards "
        "--resume). CUPTI does not tell which; %s%s%s. End that or wait for it",
        list[0] != '\0' ? "libraries of profilers are open in " : "",
        list[0] != '\0' ? list
                        : "no process that this one may look at has such a "
                          "library open, so look as root and outside of containers",
        rest);
}
