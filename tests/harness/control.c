#include "tests/harness/control.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

const void *harness_control(const char *table)
{
    /* libzeta opened it under this path; only look, so that a wrong path is noticed. */
    void *library = dlopen(SCRIPTED_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    const void *control = library ? dlsym(library, table) : NULL;

    if (!control) {
        (void)fprintf(stderr, "the scripted device %s is not loaded\n", SCRIPTED_LIBRARY);
        exit(1);
    }
    return control;
}
