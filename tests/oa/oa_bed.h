/*
 * The file that is tested, what the importer made of it, and its sets on each device: equations of
 * the XML beside the compiled set. One file per process.
 */
#ifndef ZETA_TESTS_OA_OA_BED_H
#define ZETA_TESTS_OA_OA_BED_H

#include "core/formula/compile/compile.h"
#include "tests/oa/oa_device.h"
#include "tests/oa/oa_file.h"
#include "tests/oa/oa_rpn.h"

#define OA_MAX_COUNTERS 128u

/** What the tests share. */
struct oa_tested {
    const char *path;
    char name[32]; /**< of the platform */
    struct oa_file *file;
    const struct oa_platform *platform;
    char *text; /**< that the importer printed */
    struct zeta_catalog *catalog;
    bool shipped; /**< the catalog is the plugin's: sets are found by uuid */
};

extern struct oa_tested oa_tested;

/** A set of the file with its equations for one device. */
struct oa_bed {
    struct oa_device device;
    const struct oa_set *set;
    const struct oa_format *format;
    const struct zeta_set *imported;
    struct zeta_compiled *compiled;
    struct zeta_compiled *query; /**< its query form */
    uint32_t count;              /**< of the counters that exist on the device */
    uint32_t counters[OA_MAX_COUNTERS];
    struct oa_equation value[OA_MAX_COUNTERS];
    struct oa_equation maximum[OA_MAX_COUNTERS]; /**< without steps: there is none */
};

/** Takes .../oa-NAME.xml for what is tested; false if there is no such platform. */
bool oa_tested_choose(const char *path);

/** Reads the file, imports it and loads what comes out; for cmocka, as the next one. */
int oa_tested_prepare(void **state);
int oa_tested_finish(void **state);

/** Calls a test for each set on each device; gives the number of calls. */
uint32_t oa_for_each_bed(void (*test)(struct oa_bed *bed));

/** The number behind $Name on a struct oa_device, for oa_equation_make(). Ends the test: unknown.
 */
uint64_t oa_need_symbol(const void *device, const char *name);

/** Whether an availability of the XML (NULL: always) is true on a device. */
bool oa_holds(const char *availability, const struct oa_set *set, const struct oa_device *device);

/** Whether a product is divided with 128 bits in between, by the metric or by what it refers to. */
bool oa_has_wide_product(const struct zeta_set *set, const struct zeta_expr *expr);

/**
 * Calculates values (out_columns[0]) and maxima (out_columns[1]) of records, which give so many
 * rows. Each is freed with free().
 */
void oa_calculate(const struct zeta_compiled *compiled, const void *raw, size_t raw_bytes,
                  uint32_t rows, zet_typed_value_t **out_columns);

/** Compares one row with the XML: values[0] are those of the metrics, values[1] the maxima. */
void oa_compare_row(const struct oa_bed *bed, uint32_t number, const struct oa_row *row,
                    zet_typed_value_t *const *values);

/** Calculates so many reports of a set, and has each row checked. */
void oa_each_row(const struct oa_bed *bed, const unsigned char *reports, uint32_t count,
                 void (*check)(const struct oa_bed *bed, uint32_t number, const struct oa_row *row,
                               zet_typed_value_t *const *values));

/** The compiled set's program has the registers of the XML, in their order. */
void oa_check_program(struct oa_bed *bed);

/** Makes the report ids of neighbours different: equal ones would be a repetition. */
void oa_number_reports(unsigned char *reports, uint32_t count, uint32_t bytes);

/** A number of any magnitude up to so many bits. */
uint64_t oa_random_step(uint64_t *seed, uint32_t bits);

/** Reports in which every counter moves on by steps of its own, below 2^bits, and wraps. */
void oa_make_advancing(const struct oa_format *format, uint64_t *seed, uint32_t bits,
                       unsigned char *reports, uint32_t count);

#endif
