#ifndef ZETA_PLUGINS_VGPU_MACHINE_RV64_OPS_H
#define ZETA_PLUGINS_VGPU_MACHINE_RV64_OPS_H

/*
 * A hart, and all instructions of RV64IMAFD, one line each (atomics: for both widths). Decoder,
 * counters, interpreter and disassembler are made from this table.
 *
 * X(name, mnemonic, operands, match, mask, class, flops, latency)
 *
 * match, mask  an instruction word w is this one when (w & mask) == match
 * operands     what the word encodes, also the form in which it is printed:
 *              d s t    rd, rs1, rs2 of the integer file    D S T R  the same and rs3, floating
 *              j        12-bit immediate                    o q      load and store offset
 *              > <      6-bit and 5-bit shift amount        p a      branch and jump target
 *              u        upper immediate                     E Z      CSR number, 5-bit immediate
 *              m        rounding mode
 * class        RV64_CLASS_*, exactly one per instruction
 * flops        floating-point operations per execution (a fused multiply-add is two)
 * latency      modelled cycles beyond the issue slot; memory and taken branches come on top
 *
 * Source: The RISC-V Instruction Set Manual, volume I, 20191213, chapters 2, 4, 5, 7-9, 11, 12
 * and 24 (instruction listings).
 */

#include <stdint.h>

/** The atomics of a width, whose bits in the word are @width. */
#define RV64_ATOMIC_OPS(X, W, suffix, width)                                                       \
    X(LR_##W, "lr" suffix, "d,(s)", 0x1000002f | (width), 0xf9f0707f, MEM, 0, 0)                   \
    X(SC_##W, "sc" suffix, "d,t,(s)", 0x1800002f | (width), 0xf800707f, MEM, 0, 0)                 \
    X(AMOSWAP_##W, "amoswap" suffix, "d,t,(s)", 0x0800002f | (width), 0xf800707f, MEM, 0, 0)       \
    X(AMOADD_##W, "amoadd" suffix, "d,t,(s)", 0x0000002f | (width), 0xf800707f, MEM, 0, 0)         \
    X(AMOXOR_##W, "amoxor" suffix, "d,t,(s)", 0x2000002f | (width), 0xf800707f, MEM, 0, 0)         \
    X(AMOAND_##W, "amoand" suffix, "d,t,(s)", 0x6000002f | (width), 0xf800707f, MEM, 0, 0)         \
    X(AMOOR_##W, "amoor" suffix, "d,t,(s)", 0x4000002f | (width), 0xf800707f, MEM, 0, 0)           \
    X(AMOMIN_##W, "amomin" suffix, "d,t,(s)", 0x8000002f | (width), 0xf800707f, MEM, 0, 0)         \
    X(AMOMAX_##W, "amomax" suffix, "d,t,(s)", 0xa000002f | (width), 0xf800707f, MEM, 0, 0)         \
    X(AMOMINU_##W, "amominu" suffix, "d,t,(s)", 0xc000002f | (width), 0xf800707f, MEM, 0, 0)       \
    X(AMOMAXU_##W, "amomaxu" suffix, "d,t,(s)", 0xe000002f | (width), 0xf800707f, MEM, 0, 0)

/** Instructions whose result does not depend on the dynamic rounding mode. */
#define RV64_PLAIN_OPS(X)                                                                          \
    X(LUI, "lui", "d,u", 0x00000037, 0x0000007f, INT, 0, 0)                                        \
    X(AUIPC, "auipc", "d,u", 0x00000017, 0x0000007f, INT, 0, 0)                                    \
    X(JAL, "jal", "d,a", 0x0000006f, 0x0000007f, JUMP, 0, 2)                                       \
    X(JALR, "jalr", "d,o(s)", 0x00000067, 0x0000707f, JUMP, 0, 2)                                  \
    X(BEQ, "beq", "s,t,p", 0x00000063, 0x0000707f, BRANCH, 0, 0)                                   \
    X(BNE, "bne", "s,t,p", 0x00001063, 0x0000707f, BRANCH, 0, 0)                                   \
    X(BLT, "blt", "s,t,p", 0x00004063, 0x0000707f, BRANCH, 0, 0)                                   \
    X(BGE, "bge", "s,t,p", 0x00005063, 0x0000707f, BRANCH, 0, 0)                                   \
    X(BLTU, "bltu", "s,t,p", 0x00006063, 0x0000707f, BRANCH, 0, 0)                                 \
    X(BGEU, "bgeu", "s,t,p", 0x00007063, 0x0000707f, BRANCH, 0, 0)                                 \
    X(LB, "lb", "d,o(s)", 0x00000003, 0x0000707f, MEM, 0, 0)                                       \
    X(LH, "lh", "d,o(s)", 0x00001003, 0x0000707f, MEM, 0, 0)                                       \
    X(LW, "lw", "d,o(s)", 0x00002003, 0x0000707f, MEM, 0, 0)                                       \
    X(LD, "ld", "d,o(s)", 0x00003003, 0x0000707f, MEM, 0, 0)                                       \
    X(LBU, "lbu", "d,o(s)", 0x00004003, 0x0000707f, MEM, 0, 0)                                     \
    X(LHU, "lhu", "d,o(s)", 0x00005003, 0x0000707f, MEM, 0, 0)                                     \
    X(LWU, "lwu", "d,o(s)", 0x00006003, 0x0000707f, MEM, 0, 0)                                     \
    X(SB, "sb", "t,q(s)", 0x00000023, 0x0000707f, MEM, 0, 0)                                       \
    X(SH, "sh", "t,q(s)", 0x00001023, 0x0000707f, MEM, 0, 0)                                       \
    X(SW, "sw", "t,q(s)", 0x00002023, 0x0000707f, MEM, 0, 0)                                       \
    X(SD, "sd", "t,q(s)", 0x00003023, 0x0000707f, MEM, 0, 0)                                       \
    X(ADDI, "addi", "d,s,j", 0x00000013, 0x0000707f, INT, 0, 0)                                    \
    X(SLTI, "slti", "d,s,j", 0x00002013, 0x0000707f, INT, 0, 0)                                    \
    X(SLTIU, "sltiu", "d,s,j", 0x00003013, 0x0000707f, INT, 0, 0)                                  \
    X(XORI, "xori", "d,s,j", 0x00004013, 0x0000707f, INT, 0, 0)                                    \
    X(ORI, "ori", "d,s,j", 0x00006013, 0x0000707f, INT, 0, 0)                                      \
    X(ANDI, "andi", "d,s,j", 0x00007013, 0x0000707f, INT, 0, 0)                                    \
    X(SLLI, "slli", "d,s,>", 0x00001013, 0xfc00707f, INT, 0, 0)                                    \
    X(SRLI, "srli", "d,s,>", 0x00005013, 0xfc00707f, INT, 0, 0)                                    \
    X(SRAI, "srai", "d,s,>", 0x40005013, 0xfc00707f, INT, 0, 0)                                    \
    X(ADD, "add", "d,s,t", 0x00000033, 0xfe00707f, INT, 0, 0)                                      \
    X(SUB, "sub", "d,s,t", 0x40000033, 0xfe00707f, INT, 0, 0)                                      \
    X(SLL, "sll", "d,s,t", 0x00001033, 0xfe00707f, INT, 0, 0)                                      \
    X(SLT, "slt", "d,s,t", 0x00002033, 0xfe00707f, INT, 0, 0)                                      \
    X(SLTU, "sltu", "d,s,t", 0x00003033, 0xfe00707f, INT, 0, 0)                                    \
    X(XOR, "xor", "d,s,t", 0x00004033, 0xfe00707f, INT, 0, 0)                                      \
    X(SRL, "srl", "d,s,t", 0x00005033, 0xfe00707f, INT, 0, 0)                                      \
    X(SRA, "sra", "d,s,t", 0x40005033, 0xfe00707f, INT, 0, 0)                                      \
    X(OR, "or", "d,s,t", 0x00006033, 0xfe00707f, INT, 0, 0)                                        \
    X(AND, "and", "d,s,t", 0x00007033, 0xfe00707f, INT, 0, 0)                                      \
    X(ADDIW, "addiw", "d,s,j", 0x0000001b, 0x0000707f, INT, 0, 0)                                  \
    X(SLLIW, "slliw", "d,s,<", 0x0000101b, 0xfe00707f, INT, 0, 0)                                  \
    X(SRLIW, "srliw", "d,s,<", 0x0000501b, 0xfe00707f, INT, 0, 0)                                  \
    X(SRAIW, "sraiw", "d,s,<", 0x4000501b, 0xfe00707f, INT, 0, 0)                                  \
    X(ADDW, "addw", "d,s,t", 0x0000003b, 0xfe00707f, INT, 0, 0)                                    \
    X(SUBW, "subw", "d,s,t", 0x4000003b, 0xfe00707f, INT, 0, 0)                                    \
    X(SLLW, "sllw", "d,s,t", 0x0000103b, 0xfe00707f, INT, 0, 0)                                    \
    X(SRLW, "srlw", "d,s,t", 0x0000503b, 0xfe00707f, INT, 0, 0)                                    \
    X(SRAW, "sraw", "d,s,t", 0x4000503b, 0xfe00707f, INT, 0, 0)                                    \
    X(FENCE, "fence", "", 0x0000000f, 0x0000707f, SYSTEM, 0, 0)                                    \
    X(ECALL, "ecall", "", 0x00000073, 0xffffffff, SYSTEM, 0, 0)                                    \
    X(EBREAK, "ebreak", "", 0x00100073, 0xffffffff, SYSTEM, 0, 0)                                  \
    X(CSRRW, "csrrw", "d,E,s", 0x00001073, 0x0000707f, SYSTEM, 0, 0)                               \
    X(CSRRS, "csrrs", "d,E,s", 0x00002073, 0x0000707f, SYSTEM, 0, 0)                               \
    X(CSRRC, "csrrc", "d,E,s", 0x00003073, 0x0000707f, SYSTEM, 0, 0)                               \
    X(CSRRWI, "csrrwi", "d,E,Z", 0x00005073, 0x0000707f, SYSTEM, 0, 0)                             \
    X(CSRRSI, "csrrsi", "d,E,Z", 0x00006073, 0x0000707f, SYSTEM, 0, 0)                             \
    X(CSRRCI, "csrrci", "d,E,Z", 0x00007073, 0x0000707f, SYSTEM, 0, 0)                             \
    X(MUL, "mul", "d,s,t", 0x02000033, 0xfe00707f, INT, 0, 3)                                      \
    X(MULH, "mulh", "d,s,t", 0x02001033, 0xfe00707f, INT, 0, 3)                                    \
    X(MULHSU, "mulhsu", "d,s,t", 0x02002033, 0xfe00707f, INT, 0, 3)                                \
    X(MULHU, "mulhu", "d,s,t", 0x02003033, 0xfe00707f, INT, 0, 3)                                  \
    X(DIV, "div", "d,s,t", 0x02004033, 0xfe00707f, INT, 0, 20)                                     \
    X(DIVU, "divu", "d,s,t", 0x02005033, 0xfe00707f, INT, 0, 20)                                   \
    X(REM, "rem", "d,s,t", 0x02006033, 0xfe00707f, INT, 0, 20)                                     \
    X(REMU, "remu", "d,s,t", 0x02007033, 0xfe00707f, INT, 0, 20)                                   \
    X(MULW, "mulw", "d,s,t", 0x0200003b, 0xfe00707f, INT, 0, 3)                                    \
    X(DIVW, "divw", "d,s,t", 0x0200403b, 0xfe00707f, INT, 0, 20)                                   \
    X(DIVUW, "divuw", "d,s,t", 0x0200503b, 0xfe00707f, INT, 0, 20)                                 \
    X(REMW, "remw", "d,s,t", 0x0200603b, 0xfe00707f, INT, 0, 20)                                   \
    X(REMUW, "remuw", "d,s,t", 0x0200703b, 0xfe00707f, INT, 0, 20)                                 \
    RV64_ATOMIC_OPS(X, W, ".w", 0x2000)                                                            \
    RV64_ATOMIC_OPS(X, D, ".d", 0x3000)                                                            \
    X(FLW, "flw", "D,o(s)", 0x00002007, 0x0000707f, MEM, 0, 0)                                     \
    X(FLD, "fld", "D,o(s)", 0x00003007, 0x0000707f, MEM, 0, 0)                                     \
    X(FSW, "fsw", "T,q(s)", 0x00002027, 0x0000707f, MEM, 0, 0)                                     \
    X(FSD, "fsd", "T,q(s)", 0x00003027, 0x0000707f, MEM, 0, 0)                                     \
    X(FSGNJ_S, "fsgnj.s", "D,S,T", 0x20000053, 0xfe00707f, MOVE, 0, 0)                             \
    X(FSGNJN_S, "fsgnjn.s", "D,S,T", 0x20001053, 0xfe00707f, MOVE, 0, 0)                           \
    X(FSGNJX_S, "fsgnjx.s", "D,S,T", 0x20002053, 0xfe00707f, MOVE, 0, 0)                           \
    X(FMIN_S, "fmin.s", "D,S,T", 0x28000053, 0xfe00707f, FP32, 1, 3)                               \
    X(FMAX_S, "fmax.s", "D,S,T", 0x28001053, 0xfe00707f, FP32, 1, 3)                               \
    X(FLE_S, "fle.s", "d,S,T", 0xa0000053, 0xfe00707f, FP32, 0, 3)                                 \
    X(FLT_S, "flt.s", "d,S,T", 0xa0001053, 0xfe00707f, FP32, 0, 3)                                 \
    X(FEQ_S, "feq.s", "d,S,T", 0xa0002053, 0xfe00707f, FP32, 0, 3)                                 \
    X(FCLASS_S, "fclass.s", "d,S", 0xe0001053, 0xfff0707f, MOVE, 0, 0)                             \
    X(FMV_X_W, "fmv.x.w", "d,S", 0xe0000053, 0xfff0707f, MOVE, 0, 0)                               \
    X(FMV_W_X, "fmv.w.x", "D,s", 0xf0000053, 0xfff0707f, MOVE, 0, 0)                               \
    X(FSGNJ_D, "fsgnj.d", "D,S,T", 0x22000053, 0xfe00707f, MOVE, 0, 0)                             \
    X(FSGNJN_D, "fsgnjn.d", "D,S,T", 0x22001053, 0xfe00707f, MOVE, 0, 0)                           \
    X(FSGNJX_D, "fsgnjx.d", "D,S,T", 0x22002053, 0xfe00707f, MOVE, 0, 0)                           \
    X(FMIN_D, "fmin.d", "D,S,T", 0x2a000053, 0xfe00707f, FP64, 1, 3)                               \
    X(FMAX_D, "fmax.d", "D,S,T", 0x2a001053, 0xfe00707f, FP64, 1, 3)                               \
    X(FLE_D, "fle.d", "d,S,T", 0xa2000053, 0xfe00707f, FP64, 0, 3)                                 \
    X(FLT_D, "flt.d", "d,S,T", 0xa2001053, 0xfe00707f, FP64, 0, 3)                                 \
    X(FEQ_D, "feq.d", "d,S,T", 0xa2002053, 0xfe00707f, FP64, 0, 3)                                 \
    X(FCLASS_D, "fclass.d", "d,S", 0xe2001053, 0xfff0707f, MOVE, 0, 0)                             \
    X(FMV_X_D, "fmv.x.d", "d,S", 0xe2000053, 0xfff0707f, MOVE, 0, 0)                               \
    X(FMV_D_X, "fmv.d.x", "D,s", 0xf2000053, 0xfff0707f, MOVE, 0, 0)

/** Instructions with a rounding-mode field. */
#define RV64_ROUNDED_OPS(X)                                                                        \
    X(FMADD_S, "fmadd.s", "D,S,T,R,m", 0x00000043, 0x0600007f, FP32, 2, 4)                         \
    X(FMSUB_S, "fmsub.s", "D,S,T,R,m", 0x00000047, 0x0600007f, FP32, 2, 4)                         \
    X(FNMSUB_S, "fnmsub.s", "D,S,T,R,m", 0x0000004b, 0x0600007f, FP32, 2, 4)                       \
    X(FNMADD_S, "fnmadd.s", "D,S,T,R,m", 0x0000004f, 0x0600007f, FP32, 2, 4)                       \
    X(FADD_S, "fadd.s", "D,S,T,m", 0x00000053, 0xfe00007f, FP32, 1, 3)                             \
    X(FSUB_S, "fsub.s", "D,S,T,m", 0x08000053, 0xfe00007f, FP32, 1, 3)                             \
    X(FMUL_S, "fmul.s", "D,S,T,m", 0x10000053, 0xfe00007f, FP32, 1, 3)                             \
    X(FDIV_S, "fdiv.s", "D,S,T,m", 0x18000053, 0xfe00007f, FP32, 1, 16)                            \
    X(FSQRT_S, "fsqrt.s", "D,S,m", 0x58000053, 0xfff0007f, FP32, 1, 20)                            \
    X(FCVT_W_S, "fcvt.w.s", "d,S,m", 0xc0000053, 0xfff0007f, FP32, 0, 3)                           \
    X(FCVT_WU_S, "fcvt.wu.s", "d,S,m", 0xc0100053, 0xfff0007f, FP32, 0, 3)                         \
    X(FCVT_L_S, "fcvt.l.s", "d,S,m", 0xc0200053, 0xfff0007f, FP32, 0, 3)                           \
    X(FCVT_LU_S, "fcvt.lu.s", "d,S,m", 0xc0300053, 0xfff0007f, FP32, 0, 3)                         \
    X(FCVT_S_W, "fcvt.s.w", "D,s,m", 0xd0000053, 0xfff0007f, FP32, 0, 3)                           \
    X(FCVT_S_WU, "fcvt.s.wu", "D,s,m", 0xd0100053, 0xfff0007f, FP32, 0, 3)                         \
    X(FCVT_S_L, "fcvt.s.l", "D,s,m", 0xd0200053, 0xfff0007f, FP32, 0, 3)                           \
    X(FCVT_S_LU, "fcvt.s.lu", "D,s,m", 0xd0300053, 0xfff0007f, FP32, 0, 3)                         \
    X(FCVT_S_D, "fcvt.s.d", "D,S,m", 0x40100053, 0xfff0007f, FP32, 0, 3)                           \
    X(FMADD_D, "fmadd.d", "D,S,T,R,m", 0x02000043, 0x0600007f, FP64, 2, 4)                         \
    X(FMSUB_D, "fmsub.d", "D,S,T,R,m", 0x02000047, 0x0600007f, FP64, 2, 4)                         \
    X(FNMSUB_D, "fnmsub.d", "D,S,T,R,m", 0x0200004b, 0x0600007f, FP64, 2, 4)                       \
    X(FNMADD_D, "fnmadd.d", "D,S,T,R,m", 0x0200004f, 0x0600007f, FP64, 2, 4)                       \
    X(FADD_D, "fadd.d", "D,S,T,m", 0x02000053, 0xfe00007f, FP64, 1, 3)                             \
    X(FSUB_D, "fsub.d", "D,S,T,m", 0x0a000053, 0xfe00007f, FP64, 1, 3)                             \
    X(FMUL_D, "fmul.d", "D,S,T,m", 0x12000053, 0xfe00007f, FP64, 1, 3)                             \
    X(FDIV_D, "fdiv.d", "D,S,T,m", 0x1a000053, 0xfe00007f, FP64, 1, 24)                            \
    X(FSQRT_D, "fsqrt.d", "D,S,m", 0x5a000053, 0xfff0007f, FP64, 1, 20)                            \
    X(FCVT_W_D, "fcvt.w.d", "d,S,m", 0xc2000053, 0xfff0007f, FP64, 0, 3)                           \
    X(FCVT_WU_D, "fcvt.wu.d", "d,S,m", 0xc2100053, 0xfff0007f, FP64, 0, 3)                         \
    X(FCVT_L_D, "fcvt.l.d", "d,S,m", 0xc2200053, 0xfff0007f, FP64, 0, 3)                           \
    X(FCVT_LU_D, "fcvt.lu.d", "d,S,m", 0xc2300053, 0xfff0007f, FP64, 0, 3)                         \
    X(FCVT_D_W, "fcvt.d.w", "D,s,m", 0xd2000053, 0xfff0007f, FP64, 0, 3)                           \
    X(FCVT_D_WU, "fcvt.d.wu", "D,s,m", 0xd2100053, 0xfff0007f, FP64, 0, 3)                         \
    X(FCVT_D_L, "fcvt.d.l", "D,s,m", 0xd2200053, 0xfff0007f, FP64, 0, 3)                           \
    X(FCVT_D_LU, "fcvt.d.lu", "D,s,m", 0xd2300053, 0xfff0007f, FP64, 0, 3)                         \
    X(FCVT_D_S, "fcvt.d.s", "D,S,m", 0x42000053, 0xfff0007f, FP64, 0, 3)

/** What the decoder makes of special cases; never in memory as such. Y(name) */
#define RV64_INTERNAL_OPS(Y)                                                                       \
    Y(J)          /* jal that does not link */                                                     \
    Y(JR)         /* jalr that does not link */                                                    \
    Y(JAL_OUT)    /* jal whose target holds no code */                                             \
    Y(BRANCH_OUT) /* conditional branch whose target holds no code */                              \
    Y(FP_STATIC)  /* rounding mode in the instruction word */                                      \
    Y(SPLIT)      /* first instruction of the next part of an over-long block */                   \
    Y(ILLEGAL)                                                                                     \
    Y(END) /* one past the last instruction */

/**
 * Neighbours that the decoder joins, so that one dispatch executes both: P(first, second). They
 * are what address computations, loop ends and products in sums consist of. The second keeps its
 * own op for those who jump to it. The first must not end a block and the second may.
 */
#define RV64_PLAIN_PAIRS(P)                                                                        \
    P(ANDI, SLLI)                                                                                  \
    P(SLLI, ADD)                                                                                   \
    P(SLLI, SRLI)                                                                                  \
    P(SLLI, SUB)                                                                                   \
    P(SLLI, XOR)                                                                                   \
    P(SRLI, XOR)                                                                                   \
    P(MUL, ADD)                                                                                    \
    P(ADDI, ADDI)                                                                                  \
    P(ADD, LW)                                                                                     \
    P(ADD, LD)                                                                                     \
    P(ADD, FLW)                                                                                    \
    P(ADD, FLD)                                                                                    \
    P(ADD, SW)                                                                                     \
    P(ADD, SD)                                                                                     \
    P(ADD, FSW)                                                                                    \
    P(ADD, FSD)                                                                                    \
    P(ADDI, BEQ)                                                                                   \
    P(ADDI, BNE)                                                                                   \
    P(ADDI, BLT)                                                                                   \
    P(ADDI, BLTU)                                                                                  \
    P(ANDI, BEQ)                                                                                   \
    P(ANDI, BNE)

/** The same for a first instruction that depends on the rounding mode. */
#define RV64_ROUNDED_PAIRS(P)                                                                      \
    P(FMUL_S, FADD_S)                                                                              \
    P(FMUL_D, FADD_D)

/* clang-format off */
enum rv64_op {
#define X(name, mnemonic, operands, match, mask, class, flops, latency) RV64_OP_##name,
#define Y(name) RV64_OP_##name,
#define P(first, second) RV64_OP_##first##_##second,
    RV64_PLAIN_OPS(X)
    RV64_ROUNDED_OPS(X)
    RV64_INTERNAL_OPS(Y)
    RV64_PLAIN_PAIRS(P)
    RV64_ROUNDED_PAIRS(P)
#undef X
#undef Y
#undef P
    RV64_OP_COUNT
};
/* clang-format on */

enum rv64_class {
    RV64_CLASS_INT,
    RV64_CLASS_FP32,
    RV64_CLASS_FP64,
    RV64_CLASS_MOVE, /**< between and within register files, without arithmetic */
    RV64_CLASS_MEM,
    RV64_CLASS_BRANCH,
    RV64_CLASS_JUMP,
    RV64_CLASS_SYSTEM,
    RV64_CLASS_COUNT
};

/** A decoded instruction, with the sums over itself and the rest of its basic block. */
struct zeta_rv64_insn {
    uint8_t op; /**< enum rv64_op */
    uint8_t rd; /**< 0..32; 32 takes writes to x0 */
    uint8_t rs1;
    uint8_t rs2;
    /**
     * Immediate. Branch, jal: distance in instructions. Rounded floating point: rs3 in bits
     * 0..7, rounding mode in bits 8..15. CSR: number. BRANCH_OUT, JAL_OUT: distance in bytes.
     */
    int32_t imm;
    uint64_t low;     /**< 16 bits each from bit 0 up: retired, int, fp32, fp64 */
    uint64_t high;    /**< flops, branches, memory instructions, latency */
    uint32_t index;   /**< of this instruction */
    uint8_t unsplit;  /**< op that SPLIT replaced */
    uint8_t original; /**< op of the instruction word itself */
};

/** A hart's registers. f registers hold NaN-boxed singles. */
struct zeta_rv64_hart {
    uint64_t x[33]; /**< x[0] stays 0; x[32] takes the writes to x0 */
    uint64_t f[32];
    uint64_t pc;
    uint8_t fflags; /**< NV 16, DZ 8, OF 4, UF 2, NX 1 */
    uint8_t frm;
    uint8_t reserved_bytes; /**< of the load reservation, 0: none */
    uint64_t reserved_address;
    uint64_t reserved_value;
};

#endif
