#include "sdk/tools/zeta/calc/calc.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/json.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/stat/report.h"

enum { OPTION_CSV = 256, OPTION_JSON, OPTION_MAX, OPTION_SKIP, OPTION_TILE };

static const struct option long_options[] = {
    {"group", required_argument, NULL, 'g'},
    {"csv", no_argument, NULL, OPTION_CSV},
    {"json", optional_argument, NULL, OPTION_JSON},
    {"max", no_argument, NULL, OPTION_MAX},
    {"skip", required_argument, NULL, OPTION_SKIP},
    {"tile", required_argument, NULL, OPTION_TILE},
    {0},
};

struct options {
    struct zeta_calc_choice choice;
    const char *path;
    bool has_csv;
    bool has_json;
    const char *json_path;
};

static int set_number(const char *option, const char *text, uint32_t *out_number)
{
    char *end = NULL;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || value > UINT32_MAX)
        return zeta_print_usage_error("%s %s is no number from 0 to %u", option, text, UINT32_MAX);
    *out_number = (uint32_t)value;
    return ZETA_EXIT_OK;
}

static int apply_option(struct options *options, int option, char **arguments)
{
    uint32_t tile = 0;
    int status = ZETA_EXIT_OK;

    switch (option) {
    case 'g':
        options->choice.group = optarg;
        return ZETA_EXIT_OK;
    case OPTION_CSV:
        options->has_csv = true;
        return ZETA_EXIT_OK;
    case OPTION_JSON:
        options->has_json = true;
        options->json_path = optarg;
        return ZETA_EXIT_OK;
    case OPTION_MAX:
        options->choice.is_maximum = true;
        return ZETA_EXIT_OK;
    case OPTION_SKIP:
        return set_number("--skip", optarg, &options->choice.skip);
    case OPTION_TILE:
        status = set_number("--tile", optarg, &tile);
        options->choice.tile = tile;
        return status;
    default:
        return zeta_options_wrong(option, arguments);
    }
}

static int parse(struct options *options, int count, char **arguments)
{
    int status = ZETA_EXIT_OK;
    int option = 0;

    *options = (struct options){.choice = {.tile = -1}};
    zeta_options_restart();
    while (status == ZETA_EXIT_OK &&
           (option = getopt_long(count, arguments, ":g:", long_options, NULL)) != -1)
        status = apply_option(options, option, arguments);
    if (status != ZETA_EXIT_OK)
        return status;
    if (optind + 1 != count)
        return zeta_print_usage_error("calc needs one file of exported data or one recording");
    options->path = arguments[optind];
    if (options->has_csv)
        options->choice.rows = stdout;
    return options->has_json ? zeta_options_check_json(options->json_path, options->has_csv)
                             : ZETA_EXIT_OK;
}

static void print_tables(const struct zeta_calc_file *file)
{
    const struct zeta_stat_style style = zeta_stat_style_of(stdout);

    for (uint32_t i = 0; i < file->stream_count; i++) {
        const struct zeta_calc_stream *stream = file->streams[i];

        if (!stream->is_open)
            continue;
        if (stream->device.properties.name[0])
            (void)printf("%s%s (%s, %s)\n", i > 0 ? "\n" : "", stream->device.properties.name,
                         stream->device_class, stream->device_id);
        zeta_stat_group_print(&stream->group, &style, stdout);
    }
}

static int write_json(const struct options *options, const struct zeta_calc_file *file)
{
    struct json_object *document = json_object_new_object();
    struct json_object *groups;

    if (!document)
        return zeta_output_put_json(options->json_path, NULL);
    zeta_json_put_text(document, "schema", "zeta.calc/1");
    zeta_json_put_text(document, "version", zetaGetVersion());
    zeta_json_put_text(document, "values", options->choice.is_maximum ? "maximum" : "measured");
    zeta_json_put_bool(document, "cut", file->is_cut);
    groups = zeta_json_put_array(document, "groups");
    for (uint32_t i = 0; i < file->stream_count; i++) {
        if (file->streams[i]->is_open)
            zeta_stat_group_put_json(groups, &file->streams[i]->device, &file->streams[i]->group);
    }
    return zeta_output_put_json(options->json_path, document);
}

/** Says what the figures do not show. */
static void print_notes(const struct options *options, const struct zeta_calc_file *file)
{
    for (uint32_t i = 0; i < file->stream_count && options->has_csv; i++) {
        if (file->streams[i]->is_open)
            zeta_stat_losses_print(&file->streams[i]->group);
    }
    if (file->is_cut)
        zeta_print_note("%s ends before its end chunk: what wrote it was killed or still writes",
                        options->path);
    if (file->other_streams > 0)
        zeta_print_note("%s also has %u streams of tracers, which are no metric values; 'zeta "
                        "report' shows them",
                        options->path, file->other_streams);
}

static bool has_data(const struct zeta_calc_file *file)
{
    for (uint32_t i = 0; i < file->stream_count; i++) {
        if (file->streams[i]->is_open)
            return true;
    }
    return false;
}

/** What the file has none of was asked for. */
static int check(const struct options *options, const struct zeta_calc_file *file)
{
    bool has_tile = options->choice.tile < 0;

    for (uint32_t i = 0; i < file->stream_count; i++)
        has_tile = has_tile || options->choice.tile < file->streams[i]->group.tile_count;
    if (!has_data(file) && options->choice.group)
        return zeta_print_failure("%s has no data of a group '%s'; without -g all groups are shown",
                                  options->path, options->choice.group);
    if (!has_data(file))
        return zeta_print_failure("%s has no data that metric values could be calculated from",
                                  options->path);
    if (!has_tile)
        return zeta_print_failure("%s has no data of tile %u", options->path,
                                  (unsigned)options->choice.tile);
    return ZETA_EXIT_OK;
}

static int write_result(const struct options *options, const struct zeta_calc_file *file)
{
    int status = ZETA_EXIT_OK;

    if (options->has_json)
        status = write_json(options, file);
    else if (!options->has_csv)
        print_tables(file);
    print_notes(options, file);
    return status;
}

int zeta_calc(int count, char **arguments)
{
    struct options options;
    struct zeta_calc_file file = {0};
    int status = parse(&options, count, arguments);

    if (status != ZETA_EXIT_OK)
        return status;
    status = zeta_output_protect(options.path);
    if (status == ZETA_EXIT_OK)
        status = zeta_calc_file_init(&file, options.path, &options.choice);
    if (status == ZETA_EXIT_OK) {
        status = check(&options, &file);
        if (status == ZETA_EXIT_OK)
            status = write_result(&options, &file);
    } else if (has_data(&file)) {
        /* What was read before a damage is worth showing. */
        (void)write_result(&options, &file);
    }
    zeta_calc_file_finish(&file);
    return status;
}
