#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sdk/tools/zeta-gdbserver/server/server.h"

/* Numbers of errors in answers to vFile, as GDB has them. */
enum { FILE_ENOENT = 2, FILE_EBADF = 9, FILE_EINVAL = 22 };

uint32_t zeta_gdb_thread_tid(uint32_t thread)
{
    return thread == ZETA_GDB_CONTROL_THREAD ? 1 : thread + 2;
}

/* Documents ------------------------------------------------------------------------------------ */

static void write_threads(struct zeta_gdb_server *server, FILE *file)
{
    struct zeta_gdb_process *const process = server->process;

    if (server->is_non_stop) /* only then it is known which of them run */
        zeta_gdb_process_stop_all(process);
    (void)fputs("<?xml version=\"1.0\"?><threads><thread id=\"p1.1\" name=\"control\"/>", file);
    for (uint32_t i = 0; i < process->thread_count; i++) {
        const ze_device_thread_t name = zeta_gdb_thread_name(process, i);
        const uint64_t *id;

        if (!process->threads[i].is_stopped)
            continue;
        id = zeta_gdb_thread_ids(process, i);
        (void)fprintf(file, "<thread id=\"p1.%x\" name=\"%u.%u.%u.%u", zeta_gdb_thread_tid(i),
                      name.slice, name.subslice, name.eu, name.thread);
        if (id)
            (void)fprintf(file,
                          " group %" PRIu64 ",%" PRIu64 ",%" PRIu64 " local %" PRIu64 ",%" PRIu64
                          ",%" PRIu64,
                          id[0], id[1], id[2], id[3], id[4], id[5]);
        (void)fputs("\"/>", file);
    }
    (void)fputs("</threads>", file);
    if (server->is_non_stop)
        zeta_gdb_process_resume(process, false);
}

/*
 * For zeta-gdb.py, which would ask each thread otherwise: a line for each that is stopped, with hex
 * numbers. Its tid, pc, tp, the ten ids of its set ID, cause and address, ra.
 */
static void write_items(struct zeta_gdb_server *server, FILE *file)
{
    struct zeta_gdb_process *const process = server->process;

    for (uint32_t i = 0; i < process->thread_count; i++) {
        uint64_t pc, x[4], id[10], cr[2];

        if (!process->threads[i].is_stopped ||
            !zeta_gdb_registers_read(process, i, ZETA_GDB_SET_PC, 0, 1, &pc) ||
            !zeta_gdb_registers_read(process, i, ZETA_GDB_SET_X, 0, 4, x) ||
            !zeta_gdb_registers_read(process, i, ZETA_GDB_SET_ID, 0, 10, id) ||
            !zeta_gdb_registers_read(process, i, ZETA_GDB_SET_CR, 0, 1, cr))
            continue;
        (void)fprintf(file, "%x %" PRIx64 " %" PRIx64, zeta_gdb_thread_tid(i), pc,
                      x[ZETA_GDB_REGISTER_TP - 1]);
        for (size_t k = 0; k < sizeof(id) / sizeof(id[0]); k++)
            (void)fprintf(file, " %" PRIx64, id[k]);
        (void)fprintf(file, " %" PRIx64 " %" PRIx64 " %" PRIx64 "\n", cr[0] >> 32, cr[1], x[0]);
    }
}

/* A folder may have a name with any characters in it. */
static void put_xml(FILE *file, const char *text)
{
    for (; *text; text++)
        if (strchr("<>&\"", *text))
            (void)fprintf(file, "&#%d;", *text);
        else
            (void)putc(*text, file);
}

static void write_libraries(struct zeta_gdb_server *server, FILE *file)
{
    const struct zeta_gdb_process *const process = server->process;

    (void)fputs("<library-list>", file);
    for (uint32_t i = 0; i < process->module_count; i++)
        if (process->modules[i].is_loaded && process->modules[i].path) {
            (void)fputs("<library name=\"", file);
            put_xml(file, process->modules[i].path);
            (void)fprintf(file, "\"><segment address=\"0x%" PRIx64 "\"/></library>",
                          process->modules[i].load);
        }
    (void)fputs("</library-list>", file);
}

static void write_features(struct zeta_gdb_server *server, FILE *file)
{
    zeta_gdb_description_write(server->process, file);
}

static const struct {
    const char *name, *annex;
    void (*write)(struct zeta_gdb_server *server, FILE *file);
} documents[] = {
    {"features", "target.xml", write_features},
    {"threads", "", write_threads},
    {"libraries", "", write_libraries},
    {"work-items", "", write_items},
};

static bool text_is(struct zeta_gdb_text text, const char *wanted)
{
    return zeta_gdb_take(&text, wanted) && text.at == text.end;
}

/* The document as it is now, for the slices that are read of it. */
static bool take_snapshot(struct zeta_gdb_server *server, size_t index)
{
    FILE *file;

    free(server->document);
    server->document = NULL;
    server->document_name[0] = '\0';
    file = open_memstream(&server->document, &server->document_size);
    if (!file)
        return false;
    documents[index].write(server, file);
    if (fclose(file) != 0)
        return false;
    (void)snprintf(server->document_name, sizeof(server->document_name), "%s",
                   documents[index].name);
    return true;
}

void zeta_gdb_document_answer(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    const struct zeta_gdb_text object = zeta_gdb_take_field(text, ':');
    const struct zeta_gdb_text verb = zeta_gdb_take_field(text, ':');
    const struct zeta_gdb_text annex = zeta_gdb_take_field(text, ':');
    uint64_t offset, size;
    size_t index = 0;

    while (index < sizeof(documents) / sizeof(documents[0]) &&
           !text_is(object, documents[index].name))
        index++;
    if (index == sizeof(documents) / sizeof(documents[0]) || !text_is(verb, "read"))
        return;
    if (!text_is(annex, documents[index].annex) || !zeta_gdb_take_number(text, &offset) ||
        !zeta_gdb_take(text, ",") || !zeta_gdb_take_number(text, &size)) {
        (void)fputs("E00", server->answer);
        return;
    }
    if ((offset == 0 || strcmp(server->document_name, documents[index].name) != 0) &&
        !take_snapshot(server, index)) {
        (void)fputs("E0c", server->answer);
        return;
    }
    if (offset > server->document_size)
        offset = server->document_size;
    if (size > server->document_size - offset)
        size = server->document_size - offset;
    (void)putc(offset + size < server->document_size ? 'm' : 'l', server->answer);
    (void)fwrite(server->document + offset, 1, (size_t)size, server->answer);
}

/* Files ---------------------------------------------------------------------------------------- */

/* A descriptor is the number of a module, so that nothing is opened for GDB. */
static void answer_open(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    struct zeta_gdb_process *const process = server->process;
    char name[4096] = "";
    const struct zeta_gdb_text field = zeta_gdb_take_field(text, ',');
    struct zeta_gdb_text digits = field;

    if ((size_t)(field.end - field.at) / 2 < sizeof(name))
        (void)zeta_gdb_take_bytes(&digits, name, (size_t)(field.end - field.at) / 2);
    for (uint32_t i = 0; i < process->module_count; i++)
        if (process->modules[i].path && strcmp(process->modules[i].path, name) == 0) {
            process->modules[i].opens++;
            (void)fprintf(server->answer, "F%x", i);
            return;
        }
    (void)fprintf(server->answer, "F-1,%x", FILE_ENOENT);
}

static void put_big(uint8_t *to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

static void answer_fstat(struct zeta_gdb_server *server, int file)
{
    uint8_t bytes[64] = {0}; /* struct stat of GDB's file protocol: words of 4 bytes, then of 8 */
    struct stat about;

    if (fstat(file, &about) != 0) {
        (void)fprintf(server->answer, "F-1,%x", FILE_EBADF);
        return;
    }
    put_big(bytes + 8, S_IFREG | 0400, 4);
    put_big(bytes + 12, 1, 4);
    put_big(bytes + 28, (uint64_t)about.st_size, 8);
    put_big(bytes + 36, 4096, 8);
    put_big(bytes + 44, ((uint64_t)about.st_size + 511) / 512, 8);
    put_big(bytes + 60, (uint64_t)about.st_mtime, 4);
    (void)fprintf(server->answer, "F%zx;", sizeof(bytes));
    (void)fwrite(bytes, 1, sizeof(bytes), server->answer);
}

static void answer_pread(struct zeta_gdb_server *server, int file, struct zeta_gdb_text *text)
{
    static uint8_t bytes[ZETA_GDB_PACKET_BYTES / 2 - 64]; /* each may be escaped */
    uint64_t size, offset;
    ssize_t got = -1;

    if (zeta_gdb_take(text, ",") && zeta_gdb_take_number(text, &size) && zeta_gdb_take(text, ",") &&
        zeta_gdb_take_number(text, &offset) && offset <= INT64_MAX)
        got =
            pread(file, bytes, size < sizeof(bytes) ? (size_t)size : sizeof(bytes), (off_t)offset);
    if (got < 0) {
        (void)fprintf(server->answer, "F-1,%x", FILE_EINVAL);
        return;
    }
    (void)fprintf(server->answer, "F%zx;", (size_t)got);
    (void)fwrite(bytes, 1, (size_t)got, server->answer);
}

static void answer_close(struct zeta_gdb_server *server, struct zeta_gdb_module *module)
{
    if (module->opens > 0)
        module->opens--;
    zeta_gdb_module_trim(module);
    (void)fputs("F0", server->answer);
}

void zeta_gdb_file_answer(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    const struct zeta_gdb_process *const process = server->process;
    const struct zeta_gdb_text verb = zeta_gdb_take_field(text, ':');
    uint64_t descriptor = 0;

    if (text_is(verb, "setfs")) {
        (void)fputs("F0", server->answer);
    } else if (text_is(verb, "open")) {
        answer_open(server, text);
    } else if (text_is(verb, "fstat") || text_is(verb, "pread") || text_is(verb, "close")) {
        if (!zeta_gdb_take_number(text, &descriptor) || descriptor >= process->module_count ||
            process->modules[descriptor].file < 0)
            (void)fprintf(server->answer, "F-1,%x", FILE_EBADF);
        else if (text_is(verb, "fstat"))
            answer_fstat(server, process->modules[descriptor].file);
        else if (text_is(verb, "pread"))
            answer_pread(server, process->modules[descriptor].file, text);
        else
            answer_close(server, &process->modules[descriptor]);
    }
}
