#include "rig.h"
#include "tests/support/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void keep_text(void *user, const char *text, size_t length)
{
    struct rig *rig = user;
    size_t room = sizeof(rig->text) - 1 - rig->text_bytes;

    if (length > room)
        length = room;
    memcpy(rig->text + rig->text_bytes, text, length);
    rig->text_bytes += length;
}

struct zeta_vgpu_engine_config rig_config(uint32_t workers)
{
    struct zeta_vgpu_engine_config config = {.workers = workers};

    zeta_vgpu_topology_default(&config.topology);
    return config;
}

void *rig_read_file(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    char *bytes;
    long size;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size = ftell(file);
    assert_cmp(size, >, 0);
    rewind(file);
    bytes = malloc((size_t)size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)size, file), (size_t)size);
    (void)fclose(file);
    *out_size = (size_t)size;
    return bytes;
}

void rig_open(struct rig *rig, const char *name, const struct zeta_vgpu_engine_config *config)
{
    const char *folder = getenv("RIG_KERNELS");
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/%s.elf", folder ? folder : KERNEL_DIR, name);
    rig_open_path(rig, path, config);
}

void rig_open_path(struct rig *rig, const char *path, const struct zeta_vgpu_engine_config *config)
{
    struct zeta_vgpu_engine_config own = *config;
    struct zeta_vgpu_message message = {""};
    void *file;
    size_t size;

    memset(rig, 0, sizeof(*rig));
    if (!own.callbacks.user) {
        own.callbacks.user = rig;
        own.callbacks.print = keep_text;
    }
    rig->space = zeta_vgpu_space_create();
    assert_non_null(rig->space);
    rig->memory =
        mmap(NULL, RIG_MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_cmp(rig->memory, !=, MAP_FAILED);
    assert_true(
        zeta_vgpu_space_add(rig->space, rig->memory, RIG_MEMORY_BYTES, ZETA_VGPU_ACCESS_WRITE));
    file = rig_read_file(path, &size);
    if (zeta_vgpu_image_create(rig->space, file, size, &message, &rig->image) != ZETA_VGPU_OK)
        fail_msg("%s: %s", path, message.text);
    free(file);
    if (zeta_vgpu_engine_create(&own, rig->space, &message, &rig->engine) != ZETA_VGPU_OK)
        fail_msg("%s", message.text);
}

void rig_close(struct rig *rig)
{
    zeta_vgpu_engine_destroy(rig->engine);
    zeta_vgpu_image_destroy(rig->image);
    assert_true(zeta_vgpu_space_remove(rig->space, rig->memory));
    zeta_vgpu_space_destroy(rig->space);
    (void)munmap(rig->memory, RIG_MEMORY_BYTES);
}

enum zeta_vgpu_result rig_launch(struct rig *rig, const char *kernel,
                                 struct zeta_vgpu_launch *launch)
{
    launch->image = rig->image;
    launch->kernel = zeta_vgpu_image_find_kernel(rig->image, kernel);
    assert_non_null(launch->kernel);
    return zeta_vgpu_engine_launch(rig->engine, launch, &rig->fault);
}

enum zeta_vgpu_result rig_run(struct rig *rig, const char *kernel, const void *arguments,
                              uint32_t groups, uint32_t group_size)
{
    struct zeta_vgpu_launch launch = {
        .arguments = arguments,
        .group_count = {groups, 1, 1},
        .group_size = {group_size, 1, 1},
    };

    return rig_launch(rig, kernel, &launch);
}

uint64_t rig_counter(const struct rig *rig, enum zeta_vgpu_counter counter)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < 4; i++) {
        uint64_t counters[ZETA_VGPU_COUNTER_COUNT];

        zeta_vgpu_engine_counters(rig->engine, i, counters);
        sum += counters[counter];
    }
    return sum;
}

int rig_missing(void)
{
    if (KERNELS_BUILT)
        return 0;
    print_message("skipped: no compiler for kernels (packages clang-15 lld-15, or "
                  "gcc-riscv64-linux-gnu)\n");
    return 77;
}
