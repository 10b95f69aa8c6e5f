#include "tests/oa/oa_match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/oa/oa_file.h"
#include "tests/support/compare.h"

enum { SETS_WHOLE = 64 };

const struct oa_line oa_lines[] = {
    {"hsw", 0x0412, 0, false, false},    {"bdw", 0x1616, 0, false, false},
    {"chv", 0x22b0, 0, false, false},    {"sklgt2", 0x1912, 0, false, false},
    {"sklgt3", 0x1926, 0, false, false}, {"sklgt4", 0x193b, 0, false, false},
    {"bxt", 0x5a84, 0, false, false},    {"glk", 0x3184, 0, false, false},
    {"kblgt2", 0x5916, 0, false, false}, {"kblgt3", 0x5923, 0, false, false},
    {"cflgt2", 0x3e92, 0, false, false}, {"cflgt3", 0x3ea5, 0, false, false},
    {"cnl", 0x5a51, 0, false, false},    {"icl", 0x8a52, 0, false, false},
    {"ehl", 0x4571, 0, false, false},    {"tglgt1", 0x9a60, 0, false, false},
    {"tglgt2", 0x9a49, 0, false, false}, {"rkl", 0x4c8a, 0, false, false},
    {"dg1", 0x4905, 0, false, false},    {"adl", 0x46a6, 0, false, false},
    {"acmgt1", 0x56a5, 0, true, true},   {"acmgt2", 0x5696, 0, true, true},
    {"acmgt3", 0x56a0, 0, true, true},   {"mtlgt2", 0x7d45, 16, true, false},
    {"mtlgt3", 0x7d55, 49, true, false},
};
const uint32_t oa_line_count = sizeof(oa_lines) / sizeof(oa_lines[0]);

const struct oa_line *oa_line_find(const char *file)
{
    for (uint32_t i = 0; i < oa_line_count; i++) {
        if (strcmp(oa_lines[i].file, file) == 0)
            return &oa_lines[i];
    }
    return NULL;
}

static bool library_symbol(const struct oa_match *match, const char *name, uint64_t *out_value)
{
    unsigned slice, core;
    int end = 0;

    if (strstr(name, "ThreadsCount")) {
        *out_value = oa_oracle_threads(match->oracle);
    } else if (strstr(name, "XeCoreMask") && match->view == OA_VIEW_FILLED) {
        for (uint32_t s = 0; s < OA_SLICES; s++)
            *out_value |= (uint64_t)(match->device.fusing->subslices[s] != 0) << s;
    } else if (match->view == OA_VIEW_FILLED) {
        return false;
    } else if (strstr(name, "XeCoreMask")) {
        *out_value = match->shape.subslices[0] != 0;
        for (uint32_t s = 1; s < match->shape.slices; s++)
            *out_value |= (uint64_t)(match->shape.subslices[s] != 0) << s;
    } else if (sscanf(name, "GtSlice%uXeCore%u%n", &slice, &core, &end) == 2 && !name[end]) {
        *out_value = match->shape.subslices[0] >> core & 1;
    } else if (sscanf(name, "GtSlice%u%n", &slice, &end) == 1 && !name[end]) {
        *out_value = 0;
    } else {
        return false;
    }
    return true;
}

static bool find_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    const struct oa_match *match = context;
    const char *const kernel[] = {"EuSlicesTotalCount", "SliceTotalCount", "SliceMask"};
    const size_t flat = match->view == OA_VIEW_FILLED ? 2 : 3;

    out_value->type = ZETA_EXPR_U64;
    out_value->u.u64 = 0;
    if (strcmp(name, "OamUnits") == 0 || strcmp(name, "EuStallUnits") == 0)
        return true;
    for (size_t i = 0; i < flat && match->line->is_flat; i++) {
        if (strcmp(name, kernel[i]) == 0) {
            out_value->u.u64 = 1;
            return true;
        }
    }
    return (match->view != OA_VIEW_TRUE && library_symbol(match, name, &out_value->u.u64)) ||
           oa_device_symbol(&match->device, name, &out_value->u.u64);
}

uint64_t oa_match_symbol(const void *match, const char *name)
{
    struct zeta_number value;

    if (!find_symbol((void *)match, name, &value))
        fail_msg("the equations need $%s, which the test does not know", name);
    return value.u.u64;
}

/** What the kernel tells about the device: room for the largest one of its kind. */
static void fill_shape(struct oa_match *match)
{
    const struct oa_platform *platform = match->device.platform;
    struct oa_oracle_shape *shape = &match->shape;
    uint64_t revision = 0;

    assert_true(oa_device_symbol(&match->device, "SkuRevisionId", &revision));
    *shape = (struct oa_oracle_shape){
        .device_id = match->line->device_id,
        .revision = (uint32_t)revision,
        .timestamp_hz = platform->timestamp_hz / (match->line->is_halved ? 2 : 1),
        .eu_count = platform->eus,
        .slices = 1,
        .subslice_count = match->line->is_flat ? 32 : 1,
    };
    assert_true(oa_device_symbol(&match->device, "GpuMinFrequency", &shape->min_hz));
    assert_true(oa_device_symbol(&match->device, "GpuMaxFrequency", &shape->max_hz));
    for (uint32_t s = 0; s < OA_SLICES; s++) {
        const uint32_t mask = match->device.fusing->subslices[s];

        if (match->line->is_flat)
            shape->subslices[0] |= mask << s * platform->mask_stride;
        else
            shape->subslices[s] = mask;
        for (uint32_t variant = 0; variant < OA_VARIANTS && !match->line->is_flat; variant++) {
            const uint32_t any = platform->fusings[variant].subslices[s];

            if (any != 0)
                shape->slices = s + 1 > shape->slices ? s + 1 : shape->slices;
            while (any >> shape->subslice_count)
                shape->subslice_count++;
        }
    }
}

void oa_match_each(const struct oa_line *line, const struct zeta_catalog *catalog,
                   enum oa_view view, void (*visit)(const struct oa_match *match))
{
    const struct oa_platform *platform = oa_platform_find(line->file);

    assert_non_null(platform);
    for (uint32_t variant = 0; oa_platform_has(platform, variant); variant++) {
        struct oa_match match = {
            .line = line,
            .device = {platform, &platform->fusings[variant]},
            .catalog = catalog,
            .view = view,
        };
        uint64_t eus = 0;

        fill_shape(&match);
        match.oracle = oa_oracle_open(&match.shape);
        assert_non_null(match.oracle);
        assert_true(oa_device_symbol(&match.device, "EuCoresTotalCount", &eus));
        assert_int_equal(oa_oracle_eus(match.oracle), eus);
        if (view == OA_VIEW_FILLED)
            oa_oracle_fill(match.oracle, line->file, match.device.fusing->subslices);
        visit(&match);
        oa_oracle_close(match.oracle);
    }
}

/**
 * Sets of Meteor Lake whose program or counters igt-gpu-tools changed after release 1.27, which the
 * library is of; the XML has the newer ones.
 */
static const char *const changed[] = {
    "a04168f6-637e-44af-a1b6-e5f005708df4", "e8a60701-f694-496d-95be-34cc80796a46",
    "3e47d0e8-5414-4496-8746-37e36fefc777", "143440a0-d7e2-4f41-8372-8fdca1ecc2a8",
    "7c5d3f41-b690-44b2-8352-00215ac94bae", "02f43996-feff-4e13-a8fd-eea9de2f13fc",
    "2cbd327c-40e2-452b-a9fc-c7787869a352", "682c3520-dffc-4a76-8e17-1d9effc01a1a",
    "714e9d80-e4e3-40e6-9e79-2ca6d1d0a5a5", "2bc8b90d-997c-4d62-b101-fe1aa74036e5",
    "79252877-1dcd-4700-b4bd-58bce74b796d", "68ac1770-b062-48cd-94f4-44c6ae16867a",
    "443b8a84-7e77-4e9f-8a2a-56743897cba3", "68581669-8e57-4ff9-bb70-71a99f8454c8",
    "1b49d31f-4d7c-4dd7-ad31-030ccb59649e", "1b0ce68b-c301-4d05-8659-85fad0825057",
    "fde32e67-1a87-4946-bf96-c1ff68105749",
};

bool oa_pair_is_older(const struct oa_pair *pair)
{
    for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); i++) {
        if (strcmp(changed[i], pair->set->uuid) == 0)
            return true;
    }
    return false;
}

/** Whether the device has nothing of the set but what every set has; then we do not have it. */
static bool is_bare(const struct oa_oracle_set *set)
{
    for (uint32_t i = 0; i < oa_oracle_counter_count(set); i++) {
        if (!oa_counter_is_basic(oa_oracle_counter_name(oa_oracle_counter(set, i))))
            return false;
    }
    return true;
}

void oa_pair_each(const struct oa_match *match, void (*visit)(const struct oa_pair *pair))
{
    const struct zeta_symbol_lookup lookup = {.find = find_symbol, .context = (void *)match};
    uint32_t visited = 0;

    for (uint32_t i = 0; i < zeta_catalog_set_count(match->catalog); i++) {
        struct oa_pair pair = {.match = match, .set = zeta_catalog_set(match->catalog, i)};
        struct zeta_diagnostics sink = {0};
        ze_result_t result;

        if (i % OA_SETS_STEP != 0 && i >= SETS_WHOLE)
            continue;

        /* The library knows no media reports and no stall samples. */
        if (strcmp(pair.set->layout->name, match->device.platform->format->name) != 0)
            continue;
        pair.theirs = oa_oracle_find(match->oracle, pair.set->uuid);
        if (!pair.theirs)
            fail_msg("%s: the library lacks %s", match->line->file, pair.set->name);
        result = zeta_set_compile(match->catalog, pair.set, &lookup, &sink, &pair.compiled);
        /* Only a library that was told the slices knows which counters there are. */
        if (result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE &&
            (match->view != OA_VIEW_FILLED || is_bare(pair.theirs)))
            continue;
        if (result != ZE_RESULT_SUCCESS)
            fail_msg("%s %s: %s", match->line->file, pair.set->name, sink.first_error);
        visit(&pair);
        zeta_compiled_destroy(pair.compiled);
        visited++;
    }
    assert_cmp(visited, >, 0);
}

const struct oa_oracle_counter *oa_pair_counter(const struct oa_pair *pair, const char *name)
{
    for (uint32_t i = 0; i < oa_oracle_counter_count(pair->theirs); i++) {
        const struct oa_oracle_counter *counter = oa_oracle_counter(pair->theirs, i);

        if (strcmp(oa_oracle_counter_name(counter), name) == 0)
            return counter;
    }
    return NULL;
}

uint32_t oa_pair_metric(const struct oa_pair *pair, const char *name)
{
    for (uint32_t i = 0; i < zeta_compiled_metric_count(pair->compiled); i++) {
        if (strcmp(zeta_compiled_metric(pair->compiled, i)->name, name) == 0)
            return i;
    }
    return UINT32_MAX;
}
