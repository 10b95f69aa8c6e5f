/*
 * Options of a compilation: those of the command line, and build options as zeModuleCreate takes
 * them. Both have the same options.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_CC_REQUEST_OPTIONS_H
#define ZETA_SDK_TOOLS_ZETA_CC_REQUEST_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

/** A value for a specialization constant of a SPIR-V module. */
struct zeta_cc_constant {
    uint32_t id;
    uint32_t size_bytes; /**< 1, 2, 4 or 8; 1 also means bool */
    uint64_t value;      /**< the bits, zeros above */
};

/** What a program that will be instrumented asks for, numerically zet_profile_flags_t. */
enum zeta_cc_profile {
    ZETA_CC_PROFILE_FEWER_REGISTERS = 1, /**< some registers are used by no code */
    ZETA_CC_PROFILE_FREE_REGISTERS = 2   /**< which registers are free can be told from the code */
};

/**
 * A module of several that were built apart and are linked. Their names are apart: NAME of unit 2
 * is NAME$2, but for kernels.
 */
struct zeta_cc_unit {
    bool is_given;   /**< --unit N: the file belongs to unit N, as those around it do */
    unsigned number; /**< N */
    bool is_loaded;  /**< --loaded: its kernels and variables are there, only its code is wanted */
    struct zeta_cc_strings imports; /**< --import NAME=N: a name that unit N defines */
    struct zeta_cc_strings places;  /**< --place NAME=ADDRESS: where a variable is that is loaded */
};

/** What a module is compiled with. All zero are the defaults. */
struct zeta_cc_options {
    struct zeta_cc_strings front_end; /**< for clang: -D, -I, -U, -cl-..., -W... */
    const char *standard;             /**< of -cl-std=, points into front_end; null: none */
    bool has_level;
    unsigned level;     /**< -O, 0..3 */
    bool has_debug;     /**< -g */
    bool is_off;        /**< -cl-opt-disable, -ze-opt-disable: level 0 whatever else is given */
    bool contracts;     /**< -cl-mad-enable, -cl-unsafe-math-optimizations, -cl-fast-relaxed-math */
    unsigned processor; /**< --gpu sm_NN: the number; 0: none given */
    uint32_t profile_flags; /**< enum zeta_cc_profile, of -zet-profile-flags */
    struct zeta_cc_constant *constants;
    size_t constant_count;
    bool allows_imports; /**< --imports: what no file defines is found when modules are linked */
    struct zeta_cc_unit unit;
};

/** What a word of a command line was. */
enum zeta_cc_word {
    ZETA_CC_WORD_TAKEN,      /**< an option, kept */
    ZETA_CC_WORD_TAKEN_NEXT, /**< an option whose value is the next word */
    ZETA_CC_WORD_INCOMPLETE, /**< an option whose value is missing */
    ZETA_CC_WORD_BAD,        /**< an option with a value that it cannot have */
    ZETA_CC_WORD_UNKNOWN     /**< no option of a compilation */
};

/** Takes an option; @next is the word behind, or null. */
enum zeta_cc_word zeta_cc_options_take(struct zeta_cc_options *options, const char *word,
                                       const char *next);

/**
 * Reads build options: separated by blanks between them; quotes and backslash as a shell knows
 * them.
 *
 * Nothing fails: an option that means nothing here is named in the log and left out. Programs pass
 * options for the compilers of other devices.
 */
void zeta_cc_options_read(struct zeta_cc_options *options, const char *text, size_t size,
                          struct zeta_cc_buffer *log);

/** Adds a value for a constant. They are applied in order: the last one for an id stays. */
void zeta_cc_options_add_constant(struct zeta_cc_options *options,
                                  const struct zeta_cc_constant *constant);

/** The level in force: as given, else 0 with -g, else 2. */
unsigned zeta_cc_options_level(const struct zeta_cc_options *options);

/** Adds what concerns the program as a whole: the settings of @more win over ours. */
void zeta_cc_options_merge(struct zeta_cc_options *options, const struct zeta_cc_options *more);

/** Frees what reading and merging made. */
void zeta_cc_options_finish(struct zeta_cc_options *options);

#endif
