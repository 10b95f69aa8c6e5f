/* What the plugin reads from the pipe of its compiler, and from files of the cache. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/lib/compiler/compiler_priv.h"
#include <zeta/compiler/protocol.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *why = NULL;
    struct zeta_compile_answer head;

    switch (zeta_compiler_answer(data, size, &why)) {
    case ZETA_COMPILER_ANSWER_WHOLE:
        /* Whoever takes it reads log and image without another look. */
        memcpy(&head, data, sizeof(head));
        if (size < sizeof(head) || head.log_bytes + head.image_bytes != size - sizeof(head))
            abort();
        break;
    case ZETA_COMPILER_ANSWER_WRONG:
        if (!why)
            abort();
        break;
    default:
        break;
    }
    return 0;
}
