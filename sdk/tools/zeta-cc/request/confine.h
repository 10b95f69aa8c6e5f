/*
 * What a compiler may not do while it serves a plugin: modules come from anywhere, and translators
 * have mistakes.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_CC_REQUEST_CONFINE_H
#define ZETA_SDK_TOOLS_ZETA_CC_REQUEST_CONFINE_H

#include <stdbool.h>

/**
 * Takes from this process and all that it starts, for good: sockets, so there is no network, and
 * programs that get more rights than their caller. False where the kernel lacks what it takes
 * (seccomp); the process goes on then.
 */
bool zeta_cc_confine(void);

#endif
