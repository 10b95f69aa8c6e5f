/*
 * Running a program on one block of records. Only for this folder.
 *
 * The same source (block_run.inc) is compiled for several instruction sets; one is chosen at run
 * time.
 */
#ifndef ZETA_CORE_FORMULA_EVALUATE_BLOCK_H
#define ZETA_CORE_FORMULA_EVALUATE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/formula/compile/program.h"

/** Memory of one calculation. */
struct zeta_block {
    const unsigned char *record[ZETA_BLOCK_ROWS]; /**< the later record of each row */
    uint32_t count;                               /**< rows that are used */
    /** word_count arrays of ZETA_WORD_STRIDE; element ZETA_WORD_LEAD - 1 is the baseline's. */
    uint32_t *words;
    union zeta_column *columns;

    /** Where the values of the block will go; fetched into the cache while it is calculated. */
    const unsigned char *target;
    size_t target_bytes;
};

struct zeta_block_variant {
    const char *name;

    /**
     * Computes all columns of the program for the block's records, and makes the last record the
     * baseline of the next block.
     */
    void (*run)(const struct zeta_program *program, struct zeta_block *block);

    /**
     * Writes the values of rows 0 to end - 1 of the block; row i becomes row target[i] of values.
     * Numbers in target do not fall; of several rows with the same one the last one stays.
     */
    void (*write_rows)(const struct zeta_program *program, const struct zeta_block *block,
                       const uint8_t *target, uint32_t end, zet_typed_value_t *values);
};

/** Takes the columns of a block: is_row[i] says whether record i of it ends a row. */
typedef void (*zeta_block_fn)(void *user, const struct zeta_block *block, const bool *is_row);

/**
 * Runs a program on the rows of a tile in raw data; take gets each block. The other arguments and
 * the errors as zeta_evaluate().
 */
ze_result_t zeta_evaluate_blocks(const struct zeta_compiled *compiled,
                                 const struct zeta_program *program, uint32_t tile,
                                 uint32_t first_tile, const void *raw, size_t raw_bytes,
                                 zeta_block_fn take, void *user);

/**
 * Makes the memory of a block, with the constants of the program in their columns. Freed with
 * free(block->words). False without memory.
 */
bool zeta_block_prepare(const struct zeta_program *program, struct zeta_block *block);

/** The variant in use; the best one that the processor has unless a test chose another. */
const struct zeta_block_variant *zeta_block_variant(void);

extern const struct zeta_block_variant zeta_block_base;
#if defined(__x86_64__)
extern const struct zeta_block_variant zeta_block_avx2;
extern const struct zeta_block_variant zeta_block_avx512;
#endif

#endif
