/*
 * A program in LLVM's form: front ends and the runtime library are linked into one module, which is
 * made into a program for a device and emitted.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_CC_PROGRAM_PROGRAM_H
#define ZETA_SDK_TOOLS_ZETA_CC_PROGRAM_PROGRAM_H

#include <stdbool.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include "sdk/tools/zeta-cc/request/options.h"
#include <zeta/compiler/protocol.h>

struct zeta_cc_paths;
struct zeta_cc_unit;

/** Calling conventions of OpenCL in LLVM; code generation for RV64 knows neither. */
enum { ZETA_CC_SPIR_FUNCTION = 75, ZETA_CC_SPIR_KERNEL = 76 };

/** Address spaces of front ends that need something. */
enum {
    ZETA_CC_SPACE_PRIVATE = 0,
    ZETA_CC_SPACE_CONSTANT = 2,
    ZETA_CC_SPACE_LOCAL = 3,
    ZETA_CC_SPACE_GENERIC = 4
};

struct zeta_cc_program;

/** The device that is compiled for: each of the two programs has one, zeta_cc_target. */
struct zeta_cc_target {
    const char *program;   /**< its name, "zeta-vgpu-cc" */
    const char *help;      /**< of the command */
    const char *ending;    /**< of the files that come out, "elf" */
    const char *device;    /**< for messages, "the virtual GPU" */
    const char *processor; /**< for messages, "RISC-V" */
    const char *triple;
    uint32_t sub_group_items;    /**< what a kernel may require */
    bool has_c;                  /**< kernels can be written in C */
    bool unrolls;                /**< loops may be unrolled */
    const char *const *provided; /**< functions that emit() replaces, to a null; null: none */

    /* Those that give bool write into the log why it is false. */

    /** The machine; null when LLVM does not know it. */
    LLVMTargetMachineRef (*create_machine)(struct zeta_cc_program *program,
                                           const struct zeta_cc_options *options);
    /** Makes code for the device of all: conventions, features, visibility. Not optimised yet. */
    bool (*retarget)(struct zeta_cc_program *program);
    /** Appends what the device loads; @is_object: what is linked by hand, where there is such. */
    enum zeta_compile_status (*emit)(struct zeta_cc_program *program,
                                     const struct zeta_cc_paths *paths, bool is_object,
                                     struct zeta_cc_buffer *out_result);
};

extern const struct zeta_cc_target zeta_cc_target;

/** A variable that the host, or a module that is linked later, may ask for. */
struct zeta_cc_variable {
    unsigned unit;    /**< that it is of; 0 when there are none */
    char *name;       /**< of the source */
    char *own;        /**< of the program */
    bool is_writable; /**< all modules that are linked have to share it */
};

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
    bool allows_imports;            /**< there may be some */
    LLVMModuleRef unit;             /**< of the inputs that are added; null: they are the program */
    struct zeta_cc_variable *variables; /**< that are told */
    size_t variable_count;
    struct zeta_cc_buffer notes; /**< of the device's code, for what it emits */
    struct zeta_cc_buffer *log;
    bool has_errors; /**< LLVM reported an error, which is in the log */
};

/* Functions that give bool write into the log why it is false. */

/* ---- program.c ---- */

/** Makes an empty program. */
bool zeta_cc_program_create(struct zeta_cc_program *program, const struct zeta_cc_options *options,
                            struct zeta_cc_buffer *log);

/** Begins a unit: what is added belongs to it, until zeta_cc_program_end_unit(). */
void zeta_cc_program_begin_unit(struct zeta_cc_program *program);

/** Adds bitcode or LLVM assembly, to the unit if one was begun; the name is for messages. */
bool zeta_cc_program_add(struct zeta_cc_program *program, const char *name, const void *bytes,
                         size_t size);

/**
 * Opens the runtime library, whose functions are read when they are needed; null with a line in the
 * log. It takes about as long as a front end needs for a small module: best done while one runs.
 */
LLVMModuleRef zeta_cc_program_open_runtime(struct zeta_cc_program *program, const char *path);

/** Adds what the program needs of the runtime library. */
bool zeta_cc_program_add_runtime(struct zeta_cc_program *program);

/** Optimises at the program's level. */
bool zeta_cc_program_optimise(struct zeta_cc_program *program);

/** Frees the module and what belongs to it. */
void zeta_cc_program_finish(struct zeta_cc_program *program);

/** The name of a function or variable; terminated. */
const char *zeta_cc_value_name(LLVMValueRef value);

/* ---- print.c ---- */

/**
 * Replaces the calls of printf, unless the program defines its own, by stores into slots of 8 bytes
 * (zeta/kernel_print.h) and a call of the runtime library's
 * int __zeta_printf(ulong format, ulong slots, ulong count). In OpenCL C printf gives 0, or -1
 * where the library does; in C what that gives, the length. Before the library is linked.
 */
bool zeta_cc_program_lower_print(struct zeta_cc_program *program);

/* ---- units.c: modules that were built apart ---- */

/**
 * Ends the unit: its names become those of a unit, its imports those of the units that define them,
 * and variables that are loaded become their addresses.
 */
bool zeta_cc_program_end_unit(struct zeta_cc_program *program, const struct zeta_cc_unit *unit);

/**
 * Keeps a variable where the host finds it and notes it.
 *
 * @name  of the source
 */
void zeta_cc_program_tell_variable(struct zeta_cc_program *program, LLVMValueRef variable,
                                   unsigned unit, const char *name);

/* ---- where.c: places in the source, as far as there is debug information ---- */

/** Appends " (FILE:LINE, in FUNCTION)", where an instruction comes from; nothing if not known. */
void zeta_cc_where(LLVMValueRef instruction, struct zeta_cc_buffer *out_text);

/** Appends " (FILE:LINE)", where a function begins; nothing if not known. */
void zeta_cc_where_begins(LLVMValueRef function, struct zeta_cc_buffer *out_text);

/** The first instruction that uses a value, directly or through constants; null: none does. */
LLVMValueRef zeta_cc_first_use(LLVMValueRef value);

/* ---- symbols.c: builtins that the device lacks are errors, all else is an import. ---- */

/**
 * Refuses kernels that the device cannot start: image, sampler, pipe and queue arguments, and
 * sub-groups of another size than its own. Before conventions are changed.
 */
bool zeta_cc_program_check_kernels(struct zeta_cc_program *program);

/** Refuses functions that shall run before or after kernels. */
bool zeta_cc_program_check_constructors(const struct zeta_cc_program *program);

/** Collects the imports, once the runtime library, whose path is given, is linked. */
bool zeta_cc_program_check_symbols(struct zeta_cc_program *program, const char *runtime);

/* ---- kernel.c: what front ends write about kernels ---- */

/** The operand at @index of the metadata with that name at a function, or null. */
LLVMValueRef zeta_cc_metadata_operand(LLVMValueRef function, const char *name, unsigned index);

/** The number there, such as intel_reqd_sub_group_size; 0 when there is none. */
uint32_t zeta_cc_metadata_number(LLVMValueRef function, const char *name, unsigned index);

/** Appends the source attributes of a kernel, with blanks between them. */
void zeta_cc_kernel_attributes(LLVMValueRef kernel, struct zeta_cc_buffer *out_text);

#endif
