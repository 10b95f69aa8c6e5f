/* Devices that the sets of a file are for, as fused in several ways, with the numbers of each. */
#ifndef ZETA_TESTS_OA_OA_DEVICE_H
#define ZETA_TESTS_OA_OA_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/oa/oa_report.h"

#define OA_SLICES 8u
#define OA_VARIANTS 5u

/** One way in which a platform is fused: a mask of subslices for each slice. */
struct oa_fusing {
    uint8_t subslices[OA_SLICES];
};

struct oa_platform {
    const char *file; /**< name of the XML file without oa- and .xml */
    const struct oa_format *format;
    uint64_t timestamp_hz;
    uint32_t eus; /**< per subslice */
    uint32_t threads;
    uint32_t mask_stride; /**< bits of a slice in the mask of all subslices */
    struct oa_fusing fusings[OA_VARIANTS];
};

struct oa_device {
    const struct oa_platform *platform;
    const struct oa_fusing *fusing;
};

/** The platform that a file is for; NULL if it is unknown. */
const struct oa_platform *oa_platform_find(const char *file);

/** Whether the platform has that fusing; the first always exists. */
bool oa_platform_has(const struct oa_platform *platform, uint32_t variant);

/** A number by the name that equations use; false if there is none of that name. */
bool oa_device_symbol(const struct oa_device *device, const char *name, uint64_t *out_value);

#endif
