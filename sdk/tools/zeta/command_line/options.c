#include "sdk/tools/zeta/command_line/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"

void zeta_options_restart(void)
{
    /* 0, not 1: also resets what glibc remembers inside a word. */
    optind = 0;
    opterr = 0;
}

int zeta_options_wrong(int option, char **arguments)
{
    const char *word = arguments[optind > 1 ? optind - 1 : 1];
    char letter[3] = {'-', (char)optopt, '\0'};

    /* optopt is a letter for short options, 0 or a number of our own for long ones. */
    if (optopt > 0 && optopt < 256 && strncmp(word, "--", 2) != 0)
        word = letter;
    if (option == ':')
        return zeta_print_usage_error("%s: option %s needs a value", arguments[0], word);
    return zeta_print_usage_error("%s: unknown option %s", arguments[0], word);
}

int zeta_options_check_json(const char *json_path, bool has_csv)
{
    if (has_csv && (!json_path || strcmp(json_path, "-") == 0))
        return zeta_print_usage_error("--csv and --json both write to the standard output; give "
                                      "--json=FILE");
    return ZETA_EXIT_OK;
}

int zeta_list_options_parse(struct zeta_list_options *options, const char *allowed, int count,
                            char **arguments)
{
    static const struct option long_options[] = {
        {"device", required_argument, NULL, 'd'},
        {"verbose", no_argument, NULL, 'v'},
        {"json", optional_argument, NULL, 'j'},
        {0},
    };
    int option = 0;

    *options = (struct zeta_list_options){0};
    zeta_options_restart();
    while ((option = getopt_long(count, arguments, ":d:v", long_options, NULL)) != -1) {
        if (option == '?' || option == ':')
            return zeta_options_wrong(option, arguments);
        if (option != 'j' && !strchr(allowed, option))
            return zeta_print_usage_error("%s: takes no option -%c", arguments[0], option);
        if (option == 'd')
            options->device = optarg;
        else if (option == 'v')
            options->is_verbose = true;
        else {
            options->has_json = true;
            options->json_path = optarg;
        }
    }
    options->rest = &arguments[optind];
    options->rest_count = count - optind;
    return ZETA_EXIT_OK;
}
