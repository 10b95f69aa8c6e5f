/* Counters of EUs while an epoch lasts. The engine is one that counts what the test says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugins/vgpu/device/vgpu.h"
#include "plugins/vgpu/tile/tile.h"

static uint64_t counted;

/* The linker sends all calls of zeta_vgpu_engine_count_eus() here, and those of the other as well.
 */
void __wrap_zeta_vgpu_engine_count_eus(struct zeta_vgpu_engine *engine, bool on);
uint64_t __wrap_zeta_vgpu_engine_eu_counter(const struct zeta_vgpu_engine *engine, uint32_t eu,
                                            enum zeta_vgpu_counter counter);

void __wrap_zeta_vgpu_engine_count_eus(struct zeta_vgpu_engine *engine, bool on)
{
    (void)engine;
    (void)on;
}

uint64_t __wrap_zeta_vgpu_engine_eu_counter(const struct zeta_vgpu_engine *engine, uint32_t eu,
                                            enum zeta_vgpu_counter counter)
{
    (void)engine;
    assert_int_equal(eu, 3);
    assert_int_equal(counter, ZETA_VGPU_INST_RETIRED);
    return counted;
}

static char directory[] = "/tmp/zeta-eu-watch-XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

/* What the one request shows once so much was counted, and a part of the last epoch is over. */
static uint64_t shown(struct zeta_vgpu_tile *tile, uint64_t number, uint64_t now,
                      struct zeta_vgpu_part part)
{
    uint64_t values[ZETA_VGPU_EU_REQUESTS];

    counted = now;
    zeta_vgpu_eu_watch_publish(tile, part);
    assert_true(
        zeta_vgpu_instance_eu_totals(atomic_load(&tile->vgpu->instance), 0, 0, number, values));
    return values[0];
}

/* Rule 21.10. */
static void epoch__that_lasts__shows_the_part_that_is_over(void **state)
{
    const struct zeta_vgpu_instance_desc desc = {
        .directory = directory, .name = "eus", .tiles = 1, .rows_per_tile = 5};
    const struct zeta_vgpu_eu_request requests[ZETA_VGPU_EU_REQUESTS] = {
        {.used = true, .eu = 3, .counter = ZETA_VGPU_INST_RETIRED}};
    struct zeta_vgpu *vgpu = calloc(1, sizeof(*vgpu));
    struct zeta_vgpu_instance *instance;
    struct zeta_vgpu_message message;
    struct zeta_vgpu_tile *tile;
    uint64_t number;

    (void)state;
    assert_non_null(vgpu);
    if (zeta_vgpu_instance_attach(&desc, &message, &instance) != ZETA_VGPU_OK ||
        zeta_vgpu_instance_join(instance, &message) != ZETA_VGPU_OK)
        fail_msg("%s", message.text);
    zeta_vgpu_topology_default(&vgpu->description.topology);
    atomic_store(&vgpu->instance, instance);
    tile = calloc(1, sizeof(*tile));
    assert_non_null(tile);
    tile->vgpu = vgpu;
    number = zeta_vgpu_instance_request_eus(instance, 0, 0, requests);

    /* What was counted before the request was seen is none of its own, also in an epoch that lasts.
     */
    assert_int_equal(shown(tile, number, 100, (struct zeta_vgpu_part){2, 4}), 0);
    assert_int_equal(shown(tile, number, 100, (struct zeta_vgpu_part){4, 4}), 0);
    assert_int_equal(shown(tile, number, 180, (struct zeta_vgpu_part){1, 4}), 20);
    assert_int_equal(shown(tile, number, 180, (struct zeta_vgpu_part){3, 4}), 60);
    assert_int_equal(shown(tile, number, 180, (struct zeta_vgpu_part){4, 4}), 80);
    assert_int_equal(shown(tile, number, 190, (struct zeta_vgpu_part){0, 10}), 80);
    assert_int_equal(shown(tile, number, 190, (struct zeta_vgpu_part){5, 10}), 85);
    assert_int_equal(shown(tile, number, 190, (struct zeta_vgpu_part){10, 10}), 90);
    zeta_vgpu_instance_detach(instance);
    free(tile);
    free(vgpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epoch__that_lasts__shows_the_part_that_is_over),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
