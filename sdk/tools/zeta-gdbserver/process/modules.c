#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/zeta.h>

#include "sdk/tools/zeta-gdbserver/process/process.h"

/* An image of more bytes is a mistake of the process. */
#define IMAGE_MAX_BYTES (UINT64_C(1) << 30)

/* Where this user's files are kept while it is logged in, else where short-lived ones are. */
static bool make_folder(struct zeta_gdb_process *process)
{
    const char *const places[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};

    for (size_t i = 0; !process->folder && i < sizeof(places) / sizeof(places[0]); i++) {
        if (!places[i] || !*places[i])
            continue;
        if (asprintf(&process->folder, "%s/zeta-gdbserver-XXXXXX", places[i]) < 0)
            process->folder = NULL;
        if (process->folder && !mkdtemp(process->folder)) {
            free(process->folder);
            process->folder = NULL;
        }
    }
    return process->folder != NULL;
}

static bool write_whole(int file, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(file, bytes, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

static void remove_file(struct zeta_gdb_module *module)
{
    if (module->file >= 0) {
        (void)close(module->file);
        (void)unlink(module->path);
    }
    free(module->path);
    module->path = NULL;
    module->file = -1;
}

/* Tells the person what a module's image could not be, and why. */
static void tell_unknown(const char *failed, const char *reason)
{
    (void)fprintf(stderr,
                  "zeta-gdbserver: GDB will not know the functions of a module, whose image could "
                  "not be %s: %s\n",
                  failed, reason);
}

/* Writes the image into a file of its own, which this user alone can read. */
static void write_image(struct zeta_gdb_process *process, struct zeta_gdb_module *module,
                        const uint8_t *image, size_t size)
{
    if (!make_folder(process)) {
        tell_unknown("written to a folder in /tmp (set TMPDIR to another one)", strerror(errno));
        return;
    }
    if (asprintf(&module->path, "%s/module-%" PRIu32 ".elf", process->folder,
                 process->module_count) < 0) {
        module->path = NULL;
        tell_unknown("written", strerror(ENOMEM));
        return;
    }
    module->file = open(module->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (module->file < 0 || !write_whole(module->file, image, size)) {
        tell_unknown("written", strerror(errno));
        remove_file(module);
    }
}

/* Reads the image and keeps it in a file. */
static void keep_image(struct zeta_gdb_process *process, struct zeta_gdb_module *module)
{
    const uint64_t begin = module->event.info.module.moduleBegin;
    const uint64_t size = module->event.info.module.moduleEnd - begin;
    /* The loader's validation layer does not know the space of images. */
    const zet_debug_memory_space_desc_t space = {.stype =
                                                     ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                                 .type = ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT,
                                                 .address = begin};
    const ze_device_thread_t all = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    uint8_t *image;

    if (size == 0) /* it has none */
        return;
    if (size > IMAGE_MAX_BYTES) {
        tell_unknown("read", "it has more than 1 GiB, says the program");
        return;
    }
    image = malloc(size);
    if (!image)
        tell_unknown("read", strerror(ENOMEM));
    else if (zetDebugReadMemory(process->session, all, &space, size, image) != ZE_RESULT_SUCCESS)
        tell_unknown("read", zetaGetLastError());
    else
        write_image(process, module, image, size);
    free(image);
}

void zeta_gdb_module_loaded(struct zeta_gdb_process *process, const zet_debug_event_t *event)
{
    struct zeta_gdb_module *const more =
        reallocarray(process->modules, process->module_count + 1, sizeof(process->modules[0]));
    struct zeta_gdb_module *module;

    if (!more) {
        tell_unknown("kept", strerror(ENOMEM));
        (void)zetDebugAcknowledgeEvent(process->session, event);
        return;
    }
    process->modules = more;
    module = &more[process->module_count];
    *module = (struct zeta_gdb_module){
        .load = event->info.module.load,
        .event = *event,
        .is_held = (event->flags & ZET_DEBUG_EVENT_FLAG_NEED_ACK) != 0,
        .is_loaded = true,
        .file = -1,
    };
    keep_image(process, module);
    process->module_count++;
    process->modules_changed = true;
}

void zeta_gdb_module_trim(struct zeta_gdb_module *module)
{
    if (!module->is_loaded && module->opens == 0)
        remove_file(module);
}

void zeta_gdb_module_unloaded(struct zeta_gdb_process *process, const zet_debug_event_t *event)
{
    for (uint32_t i = process->module_count; i-- > 0;) {
        struct zeta_gdb_module *const module = &process->modules[i];
        uint64_t end = UINT64_MAX;

        if (!module->is_loaded || module->load != event->info.module.load)
            continue;
        module->is_loaded = false;
        zeta_gdb_module_trim(module);
        process->modules_changed = true;
        /* Its code ends where the next module's begins, or before that; no other code that GDB
         * knows is there. The process does not wait (semantics 27.5): until the event is read a
         * break instruction may be written where the code was. */
        for (uint32_t k = 0; k < process->module_count; k++)
            if (process->modules[k].is_loaded && process->modules[k].load > module->load &&
                process->modules[k].load < end)
                end = process->modules[k].load;
        zeta_gdb_breakpoints_drop(process, module->load, end);
        return;
    }
}

void zeta_gdb_modules_release(struct zeta_gdb_process *process)
{
    for (uint32_t i = 0; i < process->module_count; i++) {
        if (process->modules[i].is_held)
            (void)zetDebugAcknowledgeEvent(process->session, &process->modules[i].event);
        process->modules[i].is_held = false;
    }
}

void zeta_gdb_modules_finish(struct zeta_gdb_process *process)
{
    for (uint32_t i = 0; i < process->module_count; i++)
        remove_file(&process->modules[i]);
    free(process->modules);
    if (process->folder)
        (void)rmdir(process->folder);
    free(process->folder);
    process->modules = NULL;
    process->folder = NULL;
    process->module_count = 0;
}
