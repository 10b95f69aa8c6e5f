/*
 * zeta report: shows what a recording holds.
 */
#ifndef ZETA_TOOLS_REPORT_REPORT_H
#define ZETA_TOOLS_REPORT_REPORT_H

/** The subcommand; arguments[0] is "report". Gives the exit code. */
int zeta_report_command(int count, char **arguments);

#endif
