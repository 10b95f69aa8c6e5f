/*
 * What the command lines of all subcommands have in common, around getopt_long.
 */
#ifndef ZETA_TOOLS_COMMAND_LINE_OPTIONS_H
#define ZETA_TOOLS_COMMAND_LINE_OPTIONS_H

#include <stdbool.h>

/** Options of the subcommands that list something. */
struct zeta_list_options {
    const char *device;    /**< -d; null: the first one */
    bool is_verbose;       /**< -v */
    bool has_json;         /**< --json: JSON instead of text */
    const char *json_path; /**< null or "-": the standard output */
    char **rest;           /**< arguments that are no options, null-terminated */
    int rest_count;
};

/** Makes getopt_long begin anew and leave messages to us. Options strings begin with ":". */
void zeta_options_restart(void);

/**
 * Says what is wrong when getopt_long gave '?' or ':'. Gives ZETA_EXIT_USAGE.
 *
 * @option  what getopt_long gave
 */
int zeta_options_wrong(int option, char **arguments);

/**
 * Refuses --json beside rows as CSV if both go to the standard output. Gives ZETA_EXIT_USAGE then.
 *
 * @json_path  the FILE of --json=FILE; null or "-": the standard output
 */
int zeta_options_check_json(const char *json_path, bool has_csv);

/**
 * Reads the arguments of a subcommand, arguments[0] being its name.
 *
 * @allowed  the letters among "dv" that it takes; --json always
 *
 * Prints what is wrong; then gives ZETA_EXIT_USAGE.
 */
int zeta_list_options_parse(struct zeta_list_options *options, const char *allowed, int count,
                            char **arguments);

#endif
