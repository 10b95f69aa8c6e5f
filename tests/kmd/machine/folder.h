#ifndef ZETA_TESTS_KMD_FOLDER_H
#define ZETA_TESTS_KMD_FOLDER_H

/*
 * Where machines are: a folder for each, named by the process that made it, so that what a killed
 * process left can be told from what is in use.
 */

#include <stdbool.h>
#include <stddef.h>

/** Makes a folder for a machine of this process. False after a message on stderr. */
bool kmd_folder_make(char *out_path, size_t bytes);
/** Removes a folder with all that it holds. */
void kmd_folder_remove(const char *path);
/** Removes the folders of processes that have ended. */
void kmd_folder_sweep(void);

#endif
