#ifndef ZETA_PLUGINS_VGPU_INSTANCE_FILE_H
#define ZETA_PLUGINS_VGPU_INSTANCE_FILE_H

/*
 * How processes find the memory of an instance.
 *
 * The memory is a file without a name (shared_file.h). A small file with a name says which one, and
 * where it can be opened: at descriptors of processes that are attached. It is read and written,
 * never mapped, so whatever somebody does to it ends nobody.
 *
 * Locks of the small file (flock): shared while attached, exclusive while it is begun or removed.
 * So who gets the exclusive lock knows that nobody is attached, also after processes were killed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugins/vgpu/machine/message.h"

/**
 * The folder for such files, which nobody else can write to: XDG_RUNTIME_DIR, else one of this user
 * in /dev/shm, else, if that belongs to somebody else, one in the user's home.
 * @out_message  why there is none, and what to do
 */
bool zeta_vgpu_instance_folder(char *out_path, size_t path_bytes,
                               struct zeta_vgpu_message *out_message);

/** Removes files of instances that nobody uses any more; kept is our own name. */
void zeta_vgpu_instance_sweep(const char *folder, const char *kept);

/** With the exclusive lock: says which memory it is. 0, or an errno value. */
int zeta_vgpu_instance_file_begin(int file, int memory);

/**
 * With the shared lock: finds the memory that the file means, of a size. *io_memory is a descriptor
 * that may be the one, or -1; it is closed if it is not. False when nobody can be found who has it.
 */
bool zeta_vgpu_instance_file_find(int file, uint64_t size_bytes, int *io_memory);

/**
 * Says that this process has it, too, unless that is said. With the lock of the segment. Where 64
 * living processes are noted already, those have to do until some have ended, and it is called
 * again.
 */
void zeta_vgpu_instance_file_join(int file, int memory, uint64_t start_time);

/** Name of the memory, as links in /proc show it. */
#define ZETA_VGPU_INSTANCE_MEMORY "zeta-vgpu-instance"

#endif
