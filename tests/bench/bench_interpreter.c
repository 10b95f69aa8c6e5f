/*
 * Instructions per second of processor time of the virtual GPU, one worker, all counters on,
 * beside qemu-riscv64 executing the same machine code; then the tiled matrix product.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "interpreter/work.h"
#include "plugins/vgpu/engine/engine.h"
#include "tests/bench/bench.h"

enum { MEMORY_BYTES = 4 << 20, ROUNDS = 7 };

/* What the peer printed. */
struct peer {
    bool there;
    double seconds[2];
    uint64_t results[2];
};

static struct peer run_peer(void)
{
    struct peer peer = {false, {0, 0}, {0, 0}};
    FILE *pipe = PEER_COMMAND[0] ? popen(PEER_COMMAND, "r") : NULL;

    if (!pipe)
        return peer;
    peer.there = fscanf(pipe, "%lf %" SCNx64 " %lf %" SCNx64, &peer.seconds[0], &peer.results[0],
                        &peer.seconds[1], &peer.results[1]) == 4;
    (void)pclose(pipe);
    return peer;
}

struct device {
    struct zeta_vgpu_space *space;
    struct zeta_vgpu_engine *engine;
    unsigned char *memory;
};

static struct zeta_vgpu_image *load(const struct device *device, const char *path)
{
    static char bytes[1 << 20];
    struct zeta_vgpu_message message = {"cannot be read"};
    struct zeta_vgpu_image *image = NULL;
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;

    if (file)
        (void)fclose(file);
    if (size == 0 ||
        zeta_vgpu_image_create(device->space, bytes, size, &message, &image) != ZETA_VGPU_OK)
        (void)fprintf(stderr, "%s: %s\n", path, message.text);
    return image;
}

static uint64_t retired(const struct device *device)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < 4; i++) {
        uint64_t counters[ZETA_VGPU_COUNTER_COUNT];

        zeta_vgpu_engine_counters(device->engine, i, counters);
        sum += counters[ZETA_VGPU_INST_RETIRED];
    }
    return sum;
}

/* What the peer's arrays hold before the loops. */
static void fill_integers(unsigned char *memory)
{
    memset(memory, 0, 1024 * sizeof(uint64_t));
}

static void fill_floats(unsigned char *memory)
{
    float *floats = (float *)memory;

    for (unsigned i = 0; i < 1024; i++)
        floats[i] = (float)i;
}

/*
 * Million instructions per second of some launches, and the instructions of one. Of processor time
 * of all threads: what else runs on the machine does not count.
 */
static bool measure(const struct device *device, const struct zeta_vgpu_launch *launch,
                    void (*fill)(unsigned char *memory), struct bench_rounds *rates,
                    uint64_t *out_instructions)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct zeta_vgpu_fault fault;
        const uint64_t before = retired(device);
        double start;

        fill(device->memory);
        start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (zeta_vgpu_engine_launch(device->engine, launch, &fault) != ZETA_VGPU_OK) {
            (void)fprintf(stderr, "%s\n", fault.message.text);
            return false;
        }
        start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
        *out_instructions = retired(device) - before;
        bench_add(rates, (double)*out_instructions / start * 1e-6);
    }
    return true;
}

static bool bench_loops(const struct device *device)
{
    static const char *const names[2] = {"integer", "floating"};
    struct zeta_vgpu_image *image = load(device, KERNEL_DIR "/bench-interpreter.elf");
    struct peer peer = run_peer();
    bool fine = image != NULL;

    for (unsigned i = 0; fine && i < 2; i++) {
        uint64_t *out = (uint64_t *)(device->memory + 65536);
        struct {
            void *memory;
            uint64_t rounds;
            void *out;
        } arguments = {device->memory, WORK_ROUNDS, out};
        struct zeta_vgpu_launch launch = {
            .image = image,
            .kernel = zeta_vgpu_image_find_kernel(image, names[i]),
            .arguments = &arguments,
            .group_count = {1, 1, 1},
            .group_size = {1, 1, 1},
        };
        uint64_t instructions = 0;
        struct bench_rounds rates = {0};

        fine =
            measure(device, &launch, i == 0 ? fill_integers : fill_floats, &rates, &instructions);
        if (peer.there && (i == 0 ? *out : *(uint32_t *)out) != peer.results[i]) {
            (void)fprintf(stderr, "%s loop: our result differs from the peer's\n", names[i]);
            fine = false;
        }
        (void)printf("  %-20s %4.0f (%4.0f)", names[i], bench_most(&rates), bench_median(&rates));
        if (peer.there)
            (void)printf("   qemu-riscv64, no counters %4.0f",
                         (double)instructions / peer.seconds[i] * 1e-6);
        (void)printf("\n");
    }
    zeta_vgpu_image_destroy(image);
    return fine;
}

static bool bench_matrix(const struct device *device)
{
    enum { SIZE = 256 };
    struct zeta_vgpu_image *image = load(device, MATMUL_FILE);
    struct {
        void *a, *b, *c;
        uint32_t n;
    } arguments = {device->memory, device->memory + (1 << 20), device->memory + (2 << 20), SIZE};
    struct zeta_vgpu_launch launch = {
        .image = image,
        .arguments = &arguments,
        .group_count = {SIZE / 16, SIZE / 16, 1},
        .group_size = {16, 16, 1},
    };
    struct bench_rounds rates = {0};
    uint64_t instructions = 0;
    bool fine;

    if (!image)
        return false;
    launch.kernel = zeta_vgpu_image_find_kernel(image, "matmul");
    fine = measure(device, &launch, fill_floats, &rates, &instructions);
    (void)printf("  matrix product %d   %4.0f (%4.0f)   %.0f million instructions\n", SIZE,
                 bench_most(&rates), bench_median(&rates), (double)instructions * 1e-6);
    zeta_vgpu_image_destroy(image);
    return fine;
}

int main(void)
{
    struct zeta_vgpu_engine_config config = {.workers = 1};
    struct zeta_vgpu_message message = {"out of memory"};
    struct device device;
    bool fine;

    if (!KERNELS_BUILT) {
        (void)printf("interpreter: skipped, no compiler for kernels\n");
        return 0;
    }
    bench_begin("interpreter: million instructions/s of one worker, best of 7 rounds (median)",
                ">= 600 with all exact counters on");
    zeta_vgpu_topology_default(&config.topology);
    device.space = zeta_vgpu_space_create();
    device.memory =
        mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!device.space || device.memory == MAP_FAILED ||
        !zeta_vgpu_space_add(device.space, device.memory, MEMORY_BYTES, ZETA_VGPU_ACCESS_WRITE) ||
        zeta_vgpu_engine_create(&config, device.space, &message, &device.engine) != ZETA_VGPU_OK) {
        (void)fprintf(stderr, "%s\n", message.text);
        return 1;
    }
    fine = bench_loops(&device) && bench_matrix(&device);
    zeta_vgpu_engine_destroy(device.engine);
    zeta_vgpu_space_destroy(device.space);
    return fine ? 0 : 1;
}
