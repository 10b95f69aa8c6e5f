/*
 * The manual of the command: what it can do, and each of its commands with its options.
 */
#ifndef ZETA_TOOLS_COMMAND_LINE_HELP_H
#define ZETA_TOOLS_COMMAND_LINE_HELP_H

#include <stdbool.h>
#include <stdio.h>

/** Writes which commands there are, in groups. */
void zeta_help_print(FILE *target);

/** Writes the usage and the options of one command; false if there is no such command. */
bool zeta_help_print_command(const char *name, FILE *target);

#endif
