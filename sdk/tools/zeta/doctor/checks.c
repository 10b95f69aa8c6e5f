/* What zeta doctor tries: compiler, sharing, sampling, variables and the program. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "sdk/tools/zeta/doctor/doctor.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/message.h"

#define COMPILER_PATH "/libexec/zeta/zeta-vgpu-cc"
#define COMPILER_SETTING "vgpu.compiler"

/* LLVM is large, and a machine may be busy. */
#define PATIENCE_NS UINT64_C(120000000000)

/* SPIR-V 1.0 of an empty kernel named "k". Each instruction begins with its words and number. */
static const uint32_t empty_kernel[] = {
    0x07230203,     0x00010000, 0, 5,   0, /* magic, version, no generator, ids below 5 */
    2u << 16 | 17,  4,                     /* capability Addresses */
    2u << 16 | 17,  6,                     /* capability Kernel */
    3u << 16 | 14,  2,          2,         /* memory model Physical64 OpenCL */
    4u << 16 | 15,  6,          4, 'k',    /* entry point Kernel %4 "k" */
    2u << 16 | 19,  1,                     /* %1 = type void */
    3u << 16 | 33,  2,          1,         /* %2 = type function %1 */
    5u << 16 | 54,  1,          4, 0,   2, /* %4 = function %1 None %2 */
    2u << 16 | 248, 3,                     /* %3 = label */
    1u << 16 | 253,                        /* return */
    1u << 16 | 56,                         /* function end */
};

static bool copy_path(struct zeta_doctor *doctor)
{
    for (uint32_t i = 0; i < doctor->setting_count; i++) {
        const char *name = doctor->settings[i].name;
        const size_t length = strlen(name);
        const size_t wanted = strlen(COMPILER_SETTING);

        if (length >= wanted && strcmp(name + length - wanted, COMPILER_SETTING) == 0 &&
            doctor->settings[i].value[0]) {
            doctor->compiler.path = strdup(doctor->settings[i].value);
            return doctor->compiler.path != NULL;
        }
    }
    if (asprintf(&doctor->compiler.path, "%s" COMPILER_PATH, doctor->root) >= 0)
        return true;
    doctor->compiler.path = NULL;
    return false;
}

/* The input as a file without a name. */
static int make_input(void)
{
    const int fd = memfd_create("zeta-doctor", MFD_CLOEXEC);

    if (fd >= 0 &&
        pwrite(fd, empty_kernel, sizeof(empty_kernel), 0) != (ssize_t)sizeof(empty_kernel)) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* The compiler's message about a failure, as one line. */
static void join_lines(char *text)
{
    const size_t length = strlen(text);

    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\n')
            text[i] = i + 1 < length ? ' ' : '\0';
    }
}

static bool explain_failure(struct zeta_doctor_compiler *compiler,
                            struct zeta_doctor_answer *answer)
{
    int length = 0;

    if (answer->start_error == ENOENT)
        length = asprintf(&compiler->error, "cannot find program %s", compiler->path);
    else if (answer->start_error)
        length = asprintf(&compiler->error, "cannot run %s: %s", compiler->path,
                          strerror(answer->start_error));
    else if (answer->hung)
        length =
            asprintf(&compiler->error, "it does not compile an empty kernel within two minutes");
    else if (WIFSIGNALED(answer->wait_status))
        length =
            asprintf(&compiler->error, "it crashes (%s)", strsignal(WTERMSIG(answer->wait_status)));
    else if (WEXITSTATUS(answer->wait_status) == 0)
        compiler->works = true;
    else {
        join_lines(answer->output);
        length = asprintf(&compiler->error, "it does not compile an empty kernel: %s",
                          answer->output[0] ? answer->output : "without a reason");
    }
    if (length >= 0)
        return true;
    compiler->error = NULL;
    return false;
}

bool zeta_doctor_try_compiler(struct zeta_doctor *doctor)
{
    struct zeta_doctor_compiler *compiler = &doctor->compiler;
    struct zeta_doctor_answer answer = {0};
    char language[] = "-x", spirv[] = "spirv", output[] = "-o", standard[] = "-";
    int fd;
    bool is_well;

    for (uint32_t i = 0; i < doctor->plugins.count; i++) {
        if (strcmp(doctor->plugins.plugins[i].id, "vgpu") == 0 &&
            doctor->plugins.plugins[i].state == ZETA_PLUGIN_STATE_ACTIVE)
            compiler->is_wanted = true;
    }
    if (!compiler->is_wanted)
        return true;
    fd = make_input();
    is_well = fd >= 0 && copy_path(doctor);
    if (is_well) {
        char *arguments[] = {compiler->path, language, spirv, standard, output, standard, NULL};

        is_well = zeta_doctor_run(arguments, fd, STDERR_FILENO, PATIENCE_NS, &answer) &&
                  explain_failure(compiler, &answer);
    }
    if (fd >= 0)
        (void)close(fd);
    free(answer.output);
    return is_well;
}

/* ---- the place ------------------------------------------------------------------------------- */

static bool is_ours_alone(const struct stat *status)
{
    return S_ISDIR(status->st_mode) && status->st_uid == geteuid() &&
           (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/*
 * The rule of the virtual GPU: the folder of the variable, if only this user can write it; else one
 * of this user in /dev/shm; if another user owns that name, one in the user's home. Gives the
 * folder that must exist.
 */
static const char *choose(struct zeta_doctor_place *place)
{
    static char path[PATH_MAX];
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
    const char *home = secure_getenv("HOME");
    struct stat status;

    place->path = path;
    place->origin = !runtime && getenv("XDG_RUNTIME_DIR") ? "this command ignores XDG_RUNTIME_DIR"
                                                          : "XDG_RUNTIME_DIR is not set";
    if (runtime && runtime[0] != '\0') {
        place->origin = "XDG_RUNTIME_DIR";
        (void)snprintf(path, sizeof(path), "%s", runtime);
        if (runtime[0] == '/' && stat(runtime, &status) == 0 && is_ours_alone(&status))
            return path;
        place->origin = "others can write XDG_RUNTIME_DIR";
    }
    (void)snprintf(path, sizeof(path), "/dev/shm/zeta-vgpu-%u", (unsigned)geteuid());
    if (lstat(path, &status) != 0)
        return "/dev/shm";
    if (is_ours_alone(&status) || !home || home[0] != '/')
        return path;
    place->origin = "others can write the directory in /dev/shm";
    (void)snprintf(path, sizeof(path), "%s/.cache/zeta", home);
    return home;
}

bool zeta_doctor_check_place(struct zeta_doctor_place *place)
{
    const char *there = choose(place);
    struct statvfs space;

    if (access(there, W_OK | X_OK) != 0 || statvfs(there, &space) != 0) {
        place->error = strdup(strerror(errno));
        return place->error != NULL;
    }
    place->free_bytes = (uint64_t)space.f_bavail * space.f_frsize;
    return true;
}

/* ---- sampling --------------------------------------------------------------------------- */

/* Rarely: a stream that is closed at once is about permission, not about reports. */
enum { PERIOD_NS = 100000000 };

static ze_result_t open_stream(const struct zeta_device_entry *device, ze_context_handle_t context,
                               zet_metric_group_handle_t group)
{
    zet_metric_streamer_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
        .samplingPeriod = PERIOD_NS,
    };
    zet_metric_streamer_handle_t streamer = NULL;
    ze_result_t result = zetContextActivateMetricGroups(context, device->device, 1, &group);

    if (result == ZE_RESULT_SUCCESS)
        result =
            zetMetricStreamerOpen(context, device->device, group, &description, NULL, &streamer);
    return result == ZE_RESULT_SUCCESS ? zetMetricStreamerClose(streamer) : result;
}

/* False without memory. */
static bool try_group(const struct zeta_device_entry *device, zet_metric_group_handle_t group,
                      struct zeta_doctor_sampling *sampling)
{
    const ze_context_desc_t description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t context = NULL;
    ze_result_t result = zeContextCreate(device->driver, &description, &context);
    bool has_memory = true;

    if (result == ZE_RESULT_SUCCESS)
        result = open_stream(device, context, group);
    sampling->was_tried = true;
    if (result != ZE_RESULT_SUCCESS) {
        sampling->is_busy = result == ZE_RESULT_ERROR_NOT_AVAILABLE;
        sampling->error = strdup(zetaGetLastError());
        has_memory = sampling->error != NULL;
    }
    if (context) {
        (void)zetContextActivateMetricGroups(context, device->device, 0, NULL);
        (void)zeContextDestroy(context);
    }
    return has_memory;
}

bool zeta_doctor_try_sampling(struct zeta_doctor *doctor)
{
    bool has_memory = true;

    if (!doctor->is_initialised || doctor->devices.count == 0)
        return true;
    doctor->samplings = calloc(doctor->devices.count, sizeof(*doctor->samplings));
    if (!doctor->samplings)
        return false;
    for (uint32_t i = 0; i < doctor->devices.count && has_memory; i++) {
        const struct zeta_device_entry *device = &doctor->devices.entries[i];
        struct zeta_group_list groups = {0};

        if (strcmp(device->info.device_class, "hardware") != 0 || !device->info.stream[0])
            continue;
        /* The first group of a device is one that can be streamed. */
        if (zeta_group_list_init(device->device, &groups) == ZETA_EXIT_OK && groups.count > 0)
            has_memory = try_group(device, groups.entries[0].group, &doctor->samplings[i]);
        zeta_group_list_finish(&groups);
    }
    return has_memory;
}

/* ---- variables -------------------------------------------------------------------------- */

/* Names that end with * are beginnings; the first that fits counts. */
static const struct {
    const char *name;
    const char *meaning;
} known[] = {
    {"LD_LIBRARY_PATH", "searched for the loader, libzeta and drivers before other places"},
    {"LD_PRELOAD", "loaded before everything else, and can take the place of the loader"},
    {"ZE_ENABLE_ALT_DRIVERS", "the loader opens these drivers, and none of its own list"},
    {"ZE_ENABLE_NULL_DRIVER", "the loader opens a driver without devices too"},
    {"ZE_ENABLE_VALIDATION_LAYER", "the loader puts its checks in front of the driver"},
    {"ZE_ENABLE_PARAMETER_VALIDATION", "these check arguments"},
    {"ZE_ENABLE_HANDLE_LIFETIME", "these check handles"},
    {"ZE_ENABLE_TRACING_LAYER", "the loader can trace calls of the core API"},
    {"ZE_ENABLE_LOADER_INTERCEPT", "the loader goes between program and driver"},
    {"ZE_ENABLE_LOADER_DRIVER_DDI_PATH", "0: a newer loader wraps handles"},
    {"ZE_ENABLE_LOADER_DEBUG_TRACE", "a newer loader prints what it opens"},
    {"ZE_AFFINITY_MASK", "only these devices and tiles are shown"},
    {"ZE_FLAT_DEVICE_HIERARCHY", "whether tiles are shown as devices"},
    {"ZE_ENABLE_PCI_ID_DEVICE_ORDER", "devices are in the order of their PCI addresses"},
    {"ZE_SHARED_FORCE_DEVICE_ALLOC", "where shared memory is placed"},
    {"ZET_ENABLE_METRICS", "the program can measure"},
    {"ZET_ENABLE_PROGRAM_INSTRUMENTATION", "accepted; instrumentation works without it"},
    {"ZET_ENABLE_PROGRAM_DEBUGGING", "the program can be debugged"},
    {"ZET_ENABLE_API_TRACING_EXP", "not needed; a newer loader complains about it"},
    {"ZES_ENABLE_SYSMAN", "sysman works on handles of the core API; with Zeta always"},
    {"ZEL_*", "a setting of a newer loader"},
    {"ZETA_CONFIG", "the file of settings, or none"},
    {"ZETA_METRIC_TRACER_GROUPS", "whether groups of events are listed"},
    {"ZETA_MODULE_DUMP", "where images of modules are written, for profilers"},
    {"ZETA_LOG_FILE", "where messages go"},
    {"ZETA_LOG_PLUGINS", "whether plugins that do not work are warned of"},
    {"ZETA_LOG", "which messages are written"},
    {"ZETA_PLUGIN_PATH", "the only folders that are searched for plugins"},
    {"ZETA_ADD_PLUGIN_PATH", "the folders that are searched for plugins first"},
    {"ZETA_PLUGINS_SELECT", "the only plugins that are used"},
    {"ZETA_PLUGINS_DISABLE", "plugins that are not used"},
    {"ZETA_PLUGIN_*", "a setting of a plugin"},
    {"ZETA_REPLAY", "a recording that is shown as a device, instead of the virtual GPU"},
    {"ZETA_TRACE", "processes record their calls"},
    {"ZETA_TRACE_FILTER", "which calls are recorded"},
    {"ZETA_TRACE_LIMIT", "how much is recorded"},
    {"ZETA_VGPU_INSTANCE", "processes with the same name share a virtual GPU"},
};

static bool fits(const char *name, const char *variable)
{
    const size_t length = strlen(name);

    if (name[length - 1] == '*')
        return strncmp(variable, name, length - 1) == 0;
    return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

static const char *meaning_of(const char *variable)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (fits(known[i].name, variable))
            return known[i].meaning;
    }
    return NULL;
}

static bool matters(const char *variable)
{
    static const char *const beginnings[] = {"ZE_", "ZET_", "ZES_", "ZEL_", "ZETA_"};

    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
        if (strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    }
    return meaning_of(variable) != NULL;
}

/* What libzeta leaves alone in a process with more rights than its user: all but messages. */
static bool is_guarded(const char *variable)
{
    if (fits("ZETA_LOG", variable) || fits("ZETA_LOG_PLUGINS", variable))
        return false;
    return fits("ZETA_*", variable) || fits("ZE_AFFINITY_MASK", variable) ||
           fits("ZE_FLAT_DEVICE_HIERARCHY", variable);
}

static int compare(const void *left, const void *right)
{
    return strcmp(((const struct zeta_doctor_variable *)left)->text,
                  ((const struct zeta_doctor_variable *)right)->text);
}

bool zeta_doctor_list_variables(struct zeta_doctor *doctor)
{
    size_t count = 0;

    while (environ[count])
        count++;
    doctor->variables = calloc(count + 1, sizeof(*doctor->variables));
    if (!doctor->variables)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (matters(environ[i]))
            doctor->variables[doctor->variable_count++] =
                (struct zeta_doctor_variable){environ[i], meaning_of(environ[i]),
                                              doctor->is_privileged && is_guarded(environ[i])};
    }
    qsort(doctor->variables, doctor->variable_count, sizeof(*doctor->variables), compare);
    return true;
}

/* ---- the program ------------------------------------------------------------------------ */

#define LOADER_NAME "libze_loader.so"
#define ZETA_NAME "libzeta.so"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#elif defined(__riscv)
#define MACHINE EM_RISCV
#else
#define MACHINE header.e_machine /* unknown here: any will do */
#endif

/* Bytes of a file; everything that is read is checked against them. */
struct file {
    const unsigned char *bytes;
    size_t size;
};

static bool read_at(const struct file *file, uint64_t offset, void *out, size_t size)
{
    if (offset > file->size || size > file->size - offset)
        return false;
    memcpy(out, file->bytes + offset, size);
    return true;
}

/* Segments that are loaded give where an address of the program is in the file. */
static bool offset_of(const struct file *file, const Elf64_Ehdr *header, uint64_t address,
                      uint64_t *out_offset)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;

        if (!read_at(file, header->e_phoff + i * (uint64_t)sizeof(segment), &segment,
                     sizeof(segment)))
            return false;
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz) {
            *out_offset = segment.p_offset + (address - segment.p_vaddr);
            return true;
        }
    }
    return false;
}

static bool find_segment(const struct file *file, const Elf64_Ehdr *header, uint32_t type,
                         Elf64_Phdr *out_segment)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (!read_at(file, header->e_phoff + i * (uint64_t)sizeof(*out_segment), out_segment,
                     sizeof(*out_segment)))
            return false;
        if (out_segment->p_type == type)
            return true;
    }
    return false;
}

static bool begins_at(const struct file *file, uint64_t offset, const char *name)
{
    return offset <= file->size && strlen(name) <= file->size - offset &&
           memcmp(file->bytes + offset, name, strlen(name)) == 0;
}

/* The strings that the entries of one kind name, in two passes: the place of the strings is an
 * entry too. */
static enum zeta_doctor_link read_needed(const struct file *file, const Elf64_Ehdr *header,
                                         const Elf64_Phdr *dynamic)
{
    uint64_t address = 0;
    uint64_t strings = 0;
    Elf64_Dyn entry;

    for (uint64_t at = 0; at + sizeof(entry) <= dynamic->p_filesz; at += sizeof(entry)) {
        if (!read_at(file, dynamic->p_offset + at, &entry, sizeof(entry)) || entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_STRTAB)
            address = entry.d_un.d_ptr;
    }
    if (!offset_of(file, header, address, &strings))
        return ZETA_DOCTOR_LINK_UNKNOWN;
    for (uint64_t at = 0; at + sizeof(entry) <= dynamic->p_filesz; at += sizeof(entry)) {
        if (!read_at(file, dynamic->p_offset + at, &entry, sizeof(entry)) || entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag != DT_NEEDED || entry.d_un.d_val > file->size)
            continue;
        /* Which of two comes first is what the program gets. */
        if (begins_at(file, strings + entry.d_un.d_val, LOADER_NAME))
            return ZETA_DOCTOR_LINK_LOADER;
        if (begins_at(file, strings + entry.d_un.d_val, ZETA_NAME))
            return ZETA_DOCTOR_LINK_ZETA;
    }
    return ZETA_DOCTOR_LINK_UNKNOWN;
}

enum zeta_doctor_link zeta_doctor_read_link(const unsigned char *bytes, size_t size)
{
    const struct file file = {bytes, size};
    Elf64_Ehdr header;
    Elf64_Phdr segment;

    if (size >= 2 && memcmp(bytes, "#!", 2) == 0)
        return ZETA_DOCTOR_LINK_SCRIPT;
    if (!read_at(&file, 0, &header, sizeof(header)) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_phentsize != sizeof(segment) ||
        header.e_machine != MACHINE)
        return ZETA_DOCTOR_LINK_FOREIGN;
    if (!find_segment(&file, &header, PT_DYNAMIC, &segment))
        return ZETA_DOCTOR_LINK_STATIC;
    return read_needed(&file, &header, &segment);
}

const char *zeta_doctor_link_name(enum zeta_doctor_link link)
{
    switch (link) {
    case ZETA_DOCTOR_LINK_LOADER:
        return "linked to the loader";
    case ZETA_DOCTOR_LINK_ZETA:
        return "linked to libzeta, needs no loader";
    case ZETA_DOCTOR_LINK_STATIC:
        return "static: it can load no driver, unless it starts other programs";
    case ZETA_DOCTOR_LINK_SCRIPT:
        return "a script: what it starts decides";
    case ZETA_DOCTOR_LINK_FOREIGN:
        return "no 64-bit program of this machine";
    default:
        return "linked to neither loader nor libzeta: a library of it may be, or it opens one";
    }
}

static bool list_contents(struct zeta_doctor_program *program)
{
    const int fd = open(program->path, O_RDONLY | O_CLOEXEC);
    struct stat status = {0};
    void *bytes = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED) {
        program->link = zeta_doctor_read_link(bytes, (size_t)status.st_size);
        (void)munmap(bytes, (size_t)status.st_size);
    }
    /* No program has more rights than root; file capabilities count for other users. */
    program->is_privileged =
        geteuid() != 0 && ((status.st_mode & (S_ISUID | S_ISGID)) != 0 ||
                           getxattr(program->path, "security.capability", NULL, 0) > 0);
    if (fd >= 0)
        (void)close(fd);
    return true;
}

static bool is_program(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool zeta_doctor_check_program(struct zeta_doctor_program *program, const char *name)
{
    const char *place = getenv("PATH");

    program->name = name;
    if (strchr(name, '/')) {
        program->path = is_program(name) ? strdup(name) : NULL;
        return program->path ? list_contents(program) : !is_program(name);
    }
    while (place && *place) {
        const size_t length = strcspn(place, ":");
        char *path = NULL;

        if (asprintf(&path, "%.*s/%s", length ? (int)length : 1, length ? place : ".", name) < 0)
            return false;
        if (is_program(path)) {
            program->path = path;
            return list_contents(program);
        }
        free(path);
        place += length + (place[length] == ':');
    }
    return true;
}
