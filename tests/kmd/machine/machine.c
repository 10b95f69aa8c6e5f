/* Machines: made, found by other processes, and ended. */

#include "tests/kmd/machine/machine.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/kmd/interpose/real.h"
#include "tests/kmd/machine/folder.h"
#include "tests/kmd/machine/tree.h"

enum { MAGIC = 0x6b6d647a, VERSION = 1 };

/* The newest of i915 that is described. */
enum { PERF_REVISION = 7 };

struct kmd_machine {
    struct kmd_shared *shared;
    char folder[PATH_MAX - 512];
};

/* Of this process. The folder is written before the pointer is. */
static _Atomic(struct kmd_shared *) current;
static char current_root[PATH_MAX - 512];

struct kmd_shared *kmd_shared(void)
{
    return atomic_load_explicit(&current, memory_order_acquire);
}

const char *kmd_root(void)
{
    return current_root;
}

const struct kmd_platform *kmd_gpu_platform(const struct kmd_gpu *gpu)
{
    return &kmd_platform_table[gpu->platform];
}

const struct kmd_driver *kmd_gpu_driver(const struct kmd_gpu *gpu)
{
    return gpu->is_xe ? &kmd_xe : &kmd_i915;
}

void kmd_lock(struct kmd_gpu *gpu)
{
    /* What a dead process left is as good as any state: each call checks what it needs. */
    if (pthread_mutex_lock(&gpu->lock) == EOWNERDEAD)
        (void)pthread_mutex_consistent(&gpu->lock);
}

void kmd_unlock(struct kmd_gpu *gpu)
{
    (void)pthread_mutex_unlock(&gpu->lock);
}

static struct kmd_shared *map_file(const char *root, bool create)
{
    const struct kmd_real *real = kmd_real();
    char path[PATH_MAX];
    struct kmd_shared *shared = MAP_FAILED;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/machine", root);
    fd =
        real->open(path, create ? O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC : O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    if (!create || ftruncate(fd, sizeof(*shared)) == 0)
        shared = real->mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    return shared == MAP_FAILED ? NULL : shared;
}

/* Asked by the copy of this code that a program has, before the preloaded one in symbol order. */
__attribute__((visibility("default"))) bool kmd_is_attached(void);

bool kmd_is_attached(void)
{
    return kmd_shared();
}

/* Whether a preloaded copy answers already: the two would wait for each other's locks. */
static bool is_behind_us(void)
{
    void *symbol = dlsym(RTLD_NEXT, "kmd_is_attached");
    bool (*is_attached)(void);

    memcpy(&is_attached, &symbol, sizeof(symbol));
    return symbol && is_attached();
}

/*
 * A process that was started on a machine finds it here, before its own code runs, and preloaded
 * libraries before the program.
 */
__attribute__((constructor)) static void attach(void)
{
    const char *root = getenv(KMD_VARIABLE);
    struct kmd_shared *shared;

    if (!root || !*root || strlen(root) >= sizeof(current_root) || is_behind_us())
        return;
    shared = map_file(root, false);
    if (!shared || shared->magic != MAGIC || shared->version != VERSION) {
        (void)fprintf(stderr, "kmd: %s=%s is no machine of this version\n", KMD_VARIABLE, root);
        return;
    }
    (void)strcpy(current_root, root);
    atomic_store_explicit(&current, shared, memory_order_release);
}

static void init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t kind;

    (void)pthread_mutexattr_init(&kind);
    (void)pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    (void)pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    (void)pthread_mutex_init(lock, &kind);
    (void)pthread_mutexattr_destroy(&kind);
}

#define OR(value, preset) ((value) ? (value) : (preset))

static bool init_gpu(struct kmd_gpu *gpu, uint32_t index, const struct kmd_device *device)
{
    const struct kmd_platform *platform =
        device->platform ? kmd_platform_find(device->platform) : NULL;
    const char *driver = device->driver;

    if (!platform) {
        (void)fprintf(stderr, "kmd: there is no platform \"%s\"; see kmd_platforms()\n",
                      device->platform ? device->platform : "(null)");
        return false;
    }
    driver = OR(driver, platform->driver);
    if (strcmp(driver, "i915") != 0 && strcmp(driver, "xe") != 0) {
        (void)fprintf(stderr, "kmd: there is no driver \"%s\", only i915 and xe\n", driver);
        return false;
    }
    init_lock(&gpu->lock);
    gpu->index = index;
    gpu->platform = (uint32_t)(platform - kmd_platform_table);
    gpu->is_xe = strcmp(driver, "xe") == 0;
    gpu->pci_id = OR(device->pci_id, platform->pci_id);
    gpu->revision = OR(device->revision, platform->revision);
    gpu->slices = OR(device->slices, platform->slices);
    gpu->subslices = OR(device->subslices, platform->subslices);
    gpu->eus = OR(device->eus, platform->eus);
    gpu->tiles = OR(device->tiles, platform->tiles);
    gpu->perf_revision = OR(device->perf_revision, PERF_REVISION);
    gpu->min_mhz = OR(device->min_mhz, platform->min_mhz);
    gpu->max_mhz = OR(device->max_mhz, platform->max_mhz);
    gpu->oa_hz = OR(device->oa_hz, platform->oa_hz);
    gpu->cs_hz = OR(device->cs_hz, platform->cs_hz);
    gpu->xe_capabilities = device->xe_capabilities;
    gpu->has_no_oa = device->has_no_oa;
    gpu->has_no_eu_stall = device->has_no_eu_stall;
    gpu->has_render_node_only = device->has_render_node_only;
    gpu->has_no_metrics_folder = device->has_no_metrics_folder;
    gpu->is_flat_out = device->is_flat_out;
    gpu->mux_first = device->mux_first;
    gpu->mux_last = device->mux_last;
    return true;
}

static bool init_shared(struct kmd_shared *shared, const struct kmd_config *config,
                        const char *folder)
{
    struct timespec now;
    struct stat status;

    if (config->device_count > KMD_DEVICES || kmd_real()->stat(folder, &status) != 0)
        return false;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    shared->start_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    shared->gpu_count = config->device_count;
    shared->is_privileged = config->is_privileged;
    shared->node_is_forbidden = config->node_is_forbidden;
    shared->is_manual = config->is_manual;
    shared->device = status.st_dev;
    for (uint32_t i = 0; i < config->device_count; i++) {
        struct kmd_gpu *gpu = &shared->gpus[i];

        if (!init_gpu(gpu, i, &config->devices[i]))
            return false;
        gpu->clock.first_ticks = config->first_ticks;
        kmd_gpu_driver(gpu)->start(gpu);
    }
    if (!kmd_tree_write(folder, shared, config->is_paranoid, OR(config->max_sample_rate, 100000)))
        return false;
    shared->version = VERSION;
    shared->magic = MAGIC;
    return true;
}

struct kmd_machine *kmd_start(const struct kmd_config *config)
{
    struct kmd_machine *machine;

    if (kmd_shared()) {
        (void)fprintf(stderr, "kmd: there is a machine already: %s\n", current_root);
        return NULL;
    }
    machine = calloc(1, sizeof(*machine));
    if (!machine)
        return NULL;
    kmd_folder_sweep();
    if (!kmd_folder_make(machine->folder, sizeof(machine->folder))) {
        free(machine);
        return NULL;
    }
    machine->shared = map_file(machine->folder, true);
    if (!machine->shared || !init_shared(machine->shared, config, machine->folder)) {
        (void)fprintf(stderr, "kmd: the machine in %s could not be made\n", machine->folder);
        kmd_folder_remove(machine->folder);
        free(machine);
        return NULL;
    }
    (void)strcpy(current_root, machine->folder);
    (void)setenv(KMD_VARIABLE, machine->folder, 1);
    atomic_store_explicit(&current, machine->shared, memory_order_release);
    return machine;
}

/* Timer threads leave them: a machine that comes next numbers its streams from 1 again. */
static void forget_streams(struct kmd_gpu *gpu)
{
    kmd_lock(gpu);
    for (uint32_t i = 0; i < gpu->unit_count; i++) {
        gpu->units[i].stream.is_open = gpu->units[i].stream.enabled = false;
        gpu->units[i].stream.serial = 0;
        atomic_store(&gpu->units[i].stream.inode, 0);
    }
    kmd_unlock(gpu);
}

/*
 * The mapping stays: threads of this process may be inside, and other processes have it too. To
 * them the devices are unplugged.
 */
void kmd_stop(struct kmd_machine *machine)
{
    if (!machine)
        return;
    for (uint32_t i = 0; i < machine->shared->gpu_count; i++) {
        kmd_fault(machine, i, KMD_FAULT_UNPLUG, 1);
        forget_streams(&machine->shared->gpus[i]);
    }
    (void)unsetenv(KMD_VARIABLE);
    atomic_store_explicit(&current, NULL, memory_order_release);
    kmd_folder_remove(machine->folder);
    free(machine);
}

const char *kmd_folder(const struct kmd_machine *machine)
{
    return machine->folder;
}

struct kmd_shared *kmd_machine_shared(const struct kmd_machine *machine)
{
    return machine->shared;
}

struct kmd_gpu *kmd_gpu_of_inode(uint64_t device, uint64_t inode, uint32_t *out_minor)
{
    struct kmd_shared *shared = kmd_shared();

    if (!shared || device != shared->device || inode == 0)
        return NULL;
    for (uint32_t i = 0; i < shared->gpu_count; i++) {
        struct kmd_gpu *gpu = &shared->gpus[i];

        if (inode == gpu->card_inode || inode == gpu->render_inode) {
            *out_minor = kmd_minor(gpu, inode == gpu->render_inode);
            return gpu;
        }
    }
    return NULL;
}

struct kmd_unit *kmd_unit_of_inode(uint64_t device, uint64_t inode, struct kmd_gpu **out_gpu)
{
    struct kmd_shared *shared = kmd_shared();

    if (!shared || device != shared->device)
        return NULL;
    for (uint32_t i = 0; i < shared->gpu_count; i++) {
        struct kmd_gpu *gpu = &shared->gpus[i];

        for (uint32_t k = 0; k < gpu->unit_count; k++) {
            struct kmd_stream *stream = &gpu->units[k].stream;

            if (atomic_load(&stream->inode) == inode) {
                *out_gpu = gpu;
                return &gpu->units[k];
            }
        }
    }
    return NULL;
}
