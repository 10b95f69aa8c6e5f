#ifndef ZETA_PLUGINS_VGPU_MACHINE_MESSAGE_H
#define ZETA_PLUGINS_VGPU_MACHINE_MESSAGE_H

#include <stdbool.h>

/** Room for one sentence that explains a failure; always terminated. */
struct zeta_vgpu_message {
    char text[512];
};

/** Writes the reason of a refusal, which it is: false. @message may be NULL. */
bool zeta_vgpu_reject(struct zeta_vgpu_message *message, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
