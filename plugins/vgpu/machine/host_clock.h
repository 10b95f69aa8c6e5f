#ifndef ZETA_PLUGINS_VGPU_MACHINE_HOST_CLOCK_H
#define ZETA_PLUGINS_VGPU_MACHINE_HOST_CLOCK_H

/*
 * The host's clock as all parts of the device and all of its processes read it: CLOCK_MONOTONIC in
 * nanoseconds.
 */

#include <stdint.h>

uint64_t zeta_vgpu_now_ns(void);

/**
 * Waits until then, to within some microseconds on a free processor. A signal may end it early. The
 * calling thread can be the application's: what is changed of it meanwhile is put back.
 */
void zeta_vgpu_sleep_until(uint64_t until_ns);

#endif
