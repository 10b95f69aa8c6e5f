#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta-cc/program/program.h"

static int __attribute__((format(printf, 1, 2))) wrong(const char *format, ...)
{
    va_list arguments;

    (void)fprintf(stderr, "%s: ", zeta_cc_target.program);
    va_start(arguments, format);
    (void)zeta_c_vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "\nTry %s --help.\n", zeta_cc_target.program);
    return ZETA_CC_EXIT_USAGE;
}

/* Languages by what -x names and by the end of a file's name. */
enum { BY_NAME = -1, UNKNOWN_LANGUAGE = -2 };

static const struct {
    const char *word;   /* null: none */
    const char *suffix; /* null: none */
    int language;
} languages[] = {{"cl", ".cl", ZETA_CC_OPENCL_C},  {"c", ".c", ZETA_CC_C},
                 {"ir", ".bc", ZETA_CC_IR},        {NULL, ".ll", ZETA_CC_IR},
                 {"spirv", ".spv", ZETA_CC_SPIRV}, {"none", NULL, BY_NAME}};

static int language_of(const char *word, const char *name)
{
    for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
        const char *suffix = languages[i].suffix;
        size_t length = name && suffix ? strlen(suffix) : 0;

        if (word && languages[i].word && strcmp(word, languages[i].word) == 0)
            return languages[i].language;
        if (length > 0 && strlen(name) > length &&
            strcmp(name + strlen(name) - length, suffix) == 0)
            return languages[i].language;
    }
    return UNKNOWN_LANGUAGE;
}

/* Options whose value is the next word, or the rest of this one. Gives the value or null. */
static const char *value_of(const char *word, const char *option, const char *next, int *out_words)
{
    size_t length = strlen(option);
    bool is_long = option[1] == '-';

    if (strncmp(word, option, length) != 0)
        return NULL;
    *out_words = 1;
    if (word[length] != '\0' && is_long)
        return word[length] == '=' ? word + length + 1 : NULL;
    if (word[length] != '\0')
        return word + length;
    *out_words = 2;
    return next ? next : "";
}

static int take_word(struct zeta_cc_command *command, const char *word, const char *next,
                     int *forced, int *out_words)
{
    const char *value;

    *out_words = 1;
    if (word[0] != '-' || word[1] == '\0') {
        const int language = *forced == BY_NAME ? language_of(NULL, word) : *forced;

        if (language < 0 || (language == ZETA_CC_C && !zeta_cc_target.has_c))
            return wrong(
                "%s: unknown language; give the file an end .cl, .c, .bc, .ll or .spv, or use -x",
                word);
        command->inputs[command->input_count++] =
            (struct zeta_cc_input){.language = (enum zeta_cc_language)language,
                                   .name = word,
                                   .is_file = strcmp(word, "-") != 0};
        return ZETA_CC_EXIT_OK;
    }
    if (strcmp(word, "-c") == 0) {
        command->output = ZETA_CC_OBJECT;
    } else if (strcmp(word, "-S") == 0) {
        command->output = ZETA_CC_TEXT;
    } else if (strcmp(word, "-emit-llvm") == 0) {
        command->output = command->output == ZETA_CC_TEXT ? ZETA_CC_TEXT : ZETA_CC_BITCODE;
    } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        command->wants_help = true;
    } else if (strcmp(word, "--version") == 0) {
        command->wants_version = true;
    } else if ((value = value_of(word, "-o", next, out_words)) != NULL) {
        command->target = value;
        if (!*value)
            return wrong("option -o needs the name of a file");
    } else if ((value = value_of(word, "--data", next, out_words)) != NULL) {
        command->data = value;
        if (!*value)
            return wrong("option --data needs the name of a folder");
    } else if ((value = value_of(word, "-x", next, out_words)) != NULL) {
        *forced = language_of(value, NULL);
        if (*forced == UNKNOWN_LANGUAGE)
            return wrong("-x %s: languages are cl, c, ir, spirv and none", value);
    } else {
        *out_words = 1;
        switch (zeta_cc_options_take(&command->options, word, next)) {
        case ZETA_CC_WORD_TAKEN:
            break;
        case ZETA_CC_WORD_TAKEN_NEXT:
            *out_words = 2;
            break;
        case ZETA_CC_WORD_INCOMPLETE:
            return wrong("option %s needs a value", word);
        case ZETA_CC_WORD_BAD:
            if (strncmp(word, "-O", 2) == 0 || strchr(word, '='))
                return wrong("option %s has a value that it cannot have", word);
            return wrong("option %s: %s is no value for it", word, next ? next : "that");
        default:
            return wrong("unknown option %s", word);
        }
    }
    return ZETA_CC_EXIT_OK;
}

int zeta_cc_command_read(struct zeta_cc_command *command, int count, char *const *arguments)
{
    int forced = BY_NAME;
    int words = 1;

    *command = (struct zeta_cc_command){0};
    command->inputs = zeta_cc_allocate((size_t)count, sizeof(*command->inputs));
    for (int i = 0; i < count; i += words) {
        const char *next = i + 1 < count ? arguments[i + 1] : NULL;
        int status = take_word(command, arguments[i], next, &forced, &words);

        if (status != ZETA_CC_EXIT_OK)
            return status;
    }
    if (command->input_count == 0 && !command->wants_help && !command->wants_version)
        return wrong("no input file");
    return ZETA_CC_EXIT_OK;
}

/* Under another name first: no reader sees a part of the file, and the old one is not lost. */
static bool write_file(const char *name, const struct zeta_cc_buffer *bytes)
{
    struct zeta_cc_buffer other = {0};
    mode_t mask = umask(0);
    bool is_fine = false;
    int file;

    (void)umask(mask);
    zeta_cc_buffer_print(&other, "%s.XXXXXX", name);
    file = mkstemp(other.bytes);
    if (file >= 0) {
        is_fine = zeta_cc_write(file, bytes->bytes, bytes->size) && fchmod(file, 0666 & ~mask) == 0;
        is_fine = close(file) == 0 && is_fine;
        is_fine = is_fine && rename(other.bytes, name) == 0;
        if (!is_fine) {
            int error = errno;

            (void)unlink(other.bytes);
            errno = error;
        }
    }
    if (!is_fine)
        (void)fprintf(stderr, "%s: %s cannot be written: %s\n", zeta_cc_target.program, name,
                      strerror(errno));
    zeta_cc_buffer_finish(&other);
    return is_fine;
}

/* Whether a file is an input too, under whatever name. */
static bool is_input(const struct zeta_cc_command *command, const struct stat *about)
{
    for (size_t i = 0; i < command->input_count; i++) {
        const char *name = command->inputs[i].name;
        struct stat input;

        if ((strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, &input) : stat(name, &input)) == 0 &&
            input.st_dev == about->st_dev && input.st_ino == about->st_ino)
            return true;
    }
    return false;
}

static bool write_result(const struct zeta_cc_command *command, const struct zeta_cc_buffer *bytes)
{
    const char *const endings[] = {zeta_cc_target.ending, "o", "bc", "ll"};
    struct zeta_cc_buffer by_default = {0};
    const char *target = command->target;
    struct stat about = {0};
    bool is_there;
    bool is_fine;

    /* When no name was given, that of the first input with another ending. */
    if (!target) {
        const char *name = command->inputs[0].is_file ? command->inputs[0].name : "kernel";
        const char *slash = strrchr(name, '/');
        const char *base = slash ? slash + 1 : name;
        const char *dot = strrchr(base, '.');

        zeta_cc_buffer_print(&by_default, "%.*s.%s", (int)(dot ? dot - base : (long)strlen(base)),
                             base, endings[command->output]);
        target = by_default.bytes;
    }
    is_there = stat(target, &about) == 0;
    /* A device such as /dev/null is written to, not replaced. */
    if (strcmp(target, "-") == 0) {
        is_fine = zeta_cc_write(STDOUT_FILENO, bytes->bytes, bytes->size);
    } else if (is_there && S_ISREG(about.st_mode) && is_input(command, &about)) {
        (void)fprintf(stderr, "%s: %s is an input; name another file with -o\n",
                      zeta_cc_target.program, target);
        is_fine = false;
    } else if (is_there && !S_ISREG(about.st_mode)) {
        int file = open(target, O_WRONLY | O_CLOEXEC);

        is_fine = file >= 0 && zeta_cc_write(file, bytes->bytes, bytes->size);
        if (!is_fine)
            (void)fprintf(stderr, "%s: %s: %s\n", zeta_cc_target.program, target, strerror(errno));
        if (file >= 0)
            (void)close(file);
    } else {
        is_fine = write_file(target, bytes);
    }
    zeta_cc_buffer_finish(&by_default);
    return is_fine;
}

int zeta_cc_command_run(struct zeta_cc_command *command, const struct zeta_cc_paths *paths)
{
    struct zeta_cc_buffer *contents = NULL;
    struct zeta_cc_buffer result = {0};
    struct zeta_cc_buffer log = {0};
    struct zeta_cc_job job = {.inputs = command->inputs,
                              .input_count = command->input_count,
                              .options = command->options,
                              .paths = *paths,
                              .output = command->output};
    bool is_fine = true;

    if (command->wants_help || command->wants_version) {
        if (command->wants_help)
            (void)fputs(zeta_cc_target.help, stdout);
        else
            (void)printf("%s " ZETA_CC_VERSION "\n", zeta_cc_target.program);
        return ZETA_CC_EXIT_OK;
    }
    if (command->data)
        job.paths.data = command->data;
    contents = zeta_cc_allocate(command->input_count, sizeof(*contents));
    for (size_t i = 0; i < command->input_count && is_fine; i++) {
        struct zeta_cc_input *input = &command->inputs[i];
        const int file = strcmp(input->name, "-") == 0 ? dup(STDIN_FILENO)
                                                       : open(input->name, O_RDONLY | O_CLOEXEC);

        is_fine = file >= 0 && zeta_cc_buffer_read(&contents[i], file);
        if (!is_fine)
            (void)fprintf(stderr, "%s: %s: %s\n", zeta_cc_target.program, input->name,
                          strerror(errno));
        if (file >= 0)
            (void)close(file);
        input->bytes = contents[i].bytes ? contents[i].bytes : "";
        input->size = contents[i].size;
        input->options = command->options; /* shared: freed with the command */
    }
    if (is_fine) {
        is_fine = zeta_cc_compile(&job, &result, &log) == ZETA_COMPILE_OK;
        if (log.size > 0)
            (void)fwrite(log.bytes, 1, log.size, stderr);
        is_fine = is_fine && write_result(command, &result);
    }
    for (size_t i = 0; i < command->input_count; i++)
        zeta_cc_buffer_finish(&contents[i]);
    free(contents);
    zeta_cc_buffer_finish(&result);
    zeta_cc_buffer_finish(&log);
    return is_fine ? ZETA_CC_EXIT_OK : ZETA_CC_EXIT_FAILED;
}

void zeta_cc_command_finish(struct zeta_cc_command *command)
{
    free(command->inputs);
    zeta_cc_options_finish(&command->options);
}
