/*
 * Metric sets of an XML file, read for tests: all texts as they are there. Shares nothing with the
 * importer that is tested with it.
 */
#ifndef ZETA_TESTS_OA_OA_FILE_H
#define ZETA_TESTS_OA_OA_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct oa_counter {
    char *name;
    char *equation;
    char *maximum;      /**< NULL: none */
    char *availability; /**< NULL: always */
    bool is_float;
    bool is_percent;
};

struct oa_register {
    uint32_t address;
    uint32_t value;
};

enum oa_config_type { OA_CONFIG_NOA, OA_CONFIG_OA, OA_CONFIG_FLEX, OA_CONFIG_TYPES };

struct oa_config {
    enum oa_config_type type;
    uint32_t priority;
    char *availability; /**< NULL: always */
    struct oa_register *registers;
    uint32_t register_count;
};

struct oa_set {
    char *name;
    char *uuid;
    char *format; /**< NULL: that of the platform */
    struct oa_counter *counters;
    uint32_t counter_count;
    struct oa_config *configs;
    uint32_t config_count;
};

struct oa_file {
    struct oa_set *sets;
    uint32_t set_count;
};

/** Reads a file; aborts with a message if it cannot. Freed with oa_file_free(). */
struct oa_file *oa_file_read(const char *path);
void oa_file_free(struct oa_file *file);

/** The set of that name; NULL if there is none. */
const struct oa_set *oa_file_find(const struct oa_file *file, const char *name);

/** The counter of that name among the first count; -1 if there is none. */
int oa_set_find(const struct oa_set *set, uint32_t count, const char *name);

/** Whether a counter is in every set, whatever it is for: time, clocks, the busy GPU. */
bool oa_counter_is_basic(const char *name);

#endif
