#ifndef ZETA_TESTS_KMD_INTERPOSE_H
#define ZETA_TESTS_KMD_INTERPOSE_H

/* For files that define functions of libc. */

/** A function that stands before libc's. */
#define KMD_EXPORT __attribute__((visibility("default")))

#endif
