#ifndef ZETA_PLUGINS_NVIDIA_LIBRARY_LIBRARY_H
#define ZETA_PLUGINS_NVIDIA_LIBRARY_LIBRARY_H

/*
 * Libraries of the vendor: opened by name when they are needed, never linked and never closed,
 * because they have threads of their own.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/plugin_host.h>

/** A library, or why there is none. */
struct nvidia_library {
    void *handle;      /**< of dlopen(); NULL: it cannot be used */
    char path[512];    /**< of the file that was opened */
    char problem[768]; /**< why it cannot be used: sentences with what to do; "": it can */
};

/** Where a library is looked for. */
struct nvidia_library_search {
    const char *setting; /**< of the manifest: a file, or a folder to search instead of all below */
    const char *names[3];   /**< tried in this order by the dynamic linker's search; NULL ends */
    const char *folders[4]; /**< patterns, tried afterwards below the root; NULL ends */
    const char *advice;     /**< sentence for who does not have it: what it is for, how to get it */
};

/** A function of a library and where its address goes. */
struct nvidia_symbol {
    const char *name;
    size_t offset; /**< in the table of the caller */
    bool is_required;
};

/**
 * Opens a library. False with the problem if there is none, or none that can be loaded.
 *
 * @root  put before the folders, "" for the machine's
 */
bool nvidia_library_open(struct nvidia_library *library, const struct zeta_host *host,
                         const char *root, const struct nvidia_library_search *search);

/**
 * Whether nvidia_library_open() would find a file, without opening it: that costs time, and what a
 * library does when it is opened is not for programs that never use it.
 */
bool nvidia_library_is_there(const struct zeta_host *host, const char *root,
                             const struct nvidia_library_search *search);

/**
 * Fills a table with addresses, NULL for an optional function that is not there. False with the
 * problem, the library unusable, if it lacks a required one.
 *
 * @needs  what has it, for the sentence: "a driver of CUDA 12.0 or newer"
 */
bool nvidia_library_bind(struct nvidia_library *library, const struct nvidia_symbol *symbols,
                         size_t count, const char *needs, void *table);

/**
 * Blocks every signal of the calling thread: threads that a library of the vendor starts inherit
 * that, and handlers stay the application's business. Around cuInit, the first context and the
 * first call of CUPTI.
 */
void nvidia_signals_block(sigset_t *out_before);
void nvidia_signals_restore(const sigset_t *before);

#endif
