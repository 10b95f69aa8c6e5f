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

/* Why the compiler did not do it; null: it did. */
static char *explain_failure(const char *path, struct zeta_doctor_answer *answer)
{
    char *text = answer->output;

    if (answer->start_error == ENOENT)
        return zeta_format("cannot find program %s", path);
    if (answer->start_error)
        return zeta_format("cannot run %s: %s", path, strerror(answer->start_error));
    if (answer->hung)
        return zeta_format("it does not compile an empty kernel within two minutes");
    if (WIFSIGNALED(answer->wait_status))
        return zeta_format("it crashes (%s)", strsignal(WTERMSIG(answer->wait_status)));
    if (WEXITSTATUS(answer->wait_status) == 0)
        return NULL;
    /* Its message as one line. */
    for (; *text; text++) {
        if (*text == '\n')
            *text = text[1] ? ' ' : '\0';
    }
    return zeta_format("it does not compile an empty kernel: %s",
                       answer->output[0] ? answer->output : "without a reason");
}

bool zeta_doctor_has_plugin(const struct zeta_doctor *doctor, const char *id)
{
    for (uint32_t i = 0; i < doctor->plugins.count; i++) {
        if (strcmp(doctor->plugins.plugins[i].id, id) == 0 &&
            doctor->plugins.plugins[i].state == ZETA_PLUGIN_STATE_ACTIVE)
            return true;
    }
    return false;
}

const char *zeta_doctor_plugin_setting(const struct zeta_doctor *doctor, const char *name)
{
    const size_t wanted = strlen(name);

    for (uint32_t i = 0; i < doctor->setting_count; i++) {
        const struct zeta_setting *setting = &doctor->settings[i];
        const size_t length = strlen(setting->name);

        if (length >= wanted && strcmp(setting->name + length - wanted, name) == 0 &&
            setting->value[0])
            return setting->value;
    }
    return NULL;
}

/* Compiles a kernel with the compiler of a plugin. */
static void try_compiler(const struct zeta_doctor *doctor, const char *program, const char *setting,
                         struct zeta_doctor_compiler *compiler)
{
    const char *chosen = zeta_doctor_plugin_setting(doctor, setting);
    struct zeta_doctor_answer answer;
    char language[] = "-x", spirv[] = "spirv", output[] = "-o", standard[] = "-";
    int fd;

    if (!zeta_doctor_has_plugin(doctor, compiler->plugin))
        return;
    compiler->path = chosen ? zeta_format("%s", chosen)
                            : zeta_format("%s/libexec/zeta/%s", doctor->root, program);
    /* The input is a file without a name. */
    fd = memfd_create("zeta-doctor", MFD_CLOEXEC);
    if (fd < 0 ||
        pwrite(fd, empty_kernel, sizeof(empty_kernel), 0) != (ssize_t)sizeof(empty_kernel)) {
        compiler->error = zeta_format("there is no room for an empty kernel: %s", strerror(errno));
    } else {
        char *arguments[] = {compiler->path, language, spirv, standard, output, standard, NULL};

        zeta_doctor_run(arguments, fd, STDERR_FILENO, PATIENCE_NS, &answer);
        compiler->error = explain_failure(compiler->path, &answer);
        free(answer.output);
    }
    if (fd >= 0)
        (void)close(fd);
}

void zeta_doctor_try_compilers(struct zeta_doctor *doctor)
{
    static const struct {
        const char *plugin, *program, *setting;
    } programs[ZETA_DOCTOR_COMPILERS] = {{"vgpu", "zeta-vgpu-cc", "vgpu.compiler"},
                                         {"nvidia", "zeta-nv-cc", "nvidia.compiler"}};

    for (size_t i = 0; i < ZETA_DOCTOR_COMPILERS; i++) {
        doctor->compilers[i].plugin = programs[i].plugin;
        try_compiler(doctor, programs[i].program, programs[i].setting, &doctor->compilers[i]);
    }
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

void zeta_doctor_check_place(struct zeta_doctor_place *place)
{
    const char *there = choose(place);
    struct statvfs space;

    if (access(there, W_OK | X_OK) != 0 || statvfs(there, &space) != 0)
        place->error = zeta_format("%s", strerror(errno));
    else
        place->free_bytes = (uint64_t)space.f_bavail * space.f_frsize;
}

/* ---- sampling --------------------------------------------------------------------------- */

/* Rarely: a stream that is closed at once is about permission, not about reports. */
enum { PERIOD_NS = 100000000 };

/* Whether a process is known that samples the unit of a group. */
static bool is_held(zet_metric_group_handle_t group)
{
    struct zeta_group_info info = {.struct_size = sizeof(info)};

    return zetaMetricGroupGetInfo(group, &info) == ZE_RESULT_SUCCESS && info.holder_pid != 0;
}

static void try_group(const struct zeta_device_entry *device, zet_metric_group_handle_t group,
                      struct zeta_doctor_sampling *sampling)
{
    const ze_context_desc_t context_description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    zet_metric_streamer_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
        .samplingPeriod = PERIOD_NS,
    };
    ze_context_handle_t context = NULL;
    zet_metric_streamer_handle_t streamer = NULL;
    ze_result_t result = zeContextCreate(device->driver, &context_description, &context);

    if (result == ZE_RESULT_SUCCESS)
        result = zetContextActivateMetricGroups(context, device->device, 1, &group);
    if (result == ZE_RESULT_SUCCESS)
        result =
            zetMetricStreamerOpen(context, device->device, group, &description, NULL, &streamer);
    if (result == ZE_RESULT_SUCCESS)
        result = zetMetricStreamerClose(streamer);
    sampling->was_tried = true;
    if (result != ZE_RESULT_SUCCESS) {
        sampling->error = zeta_format("%s", zetaGetLastError());
        /* The same result tells of modes of a GPU in which it is never sampled. */
        sampling->is_busy = result == ZE_RESULT_ERROR_NOT_AVAILABLE && is_held(group);
    }
    if (context) {
        (void)zetContextActivateMetricGroups(context, device->device, 0, NULL);
        (void)zeContextDestroy(context);
    }
}

static void try_groups(const struct zeta_device_entry *device, const struct zeta_group_list *groups,
                       struct zeta_doctor_sampling *sampling)
{
    /* The first group of a device is one that can be streamed. */
    if (groups->count > 0)
        try_group(device, groups->entries[0].group, sampling);
    if (groups->note[0] && groups->count > 0)
        sampling->note = zeta_format("%s", groups->note);
    if (groups->note[0] && groups->count == 0) {
        sampling->was_tried = true;
        sampling->error = zeta_format("%s", groups->note);
    }
}

void zeta_doctor_try_sampling(struct zeta_doctor *doctor)
{
    doctor->samplings = zeta_allocate(doctor->devices.count, sizeof(*doctor->samplings));
    for (uint32_t i = 0; i < doctor->devices.count; i++) {
        const struct zeta_device_entry *device = &doctor->devices.entries[i];
        struct zeta_group_list groups = {0};

        if (strcmp(device->info.device_class, "hardware") != 0 || !device->info.stream[0])
            continue;
        if (zeta_group_list_init(device->device, &groups) == ZETA_EXIT_OK)
            try_groups(device, &groups, &doctor->samplings[i]);
        zeta_group_list_finish(&groups);
    }
}

/* ---- variables -------------------------------------------------------------------------- */

/* Names that end with * are beginnings; the first that fits counts. */
static const struct {
    const char *name;
    const char *meaning;
} known[] = {
    {"LD_LIBRARY_PATH", "searched for the loader, libzeta and drivers before other places"},
    {"LD_PRELOAD", "loaded before everything else, and can take the place of the loader"},
    {"CUDA_VISIBLE_DEVICES", "only these NVIDIA GPUs are shown to programs"},
    {"CUDA_DEVICE_ORDER",
     "how CUDA numbers GPUs; devices of Zeta are in the order of PCI addresses"},
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

void zeta_doctor_list_variables(struct zeta_doctor *doctor)
{
    static const char *const beginnings[] = {"ZE_*", "ZET_*", "ZES_*", "ZEL_*", "ZETA_*"};
    size_t count = 0;

    while (environ[count])
        count++;
    doctor->variables = zeta_allocate(count, sizeof(*doctor->variables));
    for (size_t i = 0; i < count; i++) {
        const char *meaning = meaning_of(environ[i]);
        bool matters = meaning != NULL;

        for (size_t k = 0; k < sizeof(beginnings) / sizeof(beginnings[0]); k++)
            matters |= fits(beginnings[k], environ[i]);
        if (matters)
            doctor->variables[doctor->variable_count++] = (struct zeta_doctor_variable){
                environ[i], meaning, doctor->is_privileged && is_guarded(environ[i])};
    }
    qsort(doctor->variables, doctor->variable_count, sizeof(*doctor->variables), compare);
}

/* ---- the program ------------------------------------------------------------------------ */

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

/* Finds a segment of a type; one that is loaded only if the address is in it. */
static bool find_segment(const struct file *file, const Elf64_Ehdr *header, uint32_t type,
                         uint64_t address, Elf64_Phdr *out_segment)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (!read_at(file, header->e_phoff + i * (uint64_t)sizeof(*out_segment), out_segment,
                     sizeof(*out_segment)))
            return false;
        if (out_segment->p_type == type &&
            (type != PT_LOAD || (address >= out_segment->p_vaddr &&
                                 address - out_segment->p_vaddr < out_segment->p_filesz)))
            return true;
    }
    return false;
}

static bool begins_at(const struct file *file, uint64_t offset, const char *name)
{
    return offset <= file->size && strlen(name) <= file->size - offset &&
           memcmp(file->bytes + offset, name, strlen(name)) == 0;
}

/* Reads the entry at @at; false behind the last one. */
static bool read_entry(const struct file *file, const Elf64_Phdr *dynamic, uint64_t at,
                       Elf64_Dyn *out_entry)
{
    return at + sizeof(*out_entry) <= dynamic->p_filesz &&
           read_at(file, dynamic->p_offset + at, out_entry, sizeof(*out_entry)) &&
           out_entry->d_tag != DT_NULL;
}

enum zeta_doctor_link zeta_doctor_read_link(const unsigned char *bytes, size_t size)
{
    const struct file file = {bytes, size};
    Elf64_Ehdr header;
    Elf64_Phdr dynamic, loaded;
    Elf64_Dyn entry;
    uint64_t address = 0;
    uint64_t strings;

    if (size >= 2 && memcmp(bytes, "#!", 2) == 0)
        return ZETA_DOCTOR_LINK_SCRIPT;
    if (!read_at(&file, 0, &header, sizeof(header)) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_phentsize != sizeof(dynamic) ||
        header.e_machine != MACHINE)
        return ZETA_DOCTOR_LINK_FOREIGN;
    if (!find_segment(&file, &header, PT_DYNAMIC, 0, &dynamic))
        return ZETA_DOCTOR_LINK_STATIC;
    /* Two passes: the place of the names is an entry too. */
    for (uint64_t at = 0; read_entry(&file, &dynamic, at, &entry); at += sizeof(entry)) {
        if (entry.d_tag == DT_STRTAB)
            address = entry.d_un.d_ptr;
    }
    if (!find_segment(&file, &header, PT_LOAD, address, &loaded))
        return ZETA_DOCTOR_LINK_UNKNOWN;
    strings = loaded.p_offset + (address - loaded.p_vaddr);
    for (uint64_t at = 0; read_entry(&file, &dynamic, at, &entry); at += sizeof(entry)) {
        if (entry.d_tag != DT_NEEDED || entry.d_un.d_val > size)
            continue;
        /* Which of two comes first is what the program gets. */
        if (begins_at(&file, strings + entry.d_un.d_val, "libze_loader.so"))
            return ZETA_DOCTOR_LINK_LOADER;
        if (begins_at(&file, strings + entry.d_un.d_val, "libzeta.so"))
            return ZETA_DOCTOR_LINK_ZETA;
    }
    return ZETA_DOCTOR_LINK_UNKNOWN;
}

/* Takes the path if there is a program, else frees it. */
static bool take_program(struct zeta_doctor_program *program, char *path)
{
    struct stat status;
    void *bytes = MAP_FAILED;
    int fd;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || access(path, X_OK) != 0) {
        free(path);
        return false;
    }
    program->path = path;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED) {
        program->link = zeta_doctor_read_link(bytes, (size_t)status.st_size);
        (void)munmap(bytes, (size_t)status.st_size);
    }
    /* No program has more rights than root; file capabilities count for other users. */
    program->is_privileged = geteuid() != 0 && ((status.st_mode & (S_ISUID | S_ISGID)) != 0 ||
                                                getxattr(path, "security.capability", NULL, 0) > 0);
    if (fd >= 0)
        (void)close(fd);
    return true;
}

void zeta_doctor_check_program(struct zeta_doctor_program *program, const char *name)
{
    const char *place = getenv("PATH");

    program->name = name;
    if (strchr(name, '/')) {
        (void)take_program(program, zeta_format("%s", name));
        return;
    }
    while (place && *place) {
        const int length = (int)strcspn(place, ":");

        if (take_program(program,
                         zeta_format("%.*s/%s", length ? length : 1, length ? place : ".", name)))
            return;
        place += length + (place[length] == ':');
    }
}
