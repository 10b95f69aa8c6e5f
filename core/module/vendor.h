/*
 * Functions that vendors' drivers have beside the specification, where programs count on them. They
 * are no part of any table and no symbol of the library: zeDriverGetExtensionFunctionAddress is the
 * only way to them.
 */
#ifndef ZETA_CORE_MODULE_VENDOR_H
#define ZETA_CORE_MODULE_VENDOR_H

#include <stdbool.h>

/** Looks such a function up by name; false when there is none. */
bool zeta_vendor_function(const char *name, void **out_address);

#endif
