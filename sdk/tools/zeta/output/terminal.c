#include "sdk/tools/zeta/output/terminal.h"

#include <langinfo.h>
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
