/*
 * The file of zeta record, and how what has to fit into a bounded one is cut to fit.
 */
#ifndef ZETA_TOOLS_RECORD_FILE_H
#define ZETA_TOOLS_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/zeta.h>

/** All zero bytes: none. */
struct zeta_record_file {
    struct zeta_recording *recording;
    const char *path;
    char *aside;          /**< where the file is that had the name before; null: there was none */
    uint64_t limit_bytes; /**< of the file; 0: none */
    bool has_failed;      /**< a write failed, which was printed; nothing more is written */
};

/**
 * Creates the file; the path must outlive it. A file that exists must be empty, or is_forced: then
 * it is put aside, and zeta_record_file_finish() decides. On failure prints why.
 */
int zeta_record_file_create(struct zeta_record_file *file, const char *path, uint64_t limit_bytes,
                            bool is_forced);

/**
 * Largest payload that is sensible in one chunk: a bounded file has room for many, so that the
 * oldest go little by little.
 */
size_t zeta_record_file_piece_bytes(const struct zeta_record_file *file);

/** Adds a chunk. On failure prints why, once for the file. */
int zeta_record_file_append(struct zeta_record_file *file, uint32_t type, uint32_t number,
                            const void *payload, size_t bytes);

/**
 * The same for a chunk that the recording can do without: *out_fits is false when the bound leaves
 * no room for it, which is no failure.
 */
int zeta_record_file_try(struct zeta_record_file *file, uint32_t type, uint32_t number,
                         const void *payload, size_t bytes, bool *out_fits);

/** Adds whole lines of a trace in chunks of a sensible size. On failure prints why. */
int zeta_record_file_append_lines(struct zeta_record_file *file, const char *lines, size_t bytes);

/** Hands everything to the system. On failure prints why. */
int zeta_record_file_flush(struct zeta_record_file *file);

/**
 * Completes and closes the file, and removes the one that it replaces. With is_kept false the other
 * way round: the new one goes. On failure prints why.
 */
int zeta_record_file_finish(struct zeta_record_file *file, bool is_kept);

/** What was recorded of them. All zero bytes: nothing. */
struct zeta_record_modules {
    uint64_t offset;      /**< in the index of the folder, up to which it was read */
    uint64_t image_bytes; /**< that were recorded */
    uint32_t count;
    uint32_t without_image; /**< of these, for want of room in a bounded file */
    uint32_t left_out;      /**< that had no room at all */
};

/**
 * Adds the modules that came since the last call. In a bounded file images have a quarter of the
 * room, so that data is left beside them; the kernels of a module stay without its image.
 *
 * @folder  of ZETA_MODULE_DUMP
 * @device  number of the device in the recording
 *
 * On failure prints why.
 */
int zeta_record_modules_read(struct zeta_record_modules *modules, struct zeta_record_file *file,
                             const char *folder, uint32_t device);

#endif
