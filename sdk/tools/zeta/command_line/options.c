#include "sdk/tools/zeta/command_line/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"

/* Values that getopt_long gives for options by name; letters are below. */
enum { FIRST_NAME = 256 };

static int set(const struct zeta_option *option, const char *spelled, char *text)
{
    struct zeta_json_option *json = option->target;
    unsigned long long number;
    char *end = NULL;

    switch (option->kind) {
    case ZETA_OPTION_FLAG:
        *(bool *)option->target = true;
        return ZETA_EXIT_OK;
    case ZETA_OPTION_TEXT:
        *(const char **)option->target = text;
        return ZETA_EXIT_OK;
    case ZETA_OPTION_NUMBER:
        errno = 0;
        number = strtoull(text, &end, 10);
        if (text[0] < '0' || text[0] > '9' || *end || errno || number > UINT32_MAX)
            return zeta_print_usage_error("%s takes a number from 0 to %u, not %s", spelled,
                                          UINT32_MAX, text);
        *(int64_t *)option->target = (int64_t)number;
        return ZETA_EXIT_OK;
    case ZETA_OPTION_INSTANT:
        if (strcmp(text, "0") == 0) {
            *(uint64_t *)option->target = 0;
            return ZETA_EXIT_OK;
        }
        /* fallthrough */
    case ZETA_OPTION_DURATION:
        if (zeta_duration_parse(text, option->target))
            return ZETA_EXIT_OK;
        return zeta_print_usage_error(
            "%s takes a positive number with a unit (ns, us, ms, s, min), such as 500us, not %s",
            spelled, text);
    case ZETA_OPTION_JSON:
        *json = (struct zeta_json_option){true, text};
        return ZETA_EXIT_OK;
    case ZETA_OPTION_OTHER:
    default:
        return option->take(option->target, text);
    }
}

int zeta_options_read(const struct zeta_option *options, size_t option_count, bool has_program,
                      int count, char **arguments, int *out_first)
{
    struct option names[ZETA_OPTIONS_MAX + 1] = {0};
    char letters[2 * ZETA_OPTIONS_MAX + 3] = "+:";
    size_t letter_count = has_program ? 2 : 1;
    size_t name_count = 0;
    int value;

    if (!has_program)
        letters[0] = ':';
    for (size_t i = 0; i < option_count; i++) {
        const bool has_value = options[i].kind != ZETA_OPTION_FLAG;

        if (options[i].letter) {
            letters[letter_count++] = options[i].letter;
            if (has_value)
                letters[letter_count++] = ':';
        }
        if (options[i].name)
            names[name_count++] = (struct option){
                .name = options[i].name,
                .has_arg = options[i].kind == ZETA_OPTION_JSON ? optional_argument : has_value,
                .val = FIRST_NAME + (int)i};
    }
    letters[letter_count] = '\0';
    /* 0, not 1: also resets what glibc remembers inside a word. */
    optind = 0;
    opterr = 0;
    while ((value = getopt_long(count, arguments, letters, names, NULL)) != -1) {
        size_t at = value >= FIRST_NAME ? (size_t)(value - FIRST_NAME) : 0;
        const struct zeta_option *option;
        char spelled[64] = {'-', (char)value};
        int status;

        if (value == '?' || value == ':') {
            const char *word = arguments[optind > 1 ? optind - 1 : 1];

            /* Of a letter in a word of several getopt keeps only the letter. */
            spelled[1] = (char)optopt;
            if (optopt > 0 && optopt < FIRST_NAME && strncmp(word, "--", 2) != 0)
                word = spelled;
            return zeta_print_usage_error(value == ':' ? "%s: option %s needs a value"
                                                       : "%s: unknown option %s",
                                          arguments[0], word);
        }
        while (value < FIRST_NAME && at + 1 < option_count && options[at].letter != value)
            at++;
        option = &options[at];
        if (value >= FIRST_NAME && !option->letter)
            (void)snprintf(spelled, sizeof(spelled), "--%s", option->name);
        else if (value >= FIRST_NAME)
            spelled[1] = option->letter;
        status = set(option, spelled, optarg);
        if (status != ZETA_EXIT_OK)
            return status;
    }
    *out_first = optind;
    return ZETA_EXIT_OK;
}

bool zeta_size_parse(const char *text, uint64_t *out_bytes)
{
    static const char units[] = "KMG";
    const char *unit = text + strspn(text, "0123456789");
    const char *found = *unit ? strchr(units, *unit) : NULL;

    if (unit == text || unit - text > 9 || (*unit && (!found || unit[1])))
        return false;
    *out_bytes = strtoull(text, NULL, 10) << (found ? 10 * (found - units + 1) : 0);
    return true;
}

int zeta_options_check_json(const struct zeta_json_option *json, bool has_csv)
{
    if (json->is_given && has_csv && (!json->path || strcmp(json->path, "-") == 0))
        return zeta_print_usage_error("--csv and --json both write to the standard output; give "
                                      "--json=FILE");
    return ZETA_EXIT_OK;
}

int zeta_list_options_read(struct zeta_list_options *options, bool has_device, int count,
                           char **arguments)
{
    const struct zeta_option table[] = {
        {"json", 0, ZETA_OPTION_JSON, &options->json, NULL},
        {"device", 'd', ZETA_OPTION_TEXT, (void *)&options->device, NULL},
        {"verbose", 'v', ZETA_OPTION_FLAG, &options->is_verbose, NULL},
    };
    int first = 0;
    int status;

    *options = (struct zeta_list_options){0};
    status = zeta_options_read(table, has_device ? 3 : 1, false, count, arguments, &first);
    options->rest = &arguments[first];
    options->rest_count = count - first;
    return status;
}
