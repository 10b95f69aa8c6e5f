/* Any bytes as an expression: it ends, and reads registers and memory only in the sizes there are.
 */
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta-gdbserver/packet/agent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_register(void *user, uint32_t number, uint64_t *out_value)
{
    (void)user;
    if (number > UINT16_MAX)
        abort();
    *out_value = number * UINT64_C(0x0101010101010101);
    return number < 64;
}

static bool read_memory(void *user, uint64_t address, size_t size, void *out_bytes)
{
    (void)user;
    if (size != 1 && size != 2 && size != 4 && size != 8)
        abort();
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)out_bytes)[i] = (uint8_t)(address + i);
    return address < UINT64_MAX / 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct zeta_gdb_agent_view view = {read_register, read_memory, NULL};
    uint64_t value = 7, again = 7;
    uint8_t mended[4096];
    const bool good = zeta_gdb_agent_evaluate(data, size, &view, &value);

    if (zeta_gdb_agent_evaluate(data, size, &view, &again) != good || value != again ||
        (!good && value != 7))
        abort();
    if (size > 0 && size <= sizeof(mended)) {
        memcpy(mended, data, size);
        zeta_gdb_agent_mend(mended, size);
        (void)zeta_gdb_agent_evaluate(mended, size, &view, &value);
    }
    return 0;
}
