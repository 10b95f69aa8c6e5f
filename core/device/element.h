/*
 * Elements of the arrays in a plugin's properties.
 */
#ifndef ZETA_CORE_DEVICE_ELEMENT_H
#define ZETA_CORE_DEVICE_ELEMENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <zeta/plugin.h>

/** Copies an element, whose stride may be smaller than our struct; the rest is zero. */
static inline void zeta_element_read(const struct zeta_plugin_array *array, uint64_t index,
                                     void *out, size_t out_bytes)
{
    size_t known = array->stride < out_bytes ? (size_t)array->stride : out_bytes;

    memset(out, 0, out_bytes);
    memcpy(out, (const char *)array->data + index * array->stride, known);
}

#endif
