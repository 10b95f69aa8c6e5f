/*
 * The rig of the tests on a real NVIDIA GPU, by libcuda alone: kernels are PTX that zeta-nv-cc made
 * of the SPIR-V of the tests. `clrt-cuda FOLDER SUITE [CASES]` runs a suite on the files of a
 * folder; 77 without libcuda or a device.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/kernel_print.h>

#include "tests/vgpu/rig.h"

enum {
    ATTACH_GLOBAL = 1,
    LOG_BYTES = 4096,
    MODULES = 64,
    MOST_ARGUMENTS = 32,
    PRINT_BYTES = 65536
};

/* Options of cuModuleLoadDataEx. */
enum { ERROR_LOG = 5, ERROR_LOG_BYTES = 6 };

/* What is used of libcuda, as its manual declares it. */
static struct {
    int (*cuInit)(unsigned);
    int (*cuDeviceGet)(int *, int);
    int (*cuDeviceGetName)(char *, int, int);
    int (*cuDevicePrimaryCtxRetain)(void **, int);
    int (*cuCtxSetCurrent)(void *);
    int (*cuCtxSynchronize)(void);
    int (*cuMemAllocManaged)(void **, size_t, unsigned);
    int (*cuModuleLoadDataEx)(void **, const void *, unsigned, int *, void **);
    int (*cuModuleGetFunction)(void **, void *, const char *);
    int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void *, void **, void **);
    int (*cuGetErrorString)(int, const char **);
} cuda;

static const char *folder;

/* A file of kernels; the driver compiles it once. */
struct module {
    char name[64];
    char *text;
    void *handle;
};

static struct module modules[MODULES];
static struct module *current;
static unsigned char *memory;
static struct zeta_print_buffer *print; /* and PRINT_BYTES behind it */

static void check(int error, const char *what)
{
    const char *text = "";

    if (error == 0)
        return;
    (void)cuda.cuGetErrorString(error, &text);
    fail_msg("%s: %d, %s", what, error, text);
}

static bool open_library(void)
{
    static const char *const names[] = {"cuInit",
                                        "cuDeviceGet",
                                        "cuDeviceGetName",
                                        "cuDevicePrimaryCtxRetain",
                                        "cuCtxSetCurrent",
                                        "cuCtxSynchronize",
                                        "cuMemAllocManaged",
                                        "cuModuleLoadDataEx",
                                        "cuModuleGetFunction",
                                        "cuLaunchKernel",
                                        "cuGetErrorString"};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void **slots = (void **)(void *)&cuda;
    char name[128] = "";
    void *context;
    int device;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        slots[i] = library ? dlsym(library, names[i]) : NULL;
        if (!slots[i])
            return false;
    }
    if (cuda.cuInit(0) != 0 || cuda.cuDeviceGet(&device, 0) != 0 ||
        cuda.cuDevicePrimaryCtxRetain(&context, device) != 0 ||
        cuda.cuCtxSetCurrent(context) != 0 ||
        cuda.cuMemAllocManaged((void **)&memory, RIG_MEMORY_BYTES, ATTACH_GLOBAL) != 0 ||
        cuda.cuMemAllocManaged((void **)&print, sizeof(*print) + PRINT_BYTES, ATTACH_GLOBAL) != 0)
        return false;
    (void)cuda.cuDeviceGetName(name, sizeof(name), device);
    (void)printf("%s\n", name);
    return true;
}

struct zeta_vgpu_engine_config rig_config(uint32_t workers)
{
    (void)workers;
    return (struct zeta_vgpu_engine_config){0};
}

void rig_open(struct rig *rig, const char *name, const struct zeta_vgpu_engine_config *config)
{
    char path[1024];
    char log[LOG_BYTES] = "";
    int options[] = {ERROR_LOG, ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof(log)};
    const char *text = "";
    size_t size;
    int error;

    (void)config;
    for (current = modules; current->name[0] != '\0' && strcmp(current->name, name) != 0; current++)
        continue;
    if (current->name[0] == '\0') {
        (void)snprintf(current->name, sizeof(current->name), "%s", name);
        (void)snprintf(path, sizeof(path), "%s/%s.ptx", folder, name);
        current->text = rig_read_file(path, &size);
        error = cuda.cuModuleLoadDataEx(&current->handle, current->text, 2, options, values);
        if (error != 0) {
            (void)cuda.cuGetErrorString(error, &text);
            fail_msg("%s: %d, %s: %s", path, error, text, log);
        }
    }
    memset(memory, 0, RIG_MEMORY_BYTES);
    *rig = (struct rig){.memory = memory};
}

void rig_close(struct rig *rig)
{
    *rig = (struct rig){0};
}

/* A letter for each parameter of a kernel, as the compiler tells them. */
static void read_letters(const char *kernel, char out_letters[MOST_ARGUMENTS])
{
    char line[256];
    const char *found;

    (void)snprintf(line, sizeof(line), "//zeta kernel %s arguments ", kernel);
    found = strstr(current->text, line);
    assert_non_null(found);
    assert_int_equal(sscanf(found + strlen(line), "%31[pvlob]", out_letters), 1);
}

/* Sizes of the parameters of an entry, in order. */
static void read_sizes(const char *kernel, size_t out_sizes[MOST_ARGUMENTS])
{
    char entry[256];
    const char *at;

    (void)snprintf(entry, sizeof(entry), ".entry %s(", kernel);
    at = strstr(current->text, entry);
    assert_non_null(at);
    for (size_t i = 0; i < MOST_ARGUMENTS && (at = strstr(at, ".param .")) != NULL; i++) {
        unsigned bits = 0;

        if (sscanf(at, ".param .%*c%u", &bits) == 1)
            out_sizes[i] = bits / 8;
        at++;
    }
}

static void add_text(void *user, const char *text, size_t size_bytes)
{
    struct rig *rig = user;

    assert_in_range(size_bytes, 0, sizeof(rig->text) - 1 - rig->text_bytes);
    memcpy(rig->text + rig->text_bytes, text, size_bytes);
    rig->text_bytes += size_bytes;
    rig->text[rig->text_bytes] = '\0';
}

enum zeta_vgpu_result rig_launch(struct rig *rig, const char *kernel,
                                 struct zeta_vgpu_launch *launch)
{
    const uint32_t *groups = launch->group_count, *size = launch->group_size;
    uint32_t offsets[3] = {(uint32_t)launch->global_offset[0], (uint32_t)launch->global_offset[1],
                           (uint32_t)launch->global_offset[2]};
    uint64_t values[MOST_ARGUMENTS] = {0};
    void *pointers[MOST_ARGUMENTS];
    char letters[MOST_ARGUMENTS + 1] = "";
    size_t sizes[MOST_ARGUMENTS] = {0}, at = 0, hidden = 0;
    unsigned shared = 0;
    const char *text = "";
    size_t bad_byte = 0;
    void *function;
    int error;

    *print = (struct zeta_print_buffer){.room_bytes = PRINT_BYTES};
    rig->text_bytes = 0;
    read_letters(kernel, letters);
    read_sizes(kernel, sizes);
    for (size_t i = 0; letters[i] != '\0'; i++) {
        pointers[i] = &values[i];
        if (letters[i] == 'o') {
            pointers[i] = &offsets[hidden++];
            continue;
        }
        if (letters[i] == 'b') {
            values[i] = (uintptr_t)print;
            continue;
        }
        assert_in_range(sizes[i], 1, 8);
        at = (at + sizes[i] - 1) / sizes[i] * sizes[i];
        memcpy(&values[i], (const char *)launch->arguments + at, sizes[i]);
        at += sizes[i];
        if (letters[i] == 'l') {
            values[i] = shared;
            shared += (launch->local_bytes[i] + 127) / 128 * 128;
        }
    }
    check(cuda.cuModuleGetFunction(&function, current->handle, kernel), kernel);
    check(cuda.cuLaunchKernel(function, groups[0], groups[1], groups[2], size[0], size[1], size[2],
                              shared, NULL, pointers, NULL),
          kernel);
    error = cuda.cuCtxSynchronize();
    if (error == 0) {
        assert_in_range(print->used_bytes, 0, PRINT_BYTES);
        assert_true(
            zeta_print_records(print + 1, (size_t)print->used_bytes, add_text, rig, &bad_byte));
        return ZETA_VGPU_OK;
    }
    (void)cuda.cuGetErrorString(error, &text);
    (void)snprintf(rig->fault.message.text, sizeof(rig->fault.message.text), "%s", text);
    return ZETA_VGPU_FAULT;
}

enum zeta_vgpu_result rig_run(struct rig *rig, const char *kernel, const void *arguments,
                              uint32_t groups, uint32_t group_size)
{
    struct zeta_vgpu_launch launch = {
        .arguments = arguments, .group_count = {groups, 1, 1}, .group_size = {group_size, 1, 1}};

    return rig_launch(rig, kernel, &launch);
}

void *rig_read_file(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    size_t size = 0, room = 0;

    assert_non_null(file);
    do {
        room += 1 << 20;
        bytes = realloc(bytes, room);
        assert_non_null(bytes);
        size += fread(bytes + size, 1, room - size - 1, file);
    } while (size == room - 1);
    (void)fclose(file);
    bytes[size] = '\0';
    *out_size = size;
    return bytes;
}

int rig_missing(void)
{
    return 0;
}

#define SUITES(X)                                                                                  \
    X(atomic)                                                                                      \
    X(bits)                                                                                        \
    X(common)                                                                                      \
    X(contention)                                                                                  \
    X(convert)                                                                                     \
    X(flow)                                                                                        \
    X(group)                                                                                       \
    X(integer)                                                                                     \
    X(lanes)                                                                                       \
    X(language)                                                                                    \
    X(math)                                                                                        \
    X(memory)                                                                                      \
    X(relational)                                                                                  \
    X(warp)

#define DECLARE(suite) int suite_##suite(int argc, char **argv);
SUITES(DECLARE)

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} suites[] = {
#define ENTRY(suite) {#suite, suite_##suite},
    SUITES(ENTRY)};

int main(int argc, char **argv)
{
    if (argc < 3) {
        (void)fputs("usage: clrt-cuda FOLDER SUITE [CASES]\n", stderr);
        return 2;
    }
    folder = argv[1];
    if (!open_library()) {
        (void)puts("skipped: no libcuda.so.1, or no device that computes");
        return 77;
    }
    for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
        if (strcmp(suites[i].name, argv[2]) == 0)
            return suites[i].run(argc - 2, argv + 2);
    }
    (void)fprintf(stderr, "clrt-cuda: no suite %s\n", argv[2]);
    return 2;
}
