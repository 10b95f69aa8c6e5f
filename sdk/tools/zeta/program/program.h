/*
 * The program that a command runs, its environment, and folders that last as long as a run.
 */
#ifndef ZETA_TOOLS_PROGRAM_PROGRAM_H
#define ZETA_TOOLS_PROGRAM_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** All zero bytes: none. */
struct zeta_run_folder {
    char *path; /**< owned; null: none */
    int lock;   /**< descriptor of the folder; -1 until it is locked */
};

/**
 * Makes "<parent>/zeta-<kind>-XXXXXX" for this user alone, and removes what killed runs left there
 * under such names. On failure prints why.
 */
int zeta_run_folder_make(struct zeta_run_folder *folder, const char *parent, const char *kind);

/** The directory for files of this user that are for no other user. */
const char *zeta_run_folder_place(void);

/** Gives the folder a name under which it stays when this process has ended. */
void zeta_run_folder_keep(struct zeta_run_folder *folder);

/** Removes the folder with the files in it, and frees what is here. None: nothing happens. */
void zeta_run_folder_remove(struct zeta_run_folder *folder);

/** Frees what is here, and leaves what is in the file system. */
void zeta_run_folder_finish(struct zeta_run_folder *folder);

struct zeta_environment {
    char **before;    /**< as this process got it; the strings are not ours */
    char **variables; /**< for the program; null until built */
    char *instance;   /**< "NAME=value", null when it shares the instance of others */
    char *drivers;
    struct zeta_run_folder folder; /**< that we made for modules */
    char *modules; /**< "NAME=folder" for images of the program's modules; null: none are wanted */
};

/**
 * A copy of an environment; the strings are not copied. The caller frees it.
 *
 * @dropped  names of variables that the copy has not, null-terminated
 * @added    variables that it has at its end; null ones are passed over
 */
char **zeta_environment_copy(char **variables, const char *const *dropped, char **added,
                             size_t added_count);

/**
 * Remembers the environment and, unless shared, chooses a virtual device instance that nothing
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

struct zeta_child {
    int signal_fd;
    sigset_t mask_before; /**< what the program gets */
    pid_t pid;            /**< 0: not started */
    bool has_ended;
    int wait_status;
    unsigned interrupts; /**< signals that ask to end */
    int last_interrupt;  /**< number of the latest of them */
};

/**
 * Takes over the signals that end a process, for the whole process: call it before anything
 * starts a thread. On failure prints why.
 */
int zeta_child_init(struct zeta_child *child);

void zeta_child_finish(struct zeta_child *child);

/**
 * Starts a program, found along PATH, with the standard streams of this process.
 *
 * @arguments, @environment  null-terminated
 *
 * On failure prints why and gives ZETA_EXIT_NOT_FOUND or ZETA_EXIT_NOT_EXECUTABLE.
 */
int zeta_child_start(struct zeta_child *child, char **arguments, char **environment);

/** Forgets a program that has ended, so that it can be started again. */
void zeta_child_again(struct zeta_child *child);

/**
 * Prints why a program cannot be run. Gives ZETA_EXIT_NOT_FOUND or ZETA_EXIT_NOT_EXECUTABLE.
 *
 * @error  number of the error with which its start failed
 */
int zeta_child_explain(const char *program, int error);

/**
 * Waits until the program ends, a signal asks to end, or the time is over. A request to end is
 * passed on to a running program; from the second one on it is asked with growing force.
 */
void zeta_child_wait(struct zeta_child *child, uint64_t timeout_ns);

/** Exit code of the program as a shell would give it: 128 + signal when it was killed. */
int zeta_child_exit_code(const struct zeta_child *child);

#endif
