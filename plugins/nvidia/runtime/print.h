#ifndef ZETA_PLUGINS_NVIDIA_RUNTIME_PRINT_H
#define ZETA_PLUGINS_NVIDIA_RUNTIME_PRINT_H

/* printf of kernels (print.c), for the device, and for tests that compile it for the host. */

/**
 * The address of the buffer of the launch (struct zeta_print_buffer); 0: none. On the device an
 * argument of the kernel, by which zeta-nv-cc replaces the call.
 */
__attribute__((pure)) unsigned long __zeta_print_buffer(void);

/**
 * printf, with one slot of 8 bytes for each value (zeta/kernel_print.h). Many may call it at the
 * same time. 0, or -1 if it is lost.
 */
int __zeta_printf(unsigned long format, unsigned long slots, unsigned long count);

#endif
