/* Running the importer. */
#ifndef ZETA_TESTS_OA_OA_IMPORT_H
#define ZETA_TESTS_OA_OA_IMPORT_H

/**
 * Runs the importer on a file, with options that the shell splits, and gives what it prints; NULL
 * and its messages on stderr if it fails. Freed with free().
 */
char *oa_import(const char *path, const char *options);

/** Runs the importer where it is to fail; its exit status, or -1 if it prints something all the
 * same. */
int oa_import_fails(const char *path, const char *options);

/** The file with what the last import of this process said on stderr. */
const char *oa_import_notes(void);

#endif
