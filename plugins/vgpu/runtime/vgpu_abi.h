#ifndef ZETA_PLUGINS_VGPU_RUNTIME_VGPU_ABI_H
#define ZETA_PLUGINS_VGPU_RUNTIME_VGPU_ABI_H

/*
 * What kernels and the engine must agree on. Included by both sides: the engine on the host and
 * the device runtime, so only freestanding headers, fixed-width types and no functions.
 *
 * A hart starts at the entry stub of its kernel with
 *   a0  address of the argument block
 *   sp  top of its private memory, 16-byte aligned
 *   tp  address of its struct vgpu_thread
 *   ra  an address outside all code; a return to it ends the hart
 */

#include <stdint.h>

/** What a hart knows about itself. */
struct vgpu_thread {
    uint64_t global_size[3];
    uint64_t global_offset[3];
    uint64_t local_size[3];
    uint64_t group_count[3];
    uint64_t group_id[3];
    uint64_t local_id[3];
    uint32_t work_dimensions; /* 1..3: the last dimension with more than one item */
    uint32_t hardware_thread; /* six bits each: thread, EU, subslice, slice, tile from bit 0 up */
    /* Where shared local and private memory lie, for who has a pointer to anything. */
    uint64_t local_begin;
    uint64_t local_bytes;
    uint64_t private_begin;
    uint64_t private_bytes;
};

/** ecall numbers, in a7. Arguments in a0.. or fa0.., result in a0 or fa0. */
enum vgpu_call {
    VGPU_CALL_BARRIER = 1,      /* a0: flags, ignored: a barrier orders all memory */
    VGPU_CALL_PRINTF = 2,       /* a0: format, a1: address of 8-byte argument slots; a0: length */
    VGPU_CALL_ABORT = 3,        /* a0: message or 0; the launch fails */
    VGPU_CALL_PRINTF_SLOTS = 4, /* as PRINTF, with the number of slots in a2 */
    /* Extended math on float: VGPU_CALL_MATH32 + enum vgpu_math; on double: MATH64 + ... */
    VGPU_CALL_MATH32 = 16,
    VGPU_CALL_MATH64 = 64
};

/** Functions of the extended math unit: operands in fa0 and fa1, result in fa0. */
enum vgpu_math {
    VGPU_MATH_EXP,
    VGPU_MATH_EXP2,
    VGPU_MATH_EXPM1,
    VGPU_MATH_LOG,
    VGPU_MATH_LOG2,
    VGPU_MATH_LOG10,
    VGPU_MATH_LOG1P,
    VGPU_MATH_SIN,
    VGPU_MATH_COS,
    VGPU_MATH_TAN,
    VGPU_MATH_ASIN,
    VGPU_MATH_ACOS,
    VGPU_MATH_ATAN,
    VGPU_MATH_ATAN2,
    VGPU_MATH_SINH,
    VGPU_MATH_COSH,
    VGPU_MATH_TANH,
    VGPU_MATH_POW,
    VGPU_MATH_CBRT,
    VGPU_MATH_HYPOT,
    VGPU_MATH_FMOD,
    VGPU_MATH_FLOOR,
    VGPU_MATH_CEIL,
    VGPU_MATH_ROUND,
    VGPU_MATH_TRUNC,
    VGPU_MATH_EXP10,
    VGPU_MATH_ASINH,
    VGPU_MATH_ACOSH,
    VGPU_MATH_ATANH,
    VGPU_MATH_ERF,
    VGPU_MATH_ERFC,
    VGPU_MATH_TGAMMA,
    VGPU_MATH_LGAMMA,
    VGPU_MATH_REMAINDER,
    VGPU_MATH_ROOTN, /* second operand: an integer */
    VGPU_MATH_COUNT  /* at most 48 */
};

/** Kinds of kernel arguments. */
enum vgpu_argument_kind {
    VGPU_ARGUMENT_VALUE = 0,
    VGPU_ARGUMENT_GLOBAL = 1,
    VGPU_ARGUMENT_LOCAL = 2
};

#define VGPU_INFO_MAGIC 0x55504756u /* "VGPU" */
#define VGPU_MAX_ARGUMENTS 64u
#define VGPU_MAX_ARGUMENT_BYTES 4096u

struct vgpu_argument_info {
    uint32_t kind;
    uint32_t size_bytes;
    uint32_t offset_bytes; /* in the argument block */
    uint32_t reserved;     /* 0 */
};

/**
 * One kernel in section .vgpu.info. Records follow each other, each a multiple of 8 bytes;
 * 8 bytes of zero between records are padding.
 */
struct vgpu_kernel_info {
    uint32_t magic;
    uint32_t record_bytes;           /* with its arguments */
    uint64_t name;                   /* address of a terminated string */
    uint64_t entry;                  /* address of the entry stub */
    uint32_t required_group_size[3]; /* 0: not required */
    uint32_t private_bytes;          /* 0: unknown */
    uint32_t argument_count;
    uint32_t argument_block_bytes;
    /* struct vgpu_argument_info arguments[argument_count] */
    /* struct vgpu_kernel_extra, when record_bytes has room for it behind the arguments */
};

/** What compilers know about a kernel beyond what it takes to run it. */
struct vgpu_kernel_extra {
    uint64_t attributes;  /* address of a terminated string: source attributes, blank separated; 0:
                             none */
    uint32_t spill_bytes; /* of private_bytes, for values that found no register; 0: unknown */
    uint32_t local_known; /* 1: local_bytes holds; 0: the kernel may use all that the file has */
    uint32_t local_bytes; /* static shared local memory, from the begin of the window */
    uint32_t reserved;    /* 0 */
};

/** Distance from the begin of an image to the window of shared local memory. */
#define VGPU_SLM_OFFSET 0x20000000u

#endif
