/*
 * zeta stat: samples a device while a program runs, and says what it did.
 */
#ifndef ZETA_TOOLS_STAT_STAT_H
#define ZETA_TOOLS_STAT_STAT_H

/** Runs the subcommand, arguments[0] being "stat". Gives the exit code. */
int zeta_stat(int count, char **arguments);

#endif
