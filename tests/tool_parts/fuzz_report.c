/*
 * Chunks of any content in a recording that is whole: all forms of a report are written.
 *
 * The input is a row of pieces: type, number, two bytes of size, payload.
 *
 * Rule 16.26.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <json-c/json.h>

#include <zeta/container.h>

#include "sdk/tools/zeta/recording/recording.h"
#include "sdk/tools/zeta/report/forms.h"

enum { ROOM = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t make_recording(const uint8_t *data, size_t size, uint8_t *bytes)
{
    struct zeta_container_writer *writer = NULL;
    size_t used;

    if (zeta_container_create_memory(bytes, ROOM, ZETA_CONTAINER_RECORDING, &writer) !=
        ZETA_CONTAINER_OK)
        abort();
    while (size >= 4) {
        const size_t wanted = (size_t)data[2] | (size_t)data[3] << 8;
        const struct zeta_container_part part = {data + 4, wanted < size - 4 ? wanted : size - 4};

        (void)zeta_container_append(writer, (enum zeta_chunk_type)(2 + data[0] % 10), data[1] % 4,
                                    &part, 1);
        data += 4 + part.bytes;
        size -= 4 + part.bytes;
    }
    (void)zeta_container_finish(writer);
    used = (size_t)zeta_container_size(writer);
    zeta_container_writer_destroy(writer);
    return used < ROOM ? used : ROOM;
}

static void write_forms(struct zeta_report *report)
{
    static FILE *nowhere;
    struct zeta_report_notes notes;

    if (!nowhere)
        nowhere = fopen("/dev/null", "we");
    if (!nowhere)
        abort();
    if (report->profile_stream)
        (void)zeta_ip_profile_resolve(&report->profile, report->module_folder.path);
    zeta_report_notes_make(report, &notes);
    zeta_report_print(report, &notes, nowhere);
    zeta_report_write_html(report, &notes, nowhere);
    json_object_put(zeta_report_to_json(report, &notes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[ROOM];
    static bool is_ready;
    struct zeta_report report = {.options = {.html_path = "", .is_per_kernel = true}};
    char path[32];
    int fd;

    if (!is_ready) {
        /* Nobody is there to read what it says. */
        if (setenv("ZETA_PLUGIN_PATH", "/nonexistent", 1) != 0 ||
            !freopen("/dev/null", "w", stderr) || zeInit(0) != ZE_RESULT_SUCCESS)
            abort();
        is_ready = true;
    }
    size = make_recording(data, size, bytes);
    fd = memfd_create("recording", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    report.options.path = path;
    report.options.to_ns = size % 2 ? UINT64_MAX : 1000000;
    report.options.has_range = size % 2 == 0;
    if (zeta_report_index(&report) == 0) {
        zeta_report_kernels_init(&report);
        if (zeta_report_read(&report) == 0)
            write_forms(&report);
    }
    zeta_report_finish(&report);
    (void)close(fd);
    return 0;
}
