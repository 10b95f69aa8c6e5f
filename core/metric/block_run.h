/*
 * The loops of the evaluator. Included once per instruction set by block_base.c, block_avx2.c and
 * block_avx512.c, which define BLOCK_VARIANT (the object to define) and BLOCK_NAME (its name).
 *
 * Every loop runs over all ZETA_BLOCK_ROWS elements, also when fewer rows are used: a fixed number
 * of rounds is what compilers make good vector code from, and no operation traps.
 */
#include "core/metric/block.h"

#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "core/metric/expr.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "records and typed values are handled as little-endian words"
#endif

#define ROWS ZETA_BLOCK_ROWS
#define FOR_ROWS(i) for (uint32_t i = 0; i < ROWS; i++)

#define CACHE_LINE 64u
#if defined(__GNUC__)
#define PREFETCH_FOR_WRITING(address) __builtin_prefetch((address), 1, 3)
#else
#define PREFETCH_FOR_WRITING(address) ((void)(address))
#endif

/** 2^52: integers below it are exact in a double, and adding it moves them into the low bits. */
#define TWO_TO_52 4503599627370496.0
#define BITS_OF_TWO_TO_52 UINT64_C(0x4330000000000000)
/** 2^84, and 2^84 + 2^52: for the upper half of a 64-bit integer. */
#define BITS_OF_TWO_TO_84 UINT64_C(0x4530000000000000)
#define TWO_TO_84_AND_52 19342813118337666422669312.0

static inline double f64_of_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint64_t bits_of_f64(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/** Conversion of an integer below 2^52, exact. */
static inline double f64_of_small(uint64_t value)
{
    return f64_of_bits(value | BITS_OF_TWO_TO_52) - TWO_TO_52;
}

/** Conversion of a number from 0 to below 2^52, cut off. */
static inline uint64_t small_of_f64(double value)
{
    double moved = value + TWO_TO_52; /* rounds to the nearest integer */
    double rounded = moved - TWO_TO_52;

    return (bits_of_f64(moved) - BITS_OF_TWO_TO_52) - (rounded > value ? 1u : 0u);
}

/** Conversion of any integer, rounded to nearest: both halves are exact, their sum rounds once. */
static inline double f64_of_u64(uint64_t value)
{
#if defined(__AVX512DQ__)
    return (double)value;
#else
    double high = f64_of_bits((value >> 32) | BITS_OF_TWO_TO_84);
    double low = f64_of_bits((value & 0xffffffffu) | BITS_OF_TWO_TO_52);

    return (high - TWO_TO_84_AND_52) + low;
#endif
}

/** Bits that any element of the columns has. */
static inline uint64_t any_bits(const union zeta_column *a, const union zeta_column *b)
{
    uint64_t any = 0;

    FOR_ROWS(i)
    any |= a->u64[i] | b->u64[i];
    return any;
}

/**
 * Division. Below 2^52 the quotient in doubles, cut off, is exact: a quotient that is no integer
 * is at least 1/b away from the next one, and rounding moves it by less than that.
 */
static void divide_u64(union zeta_column *restrict d, const union zeta_column *restrict a,
                       const union zeta_column *restrict b)
{
    if (any_bits(a, b) >> 52 == 0) {
        FOR_ROWS(i)
        {
            double divisor = f64_of_small(b->u64[i]);
            double quotient = f64_of_small(a->u64[i]) / (divisor == 0.0 ? 1.0 : divisor);

            d->u64[i] = divisor == 0.0 ? 0 : small_of_f64(quotient);
        }
        return;
    }
    FOR_ROWS(i)
    d->u64[i] = b->u64[i] == 0 ? 0 : a->u64[i] / b->u64[i];
}

static void modulo_u64(union zeta_column *restrict d, const union zeta_column *restrict a,
                       const union zeta_column *restrict b)
{
    divide_u64(d, a, b);
    FOR_ROWS(i)
    d->u64[i] = b->u64[i] == 0 ? 0 : a->u64[i] - d->u64[i] * b->u64[i];
}

static void multiply_divide(union zeta_column *restrict d, const union zeta_column *restrict a,
                            const union zeta_column *restrict b,
                            const union zeta_column *restrict c)
{
    bool small = (any_bits(a, b) | any_bits(c, c)) >> 52 == 0;

    if (small) {
        uint32_t large = 0;

        FOR_ROWS(i)
        large |= f64_of_small(a->u64[i]) * f64_of_small(b->u64[i]) >= TWO_TO_52 ? 1u : 0u;
        small = large == 0;
    }
    if (!small) {
        FOR_ROWS(i)
        d->u64[i] = zeta_muldiv_u64(a->u64[i], b->u64[i], c->u64[i]);
        return;
    }
    FOR_ROWS(i)
    {
        double divisor = f64_of_small(c->u64[i]);
        double product = f64_of_small(a->u64[i]) * f64_of_small(b->u64[i]);

        d->u64[i] = divisor == 0.0 ? 0 : small_of_f64(product / (divisor == 0.0 ? 1.0 : divisor));
    }
}

static void convert_to_u64(union zeta_column *restrict d, const union zeta_column *restrict a)
{
    uint32_t large = 0;

    FOR_ROWS(i)
    large |= a->f64[i] >= TWO_TO_52 ? 1u : 0u;
    if (large) {
        FOR_ROWS(i)
        d->u64[i] = zeta_u64_from_f64(a->f64[i]);
        return;
    }
    FOR_ROWS(i)
    d->u64[i] = small_of_f64(a->f64[i] > 0.0 ? a->f64[i] : 0.0);
}

static void convert_to_f32(union zeta_column *restrict d, const union zeta_column *restrict a)
{
    float narrow[ROWS];
    uint32_t bits[ROWS];

    FOR_ROWS(i)
    narrow[i] = (float)a->f64[i];
    memcpy(bits, narrow, sizeof(bits));
    FOR_ROWS(i)
    d->u64[i] = bits[i];
}

/** Words of the block's records, from element first of the transposed words on. */
struct words {
    const uint32_t *base;
    uint32_t first;
};

static inline const uint32_t *word_rows(const struct words *words, uint16_t slot)
{
    return words->base + (uint32_t)slot * ZETA_WORD_STRIDE + words->first;
}

static inline uint64_t low_mask(unsigned width)
{
    return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/** Bits of one piece of a field, in the lowest position. */
static void load_piece(uint64_t *restrict d, const struct words *words,
                       const struct zeta_piece *piece)
{
    const uint32_t *restrict w0 = word_rows(words, piece->word[0]);
    const uint32_t *restrict w1 = word_rows(words, piece->word[1]);
    const uint32_t *restrict w2 = word_rows(words, piece->word[2]);
    const unsigned shift = piece->shift;
    const uint64_t mask = low_mask(piece->width);

    if (shift + piece->width <= 32) {
        FOR_ROWS(i)
        d[i] = (w0[i] >> shift) & mask;
        return;
    }
    /* w2 is needed only with shift > 0; shifting it in two steps gives 0 otherwise. */
    FOR_ROWS(i)
    d[i] = ((w0[i] | (uint64_t)w1[i] << 32) >> shift | (uint64_t)w2[i] << 1 << (63 - shift)) & mask;
}

static void load_field(union zeta_column *restrict d, const uint32_t *base,
                       const struct zeta_op *op)
{
    const struct words words = {base, op->before ? ZETA_WORD_LEAD - 1 : ZETA_WORD_LEAD};
    uint64_t high[ROWS];

    load_piece(d->u64, &words, &op->low);
    if (op->high.width == 0)
        return;
    load_piece(high, &words, &op->high);
    FOR_ROWS(i)
    d->u64[i] |= high[i] << op->low.width;
}

static void load_delta32(union zeta_column *restrict d, const uint32_t *base,
                         const struct zeta_op *op)
{
    const uint32_t *w = base + (uint32_t)op->low.word[0] * ZETA_WORD_STRIDE + ZETA_WORD_LEAD;

    FOR_ROWS(i)
    d->u64[i] = (uint32_t)(w[i] - w[(int)i - 1]);
}

/**
 * Difference of counters whose low 32 bits are a word and whose upper bits lie in another word: the
 * upper parts are subtracted with the borrow of the lower ones, in 32-bit arithmetic. What stands
 * above the upper part in its word is cut off at the end.
 */
static inline void load_delta_split(union zeta_column *restrict d, const uint32_t *base,
                                    const struct zeta_op *op)
{
    const uint32_t *low = base + (uint32_t)op->low.word[0] * ZETA_WORD_STRIDE + ZETA_WORD_LEAD;
    const uint32_t *high = base + (uint32_t)op->high.word[0] * ZETA_WORD_STRIDE + ZETA_WORD_LEAD;
    const unsigned shift = op->high.shift;
    const uint64_t mask = low_mask(op->delta_bits);
    const uint32_t low_bits = (uint32_t)mask;
    const uint32_t high_bits = (uint32_t)(mask >> 32);
    uint32_t low_part[ROWS];
    uint32_t high_part[ROWS];

    FOR_ROWS(i)
    {
        uint32_t borrow = low[i] < low[(int)i - 1] ? 1u : 0u;

        low_part[i] = (low[i] - low[(int)i - 1]) & low_bits;
        high_part[i] = ((high[i] >> shift) - (high[(int)i - 1] >> shift) - borrow) & high_bits;
    }
    FOR_ROWS(i)
    d->u64[i] = low_part[i] | (uint64_t)high_part[i] << 32;
}

/** One loop per operation: d, a, b, c are the columns, i the row. */
#define U64_CASE(code, expression)                                                                 \
    case code:                                                                                     \
        FOR_ROWS(i)                                                                                \
        d->u64[i] = (expression);                                                                  \
        break
#define F64_CASE(code, expression)                                                                 \
    case code:                                                                                     \
        FOR_ROWS(i)                                                                                \
        d->f64[i] = (expression);                                                                  \
        break

#define A64 (a->u64[i])
#define B64 (b->u64[i])
#define AF (a->f64[i])
#define BF (b->f64[i])

/** The loop over the operations; all of them are in one function, so that a step is one jump. */
static void run_ops(const struct zeta_program *program, const struct zeta_block *block)
{
    const struct zeta_op *const end = program->ops + program->op_count;
    union zeta_column *const columns = block->columns;
    const uint32_t *const words = block->words;
    const unsigned char *target = block->target;
    /* Lines to fetch with each operation, so that all are under way when the last one ran. */
    const unsigned char *const target_end = target + block->target_bytes;
    const uint32_t lines =
        (uint32_t)(block->target_bytes / CACHE_LINE / (program->op_count + 1u) + 1);

    for (const struct zeta_op *op = program->ops; op < end; op++) {
        for (uint32_t i = 0; i < lines && target < target_end; i++, target += CACHE_LINE)
            PREFETCH_FOR_WRITING(target);
        union zeta_column *restrict d = &columns[op->dst];
        const union zeta_column *restrict a = &columns[op->a];
        const union zeta_column *restrict b = &columns[op->b];
        const union zeta_column *restrict c = &columns[op->c];

        switch ((enum zeta_opcode)op->code) {
        case ZETA_OP_FIELD:
            load_field(d, words, op);
            break;
        case ZETA_OP_DELTA32:
            load_delta32(d, words, op);
            break;
        case ZETA_OP_DELTA_SPLIT:
            load_delta_split(d, words, op);
            break;
        case ZETA_OP_DIV_U64:
            divide_u64(d, a, b);
            break;
        case ZETA_OP_MOD_U64:
            modulo_u64(d, a, b);
            break;
        case ZETA_OP_MULDIV:
            multiply_divide(d, a, b, c);
            break;
        case ZETA_OP_TO_U64:
            convert_to_u64(d, a);
            break;
        case ZETA_OP_TO_F32:
            convert_to_f32(d, a);
            break;

            U64_CASE(ZETA_OP_ADD_U64, A64 + B64);
            U64_CASE(ZETA_OP_SUB_U64, A64 - B64);
            U64_CASE(ZETA_OP_MUL_U64, A64 * B64);
            U64_CASE(ZETA_OP_AND, A64 & B64);
            U64_CASE(ZETA_OP_OR, A64 | B64);
            U64_CASE(ZETA_OP_XOR, A64 ^ B64);
            U64_CASE(ZETA_OP_SHL, B64 < 64 ? A64 << (B64 & 63) : 0);
            U64_CASE(ZETA_OP_SHR, B64 < 64 ? A64 >> (B64 & 63) : 0);
            U64_CASE(ZETA_OP_EQ_U64, A64 == B64 ? 1 : 0);
            U64_CASE(ZETA_OP_NE_U64, A64 != B64 ? 1 : 0);
            U64_CASE(ZETA_OP_LT_U64, A64 < B64 ? 1 : 0);
            U64_CASE(ZETA_OP_LE_U64, A64 <= B64 ? 1 : 0);
            U64_CASE(ZETA_OP_LOGICAL_AND, (A64 != 0 ? 1u : 0u) & (B64 != 0 ? 1u : 0u));
            U64_CASE(ZETA_OP_LOGICAL_OR, (A64 | B64) != 0 ? 1 : 0);
            U64_CASE(ZETA_OP_MIN_U64, A64 < B64 ? A64 : B64);
            U64_CASE(ZETA_OP_MAX_U64, A64 > B64 ? A64 : B64);
            U64_CASE(ZETA_OP_SELECT, A64 != 0 ? B64 : c->u64[i]);
            U64_CASE(ZETA_OP_EQ_F64, AF == BF ? 1 : 0);
            U64_CASE(ZETA_OP_NE_F64, AF != BF ? 1 : 0);
            U64_CASE(ZETA_OP_LT_F64, AF < BF ? 1 : 0);
            U64_CASE(ZETA_OP_LE_F64, AF <= BF ? 1 : 0);
            U64_CASE(ZETA_OP_CLAMP_32, A64 < UINT32_MAX ? A64 : UINT32_MAX);

            F64_CASE(ZETA_OP_ADD_F64, AF + BF);
            F64_CASE(ZETA_OP_SUB_F64, AF - BF);
            F64_CASE(ZETA_OP_MUL_F64, AF * BF);
            F64_CASE(ZETA_OP_DIV_F64, BF == 0.0 ? 0.0 : AF / BF);
            F64_CASE(ZETA_OP_MIN_F64, AF < BF ? AF : BF);
            F64_CASE(ZETA_OP_MAX_F64, AF > BF ? AF : BF);
            F64_CASE(ZETA_OP_NEGATE_F64, -AF);
            F64_CASE(ZETA_OP_TO_F64, f64_of_u64(A64));
        case ZETA_OP_CONSTANT:
        case ZETA_OP_COUNT:
            break;
        }
    }
}

#if defined(__SSE2__)
/** ZETA_CHUNK_WORDS words of one record. */
static inline __m128i load_part(const unsigned char *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}
#endif

/*
 * transpose() turns ZETA_CHUNK_WORDS words of TRANSPOSE_ROWS records, offset bytes into each, into
 * as many arrays. Registers hold 128-bit parts of records 0, 4, 8 ... (and 1, 5, 9 ... and so on),
 * so that transposing inside each 128-bit lane leaves the records in order.
 */
#if defined(__AVX512F__)
#define TRANSPOSE_ROWS 16u
typedef __m512i wide;

static inline wide load_parts(const unsigned char *const *records, size_t offset)
{
    wide parts = _mm512_castsi128_si512(load_part(records[0] + offset));

    parts = _mm512_mask_broadcast_i32x4(parts, 0x00f0, load_part(records[4] + offset));
    parts = _mm512_mask_broadcast_i32x4(parts, 0x0f00, load_part(records[8] + offset));
    return _mm512_mask_broadcast_i32x4(parts, 0xf000, load_part(records[12] + offset));
}
#define LOW_32 _mm512_unpacklo_epi32
#define HIGH_32 _mm512_unpackhi_epi32
#define LOW_64 _mm512_unpacklo_epi64
#define HIGH_64 _mm512_unpackhi_epi64
#define STORE_WIDE(target, value) _mm512_storeu_si512((target), (value))
#elif defined(__AVX2__)
#define TRANSPOSE_ROWS 8u
typedef __m256i wide;

static inline wide load_parts(const unsigned char *const *records, size_t offset)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_part(records[0] + offset)),
                                   load_part(records[4] + offset), 1);
}
#define LOW_32 _mm256_unpacklo_epi32
#define HIGH_32 _mm256_unpackhi_epi32
#define LOW_64 _mm256_unpacklo_epi64
#define HIGH_64 _mm256_unpackhi_epi64
#define STORE_WIDE(target, value) _mm256_storeu_si256((__m256i *)(void *)(target), (value))
#elif defined(__SSE2__)
#define TRANSPOSE_ROWS 4u
typedef __m128i wide;

static inline wide load_parts(const unsigned char *const *records, size_t offset)
{
    return load_part(records[0] + offset);
}
#define LOW_32 _mm_unpacklo_epi32
#define HIGH_32 _mm_unpackhi_epi32
#define LOW_64 _mm_unpacklo_epi64
#define HIGH_64 _mm_unpackhi_epi64
#define STORE_WIDE(target, value) _mm_storeu_si128((__m128i *)(void *)(target), (value))
#else
#define TRANSPOSE_ROWS 1u
#endif

static inline void transpose(const unsigned char *const *records, size_t offset,
                             uint32_t *restrict target)
{
#if defined(__SSE2__)
    const wide r0 = load_parts(records, offset);
    const wide r1 = load_parts(records + 1, offset);
    const wide r2 = load_parts(records + 2, offset);
    const wide r3 = load_parts(records + 3, offset);
    const wide low01 = LOW_32(r0, r1);
    const wide low23 = LOW_32(r2, r3);
    const wide high01 = HIGH_32(r0, r1);
    const wide high23 = HIGH_32(r2, r3);

    STORE_WIDE(target, LOW_64(low01, low23));
    STORE_WIDE(target + ZETA_WORD_STRIDE, HIGH_64(low01, low23));
    STORE_WIDE(target + 2 * ZETA_WORD_STRIDE, LOW_64(high01, high23));
    STORE_WIDE(target + 3 * ZETA_WORD_STRIDE, HIGH_64(high01, high23));
#else
    uint32_t words[ZETA_CHUNK_WORDS];

    memcpy(words, records[0] + offset, sizeof(words));
    for (uint32_t i = 0; i < ZETA_CHUNK_WORDS; i++)
        target[i * ZETA_WORD_STRIDE] = words[i];
#endif
}

static void run(const struct zeta_program *program, struct zeta_block *block)
{
    /* Records behind the last one are the last one again, so that every loop is complete. */
    for (uint32_t i = block->count; i < ROWS; i++)
        block->record[i] = block->record[block->count - 1];
    for (uint32_t chunk = 0; chunk < program->chunk_count; chunk++) {
        uint32_t *target =
            block->words + chunk * ZETA_CHUNK_WORDS * ZETA_WORD_STRIDE + ZETA_WORD_LEAD;

        for (uint32_t i = 0; i < ROWS; i += TRANSPOSE_ROWS)
            transpose(&block->record[i], (size_t)program->chunks[chunk] * 4, target + i);
    }
    run_ops(program, block);
    for (uint32_t word = 0; word < program->word_count; word++) {
        uint32_t *elements = block->words + word * ZETA_WORD_STRIDE + ZETA_WORD_LEAD;

        elements[-1] = elements[ROWS - 1];
    }
}

/** Rows that are written in one go; loads of columns are full vectors of this many. */
#define ROW_GROUP 8u

/*
 * write_group() writes the values of ZETA_OUTPUT_GROUP metrics in up to ROW_GROUP rows. A typed
 * value is two 64-bit words in memory, the type and the payload; program->types holds the first
 * words, each with a zero behind it, so that payloads only have to be put into the gaps.
 */
#if defined(__AVX512F__)
static inline void write_group(const struct zeta_program *program, const struct zeta_block *block,
                               uint32_t first, uint32_t row, uint32_t end, const uint8_t *target,
                               zet_typed_value_t *values)
{
    const uint32_t width = program->output_count;
    const uint32_t left = width - first;
    const __mmask8 store = left >= 4 ? 0xff : (__mmask8)((1u << (2 * left)) - 1);
    const __m512i types = _mm512_loadu_si512(program->types + (size_t)2 * first);
    const struct zeta_output *output = &program->outputs[first];
    const __m512i a = _mm512_loadu_si512(block->columns[output[0].column].u64 + row);
    const __m512i b = _mm512_loadu_si512(block->columns[output[1].column].u64 + row);
    const __m512i c = _mm512_loadu_si512(block->columns[output[2].column].u64 + row);
    const __m512i d = _mm512_loadu_si512(block->columns[output[3].column].u64 + row);
    /* Rows 0, 2, 4, 6 of two metrics side by side, and rows 1, 3, 5, 7. */
    const __m512i ab[2] = {_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)};
    const __m512i cd[2] = {_mm512_unpacklo_epi64(c, d), _mm512_unpackhi_epi64(c, d)};
    const __m512i step = _mm512_set1_epi64(2);
    __m512i index = _mm512_set_epi64(9, 0, 8, 0, 1, 0, 0, 0);

    if (left >= ZETA_OUTPUT_GROUP && row + ROW_GROUP <= end) {
        for (uint32_t i = 0; i < ROW_GROUP; i += 2, index = _mm512_add_epi64(index, step)) {
            const __m512i even = _mm512_permutex2var_epi64(ab[0], index, cd[0]);
            const __m512i odd = _mm512_permutex2var_epi64(ab[1], index, cd[1]);

            _mm512_storeu_si512(values + (size_t)target[row + i] * width + first,
                                _mm512_mask_blend_epi64(0xaa, types, even));
            _mm512_storeu_si512(values + (size_t)target[row + i + 1] * width + first,
                                _mm512_mask_blend_epi64(0xaa, types, odd));
        }
        return;
    }
    for (uint32_t i = 0; i < ROW_GROUP && row + i < end; i++) {
        const __m512i payload = _mm512_permutex2var_epi64(ab[i % 2], index, cd[i % 2]);

        _mm512_mask_storeu_epi64(values + (size_t)target[row + i] * width + first, store,
                                 _mm512_mask_blend_epi64(0xaa, types, payload));
        if (i % 2 == 1)
            index = _mm512_add_epi64(index, step);
    }
}
#elif defined(__AVX2__)
static inline void write_two(const uint64_t *types, const uint64_t *left, const uint64_t *right,
                             uint32_t count, const uint8_t *target, uint32_t width,
                             zet_typed_value_t *values)
{
    const __m256i type = _mm256_loadu_si256((const __m256i *)(const void *)types);

    for (uint32_t half = 0; half < ROW_GROUP && half < count; half += 4) {
        const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(left + half));
        const __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(right + half));
        const __m256i even = _mm256_unpacklo_epi64(a, b);
        const __m256i odd = _mm256_unpackhi_epi64(a, b);
        const __m256i row[4] = {_mm256_permute4x64_epi64(even, _MM_SHUFFLE(1, 1, 0, 0)),
                                _mm256_permute4x64_epi64(odd, _MM_SHUFFLE(1, 1, 0, 0)),
                                _mm256_permute4x64_epi64(even, _MM_SHUFFLE(3, 3, 2, 2)),
                                _mm256_permute4x64_epi64(odd, _MM_SHUFFLE(3, 3, 2, 2))};

        for (uint32_t i = 0; i < 4 && half + i < count; i++)
            _mm256_storeu_si256((__m256i *)(void *)(values + (size_t)target[half + i] * width),
                                _mm256_blend_epi32(type, row[i], 0xcc));
    }
}

static inline void write_one(uint64_t type, const uint64_t *column, uint32_t count,
                             const uint8_t *target, uint32_t width, zet_typed_value_t *values);

static inline void write_group(const struct zeta_program *program, const struct zeta_block *block,
                               uint32_t first, uint32_t row, uint32_t end, const uint8_t *target,
                               zet_typed_value_t *values)
{
    const uint32_t width = program->output_count;
    const uint32_t count = end - row;

    for (uint32_t m = first; m < first + ZETA_OUTPUT_GROUP && m < width; m += 2) {
        const uint64_t *left = block->columns[program->outputs[m].column].u64 + row;

        if (m + 1 < width)
            write_two(program->types + (size_t)2 * m, left,
                      block->columns[program->outputs[m + 1].column].u64 + row, count, target + row,
                      width, values + m);
        else
            write_one(program->types[(size_t)2 * m], left, count, target + row, width, values + m);
    }
}
#else
static inline void write_one(uint64_t type, const uint64_t *column, uint32_t count,
                             const uint8_t *target, uint32_t width, zet_typed_value_t *values);

static inline void write_group(const struct zeta_program *program, const struct zeta_block *block,
                               uint32_t first, uint32_t row, uint32_t end, const uint8_t *target,
                               zet_typed_value_t *values)
{
    for (uint32_t m = first; m < first + ZETA_OUTPUT_GROUP && m < program->output_count; m++)
        write_one(program->types[(size_t)2 * m],
                  block->columns[program->outputs[m].column].u64 + row, end - row, target + row,
                  program->output_count, values + m);
}
#endif

#if !defined(__AVX512F__)
/** One metric in up to ROW_GROUP rows. */
static inline void write_one(uint64_t type, const uint64_t *column, uint32_t count,
                             const uint8_t *target, uint32_t width, zet_typed_value_t *values)
{
    for (uint32_t i = 0; i < ROW_GROUP && i < count; i++) {
        const uint64_t words[2] = {type, column[i]};

        memcpy(values + (size_t)target[i] * width, words, sizeof(words));
    }
}
#endif

static void write_rows(const struct zeta_program *program, const struct zeta_block *block,
                       const uint8_t *target, uint32_t end, zet_typed_value_t *values)
{
    _Static_assert(sizeof(*values) == 16, "a typed value is two 64-bit words");

    for (uint32_t row = 0; row < end; row += ROW_GROUP) {
        for (uint32_t first = 0; first < program->output_count; first += ZETA_OUTPUT_GROUP)
            write_group(program, block, first, row, end, target, values);
    }
}

const struct zeta_block_variant BLOCK_VARIANT = {BLOCK_NAME, run, write_rows};
