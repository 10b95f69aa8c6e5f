/*
 * Whether a file may be used by a process that has more rights than who could have written it.
 */
#ifndef ZETA_CORE_UTIL_TRUST_H
#define ZETA_CORE_UTIL_TRUST_H

#include <stdbool.h>
#include <stddef.h>

/** How careful this process has to be. */
enum zeta_trust {
    ZETA_TRUST_USER, /**< an ordinary process: whatever the user can read */
    /** root without special file rights: nothing that everybody can write */
    ZETA_TRUST_ROOT,
    /** rights came from the program's file (AT_SECURE): owner and mode of everything are checked */
    ZETA_TRUST_PRIVILEGED
};

/** The level of this process. Any thread. */
enum zeta_trust zeta_trust_level(void);

/** For tests: the level that zeta_trust_level() answers from now on; -1 for the real one. */
void zeta_trust_pretend(int level);

/**
 * Checks an open file or directory, and every directory above the place where it really is (links
 * resolved), so that what was checked is what the descriptor reads.
 *
 * @named  the path was named by who runs the process: root then accepts any owner
 * @reason receives a sentence part on refusal: "/tmp/x is writable by everybody"
 *
 * A directory with the sticky bit may be writable, since nobody can replace what others own there.
 * Any thread.
 */
bool zeta_trust_check(int fd, enum zeta_trust level, bool named, char *reason, size_t reason_bytes);

#endif
