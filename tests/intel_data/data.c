#include "tests/intel_data/data.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <zeta/yaml.h>

#include "core/formula/programmables/recipe_set.h"

#define FOLDER ZETA_SOURCE_DIR "/plugins/intel"
#define MANIFESTS ZETA_DATA_DIR "/plugins.d/"
#define PREFIX "20-intel-"

/* Findings end the test with their text. */
static void stop(void *context, const struct zeta_diagnostic *diagnostic)
{
    char text[ZETA_DIAGNOSTIC_BYTES];

    (void)context;
    zeta_diagnostic_print(diagnostic, text, sizeof(text));
    fail_msg("%s", text);
}

static void read_manifest(const char *path, struct zeta_manifest *out_manifest)
{
    struct zeta_diagnostics sink = {.report = stop};
    struct zeta_yaml_error error;
    struct zeta_yaml_document *document = zeta_yaml_read_file(path, NULL, &error);

    assert_non_null(document);
    assert_int_equal(zeta_manifest_read(document, &sink, out_manifest), ZETA_MANIFEST_GOOD);
    zeta_yaml_free(document);
}

static void read_generation(const char *path, struct data_generation *out_generation)
{
    char platforms[512], problem[512];
    const char *name = strstr(path, PREFIX) + strlen(PREFIX);

    (void)snprintf(out_generation->name, sizeof(out_generation->name), "%.*s",
                   (int)(strlen(name) - strlen(".yaml")), name);
    read_manifest(path, &out_generation->manifest);
    (void)snprintf(platforms, sizeof(platforms), FOLDER "/data/%s/platforms.yaml",
                   out_generation->name);
    if (!zeta_intel_platforms_read(platforms, &out_generation->platforms, problem, sizeof(problem)))
        fail_msg("%s", problem);
}

struct data_generation *data_read(uint32_t *out_count)
{
    struct data_generation *generations;
    glob_t found;

    assert_int_equal(glob(MANIFESTS PREFIX "*.yaml", 0, NULL, &found), 0);
    generations = calloc(found.gl_pathc, sizeof(*generations));
    assert_non_null(generations);
    for (size_t i = 0; i < found.gl_pathc; i++)
        read_generation(found.gl_pathv[i], &generations[i]);
    *out_count = (uint32_t)found.gl_pathc;
    globfree(&found);
    return generations;
}

void data_free(struct data_generation *generations, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        zeta_manifest_finish(&generations[i].manifest);
        zeta_intel_platforms_free(&generations[i].platforms);
    }
    free(generations);
}

struct data_all data_all;

int data_all_read(void **state)
{
    (void)state;
    data_all.generations = data_read(&data_all.count);
    return 0;
}

int data_all_free(void **state)
{
    (void)state;
    data_free(data_all.generations, data_all.count);
    data_all = (struct data_all){NULL, 0};
    return 0;
}

static void add_file(struct zeta_catalog *catalog, const char *folder, const char *name,
                     struct zeta_diagnostics *sink)
{
    char path[512];

    /* Installed, what generations share lies in a folder of its own. */
    if (strncmp(name, "intel/", 6) == 0) {
        folder = "common";
        name += 6;
    }
    (void)snprintf(path, sizeof(path), FOLDER "/data/%s/%s", folder, name);
    assert_int_equal(zeta_catalog_add_file(catalog, path, sink), ZE_RESULT_SUCCESS);
}

struct zeta_catalog *data_catalog_open(const struct data_generation *generation,
                                       const struct zeta_intel_platform *platform, bool defers)
{
    struct zeta_diagnostics sink = {.report = stop};
    struct zeta_catalog *catalog = zeta_catalog_create();

    assert_non_null(catalog);
    zeta_catalog_defer(catalog, defers);
    for (size_t i = 0; i < generation->manifest.metrics.count; i++) {
        const char *name = generation->manifest.metrics.items[i];

        assert_memory_equal(name, "intel/", 6);
        add_file(catalog, "common", name, &sink);
    }
    for (uint32_t i = 0; i < platform->set_count; i++)
        add_file(catalog, generation->name, platform->sets[i], &sink);
    return catalog;
}

static struct zeta_catalog *linked(struct zeta_catalog *catalog)
{
    struct zeta_diagnostics sink = {.report = stop};

    assert_int_equal(zeta_catalog_link(catalog, &sink), ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_programmables_link(catalog, &sink), ZE_RESULT_SUCCESS);
    return catalog;
}

struct zeta_catalog *data_catalog(const struct data_generation *generation,
                                  const struct zeta_intel_platform *platform)
{
    return linked(data_catalog_open(generation, platform, false));
}

struct zeta_catalog *data_catalog_deferred(const struct data_generation *generation,
                                           const struct zeta_intel_platform *platform)
{
    return linked(data_catalog_open(generation, platform, true));
}

struct zeta_catalog *data_device_catalog(uint32_t device_id)
{
    uint32_t count = 0;
    struct data_generation *generations = data_read(&count);
    struct zeta_catalog *catalog = NULL;

    for (uint32_t i = 0; i < count && !catalog; i++) {
        const struct zeta_intel_platform *platform =
            zeta_intel_platform_find(&generations[i].platforms, device_id);

        if (platform)
            catalog = data_catalog(&generations[i], platform);
    }
    data_free(generations, count);
    if (!catalog)
        fail_msg("no platform has device %#06x", device_id);
    return catalog;
}

struct zeta_plugin_query_field *data_query_fields(const struct zeta_layout *layout,
                                                  uint32_t *out_count)
{
    struct zeta_plugin_query_field *fields = calloc(layout->field_count, sizeof(*fields));
    uint32_t count = 0;

    assert_non_null(fields);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct zeta_field *field = &layout->fields[i];

        if (field->part_of != ZETA_FIELD_NONE) /* a view of another */
            continue;
        fields[count++] = (struct zeta_plugin_query_field){
            .struct_size = sizeof(*fields),
            .name = {field->name, strlen(field->name)},
            .index = field->index,
            .low_bit = field->low_bit,
            .low_width = field->low_width,
            .high_bit = field->high_bit,
            .high_width = field->high_width,
            .delta_bits = field->delta_bits,
            .is_float = field->is_float,
        };
    }
    *out_count = count;
    return fields;
}

void data_xml_name(const struct zeta_intel_platform *platform, char *out_name, uint32_t bytes)
{
    /* What Intel names by marketing or chip, the XML names by size. */
    static const char *const others[][2] = {{"mtl-u.yaml", "mtlgt2"},
                                            {"mtl-h.yaml", "mtlgt3"},
                                            {"acm-g10.yaml", "acmgt3"},
                                            {"acm-g11.yaml", "acmgt1"},
                                            {"acm-g12.yaml", "acmgt2"}};
    const char *from = platform->sets[platform->set_count - 1];
    uint32_t length = 0;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        for (uint32_t k = 0; k < platform->set_count; k++)
            if (strcmp(platform->sets[k], others[i][0]) == 0)
                from = others[i][1];
    }

    for (; *from && *from != '.' && length + 1 < bytes; from++) {
        if (*from != '-')
            out_name[length++] = *from;
    }
    out_name[length] = '\0';
}
