/* The data of the Intel plugin as its files have it: generations, platforms, set files. */
#ifndef ZETA_TESTS_INTEL_DATA_DATA_H
#define ZETA_TESTS_INTEL_DATA_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "core/formula/sets/set.h"
#include "core/plugin/manifest.h"
#include "zeta/plugin.h"
#include <zeta/intel_gpu.h>

/** One manifest and the platforms beside it. */
struct data_generation {
    char name[32]; /**< "gen9" of 20-intel-gen9.yaml */
    struct zeta_manifest manifest;
    struct zeta_intel_platforms platforms;
};

/** All generations, by name. Ends the test with the first finding of a file. */
struct data_generation *data_read(uint32_t *out_count);
void data_free(struct data_generation *generations, uint32_t count);

/** All generations while a group of cases runs, and what reads and frees them, for cmocka. */
extern struct data_all {
    struct data_generation *generations;
    uint32_t count;
} data_all;
int data_all_read(void **state);
int data_all_free(void **state);

/**
 * All set files of a platform as one linked catalog: those of the manifest, then its own. Ends the
 * test with the first finding, also a warning.
 */
struct zeta_catalog *data_catalog(const struct data_generation *generation,
                                  const struct zeta_intel_platform *platform);

/** The same as the library reads them: sets are linked when they are compiled. */
struct zeta_catalog *data_catalog_deferred(const struct data_generation *generation,
                                           const struct zeta_intel_platform *platform);

/** The same, not linked yet: further files can be added. defers as of zeta_catalog_defer(). */
struct zeta_catalog *data_catalog_open(const struct data_generation *generation,
                                       const struct zeta_intel_platform *platform, bool defers);

/** The same as data_catalog() for the platform of a PCI id, of whatever generation. */
struct zeta_catalog *data_device_catalog(uint32_t device_id);

/**
 * The fields of a layout as the core describes them to makers of queries; names are the layout's.
 * Freed with free().
 */
struct zeta_plugin_query_field *data_query_fields(const struct zeta_layout *layout,
                                                  uint32_t *out_count);

/**
 * Name of the XML file with the platform's sets, without oa- and .xml: "sklgt2" of skl-gt2.yaml.
 */
void data_xml_name(const struct zeta_intel_platform *platform, char *out_name, uint32_t bytes);

#endif
