/* Files of programs, as zeta doctor reads how they are linked: any bytes give an answer.
 * Rule 20.17. */
#include <stdlib.h>

#include "sdk/tools/zeta/doctor/doctor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (zeta_doctor_read_link(data, size) > ZETA_DOCTOR_LINK_FOREIGN)
        abort();
    return 0;
}
