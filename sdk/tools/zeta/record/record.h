/*
 * zeta record: runs a program and keeps what the device and the API did in a file.
 */
#ifndef ZETA_TOOLS_RECORD_RECORD_H
#define ZETA_TOOLS_RECORD_RECORD_H

/** The subcommand; arguments[0] is "record". Gives the exit code: the program's own if it ran. */
int zeta_record(int count, char **arguments);

#endif
