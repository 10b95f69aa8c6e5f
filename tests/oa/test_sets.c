/* One file of the shared material. usage: test_sets DIRECTORY/oa-NAME.xml Rule 14.14. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/oa/oa_sets.h"

int main(int argc, char **argv)
{
    char path[1024];
    const char *shared = getenv("ZETA_SHARED");

    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s DIRECTORY/oa-NAME.xml\n", argv[0]);
        return 1;
    }
    (void)snprintf(path, sizeof(path), "%s/oa/%s", shared ? shared : "", argv[1]);
    if (!shared || access(path, R_OK) != 0) {
        (void)printf("skipped: %s is not there; ZETA_SHARED names the folder with oa/\n", path);
        return 77;
    }
    return oa_sets_run(path);
}
