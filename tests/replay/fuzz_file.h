/* What both fuzz targets do with a file: load it, write its sets, and play everything in it. */
#ifndef ZETA_TESTS_REPLAY_FUZZ_FILE_H
#define ZETA_TESTS_REPLAY_FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>

/** Path of a file for this process, which is made and removed at the end of the process. */
const char *fuzz_path(void);

/** Loads the file of fuzz_path() and uses all that is in it. Aborts when something is not right. */
void fuzz_play(void);

#endif
