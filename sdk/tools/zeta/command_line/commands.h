/*
 * Subcommands. Each takes its arguments, arguments[0] being its name, and gives the exit code.
 */
#ifndef ZETA_TOOLS_COMMAND_LINE_COMMANDS_H
#define ZETA_TOOLS_COMMAND_LINE_COMMANDS_H

int zeta_calc(int count, char **arguments);
int zeta_record(int count, char **arguments);
int zeta_report_command(int count, char **arguments);
int zeta_selftest_command(int count, char **arguments);
int zeta_stat(int count, char **arguments);
int zeta_trace(int count, char **arguments);
int zeta_command_debug(int count, char **arguments);
int zeta_command_devices(int count, char **arguments);
int zeta_command_doctor(int count, char **arguments);
int zeta_command_groups(int count, char **arguments);
int zeta_command_plugin(int count, char **arguments);
int zeta_command_run(int count, char **arguments);

#endif
