/* Without libdw: no lines are found. */
#include "sdk/tools/zeta/profile/profile.h"

#include <stddef.h>

bool zeta_code_lines_work(void)
{
    return false;
}

struct zeta_code_lines *zeta_code_lines_open(const char *path, uint64_t begin)
{
    (void)path;
    (void)begin;
    return NULL;
}

void zeta_code_lines_close(struct zeta_code_lines *lines)
{
    (void)lines;
}

void zeta_code_lines_find(struct zeta_code_lines *lines, uint64_t address,
                          struct zeta_code_place *out_place)
{
    (void)lines;
    (void)address;
    *out_place = (struct zeta_code_place){0};
}

bool zeta_code_lines_has_lines(const struct zeta_code_lines *lines)
{
    (void)lines;
    return false;
}
