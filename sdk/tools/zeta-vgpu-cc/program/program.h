/*
 * A program in LLVM's form: front ends and the runtime library are linked into one module, which is
 * made into a program for RV64 and emitted.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_PROGRAM_H
#define ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_PROGRAM_H

#include <stdbool.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include "sdk/tools/zeta-vgpu-cc/request/options.h"

/** Calling conventions of OpenCL in LLVM; code generation for RV64 knows neither. */
enum { ZETA_CC_SPIR_FUNCTION = 75, ZETA_CC_SPIR_KERNEL = 76 };

/** Address spaces that front ends use. */
enum {
    ZETA_CC_SPACE_PRIVATE = 0,
    ZETA_CC_SPACE_GLOBAL = 1,
    ZETA_CC_SPACE_CONSTANT = 2,
    ZETA_CC_SPACE_LOCAL = 3,
    ZETA_CC_SPACE_GENERIC = 4
};

/** A program in the making. */
struct zeta_cc_program {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMModuleRef runtime; /**< opened early, read when needed; null once it was added */
    LLVMTargetMachineRef machine;
    LLVMTargetDataRef layout;
    unsigned level;
    struct zeta_cc_words kernels; /**< names, once the program was retargeted */
    uint32_t *local_bytes;        /**< shared local memory per kernel; null: not known */
    struct zeta_cc_words imports; /**< symbols that another module must define */
    struct zeta_cc_buffer *log;
    bool has_errors; /**< LLVM has said something bad, which is in the log */
};

/** Makes an empty program. False when LLVM has no RV64. */
bool zeta_cc_program_create(struct zeta_cc_program *program, const struct zeta_cc_options *options,
                            struct zeta_cc_buffer *log);

/**
 * Adds bitcode or LLVM assembly.
 *
 * @name  for messages
 */
bool zeta_cc_program_add(struct zeta_cc_program *program, const char *name, const void *bytes,
                         size_t size);

/**
 * Opens the runtime library, which takes about as long as a front end needs for a small module:
 * best done while one runs.
 */
bool zeta_cc_program_open_runtime(struct zeta_cc_program *program, const char *path);

/** Adds what the program needs of the runtime library. */
bool zeta_cc_program_add_runtime(struct zeta_cc_program *program);

/** Makes all of it code for RV64: conventions, features, sections, visibility. */
bool zeta_cc_program_retarget(struct zeta_cc_program *program);

/** Optimises at the program's level. */
bool zeta_cc_program_optimise(struct zeta_cc_program *program);

/** Appends the object file. */
bool zeta_cc_program_emit(struct zeta_cc_program *program, struct zeta_cc_buffer *out_object);

/** Frees the module and what belongs to it. */
void zeta_cc_program_finish(struct zeta_cc_program *program);

/** Opens bitcode whose functions are read when they are needed; null with a line in the log. */
LLVMModuleRef zeta_cc_program_open_lazily(struct zeta_cc_program *program, const char *path);

/** The name of a function or variable; terminated. */
const char *zeta_cc_value_name(LLVMValueRef value);

/** True for what the program says itself, false for declarations and intrinsics. */
bool zeta_cc_is_defined(LLVMValueRef global);

#endif
