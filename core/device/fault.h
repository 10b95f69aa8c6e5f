/*
 * The sentence about the last loss of a device; only for device.c and driver.c.
 */
#ifndef ZETA_CORE_DEVICE_FAULT_H
#define ZETA_CORE_DEVICE_FAULT_H

#include <pthread.h>

struct zeta_device_fault {
    pthread_mutex_t lock;
    char sentence[512];
};

#endif
