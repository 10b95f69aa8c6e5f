/*
 * Log lines.
 *
 * The choice of levels is an immutable record behind one atomic pointer, so that asking for a level
 * takes no lock and a forked child finds nothing half-done. A line is one write(), so lines of
 * several threads do not mix.
 */
#include "core/util/log.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/c_locale.h>

#include "core/util/descriptor.h"
#include "core/util/hash.h"

#define TOPICS_MAX 16
#define TOPIC_BYTES 16
#define LINE_BYTES 4096
#define ONCE_MAX 512

struct topic {
    char name[TOPIC_BYTES];
    enum zeta_log_level level;
};

struct choice {
    enum zeta_log_level level; /* of topics that are not listed */
    enum zeta_log_level most;  /* the most talkative of all, for a quick no */
    size_t topic_count;
    struct topic topics[TOPICS_MAX];
    int fd;
    struct choice *previous; /* replaced choices stay: a thread may still read them */
};

static struct choice initial = {.level = ZETA_LOG_WARN, .most = ZETA_LOG_WARN, .fd = STDERR_FILENO};
static _Atomic(struct choice *) current = &initial;

/* Hashes of lines that are written once; 0: free. */
static _Atomic uint64_t written_once[ONCE_MAX];

static const char *const level_names[ZETA_LOG_LEVEL_COUNT] = {"error", "warn", "info", "debug",
                                                              "trace"};

static bool level_from_name(const char *name, size_t length, enum zeta_log_level *out_level)
{
    for (size_t i = 0; i < ZETA_LOG_LEVEL_COUNT; i++) {
        if (strlen(level_names[i]) == length && strncmp(level_names[i], name, length) == 0) {
            *out_level = (enum zeta_log_level)i;
            return true;
        }
    }
    return false;
}

/* One part of the list: "level" or "topic=level". False if it is neither. */
static bool add_part(struct choice *choice, const char *part, size_t length)
{
    const char *equals = memchr(part, '=', length);
    enum zeta_log_level level;
    size_t name_length;

    if (!equals)
        return level_from_name(part, length, &choice->level);
    name_length = (size_t)(equals - part);
    if (!level_from_name(equals + 1, length - name_length - 1, &level) ||
        choice->topic_count == TOPICS_MAX || name_length == 0 || name_length >= TOPIC_BYTES)
        return false;
    memcpy(choice->topics[choice->topic_count].name, part, name_length);
    choice->topics[choice->topic_count++].level = level;
    return true;
}

static void parse_levels(struct choice *choice, const char *levels)
{
    while (*levels) {
        size_t length = strcspn(levels, ", ");

        if (length > 0 && !add_part(choice, levels, length))
            zeta_log(ZETA_LOG_WARN, "settings",
                     "\"%.*s\" is not a log level; write error, warn, info, debug or trace, or "
                     "topic=level.",
                     (int)length, levels);
        levels += length;
        if (*levels)
            levels++;
    }
    choice->most = choice->level;
    for (size_t i = 0; i < choice->topic_count; i++) {
        if (choice->topics[i].level > choice->most)
            choice->most = choice->topics[i].level;
    }
}

/* A file or a terminal; -1 with errno. A pipe could keep the program waiting, or end it. */
static int open_file(const char *path)
{
    const int fd = zeta_descriptor_raise(
        open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
    struct stat status;

    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && (S_ISREG(status.st_mode) || S_ISCHR(status.st_mode)) &&
        fcntl(fd, F_SETFL, O_APPEND) == 0)
        return fd;
    (void)close(fd);
    errno = EINVAL;
    return -1;
}

void zeta_log_configure(const char *levels, const char *file)
{
    struct choice *choice = calloc(1, sizeof(*choice));

    if (!choice)
        return; /* the choice so far goes on */
    choice->level = ZETA_LOG_WARN;
    choice->fd = STDERR_FILENO;
    parse_levels(choice, levels);
    if (*file) {
        choice->fd = open_file(file);
        if (choice->fd < 0) {
            choice->fd = STDERR_FILENO;
            zeta_log(
                ZETA_LOG_WARN, "settings",
                "The log file %s cannot be written (%s); messages go to standard error. Name a "
                "file or a terminal, no pipe.",
                file, strerrordesc_np(errno));
        }
    }
    choice->previous = atomic_load_explicit(&current, memory_order_relaxed);
    atomic_store_explicit(&current, choice, memory_order_release);
}

void zeta_log_reset(void)
{
    struct choice *choice = atomic_exchange(&current, &initial);

    for (size_t i = 0; i < ONCE_MAX; i++)
        atomic_store(&written_once[i], 0);
    while (choice != &initial) {
        struct choice *previous = choice->previous;

        if (choice->fd != STDERR_FILENO)
            (void)close(choice->fd);
        free(choice);
        choice = previous;
    }
}

static bool choice_has(const struct choice *choice, enum zeta_log_level level, const char *topic)
{
    if (level > choice->most)
        return false;
    for (size_t i = 0; i < choice->topic_count; i++) {
        if (strcmp(choice->topics[i].name, topic) == 0)
            return level <= choice->topics[i].level;
    }
    return level <= choice->level;
}

bool zeta_log_enabled(enum zeta_log_level level, const char *topic)
{
    return choice_has(atomic_load_explicit(&current, memory_order_acquire), level, topic);
}

/* Plugins and files can put anything into a message; terminals obey control characters. */
static void replace_controls(char *text)
{
    for (; *text; text++) {
        if (iscntrl((unsigned char)*text))
            *text = ' ';
    }
}

/* True for the first caller with a text; false also when too many texts are known. */
static bool is_new(const char *text)
{
    const uint64_t hash = zeta_hash(ZETA_HASH_START, text, strlen(text)) | 1; /* never 0 */

    for (size_t i = 0; i < ONCE_MAX; i++) {
        uint64_t found = 0;

        if (atomic_compare_exchange_strong(&written_once[(hash + i) % ONCE_MAX], &found, hash))
            return true;
        if (found == hash)
            return false;
    }
    return false;
}

ZETA_C_FORMAT(4, 0)
static void write_line(enum zeta_log_level level, const char *topic, bool once, const char *format,
                       va_list arguments)
{
    const struct choice *choice = atomic_load_explicit(&current, memory_order_acquire);
    char line[LINE_BYTES];
    int saved = errno;
    size_t prefix;
    size_t length;
    ssize_t written;

    if (!choice_has(choice, level, topic))
        return;
    prefix = (size_t)snprintf(line, sizeof(line), "zeta: %s: %.40s: ", level_names[level], topic);
    (void)zeta_c_vsnprintf(line + prefix, sizeof(line) - prefix, format, arguments);
    replace_controls(line + prefix);
    if (once && !is_new(line))
        return;
    length = strlen(line);
    if (length == sizeof(line) - 1) {
        length--;
        memset(line + length - 3, '.', 3); /* the text was cut */
    }
    line[length] = '\n';
    written = write(choice->fd, line, length + 1);
    (void)written; /* a failure could be reported nowhere */
    errno = saved;
}

void zeta_log(enum zeta_log_level level, const char *topic, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    write_line(level, topic, false, format, arguments);
    va_end(arguments);
}

void zeta_log_once(enum zeta_log_level level, const char *topic, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    write_line(level, topic, true, format, arguments);
    va_end(arguments);
}
