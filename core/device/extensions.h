/*
 * The extensions that work. Clients gate on this list, so a line is added together with what it
 * promises, and never before.
 */
#ifndef ZETA_CORE_DEVICE_EXTENSIONS_H
#define ZETA_CORE_DEVICE_EXTENSIONS_H

#include <stdbool.h>

/**
 * True if loaders may use the dispatch pointers at the start of handles: not for loaders below
 * 1.13, whose table sets had another layout.
 */
bool zeta_extensions_have_ddi_handles(void);

#endif
