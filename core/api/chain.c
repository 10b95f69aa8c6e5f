#include "core/api/chain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/util/cleanup.h"
#include "core/util/descriptor.h"
#include "zeta_strings.h"

/** What every extensible struct begins with. */
struct node {
    uint32_t stype;
    const void *next;
};

/**
 * Copies through a pipe: write() answers EFAULT where a load would end the process.
 * Takes the place of process_vm_readv where a sandbox forbids it. size_bytes: at most 4096, which
 * a pipe takes at once.
 */
static bool copy_by_pipe(void *to, const void *from, size_t size_bytes)
{
    int ends[2];

    if (zeta_descriptor_pipe(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;

    ZETA_CLEANUP(zeta_closep) int reader = ends[0];
    ZETA_CLEANUP(zeta_closep) int writer = ends[1];

    return write(writer, from, size_bytes) == (ssize_t)size_bytes &&
           read(reader, to, size_bytes) == (ssize_t)size_bytes;
}

bool zeta_chain_copy(void *to, const void *from, size_t size_bytes)
{
    struct iovec local = {.iov_base = to, .iov_len = size_bytes};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)from, .iov_len = size_bytes};
    ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

    if (copied < 0 && errno != EFAULT)
        return copy_by_pipe(to, from, size_bytes);
    return copied == (ssize_t)size_bytes;
}

struct zeta_chain zeta_chain_begin(const void *next)
{
    return (struct zeta_chain){.next = next};
}

void *zeta_chain_next(struct zeta_chain *chain, uint32_t *out_stype)
{
    const void *address = chain->next;
    struct node node;

    chain->next = NULL;
    if (!address || chain->visited == ZETA_CHAIN_LIMIT)
        return NULL;
    if ((uintptr_t)address % alignof(struct node) != 0)
        return NULL;
    if (!zeta_chain_copy(&node, address, sizeof(node)) || !zeta_stype_defined(node.stype))
        return NULL;

    chain->visited++;
    chain->next = node.next;
    *out_stype = node.stype;
    return (void *)(uintptr_t)address;
}

void *zeta_chain_find(const void *next, uint32_t stype, size_t size_bytes)
{
    struct zeta_chain chain = zeta_chain_begin(next);
    uint32_t found;
    void *node;

    while ((node = zeta_chain_next(&chain, &found)) != NULL) {
        if (found == stype && zeta_chain_readable(node, size_bytes))
            return node;
    }
    return NULL;
}

bool zeta_chain_readable(const void *address, size_t size_bytes)
{
    char copy[4096];
    const char *from = address;

    while (size_bytes > 0) {
        size_t part = size_bytes < sizeof(copy) ? size_bytes : sizeof(copy);

        if (!zeta_chain_copy(copy, from, part))
            return false;
        from += part;
        size_bytes -= part;
    }
    return true;
}
