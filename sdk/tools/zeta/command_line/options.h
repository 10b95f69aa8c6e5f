/*
 * Command lines: a table of options and where their values go, read by getopt_long.
 */
#ifndef ZETA_TOOLS_COMMAND_LINE_OPTIONS_H
#define ZETA_TOOLS_COMMAND_LINE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What an option takes, and what its target points to. */
enum zeta_option_kind {
    ZETA_OPTION_FLAG,     /**< nothing: bool */
    ZETA_OPTION_TEXT,     /**< const char * */
    ZETA_OPTION_NUMBER,   /**< 0 to UINT32_MAX: int64_t */
    ZETA_OPTION_DURATION, /**< such as 500us: uint64_t, in ns */
    ZETA_OPTION_INSTANT,  /**< the same, or 0 */
    ZETA_OPTION_JSON,     /**< nothing or =FILE: struct zeta_json_option */
    ZETA_OPTION_OTHER     /**< what take() does with it */
};

/** --json[=FILE]: JSON instead of text. */
struct zeta_json_option {
    bool is_given;
    const char *path; /**< null or "-": the standard output */
};

struct zeta_option {
    const char *name; /**< --name; null: only the letter */
    char letter;      /**< -l; 0: only the name */
    enum zeta_option_kind kind;
    void *target;
    /** With ZETA_OPTION_OTHER. Gives an exit code; what is wrong it prints. */
    int (*take)(void *target, char *text);
};

enum { ZETA_OPTIONS_MAX = 16 };

/**
 * Reads the arguments of a command, arguments[0] being its name, into the targets. Prints what is
 * wrong; then gives ZETA_EXIT_USAGE.
 *
 * @has_program  options end with the first argument that is none: the rest is a program's
 * @out_first    index of the first argument that is no option
 */
int zeta_options_read(const struct zeta_option *options, size_t option_count, bool has_program,
                      int count, char **arguments, int *out_first);

/** Reads a number of bytes such as 64M or 2G. False for anything else. */
bool zeta_size_parse(const char *text, uint64_t *out_bytes);

/** Refuses --json beside rows as CSV if both go to the standard output. */
int zeta_options_check_json(const struct zeta_json_option *json, bool has_csv);

/** Options of the commands that list something. */
struct zeta_list_options {
    const char *device; /**< -d; null: the first one */
    bool is_verbose;    /**< -v */
    struct zeta_json_option json;
    char **rest; /**< arguments that are no options, null-terminated */
    int rest_count;
};

/** Reads the arguments of such a command. has_device: it takes -d and -v, too. */
int zeta_list_options_read(struct zeta_list_options *options, bool has_device, int count,
                           char **arguments);

#endif
