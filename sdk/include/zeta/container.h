/*
 * The file format of exported metric data and of recordings: reading and writing.
 *
 * A container is a header and a row of chunks. Each chunk has a type, the number of the stream that
 * it belongs to, a length, and checksums of its own, so that everything before a cut or a damage
 * can be used. An end chunk tells a whole container from a cut one. The bytes are described in
 * sdk/doc/formats.md.
 *
 * This is a static library, zeta_container, that uses nothing else of Zeta. A reader or a writer is
 * used by one thread at a time.
 */
#ifndef ZETA_CONTAINER_H
#define ZETA_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the format. A reader refuses a larger major version; minor ones only add. */
#define ZETA_CONTAINER_MAJOR 1u
#define ZETA_CONTAINER_MINOR 0u

/** Bytes of the header of a container, and of a chunk before its payload. */
#define ZETA_CONTAINER_HEADER_BYTES 64u
#define ZETA_CHUNK_HEADER_BYTES 32u

/** Largest payload of one DATA or TRACE chunk of a recording: so much memory a reader needs. */
#define ZETA_CHUNK_PIECE_BYTES (1u << 20)

/** What a container holds. */
enum zeta_container_kind {
    ZETA_CONTAINER_EXPORT = 1,   /**< the raw data of one call: SET, STREAM, DATA, END */
    ZETA_CONTAINER_RECORDING = 2 /**< what happened for a while */
};

/** Types of chunks; readers skip those that they do not know. */
enum zeta_chunk_type {
    ZETA_CHUNK_END = 1,  /**< totals; nothing follows */
    ZETA_CHUNK_META = 2, /**< lines: program, command line, host, times, versions */
    ZETA_CHUNK_DEVICE =
        3,              /**< lines: who the device is; the stream number is the device's number */
    ZETA_CHUNK_SET = 4, /**< YAML: one metric set; the stream number is the set's number */
    ZETA_CHUNK_STREAM = 5, /**< lines: which device and set, how it was sampled */
    ZETA_CHUNK_DATA = 6,   /**< slots of the stream, one or more whole reads */
    ZETA_CHUNK_CLOCK = 7,  /**< struct zeta_chunk_clock of the device of that number */
    ZETA_CHUNK_TRACE = 8,  /**< lines of an API trace, one JSON object each, ended with ",\n" */
    ZETA_CHUNK_MODULE = 9, /**< lines: module and kernels with their addresses, then the image */
    ZETA_CHUNK_CUT = 10,   /**< struct zeta_chunk_cut: what a bounded file no longer holds */
    ZETA_CHUNK_NAMES = 11  /**< names of ids that data of the stream behind it holds */
};

/** Flags of a chunk. */
enum {
    /** A file of bounded size may lose this chunk when newer ones come. */
    ZETA_CHUNK_MAY_GO = 1u << 0
};

/** What the functions below answer. */
enum zeta_container_result {
    ZETA_CONTAINER_OK = 0,
    ZETA_CONTAINER_AT_END,  /**< next: the container is complete and ends here */
    ZETA_CONTAINER_AT_CUT,  /**< next: the rest is missing; what was read before is in order */
    ZETA_CONTAINER_DAMAGED, /**< a checksum, a length or a total is wrong */
    ZETA_CONTAINER_FOREIGN, /**< these bytes are no container */
    ZETA_CONTAINER_NEWER,   /**< of a later major version */
    ZETA_CONTAINER_FULL,    /**< append: the bound of the size leaves no room for this chunk */
    ZETA_CONTAINER_IO,      /**< the system refused; the sentence names the reason */
    ZETA_CONTAINER_NO_MEMORY
};

/** A sentence about a failure: what, where, what to do. */
struct zeta_container_problem {
    char text[320];
};

/** The payload of a CLOCK chunk: 24 bytes. The three times belong to one instant. */
struct zeta_chunk_clock {
    uint64_t device_ticks; /**< of the device's timer, masked to its valid bits */
    uint64_t host_ns;      /**< as zeDeviceGetGlobalTimestamps gives it */
    uint64_t error_ns;     /**< the instants differ by no more, 0: unknown */
};

/** The payload of a CUT chunk: 24 bytes. Sums since the file was begun. */
struct zeta_chunk_cut {
    uint64_t chunks; /**< that went, the oldest first */
    uint64_t bytes;  /**< of their payloads */
    uint64_t times;  /**< how often room was made */
};

/* ------------------------------------------------------------------------------------------------
 * Writing
 * --------------------------------------------------------------------------------------------- */

struct zeta_container_writer;

/** A piece of a payload. data may be NULL if bytes is 0. */
struct zeta_container_part {
    const void *data;
    size_t bytes;
};

/**
 * Creates a file (0600) and writes the header into it. What exists already must be an empty file of
 * the same user.
 *
 * Appended chunks are collected; zeta_container_flush() hands them to the system, after which they
 * survive a kill of the process.
 *
 * @limit_bytes  0: no bound. Else the file grows no larger: before it would, it is written anew
 *               without its oldest chunks that may go, so that they keep half of the room that the
 *               other chunks leave. The new file gets a CUT chunk and takes the place of the old
 *               one in one step; while it is written both exist.
 * Errors: IO, NO_MEMORY; FULL when the limit is below 64 KiB.
 */
enum zeta_container_result zeta_container_create_file(const char *path,
                                                      enum zeta_container_kind kind,
                                                      uint64_t limit_bytes,
                                                      struct zeta_container_problem *out_problem,
                                                      struct zeta_container_writer **out_writer);

/**
 * Writes into memory of the caller. What does not fit is only counted, so that a capacity of 0 asks
 * for the size. The memory stays the caller's; buffer may be NULL if the capacity is 0.
 */
enum zeta_container_result zeta_container_create_memory(void *buffer, size_t capacity,
                                                        enum zeta_container_kind kind,
                                                        struct zeta_container_writer **out_writer);

/**
 * Adds a chunk whose payload is the parts in a row. DATA, TRACE and CLOCK chunks of recordings are
 * marked as such that may go.
 *
 * Errors: IO (the writer accepts nothing more), FULL, NO_MEMORY.
 */
enum zeta_container_result zeta_container_append(struct zeta_container_writer *writer,
                                                 enum zeta_chunk_type type, uint32_t stream,
                                                 const struct zeta_container_part *parts,
                                                 uint32_t part_count);

/** Hands everything that was appended to the system. Errors: IO. */
enum zeta_container_result zeta_container_flush(struct zeta_container_writer *writer);

/** Writes the end chunk and flushes. Nothing can be appended afterwards. Errors: IO. */
enum zeta_container_result zeta_container_finish(struct zeta_container_writer *writer);

/** Bytes of the container so far, also of those that did not fit into memory. */
uint64_t zeta_container_size(const struct zeta_container_writer *writer);

/** What a bounded file lost so far; all 0 without a bound. */
struct zeta_chunk_cut zeta_container_lost(const struct zeta_container_writer *writer);

/** The sentence about the last failure of this writer, "" if there was none. */
const char *zeta_container_writer_problem(const struct zeta_container_writer *writer);

/** Closes the file and frees the writer, without an end chunk. NULL is allowed. */
void zeta_container_writer_destroy(struct zeta_container_writer *writer);

/* ------------------------------------------------------------------------------------------------
 * Reading
 * --------------------------------------------------------------------------------------------- */

struct zeta_container_reader;

/** What the header of a chunk says. */
struct zeta_container_chunk {
    uint32_t type; /**< enum zeta_chunk_type, or one that is not known */
    uint32_t stream;
    uint32_t flags;
    uint64_t payload_bytes;
    uint64_t offset; /**< of the chunk in the container, for messages */
};

/**
 * Opens a file and checks its header. Memory: that of the largest payload that is asked for.
 *
 * Errors: IO, FOREIGN, NEWER, DAMAGED, NO_MEMORY, with a sentence.
 */
enum zeta_container_result zeta_container_open_file(const char *path,
                                                    struct zeta_container_problem *out_problem,
                                                    struct zeta_container_reader **out_reader);

/** The same for bytes in memory, of any alignment, which stay the caller's and must not change. */
enum zeta_container_result zeta_container_open_memory(const void *bytes, size_t size,
                                                      struct zeta_container_problem *out_problem,
                                                      struct zeta_container_reader **out_reader);

/** What the container holds, and its minor version. */
uint32_t zeta_container_reader_kind(const struct zeta_container_reader *reader);
uint32_t zeta_container_reader_minor(const struct zeta_container_reader *reader);

/**
 * Goes to the next chunk. The payload is neither read nor checked.
 *
 * AT_END: all chunks were seen and the totals are right. AT_CUT: the file ends within a chunk or
 * without an end chunk; the next call tries again at the same place, for a file that still grows.
 * DAMAGED: the way to the following chunks is lost. Errors: IO.
 */
enum zeta_container_result zeta_container_next(struct zeta_container_reader *reader,
                                               struct zeta_container_chunk *out_chunk);

/**
 * Gives the payload of the chunk that next() found. Valid until the next call for this reader; for
 * a reader of memory as long as the memory.
 *
 * Errors: DAMAGED (other chunks can still be read), IO, NO_MEMORY.
 */
enum zeta_container_result zeta_container_payload(struct zeta_container_reader *reader,
                                                  const void **out_payload);

/** Starts again with the first chunk. */
void zeta_container_rewind(struct zeta_container_reader *reader);

/** The sentence about the last answer that was neither OK nor AT_END. */
const char *zeta_container_reader_problem(const struct zeta_container_reader *reader);

/** Closes the file and frees the reader. NULL is allowed. */
void zeta_container_reader_destroy(struct zeta_container_reader *reader);

/* ------------------------------------------------------------------------------------------------
 * Payloads
 * --------------------------------------------------------------------------------------------- */

/**
 * A text of lines "key: value". In a value a line feed is written \n, a carriage return \r and a
 * backslash \\. Keys may repeat. Zero-initialised it is empty; freed with zeta_lines_finish().
 */
struct zeta_lines {
    char *text;
    size_t bytes;
    size_t capacity;
    bool no_memory; /**< a line is missing */
};

/** Adds a line. key: letters, digits, '-', '_'; value: any text with a terminator. */
void zeta_lines_add(struct zeta_lines *lines, const char *key, const char *value);

/** Adds a line with a number in decimal digits. */
void zeta_lines_add_u64(struct zeta_lines *lines, const char *key, uint64_t value);

/** Frees the text and makes it empty. */
void zeta_lines_finish(struct zeta_lines *lines);

/**
 * Finds the index-th line with that key and writes its value, cut to value_bytes with a terminator.
 * False if there is none; value is untouched then.
 */
bool zeta_lines_find(const void *text, size_t bytes, const char *key, uint32_t index, char *value,
                     size_t value_bytes);

/** The number of the first line with that key; fallback if there is none or it is no number. */
uint64_t zeta_lines_find_u64(const void *text, size_t bytes, const char *key, uint64_t fallback);

/** Writes and reads the two payloads of numbers. False if it is shorter than 24 bytes. */
void zeta_chunk_clock_write(const struct zeta_chunk_clock *clock, unsigned char *out_payload);
bool zeta_chunk_clock_read(const void *payload, size_t bytes, struct zeta_chunk_clock *out_clock);
void zeta_chunk_cut_write(const struct zeta_chunk_cut *cut, unsigned char *out_payload);
bool zeta_chunk_cut_read(const void *payload, size_t bytes, struct zeta_chunk_cut *out_cut);
/** Bytes of either of them. */
#define ZETA_CHUNK_NUMBERS_BYTES 24u

/** A name in a NAMES chunk. */
struct zeta_chunk_name {
    uint64_t id;
    const char *text; /**< without terminator */
    uint32_t bytes;
};

/** Bytes of a name before its text. */
#define ZETA_CHUNK_NAME_BYTES 12u

/** Writes what stands before the text of a name: ZETA_CHUNK_NAME_BYTES. */
void zeta_chunk_name_write(const struct zeta_chunk_name *name, unsigned char *out_head);

/**
 * Reads the name at *at of a payload, 0 for the first, and moves *at behind it. The text lies in
 * the payload. False at the end, and before a name that is cut.
 */
bool zeta_chunk_name_read(const void *payload, size_t bytes, size_t *at,
                          struct zeta_chunk_name *out_name);

/**
 * CRC-32C (polynomial 0x1EDC6F41, reflected, all ones before and after). crc: 0 for the first
 * piece, the result of the piece before else.
 */
uint32_t zeta_crc32c(uint32_t crc, const void *data, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
