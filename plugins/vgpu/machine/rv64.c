/*
 * The interpreter loop. One label per instruction, reached by a computed goto at the end of the
 * one before; the only file with that extension, and with 128-bit integers.
 *
 * Variables that stay in registers through the loop:
 *   ip         decoded instruction being executed
 *   low, high  sums of the blocks entered so far (struct zeta_rv64_insn)
 *   labels     where each op is executed; another table while frm needs the slow rounding
 */
#include "rv64.h"

#include <string.h>

#include "rv64_fp.h"

#if defined(__GNUC__) && !defined(__clang__)
/*
 * One jump per instruction predicts far better than a shared one, so nothing may merge or hoist
 * what instructions have in common. A pragma, as tools that read the compiler's command line with
 * clang do not know these options.
 */
#pragma GCC optimize("no-gcse,no-crossjumping,no-tree-pre,no-code-hoisting,no-tree-tail-merge")
#endif

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/*
 * Finds where an access goes on the host, and counts it; false when it is not allowed. Only the
 * slow way can fail, so the others come back without a test of the result.
 */
static inline __attribute__((always_inline)) bool reach(struct zeta_rv64_memory *memory,
                                                        uint64_t address, unsigned size_bits,
                                                        bool write, void **out_host)
{
    struct zeta_rv64_page *pages = write ? memory->write_pages : memory->read_pages;
    struct zeta_rv64_page *page;

    *out_host = (void *)(uintptr_t)address;
    if (LIKELY(address - memory->slm.begin < memory->slm.span)) {
        memory->accesses[write ? ZETA_RV64_SLM_WRITE : ZETA_RV64_SLM_READ][size_bits]++;
        *out_host = (void *)(uintptr_t)(address + memory->slm.host_delta);
        return true;
    }
    if (address - memory->stack.begin < memory->stack.span) {
        memory->accesses[ZETA_RV64_PRIVATE][size_bits]++;
        return true;
    }
    page = &pages[(address >> ZETA_RV64_PAGE_BITS) % ZETA_RV64_PAGE_SLOTS];
    if (LIKELY(address - page->begin < page->span)) {
        memory->accesses[write ? ZETA_RV64_GLOBAL_WRITE : ZETA_RV64_GLOBAL_READ][size_bits]++;
        zeta_vgpu_l1_access(memory->l1, address + page->model_delta, write);
        return true;
    }
    *out_host = zeta_rv64_memory_slow(memory, address, size_bits, write);
    return *out_host != NULL;
}

/* A read-modify-write: one access to the cache, bytes in both directions. */
static void *reach_atomic(struct zeta_rv64_memory *memory, uint64_t address, unsigned size_bits)
{
    void *host;

    if (!reach(memory, address, size_bits, true, &host))
        return NULL;
    if (address - memory->slm.begin < memory->slm.size_bytes) {
        memory->accesses[ZETA_RV64_SLM_READ][size_bits]++;
    } else if (address - memory->stack.begin < memory->stack.size_bytes) {
        memory->accesses[ZETA_RV64_PRIVATE][size_bits]++;
    } else {
        memory->accesses[ZETA_RV64_GLOBAL_READ][size_bits]++;
        memory->global_atomics++;
    }
    return host;
}

static int64_t divide(int64_t a, int64_t b)
{
    if (b == 0)
        return -1;
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static int64_t remainder_of(int64_t a, int64_t b)
{
    if (b == 0)
        return a;
    return b == -1 ? 0 : a % b;
}

static uint64_t sext32(uint32_t value)
{
    return (uint64_t)(int64_t)(int32_t)value;
}

/* The operations of an AMO on a host word; the old value comes back. */
#define AMO(bits, suffix)                                                                          \
    static uint##bits##_t amo##bits(uint8_t op, uint##bits##_t *word, uint##bits##_t value)        \
    {                                                                                              \
        uint##bits##_t old = __atomic_load_n(word, __ATOMIC_RELAXED), next;                        \
        bool is_signed = op == RV64_OP_AMOMIN_##suffix || op == RV64_OP_AMOMAX_##suffix;           \
        bool minimum = op == RV64_OP_AMOMIN_##suffix || op == RV64_OP_AMOMINU_##suffix;            \
                                                                                                   \
        switch (op) {                                                                              \
        case RV64_OP_AMOSWAP_##suffix:                                                             \
            return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);                             \
        case RV64_OP_AMOADD_##suffix:                                                              \
            return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);                              \
        case RV64_OP_AMOXOR_##suffix:                                                              \
            return __atomic_fetch_xor(word, value, __ATOMIC_SEQ_CST);                              \
        case RV64_OP_AMOAND_##suffix:                                                              \
            return __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST);                              \
        case RV64_OP_AMOOR_##suffix:                                                               \
            return __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST);                               \
        default:                                                                                   \
            break;                                                                                 \
        }                                                                                          \
        do {                                                                                       \
            bool less = is_signed ? (int##bits##_t)old < (int##bits##_t)value : old < value;       \
                                                                                                   \
            next = less == minimum ? old : value;                                                  \
        } while (!__atomic_compare_exchange_n(word, &old, next, false, __ATOMIC_SEQ_CST,           \
                                              __ATOMIC_RELAXED));                                  \
        return old;                                                                                \
    }

AMO(32, W)
AMO(64, D)

/* LR: a reservation is the address and what was there. */
static uint64_t load_reserved(struct zeta_rv64_hart *hart, const void *host, uint64_t address,
                              unsigned size_bits)
{
    uint64_t value = size_bits == 2
                         ? sext32(__atomic_load_n((const uint32_t *)host, __ATOMIC_SEQ_CST))
                         : __atomic_load_n((const uint64_t *)host, __ATOMIC_SEQ_CST);

    hart->reserved_address = address;
    hart->reserved_value = value;
    hart->reserved_bytes = (uint8_t)(1u << size_bits);
    return value;
}

/* SC: 0 when stored. It fails without a reservation, or when the value has changed. */
static uint64_t store_conditional(struct zeta_rv64_hart *hart, void *host, uint64_t address,
                                  uint64_t value, unsigned size_bits)
{
    bool stored = false;

    if (hart->reserved_bytes == 1u << size_bits && hart->reserved_address == address) {
        uint64_t expected64 = hart->reserved_value;
        uint32_t expected32 = (uint32_t)expected64;

        stored = size_bits == 2
                     ? __atomic_compare_exchange_n((uint32_t *)host, &expected32, (uint32_t)value,
                                                   false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)
                     : __atomic_compare_exchange_n((uint64_t *)host, &expected64, value, false,
                                                   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    }
    hart->reserved_bytes = 0;
    return !stored;
}

/* The conditional branches are pairs: the second branches where the first does not. */
static bool branch_taken(uint32_t op, uint64_t a, uint64_t b)
{
    bool first = op <= RV64_OP_BNE ? a == b : op <= RV64_OP_BGE ? (int64_t)a < (int64_t)b : a < b;

    return first == ((op - RV64_OP_BEQ) % 2 == 0);
}

/* True when there is code at @target outside of the code that runs. */
static bool other_code_holds(struct zeta_vgpu_space *space, uint64_t target)
{
    struct zeta_vgpu_range range;

    return space && zeta_vgpu_space_find(space, target, &range) && range.code &&
           zeta_rv64_code_holds(range.code, target);
}

/* Simulates the fetch of the block at @insn; returns the misses. */
static uint32_t fetch_block(struct zeta_rv64_context *context, const struct zeta_rv64_insn *insn)
{
    uint32_t length = (uint16_t)insn->low;

    return zeta_vgpu_icache_fill(context->icache, context->icache_first + insn->index,
                                 length ? length : 1);
}

/* Bit of the field of retired instructions that is set when the slice is used up. */
#define SLICE_USED UINT64_C(0x8000)

#define DISPATCH() goto *labels[ip->op]

#define NEXT()                                                                                     \
    do {                                                                                           \
        ip++;                                                                                      \
        DISPATCH();                                                                                \
    } while (0)

/*
 * Begins a block at ip: the slice may end here, and the block's sums are added. The op is taken
 * as it was before SPLIT, which would add the sums once more.
 */
#define ENTER()                                                                                    \
    do {                                                                                           \
        if (UNLIKELY(low & SLICE_USED))                                                            \
            goto slice_end;                                                                        \
        low += ip->low;                                                                            \
        high += ip->high;                                                                          \
        if (UNLIKELY(!present[ip->index]))                                                         \
            counts.instruction_misses += fetch_block(context, ip);                                 \
        goto *labels[ip->unsplit];                                                                 \
    } while (0)

#define NEXT_BLOCK()                                                                               \
    do {                                                                                           \
        ip++;                                                                                      \
        ENTER();                                                                                   \
    } while (0)

/* The instruction at ip does not complete. */
#define STOP(reason, address)                                                                      \
    do {                                                                                           \
        stop = (reason);                                                                           \
        context->stop_address = (address);                                                         \
        goto leave_early;                                                                          \
    } while (0)

#define RD hart->x[ip->rd]
#define RS1 hart->x[ip->rs1]
#define RS2 hart->x[ip->rs2]
#define FRD hart->f[ip->rd]
#define FRS1 hart->f[ip->rs1]
#define FRS2 hart->f[ip->rs2]
#define FRS3 hart->f[ip->imm & 31]
#define IMM ((uint64_t)(int64_t)ip->imm)
#define SINGLE(value) zeta_rv64_single(&(value))
#define SINGLE_BITS(value) zeta_rv64_single_bits(&(value))
#define SET_SINGLE(value) zeta_rv64_set_single(&FRD, value)
#define DOUBLE(value) zeta_rv64_double(value)

/* What instructions do. */
#define INT(expression) RD = (expression);

#define BRANCH(condition)                                                                          \
    if (condition) {                                                                               \
        taken++;                                                                                   \
        ip += ip->imm;                                                                             \
        ENTER();                                                                                   \
    }                                                                                              \
    NEXT_BLOCK();

#define LOAD(type, size_bits, assignment)                                                          \
    uint64_t address = RS1 + IMM;                                                                  \
    void *host;                                                                                    \
    type value;                                                                                    \
    if (UNLIKELY(!reach(memory, address, size_bits, false, &host)))                                \
        STOP(ZETA_RV64_STOP_READ, address);                                                        \
    memcpy(&value, host, sizeof(value));                                                           \
    assignment;

#define STORE(type, size_bits, source)                                                             \
    uint64_t address = RS1 + IMM;                                                                  \
    void *host;                                                                                    \
    type value = (type)(source);                                                                   \
    if (UNLIKELY(!reach(memory, address, size_bits, true, &host)))                                 \
        STOP(ZETA_RV64_STOP_WRITE, address);                                                       \
    memcpy(host, &value, sizeof(value));

#define FP32(expression)                                                                           \
    float a = SINGLE(FRS1), b = SINGLE(FRS2);                                                      \
    SET_SINGLE(expression);

#define FP64(expression)                                                                           \
    double a = DOUBLE(FRS1), b = DOUBLE(FRS2);                                                     \
    FRD = zeta_rv64_box_double(expression);

/* Common begin of the atomics: address and alignment. */
#define ATOMIC_ADDRESS(size_bits)                                                                  \
    uint64_t address = RS1;                                                                        \
    if (UNLIKELY(address & ((1u << (size_bits)) - 1)))                                             \
        STOP(ZETA_RV64_STOP_MISALIGNED_ATOMIC, address);                                           \
    counts.atomics++

#define LR(size_bits)                                                                              \
    ATOMIC_ADDRESS(size_bits);                                                                     \
    void *host;                                                                                    \
    if (UNLIKELY(!reach(memory, address, size_bits, false, &host)))                                \
        goto atomic_read_fault;                                                                    \
    RD = load_reserved(hart, host, address, size_bits);

#define SC(size_bits)                                                                              \
    ATOMIC_ADDRESS(size_bits);                                                                     \
    void *host;                                                                                    \
    if (UNLIKELY(!reach(memory, address, size_bits, true, &host)))                                 \
        goto atomic_write_fault;                                                                   \
    RD = store_conditional(hart, host, address, RS2, size_bits);

#define AMO_OF(size_bits, call)                                                                    \
    ATOMIC_ADDRESS(size_bits);                                                                     \
    void *host = reach_atomic(memory, address, size_bits);                                         \
    if (UNLIKELY(!host))                                                                           \
        goto atomic_write_fault;                                                                   \
    RD = call;

#define FMA32(sign_product, sign_sum)                                                              \
    float a = SINGLE(FRS1), b = SINGLE(FRS2);                                                      \
    float result = __builtin_fmaf(sign_product a, b, sign_sum SINGLE(FRS3));                       \
    if (UNLIKELY(result != result))                                                                \
        zeta_rv64_fp_check_product(hart, (double)a, (double)b);                                    \
    SET_SINGLE(result);

#define FMA64(sign_product, sign_sum)                                                              \
    double a = DOUBLE(FRS1), b = DOUBLE(FRS2);                                                     \
    double result = __builtin_fma(sign_product a, b, sign_sum DOUBLE(FRS3));                       \
    if (UNLIKELY(result != result))                                                                \
        zeta_rv64_fp_check_product(hart, a, b);                                                    \
    FRD = zeta_rv64_box_double(result);

#define COMPARE32(operator, quiet)                                                                 \
    uint32_t a = SINGLE_BITS(FRS1), b = SINGLE_BITS(FRS2);                                         \
    RD = zeta_rv64_ordered32(hart, a, b, quiet) && SINGLE(FRS1) operator SINGLE(FRS2);

#define COMPARE64(operator, quiet)                                                                 \
    uint64_t a = FRS1, b = FRS2;                                                                   \
    RD = zeta_rv64_ordered64(hart, a, b, quiet) && DOUBLE(a) operator DOUBLE(b);

#define BITS32(expression)                                                                         \
    uint32_t a = SINGLE_BITS(FRS1), b = SINGLE_BITS(FRS2);                                         \
    zeta_rv64_set_single_bits(&FRD, expression);

#define BITS64(expression)                                                                         \
    uint64_t a = FRS1, b = FRS2;                                                                   \
    FRD = (expression);

#define TO_INTEGER(value, type)                                                                    \
    unsigned rounding = (unsigned)ip->imm >> 8;                                                    \
    RD = zeta_rv64_fp_to_integer(hart, value, type, rounding == RV64_DYN ? hart->frm : rounding);

/* What an instruction does, for those that also come in pairs. */
#define DO_ADDI INT(RS1 + IMM)
#define DO_ANDI INT(RS1 &IMM)
#define DO_SLLI INT(RS1 << ip->imm)
#define DO_SRLI INT(RS1 >> ip->imm)
#define DO_ADD INT(RS1 + RS2)
#define DO_SUB INT(RS1 - RS2)
#define DO_XOR INT(RS1 ^ RS2)
#define DO_MUL INT(RS1 *RS2)
#define DO_BEQ BRANCH(RS1 == RS2)
#define DO_BNE BRANCH(RS1 != RS2)
#define DO_BLT BRANCH((int64_t)RS1 < (int64_t)RS2)
#define DO_BLTU BRANCH(RS1 < RS2)
#define DO_LW LOAD(int32_t, 2, RD = (uint64_t)(int64_t)value)
#define DO_LD LOAD(uint64_t, 3, RD = value)
#define DO_FLW LOAD(uint32_t, 2, zeta_rv64_set_single_bits(&FRD, value))
#define DO_FLD LOAD(uint64_t, 3, FRD = value)
#define DO_SW STORE(uint32_t, 2, RS2)
#define DO_SD STORE(uint64_t, 3, RS2)
#define DO_FSW STORE(uint32_t, 2, zeta_rv64_half(&FRS2, ZETA_RV64_LOW_HALF))
#define DO_FSD STORE(uint64_t, 3, FRS2)
#define DO_FADD_S FP32(a + b)
#define DO_FMUL_S FP32(a *b)
#define DO_FADD_D FP64(a + b)
#define DO_FMUL_D FP64(a *b)

/* An instruction, and two that one dispatch executes: ip is at the second when it stops or jumps.
 */
#define OP(name, what)                                                                             \
    L_##name:                                                                                      \
    {                                                                                              \
        what NEXT();                                                                               \
    }
#define OP_PAIR(first, second)                                                                     \
    L_##first##_##second : {DO_##first} ip++;                                                      \
    {                                                                                              \
        DO_##second NEXT();                                                                        \
    }
#define OP_AMO_W(name) OP(name, AMO_OF(2, sext32(amo32(RV64_OP_##name, host, (uint32_t)RS2))))
#define OP_AMO_D(name) OP(name, AMO_OF(3, amo64(RV64_OP_##name, host, RS2)))
#define OP_ATOMICS(W, size_bits)                                                                   \
    OP(LR_##W, LR(size_bits))                                                                      \
    OP(SC_##W, SC(size_bits))                                                                      \
    OP_AMO_##W(AMOSWAP_##W) OP_AMO_##W(AMOADD_##W) OP_AMO_##W(AMOXOR_##W) OP_AMO_##W(AMOAND_##W)   \
        OP_AMO_##W(AMOOR_##W) OP_AMO_##W(AMOMIN_##W) OP_AMO_##W(AMOMAX_##W)                        \
            OP_AMO_##W(AMOMINU_##W) OP_AMO_##W(AMOMAXU_##W)

enum zeta_rv64_stop zeta_rv64_run(struct zeta_rv64_hart *hart, struct zeta_rv64_context *context,
                                  uint32_t slice)
{
    static const void *const fast_labels[] = {
#define X(name, mnemonic, operands, match, mask, class, flops, latency) &&L_##name,
#define Y(name) &&L_##name,
#define P(first, second) &&L_##first##_##second,
        RV64_PLAIN_OPS(X) RV64_ROUNDED_OPS(X) RV64_INTERNAL_OPS(Y) RV64_PLAIN_PAIRS(P)
            RV64_ROUNDED_PAIRS(P)
#undef X
#undef P
    };
    /* While frm is a mode that the host does not have; pairs fall apart. */
    static const void *const slow_labels[] = {
#define X(name, mnemonic, operands, match, mask, class, flops, latency) &&L_##name,
        RV64_PLAIN_OPS(X)
#undef X
#define X(name, mnemonic, operands, match, mask, class, flops, latency) &&L_FP_STATIC,
            RV64_ROUNDED_OPS(X) RV64_INTERNAL_OPS(Y)
#define P(first, second) &&L_##first,
                RV64_PLAIN_PAIRS(P)
#undef P
#define P(first, second) &&L_FP_STATIC,
                    RV64_ROUNDED_PAIRS(P)
#undef P
#undef X
#undef Y
    };
    const struct zeta_rv64_code *code = context->code;
    const struct zeta_rv64_insn *insns = code->insns;
    const uint8_t *present = context->icache->present + context->icache_first;
    struct zeta_rv64_memory *memory = context->memory;
    struct zeta_rv64_counts counts = {0};
    struct zeta_rv64_fp_saved saved = zeta_rv64_fp_enter(hart);
    const void *const *labels = hart->frm > RV64_RUP ? slow_labels : fast_labels;
    /* The count of retired instructions begins so that SLICE_USED is set when it has grown. */
    uint64_t low = SLICE_USED - slice, high = 0;
    uint32_t taken = 0;
    uint64_t target;
    enum zeta_rv64_stop stop = ZETA_RV64_STOP_SLICE;
    const struct zeta_rv64_insn *ip = insns;

    if (!zeta_rv64_code_holds(code, hart->pc)) {
        zeta_rv64_fp_leave(hart, saved);
        context->counts = counts;
        context->stop_address = hart->pc;
        return ZETA_RV64_STOP_FETCH;
    }
    ip += (hart->pc - code->begin) / 4;
    ENTER();

    OP(LUI, INT(IMM))
    OP(AUIPC, INT(code->begin + (uint64_t)ip->index * 4 + IMM))

L_JAL:
    RD = code->begin + ((uint64_t)ip->index + 1) * 4;
    counts.calls++;
L_J:
    ip += ip->imm;
    ENTER();

L_JALR:
    target = (RS1 + IMM) & ~UINT64_C(1);
    if (UNLIKELY(!zeta_rv64_code_holds(code, target)))
        goto jump_out;
    RD = code->begin + ((uint64_t)ip->index + 1) * 4;
    counts.calls++;
    ip = insns + (target - code->begin) / 4;
    ENTER();
L_JR:
    target = (RS1 + IMM) & ~UINT64_C(1);
    if (UNLIKELY(!zeta_rv64_code_holds(code, target)))
        goto jump_out;
    ip = insns + (target - code->begin) / 4;
    ENTER();

    OP(BEQ, DO_BEQ)
    OP(BNE, DO_BNE)
    OP(BLT, DO_BLT)
    OP(BGE, BRANCH((int64_t)RS1 >= (int64_t)RS2))
    OP(BLTU, DO_BLTU)
    OP(BGEU, BRANCH(RS1 >= RS2))

    OP(LB, LOAD(int8_t, 0, RD = (uint64_t)(int64_t)value))
    OP(LH, LOAD(int16_t, 1, RD = (uint64_t)(int64_t)value))
    OP(LW, DO_LW)
    OP(LD, DO_LD)
    OP(LBU, LOAD(uint8_t, 0, RD = value))
    OP(LHU, LOAD(uint16_t, 1, RD = value))
    OP(LWU, LOAD(uint32_t, 2, RD = value))
    OP(SB, STORE(uint8_t, 0, RS2))
    OP(SH, STORE(uint16_t, 1, RS2))
    OP(SW, DO_SW)
    OP(SD, DO_SD)

    OP(ADDI, DO_ADDI)
    OP(SLTI, INT((int64_t)RS1 < ip->imm))
    OP(SLTIU, INT(RS1 < IMM))
    OP(XORI, INT(RS1 ^ IMM))
    OP(ORI, INT(RS1 | IMM))
    OP(ANDI, DO_ANDI)
    OP(SLLI, DO_SLLI)
    OP(SRLI, DO_SRLI)
    OP(SRAI, INT((uint64_t)((int64_t)RS1 >> ip->imm)))
    OP(ADD, DO_ADD)
    OP(SUB, DO_SUB)
    OP(SLL, INT(RS1 << (RS2 & 63)))
    OP(SLT, INT((int64_t)RS1 < (int64_t)RS2))
    OP(SLTU, INT(RS1 < RS2))
    OP(XOR, DO_XOR)
    OP(SRL, INT(RS1 >> (RS2 & 63)))
    OP(SRA, INT((uint64_t)((int64_t)RS1 >> (RS2 & 63))))
    OP(OR, INT(RS1 | RS2))
    OP(AND, INT(RS1 & RS2))
    OP(ADDIW, INT(sext32((uint32_t)(RS1 + IMM))))
    OP(SLLIW, INT(sext32((uint32_t)RS1 << ip->imm)))
    OP(SRLIW, INT(sext32((uint32_t)RS1 >> ip->imm)))
    OP(SRAIW, INT((uint64_t)(int64_t)((int32_t)RS1 >> ip->imm)))
    OP(ADDW, INT(sext32((uint32_t)(RS1 + RS2))))
    OP(SUBW, INT(sext32((uint32_t)(RS1 - RS2))))
    OP(SLLW, INT(sext32((uint32_t)RS1 << (RS2 & 31))))
    OP(SRLW, INT(sext32((uint32_t)RS1 >> (RS2 & 31))))
    OP(SRAW, INT((uint64_t)(int64_t)((int32_t)RS1 >> (RS2 & 31))))

L_FENCE:
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    NEXT_BLOCK();
L_ECALL:
    ip++;
    stop = ZETA_RV64_STOP_ECALL;
    goto leave;
L_EBREAK:
    STOP(ZETA_RV64_STOP_EBREAK, 0);
L_CSRRW:
L_CSRRS:
L_CSRRC:
L_CSRRWI:
L_CSRRSI:
L_CSRRCI:
    if (UNLIKELY(!zeta_rv64_fp_csr(hart, ip)))
        STOP(ZETA_RV64_STOP_ILLEGAL, 0);
    labels = hart->frm > RV64_RUP ? slow_labels : fast_labels;
    NEXT_BLOCK();

    OP(MUL, DO_MUL)
    OP(MULH, INT((uint64_t)((int128)(int64_t)RS1 * (int64_t)RS2 >> 64)))
    OP(MULHSU, INT((uint64_t)((int128)(int64_t)RS1 * (int128)RS2 >> 64)))
    OP(MULHU, INT((uint64_t)((uint128)RS1 * RS2 >> 64)))
    OP(DIV, INT((uint64_t)divide((int64_t)RS1, (int64_t)RS2)))
    OP(DIVU, INT(RS2 ? RS1 / RS2 : UINT64_MAX))
    OP(REM, INT((uint64_t)remainder_of((int64_t)RS1, (int64_t)RS2)))
    OP(REMU, INT(RS2 ? RS1 % RS2 : RS1))
    OP(MULW, INT(sext32((uint32_t)RS1 * (uint32_t)RS2)))
    OP(DIVW, INT(sext32((uint32_t)divide((int32_t)RS1, (int32_t)RS2))))
    OP(DIVUW, INT(sext32((uint32_t)RS2 ? (uint32_t)RS1 / (uint32_t)RS2 : UINT32_MAX)))
    OP(REMW, INT(sext32((uint32_t)remainder_of((int32_t)RS1, (int32_t)RS2))))
    OP(REMUW, INT(sext32((uint32_t)RS2 ? (uint32_t)RS1 % (uint32_t)RS2 : (uint32_t)RS1)))

    OP_ATOMICS(W, 2)
    OP_ATOMICS(D, 3)

    OP(FLW, DO_FLW)
    OP(FLD, DO_FLD)
    OP(FSW, DO_FSW)
    OP(FSD, DO_FSD)

    OP(FSGNJ_S, BITS32((a & 0x7fffffff) | (b & 0x80000000)))
    OP(FSGNJN_S, BITS32((a & 0x7fffffff) | (~b & 0x80000000)))
    OP(FSGNJX_S, BITS32(a ^ (b & 0x80000000)))
    OP(FSGNJ_D, BITS64((a & INT64_MAX) | (b & ~(uint64_t)INT64_MAX)))
    OP(FSGNJN_D, BITS64((a & INT64_MAX) | (~b & ~(uint64_t)INT64_MAX)))
    OP(FSGNJX_D, BITS64(a ^ (b & ~(uint64_t)INT64_MAX)))
    OP(FMIN_S, BITS32(zeta_rv64_minmax32(hart, a, b, false)))
    OP(FMAX_S, BITS32(zeta_rv64_minmax32(hart, a, b, true)))
    OP(FMIN_D, FRD = zeta_rv64_minmax64(hart, FRS1, FRS2, false);)
    OP(FMAX_D, FRD = zeta_rv64_minmax64(hart, FRS1, FRS2, true);)
    OP(FEQ_S, COMPARE32(==, true))
    OP(FLT_S, COMPARE32(<, false))
    OP(FLE_S, COMPARE32(<=, false))
    OP(FEQ_D, COMPARE64(==, true))
    OP(FLT_D, COMPARE64(<, false))
    OP(FLE_D, COMPARE64(<=, false))
    OP(FCLASS_S, INT(zeta_rv64_classify(SINGLE_BITS(FRS1), 32, 8)))
    OP(FCLASS_D, INT(zeta_rv64_classify(FRS1, 64, 11)))
    OP(FMV_X_W, INT(sext32(zeta_rv64_half(&FRS1, ZETA_RV64_LOW_HALF))))
    OP(FMV_X_D, INT(FRS1))
    OP(FMV_W_X, zeta_rv64_set_single_bits(&FRD, (uint32_t)RS1);)
    OP(FMV_D_X, FRD = RS1;)

    OP(FADD_S, DO_FADD_S)
    OP(FSUB_S, FP32(a - b))
    OP(FMUL_S, DO_FMUL_S)
    OP(FADD_D, DO_FADD_D)
    OP(FSUB_D, FP64(a - b))
    OP(FMUL_D, DO_FMUL_D)
    OP(FDIV_S, counts.math++; SET_SINGLE(SINGLE(FRS1) / SINGLE(FRS2));)
    OP(FDIV_D, counts.math++; FRD = zeta_rv64_box_double(DOUBLE(FRS1) / DOUBLE(FRS2));)
    OP(FSQRT_S, counts.math++; SET_SINGLE(__builtin_sqrtf(SINGLE(FRS1)));)
    OP(FSQRT_D, counts.math++; FRD = zeta_rv64_box_double(__builtin_sqrt(DOUBLE(FRS1)));)
    OP(FMADD_S, FMA32(+, +))
    OP(FMSUB_S, FMA32(+, -))
    OP(FNMSUB_S, FMA32(-, +))
    OP(FNMADD_S, FMA32(-, -))
    OP(FMADD_D, FMA64(+, +))
    OP(FMSUB_D, FMA64(+, -))
    OP(FNMSUB_D, FMA64(-, +))
    OP(FNMADD_D, FMA64(-, -))

    OP(FCVT_W_S, TO_INTEGER((double)SINGLE(FRS1), ZETA_RV64_INT32))
    OP(FCVT_WU_S, TO_INTEGER((double)SINGLE(FRS1), ZETA_RV64_UINT32))
    OP(FCVT_L_S, TO_INTEGER((double)SINGLE(FRS1), ZETA_RV64_INT64))
    OP(FCVT_LU_S, TO_INTEGER((double)SINGLE(FRS1), ZETA_RV64_UINT64))
    OP(FCVT_W_D, TO_INTEGER(DOUBLE(FRS1), ZETA_RV64_INT32))
    OP(FCVT_WU_D, TO_INTEGER(DOUBLE(FRS1), ZETA_RV64_UINT32))
    OP(FCVT_L_D, TO_INTEGER(DOUBLE(FRS1), ZETA_RV64_INT64))
    OP(FCVT_LU_D, TO_INTEGER(DOUBLE(FRS1), ZETA_RV64_UINT64))
    OP(FCVT_S_W, SET_SINGLE((float)(int32_t)RS1);)
    OP(FCVT_S_WU, SET_SINGLE((float)(int64_t)(uint32_t)RS1);)
    OP(FCVT_S_L, SET_SINGLE((float)(int64_t)RS1);)
    OP(FCVT_S_LU, SET_SINGLE((float)RS1);)
    OP(FCVT_D_W, FRD = zeta_rv64_box_double((double)(int32_t)RS1);)
    OP(FCVT_D_WU, FRD = zeta_rv64_box_double((double)(uint32_t)RS1);)
    OP(FCVT_D_L, FRD = zeta_rv64_box_double((double)(int64_t)RS1);)
    OP(FCVT_D_LU, FRD = zeta_rv64_box_double((double)RS1);)
    OP(FCVT_S_D, SET_SINGLE((float)DOUBLE(FRS1));)
    OP(FCVT_D_S, FRD = zeta_rv64_box_double((double)SINGLE(FRS1));)

    RV64_PLAIN_PAIRS(OP_PAIR)
    RV64_ROUNDED_PAIRS(OP_PAIR)

L_FP_STATIC : {
    enum rv64_op op = (enum rv64_op)ip->original;

    if (!zeta_rv64_fp_rounded(hart, op, ip, (unsigned)ip->imm >> 8))
        STOP(ZETA_RV64_STOP_ILLEGAL, 0);
    counts.math += op == RV64_OP_FDIV_S || op == RV64_OP_FDIV_D || op == RV64_OP_FSQRT_S ||
                   op == RV64_OP_FSQRT_D;
    NEXT();
}
L_SPLIT: /* reached from the instruction before, whose sums end there */
    ENTER();
L_JAL_OUT:
L_BRANCH_OUT : {
    uint8_t op = ip->original;
    uint64_t pc = code->begin + (uint64_t)ip->index * 4;

    if (op != RV64_OP_JAL && !branch_taken(op, RS1, RS2))
        NEXT_BLOCK();
    target = pc + IMM;
    goto jump_out;
}
L_ILLEGAL:
    STOP(ZETA_RV64_STOP_ILLEGAL, 0);
L_END:
    STOP(ZETA_RV64_STOP_FETCH, code->begin + (uint64_t)code->count * 4);

jump_out:
    if (target == ZETA_RV64_RETURN_ADDRESS) {
        hart->pc = target;
        stop = ZETA_RV64_STOP_RETURN;
        goto leave_at_pc;
    }
    if (target % 4 != 0)
        STOP(ZETA_RV64_STOP_MISALIGNED_JUMP, target);
    if (!other_code_holds(memory->space, target))
        STOP(ZETA_RV64_STOP_FETCH, target);
    if ((ip->original == RV64_OP_JAL || ip->original == RV64_OP_JALR) && ip->rd != 32) {
        RD = code->begin + ((uint64_t)ip->index + 1) * 4;
        counts.calls++;
    }
    if (ip->original != RV64_OP_JAL && ip->original != RV64_OP_JALR)
        taken++;
    hart->pc = target;
    stop = ZETA_RV64_STOP_LEFT;
    goto leave_at_pc;

atomic_read_fault:
    counts.atomics--;
    STOP(ZETA_RV64_STOP_READ, RS1);
atomic_write_fault:
    counts.atomics--;
    STOP(ZETA_RV64_STOP_WRITE, RS1);

leave_early:
    low -= ip->low;
    high -= ip->high;
slice_end:
leave:
    hart->pc = code->begin + (uint64_t)ip->index * 4;
leave_at_pc:
    zeta_rv64_fp_leave(hart, saved);
    low -= SLICE_USED - slice;
    counts.retired = (uint16_t)low;
    counts.integer = (uint16_t)(low >> 16);
    counts.fp32 = (uint16_t)(low >> 32);
    counts.fp64 = (uint16_t)(low >> 48);
    counts.flops = (uint16_t)high;
    counts.branches = (uint16_t)(high >> 16);
    counts.memory = (uint16_t)(high >> 32);
    counts.latency = (uint16_t)(high >> 48);
    counts.taken = taken;
    context->counts = counts;
    return stop;
}
