/* The first and the last line of a trace: what is known of the process, and what was lost. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <zeta/clock.h>

#include "core/trace/file.h"
#include "core/trace/text.h"
#include "core/util/cleanup.h"
#include "core/util/descriptor.h"

#define COMMAND_BYTES 512

/* The number is padded with blanks, and first, so that its place is always the same. */
#define LOST_START "[\n{\"ph\":\"M\",\"name\":\"zeta_trace\",\"args\":{\"lost\":"
#define LOST_AT (sizeof(LOST_START) - 1)
#define LOST_DIGITS 20

static void begin_metadata(struct zeta_trace_text *text, const char *name)
{
    zeta_trace_text_put(text, "{\"ph\":\"M\",\"name\":\"");
    zeta_trace_text_put(text, name);
    zeta_trace_text_put(text, "\",\"pid\":");
    zeta_trace_text_unsigned(text, (uint64_t)getpid());
    zeta_trace_text_put(text, ",\"tid\":");
    zeta_trace_text_unsigned(text, (uint64_t)getpid());
}

/* Words of the command line, with blanks between them. */
static void add_command(struct zeta_trace_text *text)
{
    ZETA_CLEANUP(zeta_closep)
    int fd = zeta_descriptor_raise(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
    char command[COMMAND_BYTES];
    ssize_t bytes = fd >= 0 ? read(fd, command, sizeof(command)) : 0;

    while (bytes > 0 && command[bytes - 1] == '\0')
        bytes--;
    for (ssize_t i = 0; i < bytes; i++) {
        if (command[i] == '\0')
            command[i] = ' ';
    }
    zeta_trace_text_string(text, command, bytes > 0 ? (size_t)bytes : 0);
}

static void add_clock(struct zeta_trace_text *text, const char *name, clockid_t clock)
{
    zeta_trace_text_put(text, ",\"");
    zeta_trace_text_put(text, name);
    zeta_trace_text_put(text, "\":\"");
    zeta_trace_text_unsigned(text, zeta_clock_ns(clock));
    zeta_trace_text_put(text, "\"");
}

void zeta_trace_head_write(char *head)
{
    struct zeta_trace_text text = {.data = head, .size_bytes = ZETA_TRACE_HEAD_BYTES - 1};
    const char *name = program_invocation_short_name;

    zeta_trace_text_put(&text, LOST_START "                   0,\"command\":");
    add_command(&text);
    add_clock(&text, "monotonic_ns", CLOCK_MONOTONIC);
    add_clock(&text, "boottime_ns", CLOCK_BOOTTIME);
    add_clock(&text, "realtime_ns", CLOCK_REALTIME);
    zeta_trace_text_put(&text, "},\"pid\":");
    zeta_trace_text_unsigned(&text, (uint64_t)getpid());
    zeta_trace_text_put(&text, ",\"tid\":");
    zeta_trace_text_unsigned(&text, (uint64_t)getpid());
    zeta_trace_text_put(&text, "},\n");
    begin_metadata(&text, "process_name");
    zeta_trace_text_put(&text, ",\"args\":{\"name\":");
    zeta_trace_text_string(&text, name, strnlen(name, 128));
    zeta_trace_text_put(&text, "}},\n");
}

void zeta_trace_head_count(char *head, uint64_t lost)
{
    char digits[LOST_DIGITS];

    for (size_t i = LOST_DIGITS; i-- > 0; lost /= 10)
        digits[i] = lost > 0 || i == LOST_DIGITS - 1 ? (char)('0' + lost % 10) : ' ';
    memcpy(head + LOST_AT, digits, LOST_DIGITS);
}

size_t zeta_trace_tail_make(uint64_t lost, char tail[ZETA_TRACE_TAIL_BYTES])
{
    struct zeta_trace_text text = {.data = tail, .size_bytes = ZETA_TRACE_TAIL_BYTES};

    if (lost > 0) {
        zeta_trace_text_put(&text, "{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"zeta\",\"name\":\"");
        zeta_trace_text_unsigned(&text, lost);
        zeta_trace_text_put(&text, " records lost\",\"pid\":");
        zeta_trace_text_unsigned(&text, (uint64_t)getpid());
        zeta_trace_text_put(&text, ",\"tid\":");
        zeta_trace_text_unsigned(&text, (uint64_t)getpid());
        zeta_trace_text_put(&text, ",\"ts\":");
        zeta_trace_text_time(&text, zeta_monotonic_ns());
        zeta_trace_text_put(&text, "},\n");
    }
    begin_metadata(&text, "zeta_trace_end");
    zeta_trace_text_put(&text, ",\"args\":{\"lost\":");
    zeta_trace_text_number(&text, lost);
    zeta_trace_text_put(&text, "}}\n]\n");
    return text.used_bytes;
}
