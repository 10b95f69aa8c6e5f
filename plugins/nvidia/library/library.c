#include "plugins/nvidia/library/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zeta/file.h>

/* The linker's cache of a large machine has some hundred KiB. */
#define CACHE_BYTES (16 << 20)

void nvidia_signals_block(sigset_t *out_before)
{
    sigset_t all;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, out_before);
}

void nvidia_signals_restore(const sigset_t *before)
{
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Opens a file or, without a slash in it, a name of the dynamic linker's search. */
static bool open_one(struct nvidia_library *library, const char *file)
{
    const struct link_map *map = NULL;
    const size_t length = strlen(file);
    sigset_t before;
    bool is_about_it;
    const char *error;

    nvidia_signals_block(&before);
    library->handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    nvidia_signals_restore(&before);
    if (library->handle) {
        if (dlinfo(library->handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0')
            file = map->l_name;
        (void)snprintf(library->path, sizeof(library->path), "%s", file);
        library->problem[0] = '\0';
        return true;
    }
    error = dlerror();
    /* "libcuda.so.1: cannot open ...": nobody has it. Else the text begins with a path. */
    if (!error || library->problem[0] != '\0')
        return false;
    is_about_it = strncmp(error, file, length) == 0 && strncmp(error + length, ": ", 2) == 0;
    if (strchr(file, '/') || !is_about_it)
        (void)snprintf(library->problem, sizeof(library->problem),
                       "%.300s cannot be loaded: %.300s.", file,
                       is_about_it ? error + length + 2 : error);
    return false;
}

/* Newest first: cuda-13.0, cuda-9.2, and the link cuda, which is one of them. */
static int compare_versions(const void *a, const void *b)
{
    return -strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Tries the names in each folder that a pattern means. */
static bool open_in(struct nvidia_library *library, const char *pattern, const char *const *names)
{
    char path[PATH_MAX];
    glob_t found = {0};
    struct stat status;
    bool is_open = false;

    for (; *names && !is_open; names++) {
        (void)snprintf(path, sizeof(path), "%.3000s/%.200s", pattern, *names);
        if (glob(path, 0, NULL, &found) == 0) {
            qsort(found.gl_pathv, found.gl_pathc, sizeof(found.gl_pathv[0]), compare_versions);
            for (size_t i = 0; i < found.gl_pathc && !is_open; i++)
                is_open =
                    stat(found.gl_pathv[i], &status) == 0 && open_one(library, found.gl_pathv[i]);
        }
        globfree(&found);
    }
    return is_open;
}

bool nvidia_library_open(struct nvidia_library *library, const struct zeta_host *host,
                         const char *root, const struct nvidia_library_search *search)
{
    char chosen[PATH_MAX] = "", folder[PATH_MAX];
    struct stat status;

    *library = (struct nvidia_library){0};
    (void)zeta_host_setting(host, search->setting, chosen, sizeof(chosen));
    if (chosen[0] != '\0' && (stat(chosen, &status) != 0 || !S_ISDIR(status.st_mode))) {
        if (!open_one(library, chosen))
            (void)snprintf(library->problem + strlen(library->problem),
                           sizeof(library->problem) - strlen(library->problem),
                           " The setting plugins.%.64s.%s names it.", host->id, search->setting);
        return library->handle != NULL;
    }
    if (chosen[0] != '\0') {
        (void)open_in(library, chosen, search->names);
    } else {
        for (const char *const *name = search->names; *name && !library->handle; name++)
            (void)open_one(library, *name);
        for (const char *const *pattern = search->folders; *pattern && !library->handle;
             pattern++) {
            (void)snprintf(folder, sizeof(folder), "%.2000s%s", root, *pattern);
            (void)open_in(library, folder, search->names);
        }
    }
    if (!library->handle && library->problem[0] == '\0')
        (void)snprintf(library->problem, sizeof(library->problem),
                       "%s is not installed%s%.300s. %s", search->names[0],
                       chosen[0] != '\0' ? " in " : "", chosen, search->advice);
    return library->handle != NULL;
}

/* Whether there is such a file in a folder, which may be a pattern. */
static bool is_in(const char *root, const char *folder, const char *const *names)
{
    char path[PATH_MAX];
    bool is_found = false;

    for (; *names && !is_found; names++) {
        glob_t found = {0};

        (void)snprintf(path, sizeof(path), "%.2000s%.1000s/%.200s", root, folder, *names);
        is_found = glob(path, GLOB_NOSORT, NULL, &found) == 0;
        globfree(&found);
    }
    return is_found;
}

/* The folders that the dynamic linker searches before and behind its cache. */
static bool is_on_search_path(const char *const *names)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    Dl_serinfo size, *path = NULL;
    bool is_found = false;

    if (program && dlinfo(program, RTLD_DI_SERINFOSIZE, &size) == 0)
        path = malloc(size.dls_size);
    if (path) {
        *path = size;
        if (dlinfo(program, RTLD_DI_SERINFO, path) == 0) {
            for (unsigned i = 0; i < path->dls_cnt && !is_found; i++)
                is_found = is_in("", path->dls_serpath[i].dls_name, names);
        }
    }
    free(path);
    if (program)
        (void)dlclose(program);
    return is_found;
}

/* The linker's cache names each file by its path, with a terminator. */
static bool is_in_cache(const char *root, const char *const *names)
{
    char path[PATH_MAX], name[64];
    uint64_t bytes = 0;
    bool is_found = false;
    char *cache;

    (void)snprintf(path, sizeof(path), "%.4000s/etc/ld.so.cache", root);
    cache = zeta_file_read(path, CACHE_BYTES, &bytes);
    for (; cache && *names && !is_found; names++) {
        const int length = snprintf(name, sizeof(name), "/%s", *names);

        is_found = memmem(cache, (size_t)bytes, name, (size_t)length + 1) != NULL;
    }
    free(cache);
    return is_found;
}

bool nvidia_library_is_there(const struct zeta_host *host, const char *root,
                             const struct nvidia_library_search *search)
{
    char chosen[PATH_MAX] = "";
    struct stat status;
    bool is_found;

    if (zeta_host_setting(host, search->setting, chosen, sizeof(chosen)) && chosen[0] != '\0')
        return stat(chosen, &status) == 0 &&
               (!S_ISDIR(status.st_mode) || is_in("", chosen, search->names));
    is_found = is_on_search_path(search->names) || is_in_cache(root, search->names);
    for (const char *const *folder = search->folders; *folder && !is_found; folder++)
        is_found = is_in(root, *folder, search->names);
    return is_found;
}

bool nvidia_library_bind(struct nvidia_library *library, const struct nvidia_symbol *symbols,
                         size_t count, const char *needs, void *table)
{
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library->handle, symbols[i].name);

        (void)memcpy((char *)table + symbols[i].offset, &address, sizeof(address));
        if (address || !symbols[i].is_required)
            continue;
        (void)snprintf(library->problem, sizeof(library->problem),
                       "%s has no function %s: Zeta needs %s.", library->path, symbols[i].name,
                       needs);
        library->handle = NULL; /* it stays in the process all the same */
        return false;
    }
    return true;
}
