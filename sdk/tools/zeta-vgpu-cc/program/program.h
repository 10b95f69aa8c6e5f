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
#include "vgpu_compile.h"

struct zeta_cc_paths;

/** Calling conventions of OpenCL in LLVM; code generation for RV64 knows neither. */
enum { ZETA_CC_SPIR_FUNCTION = 75, ZETA_CC_SPIR_KERNEL = 76 };

/** Address spaces of front ends that need something. */
enum { ZETA_CC_SPACE_PRIVATE = 0, ZETA_CC_SPACE_LOCAL = 3 };

/** A program in the making. */
struct zeta_cc_program {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMModuleRef runtime; /**< opened early, read when needed; null once it was added */
    LLVMTargetMachineRef machine;
    LLVMTargetDataRef layout;
    unsigned level;
    const char *features;           /**< of the processor that code is made for */
    bool has_no_tables;             /**< no jump goes to an address out of a table */
    struct zeta_cc_strings kernels; /**< names, once the program was retargeted */
    uint32_t *local_bytes;          /**< shared local memory per kernel; null: not known */
    struct zeta_cc_strings imports; /**< symbols that another module must define */
    struct zeta_cc_buffer *log;
    bool has_errors; /**< LLVM reported an error, which is in the log */
};

/* Functions that give bool write into the log why it is false. */

/* ---- program.c ---- */

/** Makes an empty program. */
bool zeta_cc_program_create(struct zeta_cc_program *program, const struct zeta_cc_options *options,
                            struct zeta_cc_buffer *log);

/** Adds bitcode or LLVM assembly; the name is for messages. */
bool zeta_cc_program_add(struct zeta_cc_program *program, const char *name, const void *bytes,
                         size_t size);

/**
 * Opens the runtime library, whose functions are read when they are needed; null with a line in the
 * log. It takes about as long as a front end needs for a small module: best done while one runs.
 */
LLVMModuleRef zeta_cc_program_open_runtime(struct zeta_cc_program *program, const char *path);

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

/** The name of a function or variable; terminated. */
const char *zeta_cc_value_name(LLVMValueRef value);

/* ---- symbols.c: builtins that the virtual GPU lacks are errors, all else is an import. ---- */

/**
 * Refuses kernels that the virtual GPU cannot start: image, sampler, pipe and queue arguments, and
 * sub-groups of more than one item. Before conventions are changed.
 */
bool zeta_cc_program_check_kernels(struct zeta_cc_program *program);

/** Collects the imports, once the runtime library, whose path is given, is linked. */
bool zeta_cc_program_check_symbols(struct zeta_cc_program *program, const char *runtime);

/* ---- entry.c: what the engine starts a kernel with (vgpu_abi.h) ---- */

/** Names of the entry stub of a kernel and of its record, before the kernel's own. */
#define ZETA_CC_ENTRY_PREFIX "__vgpu_entry."
#define ZETA_CC_RECORD_PREFIX "__vgpu_info."

/** Adds for every kernel a stub that fetches the arguments from their block, and a record. */
bool zeta_cc_program_add_entries(struct zeta_cc_program *program);

/** The entry stub of a kernel; null when it has none. */
LLVMValueRef zeta_cc_entry_stub(const struct zeta_cc_program *program, const char *kernel);

/** The operand at @index of the metadata with that name at a function, or null. */
LLVMValueRef zeta_cc_metadata_operand(LLVMValueRef function, const char *name, unsigned index);

/** The number there, such as intel_reqd_sub_group_size; 0 when there is none. */
uint32_t zeta_cc_metadata_number(LLVMValueRef function, const char *name, unsigned index);

/* ---- print.c ---- */

/**
 * Replaces the calls of printf, unless the program defines its own: a variable argument list of
 * RV64 has no simple form for vectors, so each becomes stores into slots of 8 bytes and a call of
 * the runtime library.
 *
 * Each scalar and each component of a vector has a slot: floating-point values of any width as
 * double, integers extended, pointers as they are. In OpenCL C printf gives 0, in C the length.
 */
bool zeta_cc_program_lower_print(struct zeta_cc_program *program);

/* ---- place.c: places in the address space, once nothing will be optimised any more ---- */

/**
 * Gives each kernel a section with its function, its entry stub, and the functions that only it
 * calls, so that an address identifies the kernel. What several kernels call stays where it is,
 * which is behind these sections (vgpu.ld).
 */
void zeta_cc_program_place_code(struct zeta_cc_program *program);

/**
 * Gives all variables in address space 3 their places in one variable, and notes how much each
 * kernel needs: variables that no kernel uses together lie at the same addresses. Their names stay
 * as aliases.
 *
 * Programs with kernels in C, whose local variables are ordinary ones in a section, stay as they
 * are.
 */
void zeta_cc_program_overlay_locals(struct zeta_cc_program *program);

/* ---- link.c ---- */

/**
 * Links the object of a program with the rest of the runtime library, and writes how much private
 * and shared local memory its kernels need into their records.
 */
enum vgpu_compile_status zeta_cc_link(const struct zeta_cc_program *program,
                                      const struct zeta_cc_paths *paths,
                                      const struct zeta_cc_buffer *object,
                                      struct zeta_cc_buffer *out_elf);

#endif
