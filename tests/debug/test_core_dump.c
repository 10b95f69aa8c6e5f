/* Core dumps: what GDB shows of one, and what happens where none can be written. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <zeta/vgpu_debug.h>

#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "tests/vgpu_plugin/host.h"
#include "tests/vgpu_plugin/kernel_file.h"

enum { GROUPS = 3, ITEMS = 16, FAULTING_GROUP = 1, FAULTING_ITEM = 5, BUFFER_BYTES = 8 << 20 };

/* As in kernels/faulty.c. */
struct arguments {
    uint32_t arrived, wanted, group, released;
    uint64_t target, function;
    uint32_t values[8];
};

struct bench {
    struct host host;
    char folder[64];
    struct host_setting settings[6];
    struct zeta_plugin_module *module, *other;
    struct zeta_plugin_queue *queue;
    struct arguments *arguments; /* at the begin of BUFFER_BYTES, of which little was touched */
    uint64_t function;           /* for them */
};

/* That of the test that runs. */
static struct bench bench;

/* Where the plugin writes, what was seen meanwhile, and after how many bytes the disk is full. */
static const char *watched_folder;
static unsigned writes, visible;
static size_t disk_bytes = SIZE_MAX;

/* Names of files in a folder that begin so; removes them if asked to. */
static unsigned count_files(const char *folder, const char *begin, bool remove)
{
    DIR *listing = opendir(folder);
    const struct dirent *entry;
    unsigned count = 0;

    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strncmp(entry->d_name, begin, strlen(begin)) != 0)
            continue;
        count++;
        if (remove)
            assert_int_equal(unlinkat(dirfd(listing), entry->d_name, 0), 0);
    }
    (void)closedir(listing);
    return count;
}

/* Stands before that of the C library, also for the plugin. */
__attribute__((visibility("default"))) ssize_t pwrite(int file, const void *bytes, size_t size,
                                                      off_t at)
{
    if (watched_folder) {
        writes++;
        visible += count_files(watched_folder, "zeta-core", false);
        if ((size_t)at + size > disk_bytes) {
            errno = ENOSPC;
            return -1;
        }
    }
    /* Unseen by sanitizers: what the program does with its memory meanwhile is its own affair. */
    return syscall(SYS_pwrite64, file, bytes, size, at);
}

static void make(const struct host_setting *settings)
{
    host_open(&bench.host, settings);
    bench.module = kernel_file_load(&bench.host);
    bench.queue = host_queue(&bench.host, 0);
    bench.arguments = host_allocate(&bench.host, BUFFER_BYTES);
}

static void bench_open(const char *size_mib)
{
    (void)snprintf(bench.folder, sizeof(bench.folder), "%s", "/tmp/zeta-test-core-XXXXXX");
    assert_non_null(mkdtemp(bench.folder));
    bench.settings[0] = (struct host_setting){"core_dir", bench.folder};
    bench.settings[1] = (struct host_setting){"core_size_mib", size_mib};
    make(bench.settings);
}

/* Ends what a test has made, also one that failed. */
static int bench_close(void **state)
{
    (void)state;
    watched_folder = NULL;
    if (bench.queue)
        bench.host.compute->queue_destroy(bench.host.self, bench.queue);
    if (bench.module)
        bench.host.compute->module_destroy(bench.host.self, bench.module);
    if (bench.other)
        bench.host.compute->module_destroy(bench.host.self, bench.other);
    if (bench.host.services)
        host_close(&bench.host);
    if (bench.folder[0]) {
        (void)count_files(bench.folder, "", true);
        assert_int_equal(rmdir(bench.folder), 0);
    }
    memset(&bench, 0, sizeof(bench));
    return 0;
}

/* A launch that faults, and a new queue afterwards. */
static void fault(const char *name, uint32_t groups)
{
    struct zeta_plugin_kernel *kernel = kernel_create(&bench.host, bench.module, name);
    void *pointer = bench.arguments;
    struct zeta_plugin_command command = kernel_launch(kernel, &pointer, groups, ITEMS);

    *bench.arguments = (struct arguments){.wanted = groups * ITEMS,
                                          .group = groups > 1 ? FAULTING_GROUP : 0,
                                          .target = 0x12345678,
                                          .function = bench.function,
                                          .values = {11, 22, 33, 44}};
    assert_int_equal(host_run(&bench.host, bench.queue, &command, 1), ZETA_PLUGIN_DEVICE_LOST);
    bench.host.compute->queue_destroy(bench.host.self, bench.queue);
    bench.host.compute->kernel_destroy(bench.host.self, kernel);
    bench.queue = host_queue(&bench.host, 0);
}

/* The device works as before. */
static void expect_works(void)
{
    struct zeta_plugin_command copy = host_copy(bench.arguments->values, "abcd", 4);

    assert_int_equal(host_run(&bench.host, bench.queue, &copy, 1), ZETA_PLUGIN_SUCCESS);
    assert_memory_equal(bench.arguments->values, "abcd", 4);
}

static void path_of(unsigned number, char *out_path, size_t size)
{
    (void)snprintf(out_path, size, "%s/zeta-core-%.32s-%d-%u", bench.folder,
                   program_invocation_short_name, (int)getpid(), number);
}

static void *read_file(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    void *bytes;

    if (!file)
        fail_msg("%s: %s", path, strerror(errno));
    assert_int_equal(fstat(fileno(file), &status), 0);
    *out_size = (size_t)status.st_size;
    bytes = malloc(*out_size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *out_size, file), *out_size);
    (void)fclose(file);
    return bytes;
}

/* A note of a core; fails the test if there is none. */
static const void *find_note(const unsigned char *core, const char *owner, uint32_t type,
                             size_t *out_size)
{
    Elf64_Ehdr header;
    Elf64_Phdr notes;

    memcpy(&header, core, sizeof(header));
    memcpy(&notes, core + header.e_phoff, sizeof(notes));
    assert_int_equal(notes.p_type, PT_NOTE);
    for (uint64_t at = 0; at < notes.p_filesz;) {
        const unsigned char *begin = core + notes.p_offset + at;
        Elf64_Nhdr note;
        uint64_t content;

        memcpy(&note, begin, sizeof(note));
        content = sizeof(note) + (note.n_namesz + 3) / 4 * 4;
        if (note.n_type == type && strcmp((const char *)begin + sizeof(note), owner) == 0) {
            *out_size = note.n_descsz;
            return begin + content;
        }
        at += content + (note.n_descsz + 3) / 4 * 4;
    }
    fail_msg("no note %u of %s", type, owner);
    return NULL;
}

/* Bytes of memory in a core; NULL when it lacks them. */
static const void *find_memory(const unsigned char *core, uint64_t address, uint64_t size)
{
    Elf64_Ehdr header;

    memcpy(&header, core, sizeof(header));
    for (unsigned i = 1; i < header.e_phnum; i++) {
        Elf64_Phdr segment;

        memcpy(&segment, core + header.e_phoff + i * sizeof(segment), sizeof(segment));
        assert_int_equal(segment.p_type, PT_LOAD);
        if (address - segment.p_vaddr < segment.p_filesz &&
            size <= segment.p_filesz - (address - segment.p_vaddr))
            return core + segment.p_offset + (address - segment.p_vaddr);
    }
    return NULL;
}

/* Fails the test unless the text has the words. */
static void expect_words(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" is not in:\n%s", words, text);
}

/* ---- what GDB shows ------------------------------------------------------------------------- */

static void skip_without_gdb(void)
{
    if (system("gdb-multiarch --version >/dev/null 2>&1") != 0) {
        print_message("gdb-multiarch is not installed\n");
        skip();
    }
}

/* What GDB prints for commands; freed by the caller. */
static char *gdb(const char *open, const char *commands)
{
    const size_t room = 1 << 20;
    char *line = malloc(room), *output = calloc(1, room);
    FILE *pipe;

    assert_non_null(line);
    assert_non_null(output);
    /* As it was logged, without the settings of whoever runs the tests. */
    (void)snprintf(line, room, "HOME=/nonexistent %s -batch %s 2>&1 </dev/null", open, commands);
    pipe = popen(line, "r");
    assert_non_null(pipe);
    output[fread(output, 1, room - 1, pipe)] = 0;
    (void)pclose(pipe);
    free(line);
    return output;
}

/* The command that the log names; freed by the caller. */
static char *logged_command(void)
{
    const char *begin = strstr(host_log(&bench.host), "gdb-multiarch --core=");

    if (!begin)
        fail_msg("no command in the log:\n%s", host_log(&bench.host));
    return strndup(begin, strcspn(begin, ";\n"));
}

static void core__logged_command__shows_threads_frames_and_memory(void **state)
{
    char *command, *seen, text[128];

    (void)state;
    skip_without_gdb();
    bench_open("64");
    fault("faulty", GROUPS);
    command = logged_command();
    seen = gdb(command,
               "-ex 'echo [bt]\\n' -ex bt"
               " -ex 'echo [locals]\\n' -ex 'info locals' -ex 'p squares' -ex 'p/x *arguments'"
               " -ex 'p answer' -ex 'p/x table' -ex 'p/x $_siginfo._sifields._sigfault.si_addr'"
               " -ex 'p $fcsr' -ex 'p $sp != 0'"
               " -ex 'p *(unsigned long (*)[3])($tp + 96)'"
               " -ex 'echo [threads]\\n' -ex 'info threads'"
               " -ex 'echo [other]\\n' -ex 'thread 2' -ex bt"
               " -ex 'p/x *(unsigned int (*)[16])"
               "*(unsigned long *)((1ul << 61) + 112 * ($_thread - 1) + 104)'");
    expect_words(seen, "group (1, 0, 0), local id (5, 0, 0) of faulty");
    expect_words(seen, "Program terminated with signal SIGSEGV");
    /* The frames, with lines and arguments. */
    expect_words(seen, "store (arguments=0x");
    expect_words(seen, "id=5) at ");
    expect_words(seen, "faulty.c:");
    expect_words(seen, "squares[id % 4]; /* the fault */");
    expect_words(strstr(seen, "[bt]"), "#1 ");
    expect_words(strstr(seen, "[bt]"), " in faulty (");
    expect_words(strstr(seen, "[bt]"), " vgpu_entry_faulty (");
    expect_words(strstr(seen, "[locals]"), "half = 2.5");
    expect_words(seen, "= {100, 101, 104, 109}");
    expect_words(
        seen,
        "wanted = 0x30, group = 0x1, released = 0x0, target = 0x12345678, function = 0x0, values = "
        "{0xb, 0x16, 0x21, 0x2c, 0x0");
    expect_words(seen, "= 42");
    /* Local memory of the group that faulted. */
    expect_words(seen, "{0x1000, 0x1001, 0x1002, 0x1003, 0x1004, 0x1005,");
    expect_words(seen, "= 0x12345678");
    expect_words(seen, "= {1, 0, 0}");
    /* All work-items: those of the group wait at the barrier. */
    (void)snprintf(text, sizeof(text), "  %u ", GROUPS * ITEMS);
    expect_words(strstr(seen, "[threads]"), text);
    (void)snprintf(text, sizeof(text), "\n  %u ", GROUPS * ITEMS + 1);
    assert_null(strstr(strstr(seen, "[threads]"), text));
    expect_words(strstr(seen, "[other]"), "faulty.c:");
    /* It is of group 0, whose local memory is elsewhere. */
    expect_words(strstr(seen, "[other]"), "{0x0, 0x1, 0x2, 0x3, 0x4, 0x5, 0x6,");
    assert_null(strstr(seen, "warning"));
    free(seen);
    free(command);
}

struct entry {
    int32_t key;
    float weight;
};

/* Lets the kernel in OpenCL C fault, in a module of this file, and gives what GDB shows. */
static char *fault_in_opencl(const char *path, uint32_t format, const char *flags)
{
    struct zeta_plugin_module_desc desc = {
        .struct_size = sizeof(desc), .format = format, .build_flags = host_string(flags)};
    struct entry *entries = host_allocate(&bench.host, ITEMS * 4 * sizeof(*entries));
    void *arguments[2] = {entries, bench.arguments};
    struct zeta_plugin_kernel *kernel;
    struct zeta_plugin_command command;
    char *shown, *opens;
    size_t size;

    for (int32_t i = 0; i < ITEMS * 4; i++)
        entries[i] = (struct entry){ITEMS * 4 - 1 - i, (float)i * 0.25f};
    desc.image = read_file(path, &size);
    desc.image_bytes = size;
    if (bench.host.compute->module_create(bench.host.self, bench.host.device, &desc, NULL,
                                          &bench.other) != ZETA_PLUGIN_SUCCESS)
        fail_msg("module_create: %s", host_error(&bench.host));
    free((void *)(uintptr_t)desc.image);
    kernel = kernel_create(&bench.host, bench.other, "histogram");
    command = kernel_launch(kernel, arguments, 100, ITEMS * 4);
    assert_int_equal(host_run(&bench.host, bench.queue, &command, 1), ZETA_PLUGIN_DEVICE_LOST);
    bench.host.compute->kernel_destroy(bench.host.self, kernel);
    opens = logged_command();
    shown = gdb(opens, "-ex bt -ex 'info locals' -ex up -ex 'p sums'");
    free(opens);
    expect_words(shown, "group (2, 0, 0), local id (7, 0, 0) of histogram");
    expect_words(shown, "histogram.cl:12");
    expect_words(shown, "return parts[id % 3] + sums[where]; /* the fault */");
    expect_words(shown, " histogram (");
    assert_null(strstr(shown, "warning"));
    return shown;
}

static void skip_without_compiler(void)
{
    skip_without_gdb();
    if (access(COMPILER, X_OK) != 0 || access(OPENCL_SPIRV, R_OK) != 0) {
        print_message("zeta-vgpu-cc or llvm-spirv-15 is missing\n");
        skip();
    }
}

static void core__opencl_without_optimisation__shows_all_variables(void **state)
{
    char line[512], *shown;

    (void)state;
    skip_without_compiler();
    bench_open("64");
    (void)snprintf(line, sizeof(line), "%s -g -o %s/kernel.elf %s", COMPILER, bench.folder,
                   OPENCL_SOURCE);
    assert_int_equal(system(line), 0);
    (void)snprintf(line, sizeof(line), "%s/kernel.elf", bench.folder);
    shown = fault_in_opencl(line, ZETA_PLUGIN_MODULE_NATIVE, "");
    expect_words(shown, "parts = {1, 2, 1.75}");
    expect_words(shown, "where = 268435456");
    expect_words(shown, "= {0, 2, 4, 6, 8, 10, 12,");
    free(shown);
}

static void core__opencl_optimised_through_spirv__shows_frames_and_local_memory(void **state)
{
    char *shown;

    (void)state;
    skip_without_compiler();
    bench_open("64");
    shown = fault_in_opencl(OPENCL_SPIRV, ZETA_PLUGIN_MODULE_IL_SPIRV, "-g -ze-opt-level=2");
    expect_words(shown, "= {0, 2, 4, 6, 8, 10, 12,");
    free(shown);
}

static void core__each_fault__has_its_signal(void **state)
{
    static const struct {
        const char *kernel, *words;
    } faults[] = {{"illegal", "SIGILL"}, {"give_up", "SIGABRT"}, {"faulty", "SIGSEGV"}};
    char open[160], *seen;

    (void)state;
    skip_without_gdb();
    bench_open("64");
    for (unsigned i = 0; i < 3; i++) {
        (void)snprintf(open, sizeof(open), "%s", "gdb-multiarch --core=");
        path_of(i, open + strlen(open), sizeof(open) - strlen(open));
        fault(faults[i].kernel, 1);
        seen = gdb(open, "-ex bt");
        expect_words(seen, faults[i].words);
        expect_words(seen, faults[i].kernel);
        expect_words(seen, "faulty.c:");
        free(seen);
    }
}

/* Its file is in the core; two more commands of GDB make names of it. */
static void core__fault_in_another_module__logged_commands_show_it(void **state)
{
    char *command, *commands, *seen;
    const char *append;
    void *address;

    (void)state;
    skip_without_gdb();
    bench_open("64");
    bench.other = kernel_file_load(&bench.host);
    assert_int_equal(bench.host.compute->module_function(bench.host.self, bench.other,
                                                         host_string("store"), &address),
                     ZETA_PLUGIN_SUCCESS);
    bench.function = (uintptr_t)address;
    fault("elsewhere", 1);
    append = strstr(host_log(&bench.host), "append: ");
    assert_non_null(append);
    append += strlen("append: ");
    assert_cmp(asprintf(&commands, "%.*s -ex 'echo [bt]\n' -ex bt -ex 'info locals'",
                        (int)strcspn(append, "\n"), append),
               >, 0);
    command = logged_command();
    seen = gdb(command, commands);
    expect_words(strstr(seen, "[bt]"), "#0  0x");
    expect_words(strstr(seen, "[bt]"), " in store (arguments=0x");
    expect_words(strstr(seen, "[bt]"), " in elsewhere (arguments=0x");
    expect_words(strstr(seen, "[bt]"), "squares = {100, 101, 104, 109}");
    free(seen);
    free(commands);
    free(command);
}

/* ---- what is in the file -------------------------------------------------------------------- */

static void core__written__is_private_and_whole(void **state)
{
    struct stat status;
    char path[160];

    (void)state;
    bench_open("64");
    const mode_t mask = umask(0);

    watched_folder = bench.folder;
    fault("faulty", GROUPS);
    watched_folder = NULL;
    (void)umask(mask);
    /* While it was written it had no name that it has now. */
    assert_cmp(writes, >, 10);
    assert_int_equal(visible, 0);
    path_of(0, path, sizeof(path));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(status.st_nlink, 1);
    /* Nothing of another name is left. */
    assert_int_equal(count_files(bench.folder, "", false), 1);
    assert_null(strstr(host_log(&bench.host), "lacks"));
}

static void core__notes__name_threads_groups_and_modules(void **state)
{
    struct zeta_vgpu_core_thread threads[GROUPS * ITEMS];
    struct zeta_vgpu_core_module module;
    const void *note;
    unsigned char *core;
    bool seen[GROUPS][ITEMS] = {{false}};
    size_t size, bytes;
    char path[160];

    (void)state;
    bench_open("64");
    fault("faulty", GROUPS);
    path_of(0, path, sizeof(path));
    core = read_file(path, &size);
    expect_words(find_note(core, "ZETA", ZETA_VGPU_NOTE_FAULT, &bytes), "write");
    note = find_note(core, "ZETA", ZETA_VGPU_NOTE_THREADS, &bytes);
    assert_int_equal(bytes, sizeof(threads));
    memcpy(threads, note, sizeof(threads));
    assert_int_equal(threads[0].ids[0], FAULTING_GROUP);
    assert_int_equal(threads[0].ids[3], FAULTING_ITEM);
    for (unsigned i = 0; i < GROUPS * ITEMS; i++) {
        const uint64_t group = threads[i].ids[0], item = threads[i].ids[3];
        const void *local;
        uint32_t table[ITEMS];

        assert_cmp(group, <, GROUPS);
        assert_cmp(item, <, ITEMS);
        assert_false(seen[group][item]);
        seen[group][item] = true;
        assert_int_equal(threads[i].number, threads[i].ids[6] + 2);
        /* One of the group has not come to the barrier. */
        assert_int_equal(threads[i].ids[8], group == FAULTING_GROUP && item != FAULTING_ITEM);
        assert_int_equal(threads[i].ids[9], 1);
        assert_cmp(threads[i].local_bytes, >=, 64);
        /* Each group's local memory is there. */
        local = find_memory(core, threads[i].local_address, sizeof(table));
        assert_non_null(local);
        memcpy(table, local, sizeof(table));
        assert_int_equal(table[item], group * 0x1000 + item);
    }
    assert_memory_equal(find_memory(core, ZETA_VGPU_CORE_THREADS_ADDRESS, sizeof(threads)), threads,
                        sizeof(threads));
    note = find_note(core, "ZETA", ZETA_VGPU_NOTE_MODULES, &bytes);
    assert_int_equal(bytes, sizeof(module));
    memcpy(&module, note, sizeof(module));
    assert_memory_equal(find_memory(core, module.file_begin, 4), ELFMAG, 4);
    assert_non_null(find_memory(core, module.text_begin, module.text_end - module.text_begin));
    /* Of the buffer what was touched, and not what never was. */
    assert_non_null(find_memory(core, (uintptr_t)bench.arguments, sizeof(*bench.arguments)));
    assert_null(find_memory(core, (uintptr_t)bench.arguments + BUFFER_BYTES / 2, 1));
    assert_cmp(size, <, BUFFER_BYTES / 2);
    free(core);
}

static void core__more_memory_than_room__keeps_what_matters_and_tells(void **state)
{
    struct stat status;
    unsigned char *core, *big;
    size_t size;
    char path[160];

    (void)state;
    bench_open("1");
    big = host_allocate(&bench.host, BUFFER_BYTES);
    memset(big, 1, BUFFER_BYTES);
    fault("faulty", GROUPS);
    path_of(0, path, sizeof(path));
    assert_int_equal(stat(path, &status), 0);
    assert_cmp(status.st_size, <=, 1 << 20);
    expect_words(host_log(&bench.host), "lacks ");
    expect_words(host_log(&bench.host), "core_size_mib is 1");
    core = read_file(path, &size);
    assert_non_null(find_memory(core, (uintptr_t)bench.arguments, sizeof(*bench.arguments)));
    assert_null(find_memory(core, (uintptr_t)big, BUFFER_BYTES));
    free(core);
}

/* Memory of the application, which forbids to read some although the device has it. */
static void core__adopted_memory_cannot_be_read__rest_is_there(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory, path[160];
    unsigned char *core;
    size_t size;

    (void)state;
    bench_open("64");
    memory = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    memset(memory, 'x', 3 * page);
    assert_int_equal(bench.host.compute->memory_adopt(bench.host.self, memory, 3 * page,
                                                      ZETA_PLUGIN_ACCESS_READ_WRITE),
                     ZETA_PLUGIN_SUCCESS);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    fault("faulty", GROUPS);
    path_of(0, path, sizeof(path));
    core = read_file(path, &size);
    assert_memory_equal(find_memory(core, (uintptr_t)memory, 4), "xxxx", 4);
    assert_memory_equal(find_memory(core, (uintptr_t)memory + page, 4), "\0\0\0\0", 4);
    assert_memory_equal(find_memory(core, (uintptr_t)memory + 2 * page, 4), "xxxx", 4);
    expect_words(host_log(&bench.host), "it lacks 4 KiB");
    free(core);
    assert_int_equal(bench.host.compute->memory_free(bench.host.self, memory), 0);
    assert_int_equal(munmap(memory, 3 * page), 0);
}

/* ---- how many, and where not ---------------------------------------------------------------- */

static void core__many_faults__one_each_up_to_a_limit(void **state)
{

    (void)state;
    bench_open("1");
    for (unsigned i = 0; i < 18; i++)
        fault("illegal", 1);
    assert_int_equal(count_files(bench.folder, "", false), 16);
    expect_words(host_log(&bench.host), "this process left 16 already");
    expect_works();
}

/* Takes memory and modules, and gives them back, until the test has what it wants. */
static void *come_and_go(void *argument)
{
    const atomic_bool *enough = argument;

    while (!atomic_load(enough)) {
        struct zeta_plugin_module *module = kernel_file_load(&bench.host);
        uint32_t *memory = host_allocate(&bench.host, 1 << 16);

        memory[100] = 1;
        bench.host.compute->module_destroy(bench.host.self, module);
        assert_int_equal(bench.host.compute->memory_free(bench.host.self, memory), 0);
    }
    return NULL;
}

static void core__memory_and_modules_come_and_go__each_is_whole(void **state)
{
    enum { DUMPS = 8 };
    atomic_bool enough = false;
    pthread_t thread;
    char path[160];

    (void)state;
    bench_open("64");
    assert_int_equal(pthread_create(&thread, NULL, come_and_go, &enough), 0);
    for (unsigned i = 0; i < DUMPS; i++)
        fault("faulty", GROUPS);
    atomic_store(&enough, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (unsigned i = 0; i < DUMPS; i++) {
        unsigned char *core;
        size_t size, bytes;
        Elf64_Ehdr header;
        Elf64_Phdr last;

        path_of(i, path, sizeof(path));
        core = read_file(path, &size);
        memcpy(&header, core, sizeof(header));
        memcpy(&last, core + header.e_phoff + (header.e_phnum - 1u) * sizeof(last), sizeof(last));
        assert_int_equal(last.p_offset + last.p_filesz, size);
        (void)find_note(core, "ZETA", ZETA_VGPU_NOTE_THREADS, &bytes);
        assert_int_equal(bytes, GROUPS * ITEMS * sizeof(struct zeta_vgpu_core_thread));
        assert_non_null(find_memory(core, (uintptr_t)bench.arguments, sizeof(*bench.arguments)));
        free(core);
    }
    expect_works();
}

static void core__name_is_taken__gets_another(void **state)
{
    char path[160];
    int file;

    (void)state;
    bench_open("1");
    path_of(0, path, sizeof(path));
    file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_cmp(file, >=, 0);
    assert_int_equal(write(file, "mine", 4), 4);
    assert_int_equal(close(file), 0);
    fault("illegal", 1);
    path_of(1, path, sizeof(path));
    assert_int_equal(access(path, F_OK), 0);
}

/* Sets core_dir to what cannot be written to: the fault is what it was. */
static void expect_none(const char *folder, const char *words)
{
    bench.settings[0] = (struct host_setting){"core_dir", folder};
    make(bench.settings);
    fault("faulty", GROUPS);
    expect_words(host_log(&bench.host), "a queue of vgpu0 is lost");
    if (words)
        expect_words(host_log(&bench.host), words);
    else
        assert_null(strstr(host_log(&bench.host), "core"));
    expect_works();
    (void)bench_close(NULL);
}

static void core__no_folder__program_goes_on(void **state)
{
    (void)state;
    expect_none("off", NULL);
    expect_none("/nonexistent/folder", "No such file or directory");
    expect_none("/dev/null", "Not a directory");
    expect_none("/proc", "could be written to /proc (core_dir): ");
}

static void core__file_size_limit__no_signal_and_no_file(void **state)
{
    struct rlimit before, limit;

    (void)state;
    bench_open("64");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 4096;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    fault("faulty", GROUPS);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    expect_words(host_log(&bench.host), "ulimit -f");
    assert_int_equal(count_files(bench.folder, "", false), 0);
    expect_works();
}

static void core__disk_is_full__program_goes_on(void **state)
{

    (void)state;
    bench_open("64");
    watched_folder = bench.folder;
    disk_bytes = 100000;
    fault("faulty", GROUPS);
    watched_folder = NULL;
    disk_bytes = SIZE_MAX;
    expect_words(host_log(&bench.host), "No space left on device");
    assert_int_equal(count_files(bench.folder, "", false), 0);
    expect_works();
}

/* What the kernel says of a process that is setuid or has changed its ids. */
static void core__not_dumpable__leaves_none(void **state)
{
    (void)state;
    bench_open("64");
    assert_int_equal(prctl(PR_SET_DUMPABLE, 0), 0);
    fault("faulty", GROUPS);
    assert_int_equal(prctl(PR_SET_DUMPABLE, 1), 0);
    expect_words(host_log(&bench.host), "no core dump, as the program has more rights");
    assert_int_equal(count_files(bench.folder, "", false), 0);
    expect_works();
    fault("faulty", GROUPS);
    assert_int_equal(count_files(bench.folder, "zeta-core-", false), 1);
}

static void core__bad_settings__disable_the_plugin(void **state)
{
    static const struct host_setting bad[][2] = {{{"core_dir", "relative"}, {NULL, NULL}},
                                                 {{"core_dir", ""}, {NULL, NULL}},
                                                 {{"core_size_mib", "0"}, {NULL, NULL}},
                                                 {{"core_size_mib", "much"}, {NULL, NULL}}};
    struct host host;

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(host_try_open(&host, bad[i]), ZETA_PLUGIN_INVALID_ARGUMENT);
        expect_words(host_error(&host), bad[i][0].name);
        host_close(&host);
    }
}

SUITE(core_dump)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(core__logged_command__shows_threads_frames_and_memory,
                                  bench_close),
        cmocka_unit_test_teardown(core__opencl_without_optimisation__shows_all_variables,
                                  bench_close),
        cmocka_unit_test_teardown(
            core__opencl_optimised_through_spirv__shows_frames_and_local_memory, bench_close),
        cmocka_unit_test_teardown(core__each_fault__has_its_signal, bench_close),
        cmocka_unit_test_teardown(core__fault_in_another_module__logged_commands_show_it,
                                  bench_close),
        cmocka_unit_test_teardown(core__written__is_private_and_whole, bench_close),
        cmocka_unit_test_teardown(core__notes__name_threads_groups_and_modules, bench_close),
        cmocka_unit_test_teardown(core__more_memory_than_room__keeps_what_matters_and_tells,
                                  bench_close),
        cmocka_unit_test_teardown(core__adopted_memory_cannot_be_read__rest_is_there, bench_close),
        cmocka_unit_test_teardown(core__many_faults__one_each_up_to_a_limit, bench_close),
        cmocka_unit_test_teardown(core__memory_and_modules_come_and_go__each_is_whole, bench_close),
        cmocka_unit_test_teardown(core__name_is_taken__gets_another, bench_close),
        cmocka_unit_test_teardown(core__no_folder__program_goes_on, bench_close),
        cmocka_unit_test_teardown(core__file_size_limit__no_signal_and_no_file, bench_close),
        cmocka_unit_test_teardown(core__disk_is_full__program_goes_on, bench_close),
        cmocka_unit_test_teardown(core__not_dumpable__leaves_none, bench_close),
        cmocka_unit_test_teardown(core__bad_settings__disable_the_plugin, bench_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
