/*
 * The environment of the program that zeta stat runs: what is needed so that it works on the
 * sampled device, and nothing else.
 */
#ifndef ZETA_TOOLS_PROGRAM_ENVIRONMENT_H
#define ZETA_TOOLS_PROGRAM_ENVIRONMENT_H

#include <stdbool.h>

#include "sdk/tools/zeta/program/run_folder.h"

struct zeta_environment {
    char **before;    /**< as this process got it; the strings are not ours */
    char **variables; /**< for the program; null until built */
    char *instance;   /**< "NAME=value", null when it shares the instance of others */
    char *drivers;
    struct zeta_run_folder folder; /**< that we made for modules */
    char *modules; /**< "NAME=folder" for images of the program's modules; null: none are wanted */
};

/**
 * Remembers the environment and, unless shared, chooses a virtual device instance that nobody
 * else uses. Must come before the library is initialised. On failure prints why.
 */
int zeta_environment_init(struct zeta_environment *environment, bool is_shared);

/**
 * Builds the program's environment.
 *
 * @is_ours  whether the library provides compute on the sampled device. If not, the program gets
 *           what this process got: a variable that names another driver would take the device's
 *           real driver away.
 *
 * On failure prints why.
 */
int zeta_environment_build(struct zeta_environment *environment, bool is_ours);

/** Whether a path can stand in ZE_ENABLE_ALT_DRIVERS, where commas separate and blanks are lost. */
bool zeta_environment_can_name(const char *library_path);

/**
 * Finds a folder for images of modules: the one that the environment names, else, if there is to be
 * a program, a new one that finish removes. Before build. On failure prints why.
 */
int zeta_environment_want_modules(struct zeta_environment *environment, bool has_program);

/** That folder, null without one. */
const char *zeta_environment_modules(const struct zeta_environment *environment);

void zeta_environment_finish(struct zeta_environment *environment);

#endif
