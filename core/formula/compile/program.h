/*
 * The form in which the evaluator runs a set: operations over columns. Only for this folder.
 *
 * Rows are handled in blocks. The words of the block's records are transposed, so that each needed
 * 32-bit word of the record is an array with one element per record; load operations make columns
 * of numbers from them; every other operation is one loop over columns.
 */
#ifndef ZETA_CORE_FORMULA_COMPILE_PROGRAM_H
#define ZETA_CORE_FORMULA_COMPILE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/formula/sets/set.h"

/** Rows of a block: few, so that records, words, columns and values all fit the nearest cache. */
#define ZETA_BLOCK_ROWS 16u
/** Elements before row 0 of a transposed word; the last of them belongs to the baseline record. */
#define ZETA_WORD_LEAD 16u
/** Elements of a transposed word, with room behind the last row. */
#define ZETA_WORD_STRIDE (ZETA_WORD_LEAD + ZETA_BLOCK_ROWS)
/** Words that are transposed together. */
#define ZETA_CHUNK_WORDS 4u

/** Metrics whose values are written together. */
#define ZETA_OUTPUT_GROUP 4u

/** One number per row. */
union zeta_column {
    uint64_t u64[ZETA_BLOCK_ROWS];
    double f64[ZETA_BLOCK_ROWS];
    uint32_t halves[2 * ZETA_BLOCK_ROWS]; /**< of the integers, the lower one first */
};

enum zeta_opcode {
    ZETA_OP_CONSTANT,    /**< prepared once per calculation, never run */
    ZETA_OP_FIELD,       /**< a field of any form, of the row's later record, before: the earlier */
    ZETA_OP_DELTA32,     /**< difference of an aligned 32-bit word */
    ZETA_OP_DELTA_SPLIT, /**< difference of an aligned word with a high part inside another word */
    ZETA_OP_ADD_DELTA32, /**< a + f64(difference), of the first kind */
    ZETA_OP_ADD_DELTA_SPLIT, /**< and of the second; a is f64 */

    ZETA_OP_ADD_U64,
    ZETA_OP_SUB_U64,
    ZETA_OP_MUL_U64,
    ZETA_OP_DIV_U64,
    ZETA_OP_DIV_CONSTANT, /**< by the constant b, not 0; c is f64, 1 / b */
    ZETA_OP_MOD_U64,
    ZETA_OP_AND,
    ZETA_OP_OR,
    ZETA_OP_XOR,
    ZETA_OP_SHL,
    ZETA_OP_SHR,
    ZETA_OP_EQ_U64,
    ZETA_OP_NE_U64,
    ZETA_OP_LT_U64,
    ZETA_OP_LE_U64,
    ZETA_OP_LOGICAL_AND,
    ZETA_OP_LOGICAL_OR,
    ZETA_OP_MIN_U64,
    ZETA_OP_MAX_U64,
    ZETA_OP_MULDIV,
    ZETA_OP_SELECT, /**< a != 0 ? b : c, of 64 bits of either type */

    ZETA_OP_ADD_F64,
    ZETA_OP_SUB_F64,
    ZETA_OP_MUL_F64,
    ZETA_OP_DIV_F64,
    ZETA_OP_EQ_F64,
    ZETA_OP_NE_F64,
    ZETA_OP_LT_F64,
    ZETA_OP_LE_F64,
    ZETA_OP_MIN_F64,
    ZETA_OP_MAX_F64,
    ZETA_OP_NEGATE_F64,

    ZETA_OP_TO_U64,   /**< f64 to u64 */
    ZETA_OP_TO_F64,   /**< u64 to f64 */
    ZETA_OP_CLAMP_32, /**< u64 to u32, what is larger becomes UINT32_MAX */
    ZETA_OP_TO_F32,   /**< f64 to the bits of an f32 */
    ZETA_OP_RATIO,    /**< f64(a * b) / c to the bits of an f32; a and b are u64 */
    ZETA_OP_COUNT
};

/** Where the bits of a field are, in transposed words. */
struct zeta_piece {
    uint16_t word[3]; /**< slots; those that are not needed are the slot of zeros */
    uint8_t shift;    /**< 0 to 31: position of the lowest bit in word[0] */
    uint8_t width;    /**< 0: no bits */
};

/** An operation. dst is never one of its operands. */
struct zeta_op {
    uint16_t code; /**< enum zeta_opcode */
    uint16_t dst;  /**< columns */
    uint16_t a, b, c;
    bool before;           /**< loads: of the earlier record */
    uint8_t delta_bits;    /**< loads of differences: width of the counter */
    uint8_t scale;         /**< loads of integer differences: shifted left by 0 to 63 */
    struct zeta_piece low; /**< loads */
    struct zeta_piece high;
};

struct zeta_constant {
    uint16_t column;
    uint64_t bits;
};

/** Where the number of a metric ends up, ready for zet_typed_value_t. */
struct zeta_output {
    uint16_t column;
    uint32_t value_type; /**< zet_value_type_t */
};

#define ZETA_COLUMN_NONE UINT16_MAX

/** A runnable list. Constant after compilation. */
struct zeta_program {
    uint16_t *chunks; /**< first word of each group of words to transpose */
    uint32_t chunk_count;
    uint32_t word_count; /**< slots of words: the chunks' and, last, the slot of zeros */

    struct zeta_op *ops;
    uint32_t op_count;
    struct zeta_constant *constants;
    uint32_t constant_count;
    uint32_t column_count;

    /** One per metric (none in the program that only counts rows), and copies of the last one up to
     * a multiple of ZETA_OUTPUT_GROUP. */
    struct zeta_output *outputs;
    uint64_t *types; /**< value type and zero in turn, as many pairs as outputs and copies */
    uint32_t output_count;
    uint16_t skip_column; /**< not 0: the row is none; ZETA_COLUMN_NONE: all are */
};

/** The numbers behind the symbols of a catalog. */
struct zeta_symbol_values {
    bool *known;                  /**< the device says it, or the set file */
    struct zeta_number numbers[]; /**< as many as the catalog has; then the flags */
};

/** What calculation runs, made when somebody calculates. */
struct zeta_compiled_programs {
    struct zeta_arena arena;
    struct zeta_program values;
    struct zeta_program maxima;
    struct zeta_program rows; /**< only the skip column */
};

/** The metrics of a set on a device, and what its unit is programmed with. */
struct zeta_compiled_body {
    struct zeta_arena arena;
    ze_result_t result;                 /**< not SUCCESS: there are no metrics */
    struct zeta_set linked;             /**< of a deferred set */
    struct zeta_set query_form;         /**< of linked, in the query form of a deferred set */
    const struct zeta_set *set;         /**< linked; the compiled set's, or one of the above */
    const struct zeta_metric **metrics; /**< that exist on the device */
    uint32_t metric_count;
    const struct zeta_program_entry *entries;
    uint32_t entry_count;
};

struct zeta_compiled {
    const struct zeta_catalog *catalog;
    const struct zeta_set *set; /**< perhaps without metrics and program: those of the body count */
    uint32_t record_bytes;
    bool needs_baseline;        /**< rows are differences */
    struct zeta_set query_form; /**< that set points to, if it is the query form of another */
    const struct zeta_number *symbols; /**< as many as the catalog has */
    const bool *symbol_known;
    struct zeta_symbol_values *own_values; /**< NULL: they belong to whoever asked to compile */
    zeta_diagnostic_fn report;             /**< takes what is found when a body is made */
    void *report_context;

    /** NULL until somebody asks: few of the sets of a device are ever used. */
    _Atomic(struct zeta_compiled_body *) body;
    _Atomic(struct zeta_compiled_programs *) programs;
};

/** The body of a compiled set, made when first asked for. Never NULL; any number of threads. */
const struct zeta_compiled_body *zeta_compiled_body(const struct zeta_compiled *compiled);

/** The programs of a compiled set; NULL without memory or metrics. Any number of threads. */
const struct zeta_compiled_programs *zeta_compiled_programs(const struct zeta_compiled *compiled);

#endif
