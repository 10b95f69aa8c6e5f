#include "instance_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <zeta/descriptor.h>
#include <zeta/thread.h>

#include "plugins/vgpu/device/vgpu.h"

static enum zeta_vgpu_result fail(struct zeta_vgpu_message *out_message, const char *path,
                                  const char *reason)
{
    return zeta_vgpu_fail(out_message, ZETA_VGPU_INVALID_ARGUMENT, "virtual GPU instance %.300s %s",
                          path, reason);
}

static enum zeta_vgpu_result fail_errno(struct zeta_vgpu_message *out_message, const char *path,
                                        const char *what, int error)
{
    return zeta_vgpu_fail(out_message, ZETA_VGPU_INVALID_ARGUMENT,
                          "virtual GPU instance %.300s %s: %s", path, what, strerror(error));
}

static struct zeta_vgpu_segment *map_segment(int descriptor)
{
    void *address = mmap(NULL, sizeof(struct zeta_vgpu_segment), PROT_READ | PROT_WRITE, MAP_SHARED,
                         descriptor, 0);

    return address == MAP_FAILED ? NULL : address;
}

int zeta_vgpu_instance_back(int descriptor, size_t begin, size_t size_bytes)
{
    sigset_t all, before;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = posix_fallocate(descriptor, (off_t)begin, (off_t)size_bytes);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/*
 * Makes memory of zeros. What every process uses is there now, because a page that the system has
 * no room for would kill the process that touches it; slots follow when they are taken.
 */
static int make_memory(int *out_memory, const struct zeta_vgpu_instance_desc *desc)
{
    const size_t used = offsetof(struct zeta_vgpu_segment, logs) +
                        desc->tiles * sizeof(((struct zeta_vgpu_segment *)NULL)->logs[0]);
    pthread_mutexattr_t attributes;
    struct zeta_vgpu_segment *segment;
    int error;

    *out_memory =
        zeta_vgpu_shared_file_create(ZETA_VGPU_INSTANCE_MEMORY, sizeof(struct zeta_vgpu_segment));
    if (*out_memory < 0)
        return errno;
    error = zeta_vgpu_instance_back(*out_memory, 0, used);
    if (error != 0)
        return error;
    segment = map_segment(*out_memory);
    if (!segment)
        return errno;
    segment->tiles = desc->tiles;
    segment->rows_per_tile = desc->rows_per_tile;
    /* What to add so that the time stamps of the clock wrap in wrap_soon_s seconds. */
    if (desc->wrap_soon_s != 0)
        segment->offset_ticks = (0 - (zeta_monotonic_ns() / ZETA_VGPU_TICK_NS +
                                      desc->wrap_soon_s * ZETA_VGPU_TIMER_HZ)) &
                                ZETA_VGPU_TIMESTAMP_MASK;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&segment->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    atomic_store(&segment->magic, ZETA_VGPU_LAYOUT_MAGIC);
    munmap(segment, sizeof(*segment));
    return 0;
}

static enum zeta_vgpu_result refuse_damaged(const struct zeta_vgpu_instance *instance,
                                            struct zeta_vgpu_message *out_message)
{
    return fail(out_message, instance->path,
                "was overwritten by another program; end the processes that use it, or set "
                "ZETA_VGPU_INSTANCE to another name");
}

bool zeta_vgpu_instance_damaged(const struct zeta_vgpu_instance *instance,
                                struct zeta_vgpu_message *out_message)
{
    const bool damaged = atomic_load(&instance->damaged);

    if (damaged)
        (void)refuse_damaged(instance, out_message);
    return damaged;
}

/*
 * One attempt: opens the file, gets the shared lock on it, and maps the memory. *out_again is set
 * when somebody removed or changed the file in between.
 */
static enum zeta_vgpu_result attach_once(struct zeta_vgpu_instance *instance,
                                         const struct zeta_vgpu_instance_desc *desc,
                                         bool *out_again, struct zeta_vgpu_message *out_message)
{
    const char *path = instance->path;
    struct zeta_vgpu_segment *segment;
    struct stat status;
    int error = 0;

    *out_again = true;
    instance->descriptor = zeta_descriptor_raise(
        open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (instance->descriptor < 0)
        return fail_errno(out_message, path,
                          "cannot be opened (XDG_RUNTIME_DIR can name another directory)", errno);
    if (!zeta_vgpu_instance_file_is_ours(instance->descriptor))
        return fail(out_message, path,
                    "is refused: it must be a plain file of this user with mode 0600; remove it");

    if (flock(instance->descriptor, LOCK_EX | LOCK_NB) == 0) {
        if (fstat(instance->descriptor, &status) != 0 || status.st_nlink == 0)
            return ZETA_VGPU_OK;
        error = make_memory(&instance->memory, desc);
        if (error == 0)
            error = zeta_vgpu_instance_file_begin(instance->descriptor, instance->memory);
        if (error != 0)
            return fail_errno(out_message, path, "cannot be made", error);
    }
    while (flock(instance->descriptor, LOCK_SH) != 0) {
        if (errno != EINTR)
            return fail_errno(out_message, path, "cannot be locked", errno);
    }
    /* A change of lock is not atomic: somebody may have removed or begun the file in between. */
    if (fstat(instance->descriptor, &status) != 0 || status.st_nlink == 0 ||
        !zeta_vgpu_instance_file_find(instance->descriptor, sizeof(*segment), &instance->memory))
        return ZETA_VGPU_OK;

    *out_again = false;
    segment = instance->segment = map_segment(instance->memory);
    if (!segment)
        return fail_errno(out_message, path, "cannot be mapped", errno);
    if (atomic_load(&segment->magic) != ZETA_VGPU_LAYOUT_MAGIC)
        return refuse_damaged(instance, out_message);
    if (segment->tiles != desc->tiles || segment->rows_per_tile != desc->rows_per_tile ||
        segment->offset_ticks > ZETA_VGPU_TIMESTAMP_MASK)
        return fail(out_message, path,
                    "is used by processes whose virtual device has another topology; set "
                    "ZETA_VGPU_INSTANCE to another name");
    instance->offset_ticks = segment->offset_ticks;
    return ZETA_VGPU_OK;
}

static void release(struct zeta_vgpu_instance *instance)
{
    if (instance->segment)
        munmap(instance->segment, sizeof(*instance->segment));
    instance->segment = NULL;
    if (instance->descriptor >= 0)
        close(instance->descriptor);
    instance->descriptor = -1;
    if (instance->memory >= 0)
        close(instance->memory);
    instance->memory = -1;
}

enum zeta_vgpu_result zeta_vgpu_instance_attach(const struct zeta_vgpu_instance_desc *desc,
                                                struct zeta_vgpu_message *out_message,
                                                struct zeta_vgpu_instance **out_instance)
{
    struct zeta_vgpu_instance *instance = calloc(1, sizeof(*instance));
    const struct timespec pause = {.tv_nsec = 1000000};
    enum zeta_vgpu_result result = ZETA_VGPU_INVALID_ARGUMENT;
    char directory[320];
    char name[160];
    bool again = true;

    if (!instance)
        return zeta_vgpu_fail(out_message, ZETA_VGPU_OUT_OF_MEMORY, "no memory");
    instance->descriptor = -1;
    instance->memory = -1;
    instance->tiles = desc->tiles;
    instance->rows_per_tile = desc->rows_per_tile;
    if (desc->directory)
        snprintf(directory, sizeof(directory), "%s", desc->directory);
    else if (!zeta_vgpu_instance_folder(directory, sizeof(directory), out_message))
        goto refuse;
    snprintf(name, sizeof(name), "zeta-vgpu-%u-%s-%u", (unsigned)geteuid(), desc->name,
             ZETA_VGPU_LAYOUT_VERSION);
    snprintf(instance->path, sizeof(instance->path), "%s/%s", directory, name);
    (void)zeta_vgpu_process_start(getpid(), &instance->start_time);
    zeta_vgpu_instance_sweep(directory, name);
    for (unsigned attempt = 0; again; attempt++) {
        if (attempt == 100) {
            result = fail(out_message, instance->path,
                          "is of memory that cannot be opened: it was overwritten, or a process "
                          "that uses it has more rights (setcap, setuid) or is in another "
                          "container; end that process, or set ZETA_VGPU_INSTANCE to another name");
            goto refuse;
        }
        release(instance);
        /* Whoever has the memory may just end, or just begin. */
        if (attempt > 10)
            nanosleep(&pause, NULL);
        result = attach_once(instance, desc, &again, out_message);
        if (result != ZETA_VGPU_OK)
            goto refuse;
    }
    zeta_vgpu_instance_reap(instance);
    if (!zeta_vgpu_instance_damaged(instance, out_message)) {
        *out_instance = instance;
        return ZETA_VGPU_OK;
    }
    result = ZETA_VGPU_INVALID_ARGUMENT;

refuse:
    zeta_vgpu_instance_abandon(instance);
    return result;
}

void zeta_vgpu_instance_detach(struct zeta_vgpu_instance *instance)
{
    uint32_t slot;

    if (!instance)
        return;
    slot = atomic_load(&instance->slot);
    if (zeta_vgpu_instance_lock(instance)) {
        if (slot != 0)
            zeta_vgpu_instance_fold_locked(instance, slot - 1);
        zeta_vgpu_instance_unlock(instance);
    }

    munmap(instance->segment, sizeof(*instance->segment));
    instance->segment = NULL;
    if (flock(instance->descriptor, LOCK_EX | LOCK_NB) == 0)
        (void)unlink(instance->path);
    zeta_vgpu_instance_abandon(instance);
}

void zeta_vgpu_instance_abandon(struct zeta_vgpu_instance *instance)
{
    if (!instance)
        return;
    release(instance);
    free(instance);
}

uint64_t zeta_vgpu_instance_offset(const struct zeta_vgpu_instance *instance)
{
    return instance->offset_ticks;
}

uint64_t zeta_vgpu_instance_new_number(struct zeta_vgpu_instance *instance)
{
    uint64_t number = 0;

    if (!zeta_vgpu_instance_lock(instance))
        return 0;
    /* Whatever somebody wrote there: no number is 0. */
    while (number == 0)
        number = atomic_fetch_add(&instance->segment->numbers, 1) + 1;
    zeta_vgpu_instance_unlock(instance);
    return number;
}

uint32_t zeta_vgpu_instance_get(struct zeta_vgpu *vgpu, struct zeta_vgpu_instance **out_instance)
{
    const struct zeta_vgpu_description *d = &vgpu->description;
    struct zeta_vgpu_instance *instance = atomic_load(&vgpu->instance);
    enum zeta_vgpu_result result = ZETA_VGPU_OK;
    struct zeta_vgpu_message message;

    if (!instance) {
        const struct zeta_vgpu_instance_desc desc = {
            .name = d->instance,
            .tiles = d->tiles,
            .rows_per_tile = zeta_vgpu_topology_subslices(&d->topology) + 1,
            .wrap_soon_s = d->faults.wrap_soon,
        };

        pthread_mutex_lock(&vgpu->instance_lock);
        instance = atomic_load(&vgpu->instance);
        if (!instance)
            result = zeta_vgpu_instance_attach(&desc, &message, &instance);
        if (result == ZETA_VGPU_OK)
            atomic_store(&vgpu->instance, instance);
        pthread_mutex_unlock(&vgpu->instance_lock);
    }
    if (result == ZETA_VGPU_OK && zeta_vgpu_instance_damaged(instance, &message))
        result = ZETA_VGPU_INVALID_ARGUMENT;
    *out_instance = instance;
    if (result == ZETA_VGPU_OK)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(&vgpu->self->host,
                          result == ZETA_VGPU_OUT_OF_MEMORY ? ZETA_PLUGIN_OUT_OF_HOST_MEMORY
                                                            : ZETA_PLUGIN_NOT_AVAILABLE,
                          "%s", message.text);
}

void zeta_vgpu_report_damage(struct zeta_vgpu *vgpu)
{
    struct zeta_vgpu_message message;

    if (zeta_vgpu_instance_damaged(atomic_load(&vgpu->instance), &message) &&
        !atomic_exchange(&vgpu->damage_reported, true))
        zeta_host_log(&vgpu->self->host, ZETA_PLUGIN_LOG_ERROR, "%s", message.text);
}

uint64_t zeta_vgpu_ticks(const struct zeta_vgpu *vgpu, uint32_t tile)
{
    const struct zeta_vgpu_instance *instance = atomic_load(&vgpu->instance);

    if (vgpu->description.clock == ZETA_VGPU_CLOCK_VIRTUAL)
        return zeta_vgpu_ticks_for(&vgpu->description,
                                   atomic_load(&vgpu->work[tile].kernel_clocks) +
                                       atomic_load(&vgpu->work[tile].copy_clocks));
    return zeta_monotonic_ns() / ZETA_VGPU_TICK_NS +
           (instance ? zeta_vgpu_instance_offset(instance) : 0);
}
