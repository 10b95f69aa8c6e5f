/*
 * A shared object that is no plugin: it exports something else.
 */
#include "zeta/plugin.h"

int zeta_test_no_entry(void);

__attribute__((visibility("default"))) int zeta_test_no_entry(void)
{
    return 1;
}
