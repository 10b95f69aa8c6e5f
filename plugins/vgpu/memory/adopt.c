#include "adopt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pool.h"

static bool refuse(struct zeta_vgpu_message *out_message, const void *address, uint64_t size_bytes,
                   const char *reason)
{
    snprintf(out_message->text, sizeof(out_message->text), "%" PRIu64 " bytes at %p %s", size_bytes,
             address, reason);
    return false;
}

/* Reads the mappings of the process, in order, as far as they are needed. */
static bool scan(FILE *maps, uint64_t begin, uint64_t end, bool writable, const char **out_reason)
{
    char line[512];
    bool at_start = true;

    while (begin < end && fgets(line, sizeof(line), maps)) {
        const bool whole = strchr(line, '\n') != NULL;
        uint64_t from, to;
        char rights[5];

        if (at_start && sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, rights) == 3 &&
            to > begin) {
            if (from > begin)
                break;
            if (rights[0] != 'r' || (writable && rights[1] != 'w')) {
                *out_reason = rights[0] != 'r' ? "cannot be read"
                                               : "are read-only; ask for read-only memory "
                                                 "(ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY)";
                return false;
            }
            begin = to;
        }
        at_start = whole; /* the rest of a long line is no mapping */
    }
    *out_reason = "are not all mapped";
    return begin >= end;
}

bool zeta_vgpu_adopt_check(const void *address, uint64_t size_bytes, bool writable,
                           struct zeta_vgpu_message *out_message)
{
    const uint64_t begin = (uint64_t)(uintptr_t)address;
    const uint64_t page = zeta_vgpu_page_bytes();
    const char *reason = NULL;
    FILE *maps;
    bool good;

    if (begin % page != 0 || size_bytes == 0 || size_bytes % page != 0 ||
        begin + size_bytes < begin)
        return refuse(out_message, address, size_bytes, "are not whole pages");
    maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return refuse(out_message, address, size_bytes,
                      "cannot be checked: /proc/self/maps does not open");
    good = scan(maps, begin, begin + size_bytes, writable, &reason);
    fclose(maps);
    return good || refuse(out_message, address, size_bytes, reason);
}
