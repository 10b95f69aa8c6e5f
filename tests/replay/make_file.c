/* make_file recording|igt FILE: a file with 2001 reports, for the tests of the zeta command. */
#include <stdio.h>
#include <string.h>

#include "tests/replay/igt_tape.h"

#define REPORTS 2001u

static int make_recording(const char *path)
{
    struct tape_data data = {0};
    struct tape tape;
    int result;

    tape_begin(&tape, "made.zrec");
    tape_device(&tape, 1, "Taped GPU", UINT32_MAX, 0);
    tape_clock(&tape, 1, TAPE_FIRST_TICKS, 1);
    tape_set(&tape, 1, "Taped", "first", 1);
    tape_stream(&tape, 1, 1, "time", 250000, 1, 1);
    tape_put_records(&data, 0, REPORTS - 1, 0);
    tape_write(&tape, 1, &data);
    tape_end(&tape, true);
    result = rename(tape.path, path) == 0 ? 0 : 1;
    tape_remove(&tape);
    return result;
}

static int make_igt(const char *path)
{
    const struct igt_kind *kind = &igt_kinds[3];
    struct tape_data data = {0};
    FILE *file = fopen(path, "w");
    int result;

    igt_put_head(&data, kind);
    for (uint32_t k = 0; k < REPORTS; k++)
        igt_put_report(&data, kind, k);
    igt_put_correlation(&data, kind, REPORTS);
    result = file && fwrite(data.bytes, 1, data.size, file) == data.size ? 0 : 1;
    if (file && fclose(file) != 0)
        result = 1;
    tape_data_finish(&data);
    return result;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "recording") == 0)
        return make_recording(argv[2]);
    if (argc == 3 && strcmp(argv[1], "igt") == 0)
        return make_igt(argv[2]);
    (void)fprintf(stderr, "usage: make_file recording|igt FILE\n");
    return 2;
}
