/*
 * Walking the pNext chain of a struct that an application passed.
 *
 * Many programs leave pNext as it was on their stack, so its value cannot be trusted: each node is
 * probed before it is read (one system call per node, none when pNext is null). The walk ends at
 * null, at the first node that is misaligned or unreadable or has a structure type that the
 * specification does not define, and after ZETA_CHAIN_LIMIT nodes. A node with a defined type that
 * the caller does not handle is simply skipped by asking for the next one.
 *
 * Only for structs for which the model lists an extension; for all others pNext is not touched.
 *
 *     struct zeta_chain chain = zeta_chain_begin(properties->pNext);
 *     uint32_t stype;
 *     void *node;
 *
 *     while ((node = zeta_chain_next(&chain, &stype)) != NULL) {
 *         if (stype == ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT &&
 *             zeta_chain_readable(node, sizeof(ze_device_ip_version_ext_t)))
 *             ...
 *     }
 */
#ifndef ZETA_CORE_API_CHAIN_H
#define ZETA_CORE_API_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Most nodes that a walk visits, so that a chain that bites its tail ends. */
#define ZETA_CHAIN_LIMIT 64

/** A walk in progress. */
struct zeta_chain {
    const void *next;
    unsigned visited;
};

/** Starts a walk at the value of a pNext member, whatever it is. */
struct zeta_chain zeta_chain_begin(const void *next);

/**
 * The next node, null at the end. out_stype: its structure type.
 * Of the node only stype and pNext are known to be readable; before more is read or written
 * zeta_chain_readable tells whether the whole struct is there. Any thread.
 */
void *zeta_chain_next(struct zeta_chain *chain, uint32_t *out_stype);

/** The first node of one structure type that is readable as a whole, null if there is none. */
void *zeta_chain_find(const void *next, uint32_t stype, size_t size_bytes);

/**
 * Copies memory that may not be there; false, with undefined contents of the copy, if any byte of
 * it is not. size_bytes: at most 4096. One system call, which leaves errno as it likes.
 */
bool zeta_chain_copy(void *to, const void *from, size_t size_bytes);

/** True if size_bytes can be read from address. One system call for each 4096 bytes begun. */
bool zeta_chain_readable(const void *address, size_t size_bytes);

#endif
