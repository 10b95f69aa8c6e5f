#include "tests/intel/sampler_bed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "plugins/intel/query/query.h"

int sampler_bed_setup(void **state)
{
    struct sampler_bed *bed = calloc(1, sizeof(*bed));

    bed->self.host.ops = &scripted_host;
    bed->self.intel = &bed->intel;
    bed->intel.self = &bed->self;
    bed->intel.host = &bed->self.host;
    bed->intel.gpus = &bed->gpu;
    bed->intel.gpu_count = 1;
    bed->intel.devices = bed->devices;
    bed->intel.device_count = 1 + SCRIPTED_TILES;
    (void)pthread_mutex_init(&bed->intel.lock, NULL);
    (void)pthread_mutex_init(&bed->intel.sampler_lock, NULL);
    bed->platform.graphics = 1260;
    bed->platform.formats[ZETA_INTEL_OAG] = (struct zeta_intel_format){
        .has_xe = true, .record_bytes = SCRIPTED_REPORT_BYTES, .clock_bits = 0x1ff};
    bed->gpu = (struct zeta_intel_gpu){.intel = &bed->intel,
                                       .host = &bed->self.host,
                                       .kmd = &scripted_kmd,
                                       .platform = &bed->platform,
                                       .id = "0000:03:00.0",
                                       .tile_count = SCRIPTED_TILES,
                                       .unit_count = SCRIPTED_TILES};
    for (uint32_t t = 0; t < SCRIPTED_TILES; t++) {
        bed->gpu.tiles[t] = (struct zeta_intel_tile){.topology = {.eus = 4},
                                                     .fastest_hz = 1000000000,
                                                     .cs_timestamp_hz = HZ,
                                                     .cs_timestamp_bits = 64};
        bed->gpu.units[t] = (struct zeta_intel_unit){
            .name = "oa", .kind = ZETA_INTEL_OAG, .tile = t, .timestamp_hz = HZ};
        atomic_init(&bed->gpu.uses[t].fd, -1);
    }
    for (uint32_t i = 0; i < 1 + SCRIPTED_TILES; i++)
        bed->devices[i] = (struct zeta_plugin_device){.gpu = &bed->gpu,
                                                      .tile = i > 0 ? i - 1 : 0,
                                                      .is_tile = i > 0,
                                                      .parent = i > 0 ? 0 : UINT32_MAX};
    scripted_reset();
    *state = bed;
    return 0;
}

int sampler_bed_teardown(void **state)
{
    struct sampler_bed *bed = *state;

    assert_null(bed->intel.samplers);
    for (uint32_t t = 0; t < SCRIPTED_TILES; t++)
        assert_false(scripted.sources[t].is_open);
    free(bed);
    return 0;
}

#define NAME(text)                                                                                 \
    {                                                                                              \
        .data = (text), .size = sizeof(text) - 1                                                   \
    }

uint32_t sampler_bed_try_pool(struct sampler_bed *bed, uint32_t device, const char *set,
                              uint32_t count, struct zeta_plugin_query_pool **out_pool)
{
    static const struct zeta_plugin_query_field fields[FIELDS] = {
        [ID] = {.struct_size = sizeof(fields[0]), .name = NAME("report_id"), .low_width = 32},
        [TICKS] = {.struct_size = sizeof(fields[0]),
                   .name = NAME("ticks"),
                   .low_bit = 32,
                   .low_width = 32,
                   .delta_bits = 32},
        [COUNT] = {.struct_size = sizeof(fields[0]),
                   .name = NAME("A"),
                   .low_bit = 64,
                   .low_width = 32,
                   .delta_bits = 32},
    };
    const struct zeta_plugin_program_entry entry = {
        .struct_size = sizeof(entry), .address = 0x9888, .value = 1, .register_class = NAME("mux")};
    const struct zeta_plugin_query_desc desc = {
        .struct_size = sizeof(desc),
        .unit = NAME("oa"),
        .set = {.data = set, .size = strlen(set)},
        .program = {.data = &entry, .count = 1, .stride = sizeof(entry)},
        .digest = {.data = set, .size = strlen(set)},
        .count = count,
        .report_bytes = SCRIPTED_REPORT_BYTES,
        .record_bytes = RECORD_BYTES,
        .fields = {.data = fields, .count = FIELDS, .stride = sizeof(fields[0])}};

    return zeta_intel_query_pool_create(&bed->self, &bed->devices[device], &desc, out_pool);
}

struct zeta_plugin_query_pool *sampler_bed_pool(struct sampler_bed *bed, const char *set)
{
    struct zeta_plugin_query_pool *pool = NULL;

    assert_int_equal(sampler_bed_try_pool(bed, 1, set, 4, &pool), ZETA_PLUGIN_SUCCESS);
    return pool;
}

void sampler_bed_drop(struct sampler_bed *bed, struct zeta_plugin_query_pool *pool)
{
    zeta_intel_query_pool_destroy(&bed->self, pool);
}

uint32_t sampler_bed_collect(struct sampler_bed *bed, struct zeta_plugin_query_pool *pool,
                             uint32_t index, struct sampler_record *out)
{
    return zeta_intel_query_collect(&bed->self, pool, index, out);
}

uint32_t sampler_bed_await(struct sampler_bed *bed, struct zeta_plugin_query_pool *pool,
                           uint32_t index, struct sampler_record *out)
{
    const struct timespec step = {.tv_nsec = 1000000};
    uint32_t result = ZETA_PLUGIN_NOT_READY;

    for (int i = 0; i < 20000 && result == ZETA_PLUGIN_NOT_READY; i++) {
        result = sampler_bed_collect(bed, pool, index, out);
        (void)nanosleep(&step, NULL);
    }
    return result;
}
