#include "sdk/tools/zeta/output/text.h"

#include <langinfo.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEFAULT_COLUMNS = 80 };

unsigned zeta_terminal_columns(FILE *stream)
{
    struct winsize size = {0};
    const int fd = fileno(stream);

    if (isatty(fd) != 1)
        return 0;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return DEFAULT_COLUMNS;
    return size.ws_col;
}

bool zeta_terminal_has_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void zeta_terminal_write_folded(FILE *stream, const char *text, unsigned indent, unsigned columns)
{
    size_t used = 0;

    while (*text) {
        const size_t length = strcspn(text, " \n");

        if (used > 0 && columns > 0 && used + 1 + length > columns) {
            (void)fputc('\n', stream);
            used = 0;
        }
        if (used == 0) {
            (void)fprintf(stream, "%*s", (int)indent, "");
            used = indent;
        } else {
            (void)fputc(' ', stream);
            used++;
        }
        (void)fprintf(stream, "%.*s", (int)length, text);
        used += length;
        text += length;
        text += strspn(text, " \n");
    }
    (void)fputc('\n', stream);
}

/* Bytes of the character at the start of a text; 0 if it is none, or is a control character. */
static size_t character(const unsigned char *text, size_t size)
{
    static const struct {
        unsigned char mask, head;
        uint32_t least; /* shorter forms are not allowed */
    } forms[] = {{0xe0, 0xc0, 0xa0}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

    if (text[0] < 0x80)
        return text[0] >= 0x20 && text[0] != 0x7f;
    for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
        uint32_t code = text[0] & (unsigned)(~forms[f].mask & 0xff);
        size_t at = 1;

        if ((text[0] & forms[f].mask) != forms[f].head)
            continue;
        for (; at < f + 2 && at < size && (text[at] & 0xc0) == 0x80; at++)
            code = code << 6 | (text[at] & 0x3f);
        if (at < f + 2 || code < forms[f].least || code > 0x10ffff ||
            (code >= 0xd800 && code < 0xe000) || code == 0x2028 || code == 0x2029)
            return 0;
        return at;
    }
    return 0;
}

void zeta_text_clean(char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        const size_t bytes = character((const unsigned char *)text + at, size - at);

        if (bytes == 0)
            text[at] = '?';
        at += bytes > 0 ? bytes : 1;
    }
}

void zeta_text_write_csv(FILE *file, const char *text)
{
    const bool is_formula = text[0] != '\0' && strchr("=+-@\t\r", text[0]);
    const bool is_quoted = strpbrk(text, ",\"\r\n") != NULL;

    if (is_quoted)
        (void)fputc('"', file);
    if (is_formula)
        (void)fputc('\'', file);
    for (; *text; text++) {
        if (*text == '"')
            (void)fputc('"', file);
        (void)fputc(*text, file);
    }
    if (is_quoted)
        (void)fputc('"', file);
}
