/* The command "zeta calc": every row with every bit, in a process that has no plugin. Rule 1.22. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/export/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/c_locale.h"
#include "zeta/container.h"
#include "zeta/zeta.h"

#define SLOTS 60u
#define COMMAND                                                                                    \
    "env -u LD_PRELOAD -u ZE_ENABLE_ALT_DRIVERS ZETA_PLUGIN_PATH=/nonexistent ZETA_LOG=error "     \
    "%s/bin/zeta calc %s %s 2>&1"

static char folder[] = "/tmp/zeta-calc-XXXXXX";
static char path[64];

static int set_up(void **state)
{
    (void)state;
    if (zeInit(0) != ZE_RESULT_SUCCESS || (!path[0] && !mkdtemp(folder)))
        return -1;
    (void)snprintf(path, sizeof(path), "%s/file", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

/** Runs the command; what it wrote, which the caller frees. */
static char *run(const char *options, int wanted)
{
    const size_t capacity = 1 << 20;
    char *text = calloc(1, capacity);
    char command[512];
    FILE *pipe;
    int status;

    assert_non_null(text);
    (void)snprintf(command, sizeof(command), COMMAND, ZETA_BUILD_DIR, options, path);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_cmp(fread(text, 1, capacity - 1, pipe), <, capacity);
    status = pclose(pipe);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != wanted)
        fail_msg("%s: status 0x%x\n%s", command, (unsigned)status, text);
    return text;
}

/** True if the text is the value, to the last bit. */
static bool says(const char *text, size_t length, const zet_typed_value_t *value)
{
    char word[64] = "";

    if (length >= sizeof(word))
        return false;
    memcpy(word, text, length);
    switch (value->type) {
    case ZET_VALUE_TYPE_UINT64:
        return strtoull(word, NULL, 10) == value->value.ui64;
    case ZET_VALUE_TYPE_UINT32:
        return strtoull(word, NULL, 10) == value->value.ui32;
    case ZET_VALUE_TYPE_FLOAT32:
        return (float)zeta_c_strtod(word, NULL) == value->value.fp32 ||
               (length == 0 && value->value.fp32 != value->value.fp32);
    case ZET_VALUE_TYPE_FLOAT64:
        return zeta_c_strtod(word, NULL) == value->value.fp64 ||
               (length == 0 && value->value.fp64 != value->value.fp64);
    default:
        return (word[0] != '0') == (value->value.b8 != 0);
    }
}

/** Compares the rows of a tile; behind the last of them. */
static const char *check_rows(const char *at, const struct source *source, uint32_t tile,
                              const zet_typed_value_t *values, uint32_t count)
{
    char head[32];

    for (uint32_t i = 0; i < count; i++) {
        size_t length;

        if (i % source->properties.metricCount == 0) {
            (void)snprintf(head, sizeof(head), "\n1,%u,", tile);
            assert_memory_equal(at, head, strlen(head));
            at += strlen(head);
        }
        length = strcspn(at, ",\n");
        if (!says(at, length, &values[i]))
            fail_msg("value %u of tile %u is %.*s", i, tile, (int)length, at);
        at += length + (at[length] == ',');
    }
    return at;
}

static void write_export(const struct source *source, uint8_t *raw, size_t *out_bytes)
{
    size_t size = 0;
    uint8_t *data;
    FILE *file = fopen(path, "wb");

    *out_bytes = make_raw(source, 8, SLOTS, raw);
    data = export_raw(source, raw, *out_bytes, &size);
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(data);
}

static void check_file(const struct source *source, const char *options,
                       zet_metric_group_calculation_type_t type)
{
    struct outcome in_place = outcome_make();
    uint8_t *raw = malloc((size_t)SLOTS * source->record_bytes);
    const char *at;
    char *text;
    size_t bytes = 0;
    uint32_t first = 0;

    assert_non_null(raw);
    write_export(source, raw, &bytes);
    text = run(options, 0);
    /* Before the rows it is said that some are missing. */
    at = strstr(text, "stream,tile,");
    assert_non_null(at);
    assert_true(at == text || strncmp(at - 6, " lost\n", 6) == 0);
    at = strchr(at, '\n');
    assert_non_null(at);
    calculate_in_place(source, type, raw, bytes, &in_place);
    for (uint32_t tile = 0; tile < in_place.set_count; tile++) {
        at = check_rows(at, source, tile, in_place.values + first, in_place.counts[tile]);
        first += in_place.counts[tile];
    }
    assert_string_equal(at, "\n");
    free(text);
    free(raw);
    outcome_free(&in_place);
}

/* Rule 16.20. */
static void csv__export__is_each_row_as_in_place(void **state)
{
    const struct source one = find_source("fake0", "Basic", TIME_BASED);
    const struct source tiles = find_source("fake1", "Basic", TIME_BASED);

    (void)state;
    check_file(&one, "--csv", VALUES);
    check_file(&one, "--csv --max", MAXIMA);
    check_file(&tiles, "--csv", VALUES);
}

/* Rule 16.20. */
static void table__export__is_as_of_stat(void **state)
{
    const struct source source = find_source("fake0", "Basic", TIME_BASED);
    uint8_t raw[SLOTS * 64];
    size_t bytes = 0;
    char *text;

    (void)state;
    write_export(&source, raw, &bytes);
    text = run("", 0);
    assert_non_null(strstr(text, "Basic, domain 0: "));
    assert_non_null(strstr(text, "HalfOf"));
    assert_non_null(strstr(text, "QueryBeginTime"));
    free(text);
    text = run("--json", 0);
    assert_non_null(strstr(text, "\"schema\": \"zeta.calc/1\""));
    assert_non_null(strstr(text, "\"name\": \"HalfOf\""));
    free(text);
}

/* Rule 16.20. */
static void options__skip_and_tile__choose_rows(void **state)
{
    const struct source source = find_source("fake1", "Basic", TIME_BASED);
    uint8_t raw[SLOTS * 64];
    size_t bytes = 0;
    char *all;
    char *none;
    char *one;

    (void)state;
    write_export(&source, raw, &bytes);
    all = run("--csv", 0);
    none = run("--csv --skip 1000", 0);
    one = run("--csv --tile 1", 0);
    assert_non_null(strstr(all, "\n1,0,"));
    assert_non_null(strstr(all, "\n1,1,"));
    assert_null(strstr(none, "\n1,"));
    assert_null(strstr(one, "\n1,0,"));
    assert_non_null(strstr(one, "\n1,1,"));
    free(all);
    free(none);
    free(one);
    one = run("--tile 7", 1);
    assert_non_null(strstr(one, "no data of tile 7"));
    free(one);
}

static void flip_byte(off_t offset)
{
    FILE *file = fopen(path, "r+b");
    int byte;

    assert_non_null(file);
    assert_int_equal(fseeko(file, offset, SEEK_SET), 0);
    byte = fgetc(file);
    assert_int_equal(fseeko(file, offset, SEEK_SET), 0);
    assert_int_not_equal(fputc(byte ^ 1, file), EOF);
    assert_int_equal(fclose(file), 0);
}

/* Rule 16.20. */
static void recording__two_pieces__one_table_and_the_device(void **state)
{
    const struct source source = find_source("fake0", "Basic", TIME_BASED);
    const struct zeta_recording_desc desc = {.struct_size = sizeof(desc), .path = path};
    const struct zeta_recording_stream_desc stream_desc = {
        .struct_size = sizeof(stream_desc), .group = source.group, .period_ns = 1000};
    struct zeta_recording *recording = NULL;
    uint8_t raw[5 * 64] = {0};
    uint32_t stream = 0;
    struct stat status;
    char *text;

    (void)state;
    for (uint32_t i = 0; i < 5; i++) {
        const uint32_t numbers[] = {i + 1, (i + 1) * 25, i, 3 * i};

        memcpy(raw + i * (size_t)64, numbers, sizeof(numbers));
    }
    EXPECT_OK(zetaRecordingCreate(&desc, &recording));
    EXPECT_OK(zetaRecordingAddStream(recording, &stream_desc, &stream));
    EXPECT_OK(zetaRecordingAppend(recording, ZETA_CHUNK_DATA, stream, raw, (size_t)3 * 64));
    EXPECT_OK(zetaRecordingAppend(recording, ZETA_CHUNK_DATA, stream, raw + (size_t)2 * 64,
                                  (size_t)3 * 64));
    EXPECT_OK(zetaRecordingFinish(recording));
    text = run("", 0);
    assert_non_null(strstr(text, "fake0 ("));
    assert_non_null(strstr(text, "Basic, domain 0, every 1 us: 4 samples, none lost"));
    free(text);
    /* What comes before a cut or a damage is shown, with a word about it. */
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(truncate(path, status.st_size - 8), 0);
    text = run("", 0);
    assert_non_null(strstr(text, "Basic, domain 0, every 1 us: 4 samples"));
    assert_non_null(strstr(text, "has no end chunk"));
    free(text);
    flip_byte(status.st_size - 100);
    text = run("", 1);
    assert_non_null(strstr(text, "Basic, domain 0, every 1 us: 2 samples"));
    assert_non_null(strstr(text, "is damaged"));
    free(text);
    assert_int_equal(truncate(path, 0), 0);
    text = run("", 1);
    assert_non_null(strstr(text, "neither exported metric data nor a recording"));
    free(text);
}

static void usage__wrong_words__are_refused(void **state)
{
    FILE *file = fopen(path, "w");
    char *text;

    (void)state;
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    text = run("--skip -1", 2);
    assert_non_null(strstr(text, "--skip takes a number"));
    free(text);
    text = run("--csv --json", 2);
    free(text);
    text = run("another", 2);
    free(text);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

SUITE(calc)
{
    const struct CMUnitTest tests[] = {
        CASE(csv__export__is_each_row_as_in_place),
        CASE(table__export__is_as_of_stat),
        CASE(options__skip_and_tile__choose_rows),
        CASE(recording__two_pieces__one_table_and_the_device),
        CASE(usage__wrong_words__are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, remove_folder);
}
