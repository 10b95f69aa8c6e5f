#include "rv64.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The row of the table for an instruction. */
struct op_info {
    const char *mnemonic;
    const char *operands;
    uint32_t match;
    uint32_t mask;
    uint8_t class;
    uint8_t flops;
    uint8_t latency;
};

static const struct op_info op_table[] = {
#define X(name, mnemonic, operands, match, mask, class, flops, latency)                            \
    [RV64_OP_##name] = {mnemonic, operands, match, mask, RV64_CLASS_##class, flops, latency},
    RV64_PLAIN_OPS(X) RV64_ROUNDED_OPS(X)
#undef X
};

enum {
    REAL_OP_COUNT = sizeof(op_table) / sizeof(op_table[0]),
    FIRST_ROUNDED_OP = RV64_OP_FMADD_S,
    ROUNDING_DYNAMIC = 7,
    DUMMY_REGISTER = 32
};

static uint32_t bits(uint32_t word, unsigned low, unsigned count)
{
    return word >> low & ((UINT32_C(1) << count) - 1);
}

static enum rv64_op find_op(uint32_t word)
{
    for (unsigned op = 0; op < REAL_OP_COUNT; op++) {
        const struct op_info *info = &op_table[op];

        if ((word & info->mask) != info->match)
            continue;
        /* Rounding modes 5 and 6 are reserved in the instruction word. */
        if (op >= FIRST_ROUNDED_OP && (bits(word, 12, 3) == 5 || bits(word, 12, 3) == 6))
            break;
        return (enum rv64_op)op;
    }
    return RV64_OP_ILLEGAL;
}

/* Where the word has the operand of a letter: its parts, and the bit at which each goes on. */
static const struct operand {
    enum { NO_OPERAND, RD, RS1, RS2, IMMEDIATE } target;
    uint8_t sign_width; /* of signed immediates */
    struct {
        uint8_t low, count, shift;
    } parts[4];
} operand_table[128] = {
    ['d'] = {RD, 0, {{7, 5, 0}}},
    ['D'] = {RD, 0, {{7, 5, 0}}},
    ['s'] = {RS1, 0, {{15, 5, 0}}},
    ['S'] = {RS1, 0, {{15, 5, 0}}},
    ['Z'] = {RS1, 0, {{15, 5, 0}}},
    ['t'] = {RS2, 0, {{20, 5, 0}}},
    ['T'] = {RS2, 0, {{20, 5, 0}}},
    ['R'] = {IMMEDIATE, 0, {{27, 5, 0}}},
    ['m'] = {IMMEDIATE, 0, {{12, 3, 8}}},
    ['j'] = {IMMEDIATE, 12, {{20, 12, 0}}},
    ['o'] = {IMMEDIATE, 12, {{20, 12, 0}}},
    ['q'] = {IMMEDIATE, 12, {{25, 7, 5}, {7, 5, 0}}},
    ['>'] = {IMMEDIATE, 0, {{20, 6, 0}}},
    ['<'] = {IMMEDIATE, 0, {{20, 5, 0}}},
    ['u'] = {IMMEDIATE, 0, {{12, 20, 12}}},
    ['p'] = {IMMEDIATE, 13, {{31, 1, 12}, {7, 1, 11}, {25, 6, 5}, {8, 4, 1}}},
    ['a'] = {IMMEDIATE, 21, {{31, 1, 20}, {12, 8, 12}, {20, 1, 11}, {21, 10, 1}}},
    ['E'] = {IMMEDIATE, 0, {{20, 12, 0}}},
};

/* Fills the fields that the operands of the instruction name. */
static void decode_operands(const char *operands, uint32_t word, struct zeta_rv64_insn *insn)
{
    for (; *operands; operands++) {
        const struct operand *operand = &operand_table[(unsigned char)*operands];
        uint32_t value = 0;

        for (unsigned i = 0; i < 4; i++)
            value |= bits(word, operand->parts[i].low, operand->parts[i].count)
                     << operand->parts[i].shift;
        if (operand->target == RD)
            insn->rd = (uint8_t)(*operands == 'd' && value == 0 ? DUMMY_REGISTER : value);
        else if (operand->target == RS1)
            insn->rs1 = (uint8_t)value;
        else if (operand->target == RS2)
            insn->rs2 = (uint8_t)value;
        else if (operand->sign_width > 0)
            insn->imm =
                (int32_t)(value << (32 - operand->sign_width)) >> (32 - operand->sign_width);
        else if (operand->target == IMMEDIATE)
            insn->imm |= (int32_t)value;
    }
}

/* Picks the op that the interpreter runs where it differs from that of the word. */
static uint8_t specialise(const struct zeta_rv64_code *code, uint32_t index, uint32_t word,
                          struct zeta_rv64_insn *insn)
{
    const uint8_t op = insn->original;
    const bool links = insn->rd != DUMMY_REGISTER;
    const int64_t target = (int64_t)index + insn->imm / 4;

    if (op == RV64_OP_JALR)
        return links ? RV64_OP_JALR : RV64_OP_JR;
    if (op == RV64_OP_JAL || (op >= RV64_OP_BEQ && op <= RV64_OP_BGEU)) {
        if (insn->imm % 4 != 0 || target < 0 || target >= (int64_t)code->count)
            return op == RV64_OP_JAL ? RV64_OP_JAL_OUT : RV64_OP_BRANCH_OUT;
        insn->imm /= 4;
        return op == RV64_OP_JAL && !links ? RV64_OP_J : op;
    }
    if (op < FIRST_ROUNDED_OP || op >= REAL_OP_COUNT || bits(word, 12, 3) == ROUNDING_DYNAMIC)
        return op;
    /* Exact, so a static rounding mode means nothing; assemblers write 0. */
    if (op == RV64_OP_FCVT_D_S || op == RV64_OP_FCVT_D_W || op == RV64_OP_FCVT_D_WU)
        return op;
    /* Conversions to integers round by themselves: the usual truncation costs no detour. */
    if ((op >= RV64_OP_FCVT_W_S && op <= RV64_OP_FCVT_LU_S) ||
        (op >= RV64_OP_FCVT_W_D && op <= RV64_OP_FCVT_LU_D))
        return op;
    return RV64_OP_FP_STATIC;
}

static bool ends_block(uint8_t op)
{
    if (op >= REAL_OP_COUNT)
        return true;
    return op_table[op].class == RV64_CLASS_BRANCH || op_table[op].class == RV64_CLASS_JUMP ||
           op_table[op].class == RV64_CLASS_SYSTEM;
}

/* Sets the sums to what the instruction itself adds. */
static void weigh(struct zeta_rv64_insn *insn)
{
    static const struct op_info nothing = {.class = RV64_CLASS_COUNT};
    const bool real = insn->original < REAL_OP_COUNT;
    const struct op_info *info = real ? &op_table[insn->original] : &nothing;

    insn->low = (uint64_t)real | (uint64_t)(info->class == RV64_CLASS_INT) << 16 |
                (uint64_t)(info->class == RV64_CLASS_FP32) << 32 |
                (uint64_t)(info->class == RV64_CLASS_FP64) << 48;
    insn->high = info->flops | (uint64_t)(info->class == RV64_CLASS_BRANCH) << 16 |
                 (uint64_t)(info->class == RV64_CLASS_MEM) << 32 | (uint64_t)info->latency << 48;
}

/*
 * Makes the sums of instructions first..last, from the end: those of a block end are its own
 * weight, those of others include their successor's.
 */
static void make_sums(struct zeta_rv64_code *code, uint32_t first, uint32_t last)
{
    for (uint32_t i = last + 1; i-- > first;) {
        struct zeta_rv64_insn *insn = &code->insns[i];

        weigh(insn);
        if (!ends_block(insn->original) && insn[1].op != RV64_OP_SPLIT) {
            insn->low += insn[1].low;
            insn->high += insn[1].high;
        }
    }
}

/* Marks every BLOCK_LIMIT-th instruction of a long block, counted from its begin. */
static void split_blocks(struct zeta_rv64_code *code, uint32_t first, uint32_t last)
{
    uint32_t length = 0;

    for (uint32_t i = first; i <= last; i++) {
        if (length == ZETA_RV64_BLOCK_LIMIT) {
            code->insns[i].op = RV64_OP_SPLIT;
            length = 0;
        }
        length = ends_block(code->insns[i].original) ? 0 : length + 1;
    }
}

/*
 * Joins neighbours. In ascending order, as then the second still has the op of its own; it may
 * become the first of another pair, for those who jump to it.
 */
static void join_pairs(struct zeta_rv64_code *code, uint32_t first, uint32_t last)
{
    static const struct {
        uint8_t first, second, pair;
    } pairs[] = {
#define P(first, second) {RV64_OP_##first, RV64_OP_##second, RV64_OP_##first##_##second},
        RV64_PLAIN_PAIRS(P) RV64_ROUNDED_PAIRS(P)
#undef P
    };

    for (struct zeta_rv64_insn *insn = &code->insns[first]; insn < &code->insns[last]; insn++) {
        for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
            if (pairs[i].first == insn->op && pairs[i].second == insn[1].op) {
                insn->op = pairs[i].pair;
                insn->unsplit = pairs[i].pair;
                break;
            }
        }
    }
}

static struct zeta_rv64_insn decode(const struct zeta_rv64_code *code, uint32_t index,
                                    uint32_t word)
{
    struct zeta_rv64_insn insn = {.rd = DUMMY_REGISTER, .index = index};

    insn.original = (uint8_t)find_op(word);
    if (insn.original != RV64_OP_ILLEGAL)
        decode_operands(op_table[insn.original].operands, word, &insn);
    insn.op = specialise(code, index, word, &insn);
    insn.unsplit = insn.op;
    return insn;
}

static void decode_all(struct zeta_rv64_code *code, const void *words, uint32_t first,
                       uint32_t last, const uint64_t *breaks, uint32_t break_count)
{
    for (uint32_t i = first; i <= last; i++) {
        uint32_t word;

        memcpy(&word, (const char *)words + (size_t)i * 4, sizeof(word));
        for (uint32_t k = 0; k < break_count; k++) {
            if (breaks[k] == code->begin + (uint64_t)i * 4)
                word = op_table[RV64_OP_EBREAK].match;
        }
        code->insns[i] = decode(code, i, word);
    }
    split_blocks(code, first, last);
    join_pairs(code, first, last);
    make_sums(code, first, last);
}

bool zeta_rv64_code_create(struct zeta_rv64_code *out_code, uint64_t begin, const void *words,
                           uint32_t count)
{
    struct zeta_rv64_code code = {.begin = begin, .count = count};

    code.insns = calloc((size_t)count + 1, sizeof(*code.insns));
    if (!code.insns)
        return false;
    code.insns[count] = (struct zeta_rv64_insn){
        .op = RV64_OP_END, .original = RV64_OP_END, .unsplit = RV64_OP_END, .index = count};
    if (count > 0)
        decode_all(&code, words, 0, count - 1, NULL, 0);
    *out_code = code;
    return true;
}

void zeta_rv64_code_single(const struct zeta_rv64_code *code, uint32_t index, const uint32_t *word,
                           struct zeta_rv64_insn insns[2], struct zeta_rv64_code *out_code)
{
    struct zeta_rv64_insn *insn = &insns[0];

    *insn = word ? decode(code, index, *word) : code->insns[index];
    /* Alone again, if it had been joined with the next one. */
    insn->op = insn->unsplit > RV64_OP_END ? insn->original : insn->unsplit;
    /* Where others have a distance in instructions, jumps out of code have one in bytes. */
    if (insn->op == RV64_OP_JAL || insn->op == RV64_OP_J) {
        insn->op = RV64_OP_JAL_OUT;
        insn->imm *= 4;
    } else if (insn->op < REAL_OP_COUNT && op_table[insn->op].class == RV64_CLASS_BRANCH) {
        insn->op = RV64_OP_BRANCH_OUT;
        insn->imm *= 4;
    }
    insn->unsplit = insn->op;
    insn->index = 0;
    weigh(insn);
    insns[1] = (struct zeta_rv64_insn){.op = RV64_OP_SPLIT, .index = 1};
    *out_code = (struct zeta_rv64_code){
        .begin = code->begin + (uint64_t)index * 4, .count = 1, .insns = insns};
}

void zeta_rv64_code_finish(struct zeta_rv64_code *code)
{
    free(code->insns);
    memset(code, 0, sizeof(*code));
}

void zeta_rv64_code_update(struct zeta_rv64_code *code, const void *words, uint32_t first,
                           uint32_t count, const uint64_t *breaks, uint32_t break_count)
{
    uint32_t last;

    if (count == 0 || first >= code->count)
        return;
    last = count > code->count - first ? code->count - 1 : first + count - 1;
    /* Sums reach back to the begin of a block and splits forward to its end. */
    while (first > 0 && !ends_block(code->insns[first - 1].original))
        first--;
    do {
        while (last < code->count - 1 && !ends_block(code->insns[last].original))
            last++;
        decode_all(code, words, first, last, breaks, break_count);
        /* The last word may have ended a block before and no longer does. */
    } while (last < code->count - 1 && !ends_block(code->insns[last].original));
}

bool zeta_rv64_code_holds(const struct zeta_rv64_code *code, uint64_t address)
{
    uint64_t offset = address - code->begin;

    return offset % 4 == 0 && offset / 4 < code->count;
}

uint64_t zeta_rv64_registers(uint32_t word)
{
    static const char files[] = "dstDSTR"; /* three of integers, then those of numbers */
    const enum rv64_op op = find_op(word);
    uint64_t registers = 0;

    if (op == RV64_OP_ILLEGAL)
        return UINT64_MAX;
    for (const char *letter = op_table[op].operands; *letter; letter++) {
        const char *file = strchr(files, *letter);
        const struct operand *operand = &operand_table[(unsigned char)*letter];

        if (file)
            registers |= UINT64_C(1)
                         << (bits(word, operand->parts[0].low, 5) + (file - files < 3 ? 0 : 32));
    }
    return registers;
}

static const char *const x_names[33] = {"zero", "ra", "sp", "gp", "tp", "t0",  "t1", "t2", "s0",
                                        "s1",   "a0", "a1", "a2", "a3", "a4",  "a5", "a6", "a7",
                                        "s2",   "s3", "s4", "s5", "s6", "s7",  "s8", "s9", "s10",
                                        "s11",  "t3", "t4", "t5", "t6", "zero"};

static const char *const f_names[32] = {"ft0", "ft1", "ft2",  "ft3",  "ft4", "ft5", "ft6",  "ft7",
                                        "fs0", "fs1", "fa0",  "fa1",  "fa2", "fa3", "fa4",  "fa5",
                                        "fa6", "fa7", "fs2",  "fs3",  "fs4", "fs5", "fs6",  "fs7",
                                        "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

/* Writes one operand, or the character itself when it is punctuation. */
static int print_operand(char letter, uint32_t word, const struct zeta_rv64_insn *insn,
                         uint64_t address, char *out, size_t size)
{
    static const char *const modes[8] = {"rne", "rtz", "rdn", "rup", "rmm", "?", "?", "dyn"};
    const char *name = letter == 'd'   ? x_names[insn->rd]
                       : letter == 's' ? x_names[insn->rs1]
                       : letter == 't' ? x_names[insn->rs2]
                       : letter == 'D' ? f_names[insn->rd]
                       : letter == 'S' ? f_names[insn->rs1]
                       : letter == 'T' ? f_names[insn->rs2]
                       : letter == 'R' ? f_names[insn->imm & 31]
                       : letter == 'm' ? modes[bits(word, 12, 3)]
                       : letter == ',' ? ", "
                                       : NULL;

    if (name)
        return snprintf(out, size, "%s", name);
    if (letter == 'u')
        return snprintf(out, size, "0x%" PRIx32, word >> 12);
    if (letter == 'p' || letter == 'a')
        return snprintf(out, size, "0x%" PRIx64, address + (uint64_t)(int64_t)insn->imm);
    if (letter == 'E')
        return snprintf(out, size, "0x%" PRIx32, (uint32_t)insn->imm);
    if (letter == 'Z')
        return snprintf(out, size, "%u", insn->rs1);
    return strchr("joq><", letter) ? snprintf(out, size, "%" PRId32, insn->imm)
                                   : snprintf(out, size, "%c", letter);
}

void zeta_rv64_disassemble(uint32_t word, uint64_t address, char *out_text, size_t size)
{
    struct zeta_rv64_insn insn = {.rd = DUMMY_REGISTER};
    enum rv64_op op = find_op(word);
    const char *operands;
    size_t used;

    if (op == RV64_OP_ILLEGAL) {
        (void)snprintf(out_text, size, "unknown");
        return;
    }
    operands = op_table[op].operands;
    decode_operands(operands, word, &insn);
    used = (size_t)snprintf(out_text, size, "%s%s", op_table[op].mnemonic, *operands ? " " : "");
    for (; *operands && used < size; operands++)
        used +=
            (size_t)print_operand(*operands, word, &insn, address, out_text + used, size - used);
}
