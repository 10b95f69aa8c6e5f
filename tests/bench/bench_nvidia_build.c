/*
 * bench_nvidia_build [BUILD]
 *
 * Time from a SPIR-V module to one that kernels can be taken of, through the plugin for NVIDIA:
 * cold and from the cache, beside its parts: zeta-nv-cc, and the driver's compiler on the PTX that
 * comes out. The driver's own cache is off.
 *
 * With ZETA_TEST_NVIDIA=device on the GPU. The fake CUDA compiles nothing, and takes only modules
 * whose kernels it knows: there the rest is compared.
 */
#include <ftw.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/bench/bench.h"
#include "tests/bench/bench_cuda.h"
#include "tests/bench/bench_ze.h"

#define ROUNDS 9u

extern char **environ;

/* Files of a benchmark: its cache, and PTX beside it. */
struct work {
    char folder[64];
    char cache[80];
    char ptx[80];
};

static struct work make_work(void)
{
    struct work work = {.folder = "/tmp/zeta-bench-build-XXXXXX"};

    if (!mkdtemp(work.folder))
        exit(1);
    (void)snprintf(work.cache, sizeof(work.cache), "%s/cache", work.folder);
    (void)snprintf(work.ptx, sizeof(work.ptx), "%s/module.ptx", work.folder);
    (void)setenv("ZETA_PLUGIN_NVIDIA_CACHE_DIR", work.cache, 1);
    (void)setenv("CUDA_CACHE_DISABLE", "1", 1);
    return work;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_all(const char *folder)
{
    (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static char *read_file(const char *path, size_t *out_size)
{
    const size_t room = 1 << 22;
    char *bytes = malloc(room);
    FILE *file = fopen(path, "rb");

    if (!bytes || !file) {
        (void)fprintf(stderr, "%s: %s cannot be read\n", program_invocation_short_name, path);
        exit(1);
    }
    *out_size = fread(bytes, 1, room - 1, file);
    (void)fclose(file);
    bytes[*out_size] = '\0';
    return bytes;
}

static double compile_ms(const char *build, char *module, char *ptx)
{
    static char processor[] = "--gpu", newest[] = "sm_90", output[] = "-o";
    char compiler[PATH_MAX];
    char *const words[] = {compiler, module, processor, newest, output, ptx, NULL};
    const double begin = bench_seconds(CLOCK_MONOTONIC);
    pid_t child;
    int status;

    (void)snprintf(compiler, sizeof(compiler), "%s/libexec/zeta/zeta-nv-cc", build);
    if (posix_spawn(&child, compiler, NULL, NULL, words, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
        (void)fprintf(stderr, "%s: zeta-nv-cc failed\n", program_invocation_short_name);
        exit(1);
    }
    return (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e3;
}

static double load_ms(const struct bench_cuda *raw, const char *ptx)
{
    void *module = NULL;
    const double begin = bench_seconds(CLOCK_MONOTONIC);

    bench_cuda_must(raw->load(&module, ptx), "cuModuleLoadData");
    bench_cuda_must(raw->unload(module), "cuModuleUnload");
    return (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e3;
}

struct ours {
    ze_context_handle_t context;
    ze_device_handle_t device;
};

static struct ours open_ours(void)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_driver_handle_t driver = NULL;
    struct ours ours = {0};
    uint32_t count = 1;

    BENCH_CHECK(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    BENCH_CHECK(zeDriverGet(&count, &driver));
    count = 1;
    BENCH_CHECK(zeDeviceGet(driver, &count, &ours.device));
    BENCH_CHECK(zeContextCreate(driver, &desc, &ours.context));
    return ours;
}

static double create_ms(const struct ours *ours, const char *bytes, size_t size)
{
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                   .inputSize = size,
                                   .pInputModule = (const uint8_t *)bytes};
    ze_module_handle_t module = NULL;
    const double begin = bench_seconds(CLOCK_MONOTONIC);

    BENCH_CHECK(zeModuleCreate(ours->context, ours->device, &desc, &module, NULL));
    BENCH_CHECK(zeModuleDestroy(module));
    return (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e3;
}

static void print(const char *what, const struct bench_rounds *rounds)
{
    (void)printf("  %-44s %8.2f ms (median %.2f)\n", what, bench_least(rounds),
                 bench_median(rounds));
}

static void measure(const struct bench_cuda *raw, const struct ours *ours, struct work *work,
                    const char *build, const char *name)
{
    char path[PATH_MAX];
    struct bench_rounds compiled = {0}, loaded = {0}, cold = {0}, cached = {0};
    size_t size = 0, ptx_size = 0;
    char *bytes = NULL, *ptx = NULL;

    (void)snprintf(path, sizeof(path), "%s/%s", build, name);
    bytes = read_file(path, &size);
    for (unsigned round = 0; round < ROUNDS; round++) {
        bench_add(&compiled, compile_ms(build, path, work->ptx));
        ptx = read_file(work->ptx, &ptx_size);
        bench_add(&loaded, load_ms(raw, ptx));
        free(ptx);
        remove_all(work->cache);
        bench_add(&cold, create_ms(ours, bytes, size));
        bench_add(&cached, create_ms(ours, bytes, size));
    }
    (void)printf("%s: %zu bytes, %zu bytes of PTX\n", strrchr(path, '/') + 1, size, ptx_size);
    print("peer: zeta-nv-cc", &compiled);
    print("peer: cuModuleLoadData of its PTX", &loaded);
    print("zeModuleCreate, cold", &cold);
    print("zeModuleCreate, from the cache", &cached);
    (void)fflush(stdout);
    free(bytes);
}

int main(int argc, char **argv)
{
    static const char *const modules[2][2] = {
        {"tests/kernels/cc/small.spv", "tests/kernels/cc/memory.spv"},
        {"share/zeta/kernels/vector_add.spv", "tests/nvidia/kernels/nvidia-api.spv"}};
    const char *build = argc > 1 ? argv[1] : ZETA_BUILD_DIR;
    struct cuda_machine *machine = bench_cuda_machine();
    struct work work = make_work();

    bench_begin(machine ? "building modules in SPIR-V on the fake CUDA"
                        : "building modules in SPIR-V on NVIDIA's driver",
                NULL);
    const struct bench_cuda raw = bench_cuda_open(machine);
    const struct ours ours = open_ours();

    for (size_t i = 0; i < 2; i++)
        measure(&raw, &ours, &work, build, modules[machine ? 1 : 0][i]);
    remove_all(work.folder);
    if (machine)
        cuda_stop(machine);
    return 0;
}
