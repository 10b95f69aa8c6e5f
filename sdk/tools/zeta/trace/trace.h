/*
 * zeta trace: runs a program and shows which functions of the API it called.
 */
#ifndef ZETA_TOOLS_TRACE_TRACE_H
#define ZETA_TOOLS_TRACE_TRACE_H

/** The subcommand; arguments[0] is "trace". Gives the exit code: the program's own if it ran. */
int zeta_trace(int count, char **arguments);

#endif
