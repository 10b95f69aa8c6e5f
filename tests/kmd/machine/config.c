/* Configurations of OA units: a table, their registers as files, their folders in sysfs. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kmd/interpose/real.h"
#include "tests/kmd/machine/machine.h"

static void registers_path(const struct kmd_gpu *gpu, uint64_t id, char *out_path, size_t bytes)
{
    (void)snprintf(out_path, bytes, "%s/registers/%u-%llu", kmd_root(), gpu->index,
                   (unsigned long long)id);
}

/* The folder of a configuration in sysfs, or a file in it. */
static void sysfs_path(const struct kmd_gpu *gpu, const char *uuid, const char *file,
                       char *out_path, size_t bytes)
{
    (void)snprintf(out_path, bytes, "%s/sys/devices/pci0000:00/%s/drm/card%u/metrics/%s%s",
                   kmd_root(), gpu->slot, gpu->index, uuid, file);
}

static bool write_file(const char *path, const void *data, size_t bytes)
{
    const int fd = kmd_real()->open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, (mode_t)0444);
    bool good;

    if (fd < 0)
        return false;
    good = write(fd, data, bytes) == (ssize_t)bytes;
    (void)close(fd);
    return good;
}

static size_t registers_bytes(const uint32_t counts[3])
{
    return ((size_t)counts[0] + counts[1] + counts[2]) * 2 * sizeof(uint32_t);
}

static bool write_files(const struct kmd_gpu *gpu, const struct kmd_oa_config *config,
                        const uint32_t *registers)
{
    char path[PATH_MAX + 512];
    char text[32];
    const int length = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)config->id);

    registers_path(gpu, config->id, path, sizeof(path));
    if (!write_file(path, registers, registers_bytes(config->counts)))
        return false;
    sysfs_path(gpu, config->uuid, "", path, sizeof(path));
    (void)mkdir(path, 0755);
    sysfs_path(gpu, config->uuid, "/id", path, sizeof(path));
    return write_file(path, text, (size_t)length);
}

int64_t kmd_config_add(struct kmd_gpu *gpu, const char *uuid, const uint32_t counts[3],
                       const uint32_t *registers, uint64_t first)
{
    struct kmd_oa_config *config = NULL;

    if (kmd_config_by_uuid(gpu, uuid))
        return -EADDRINUSE;
    for (uint32_t i = 0; i < KMD_CONFIGS && !config; i++) {
        if (gpu->configs[i].id == 0)
            config = &gpu->configs[i];
    }
    if (!config)
        return -ENOSPC;
    if (gpu->next_config < first)
        gpu->next_config = first;
    config->id = gpu->next_config++;
    (void)snprintf(config->uuid, sizeof(config->uuid), "%.36s", uuid);
    memcpy(config->counts, counts, sizeof(config->counts));
    if (!write_files(gpu, config, registers)) {
        (void)kmd_config_remove(gpu, config->id);
        return -ENOSPC;
    }
    kmd_count(gpu, KMD_STAT_CONFIGS_ADDED, 1);
    return (int64_t)config->id;
}

int kmd_config_remove(struct kmd_gpu *gpu, uint64_t id)
{
    struct kmd_oa_config *config = kmd_config_by_id(gpu, id);
    char path[PATH_MAX + 512];

    if (!config)
        return -ENOENT;
    sysfs_path(gpu, config->uuid, "/id", path, sizeof(path));
    (void)unlink(path);
    sysfs_path(gpu, config->uuid, "", path, sizeof(path));
    (void)rmdir(path);
    registers_path(gpu, id, path, sizeof(path));
    (void)unlink(path);
    memset(config, 0, sizeof(*config));
    kmd_count(gpu, KMD_STAT_CONFIGS_REMOVED, 1);
    return 0;
}

struct kmd_oa_config *kmd_config_by_id(struct kmd_gpu *gpu, uint64_t id)
{
    for (uint32_t i = 0; id != 0 && i < KMD_CONFIGS; i++) {
        if (gpu->configs[i].id == id)
            return &gpu->configs[i];
    }
    return NULL;
}

struct kmd_oa_config *kmd_config_by_uuid(struct kmd_gpu *gpu, const char *uuid)
{
    for (uint32_t i = 0; i < KMD_CONFIGS; i++) {
        if (gpu->configs[i].id != 0 && strncmp(gpu->configs[i].uuid, uuid, 36) == 0)
            return &gpu->configs[i];
    }
    return NULL;
}

int kmd_config_registers(const struct kmd_gpu *gpu, const struct kmd_oa_config *config,
                         uint32_t *registers)
{
    const size_t bytes = registers_bytes(config->counts);
    char path[PATH_MAX];
    ssize_t length;
    int fd;

    registers_path(gpu, config->id, path, sizeof(path));
    fd = kmd_real()->open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -ENOENT;
    length = kmd_real()->read(fd, registers, bytes);
    (void)close(fd);
    return length == (ssize_t)bytes ? 0 : -ENOENT;
}
