/*
 * What zeta doctor finds out: which loader, drivers, plugins and devices a program would get, and
 * what is wrong. Strings are owned by the struct unless a comment says otherwise; null: not known.
 */
#ifndef ZETA_TOOLS_DOCTOR_DOCTOR_H
#define ZETA_TOOLS_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sdk/tools/zeta/inventory/inventory.h"

/** How far zeta-probe came with a loader or a driver. */
enum zeta_doctor_outcome {
    ZETA_DOCTOR_WORKED,  /**< it answered all, also if the initialisation failed */
    ZETA_DOCTOR_ABSENT,  /**< there is no such library */
    ZETA_DOCTOR_REFUSED, /**< it cannot be used; error has the reason */
    ZETA_DOCTOR_CRASHED,
    ZETA_DOCTOR_HUNG,
    ZETA_DOCTOR_UNTRIED /**< zeta-probe cannot be run; error has the reason */
};

/** What a fresh process found behind a loader or a driver. */
struct zeta_doctor_probe {
    enum zeta_doctor_outcome outcome;
    char *library; /**< resolved path */
    char *version; /**< of a loader */
    char *zeta;    /**< version, if it is a libzeta */
    bool has_init;
    uint32_t init; /**< result of zeInit */
    char **devices;
    size_t device_count;
    char *step;  /**< what it was doing last */
    char *error; /**< sentence */
};

/** A driver that a loader would open. */
struct zeta_doctor_driver {
    char *name; /**< as the loader opens it */
    struct zeta_doctor_probe probe;
};

/** How a program comes to Level Zero. */
enum zeta_doctor_link {
    ZETA_DOCTOR_LINK_UNKNOWN, /**< to neither: a library of it may, or it opens one itself */
    ZETA_DOCTOR_LINK_LOADER,
    ZETA_DOCTOR_LINK_ZETA,
    ZETA_DOCTOR_LINK_STATIC,
    ZETA_DOCTOR_LINK_SCRIPT,
    ZETA_DOCTOR_LINK_FOREIGN /**< not for this machine, or no program at all */
};

struct zeta_doctor_program {
    const char *name; /**< as given, not owned; null: none was */
    char *path;       /**< null: there is no such program */
    enum zeta_doctor_link link;
    bool is_privileged; /**< runs with more rights than its user, so variables do not count */
};

/** A variable of the environment. */
struct zeta_doctor_variable {
    const char *text;    /**< "NAME=value", not owned */
    const char *meaning; /**< static; null: unknown here */
    bool is_dropped;     /**< this command does not read it, because it is privileged */
};

/** A compiler of kernels: of the virtual GPU, of NVIDIA GPUs. */
struct zeta_doctor_compiler {
    const char *plugin; /**< that starts it, static */
    char *path;         /**< null: the plugin is not in use */
    char *error;        /**< why it does not work; null: it does */
};

enum { ZETA_DOCTOR_VGPU_COMPILER, ZETA_DOCTOR_NVIDIA_COMPILER, ZETA_DOCTOR_COMPILERS };

/** Where processes share a virtual GPU. */
struct zeta_doctor_place {
    const char *path;   /**< static, or of the environment */
    const char *origin; /**< why this one, static */
    uint64_t free_bytes;
    char *error; /**< why it cannot be used */
};

/** Whether a device of hardware can be sampled, by the index of the device. */
struct zeta_doctor_sampling {
    bool was_tried;
    bool is_busy; /**< another process samples it; error names it */
    char *error;  /**< why it cannot; null: it can */
    char *note; /**< why it lacks groups that it could have, though it has others; null: it does not
                 */
};

/** Whether a debugger can attach to programs on a device. */
struct zeta_doctor_debugged {
    char *error;         /**< why to none; null: it can */
    char *process_error; /**< why not to the process that is asked about; null: it can */
};

struct zeta_doctor_debugging {
    struct zeta_doctor_debugged *devices; /**< by the index of the device */
    bool is_enabled; /**< programs with this environment let debuggers attach */
    bool has_pid;    /**< a process is asked about */
    uint32_t pid;
    struct zeta_doctor_program gdb; /**< gdb-multiarch; null path: not installed */
    char *gdb_version;              /**< as it says it */
    bool has_cores;                 /**< a plugin that can leave core dumps is in use */
    const char *core_dir;           /**< where it does, of the settings; null: it leaves none */
    char *core_error;               /**< why it cannot be written there; null: it can */
};

struct zeta_doctor_finding {
    bool is_problem; /**< keeps programs from working; else a note */
    char *what;
    char *repair; /**< command or action; null: nothing to do */
};

struct zeta_doctor {
    struct zeta_doctor_program program;
    bool is_privileged;   /**< this command has more rights than its user */
    uint64_t patience_ns; /**< for each loader and driver */
    char *own_library;    /**< resolved path of libzeta */
    char *root;           /**< of the build tree or installation that it is in */
    struct zeta_doctor_probe own;
    struct zeta_doctor_probe loader;
    bool has_chosen_drivers; /**< ZE_ENABLE_ALT_DRIVERS is set */
    struct zeta_doctor_driver *drivers;
    size_t driver_count;
    struct zeta_doctor_variable *variables;
    size_t variable_count;
    bool is_initialised; /**< plugins, settings and devices are known */
    struct zeta_plugin_list plugins;
    struct zeta_device_list devices;
    struct zeta_doctor_sampling *samplings; /**< one for each device */
    struct zeta_setting *settings;
    uint32_t setting_count;
    struct zeta_doctor_debugging debugging;
    struct zeta_doctor_compiler compilers[ZETA_DOCTOR_COMPILERS];
    struct zeta_doctor_place place;
    struct zeta_doctor_finding *findings;
    size_t finding_count;
    size_t problem_count; /**< of the findings */
};

/* ---- checks.c, debugging.c and probe.c: what there is ---- */

/** True when a plugin with this id is in use. */
bool zeta_doctor_has_plugin(const struct zeta_doctor *doctor, const char *id);

/** Value of a setting of a plugin ("vgpu.compiler"); null when it has none. */
const char *zeta_doctor_plugin_setting(const struct zeta_doctor *doctor, const char *name);

/** Finds the program along PATH and reads how it is linked. */
void zeta_doctor_check_program(struct zeta_doctor_program *program, const char *name);

/** How a file is linked, from its bytes; any bytes will do. */
enum zeta_doctor_link zeta_doctor_read_link(const unsigned char *bytes, size_t size);

/** Opens a loader (null path) or a driver in a process of its own. */
void zeta_doctor_probe_library(const struct zeta_doctor *doctor, const char *driver_path,
                               struct zeta_doctor_probe *out_probe);

/** Frees what was found. */
void zeta_doctor_probe_finish(struct zeta_doctor_probe *probe);

/** Samples each device of hardware shortly; devices are known. */
void zeta_doctor_try_sampling(struct zeta_doctor *doctor);

/**
 * Finds out what can be debugged with what, and attaches to the process that is asked about;
 * devices are known.
 */
void zeta_doctor_check_debugging(struct zeta_doctor *doctor);

/** Lists the variables that loaders, drivers and Zeta know. */
void zeta_doctor_list_variables(struct zeta_doctor *doctor);

/** Compiles a kernel from SPIR-V for each plugin in use; plugins and settings are known. */
void zeta_doctor_try_compilers(struct zeta_doctor *doctor);

/** Finds out where processes share a virtual GPU, and whether they can. */
void zeta_doctor_check_place(struct zeta_doctor_place *place);

struct zeta_doctor_answer {
    int start_error; /**< number of the error when it could not be started, else 0 */
    bool hung;       /**< it was killed after its time */
    int wait_status; /**< as waitpid gives it */
    char *output;    /**< what it wrote, terminated; owned by the caller */
    size_t output_size;
};

/**
 * Runs a program, given by its path, with this environment without what would make it record, and
 * collects what it writes, at most a mebibyte.
 *
 * @input        what it reads as standard input, -1: nothing
 * @stream       the stream that is collected, 1 or 2; the other goes nowhere
 * @patience_ns  it is killed after that
 */
void zeta_doctor_run(char **arguments, int input, int stream, uint64_t patience_ns,
                     struct zeta_doctor_answer *out_answer);

/* ---- judge.c and report.c ---- */

/** From everything that was seen to what is wrong and what repairs it. */
void zeta_doctor_judge(struct zeta_doctor *doctor);

/** Prints the report for people; verbose: all settings, not only those that are set. */
void zeta_doctor_print(const struct zeta_doctor *doctor, bool is_verbose);

/** As JSON to a path, or the standard output for null or "-". On failure prints why. */
int zeta_doctor_put(const struct zeta_doctor *doctor, const char *path);

#endif
