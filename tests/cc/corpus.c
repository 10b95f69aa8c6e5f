#include "corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TESTS = 128, NAME_BYTES = 96 };

#if HAS_SPIRV
static const char *const ways[] = {"cl", "o0", "spv"};
#else
static const char *const ways[] = {"cl", "o0"};
#endif

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* What a test of cmocka gets as its state. */
struct place {
    const char *file;
    const char *way;
    const struct corpus_case *the_case;
};

void corpus_run_3d(struct rig *rig, const char *name, const uint32_t groups[3],
                   const uint32_t group_size[3], const void *const *values)
{
    const struct zeta_vgpu_kernel *kernel = zeta_vgpu_image_find_kernel(rig->image, name);
    uint32_t local_bytes[64] = {0};
    struct zeta_vgpu_launch launch = {.local_bytes = local_bytes};
    char *block;

    assert_non_null(kernel);
    block = calloc(1, kernel->argument_block_bytes + 1);
    assert_non_null(block);
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        const struct vgpu_argument_info *argument = &kernel->arguments[i];

        assert_non_null(values[i]);
        if (argument->kind == VGPU_ARGUMENT_LOCAL)
            memcpy(&local_bytes[i], values[i], sizeof(local_bytes[i]));
        else
            memcpy(block + argument->offset_bytes, values[i], argument->size_bytes);
    }
    assert_null(values[kernel->argument_count]);
    launch.arguments = block;
    memcpy(launch.group_count, groups, sizeof(launch.group_count));
    memcpy(launch.group_size, group_size, sizeof(launch.group_size));
    if (rig_launch(rig, name, &launch) != ZETA_VGPU_OK)
        fail_msg("%s: %s", name, rig->fault.message.text);
    free(block);
}

void corpus_run(struct rig *rig, const char *kernel, uint32_t groups, uint32_t group_size,
                const void *const *values)
{
    const uint32_t counts[3] = {groups, 1, 1};
    const uint32_t sizes[3] = {group_size, 1, 1};

    corpus_run_3d(rig, kernel, counts, sizes, values);
}

static void run_place(void **state)
{
    const struct place *place = *state;
    struct zeta_vgpu_engine_config config = rig_config(2);
    char name[NAME_BYTES];
    struct rig *rig = calloc(1, sizeof(*rig));

    assert_non_null(rig);
    (void)snprintf(name, sizeof(name), "%s.%s", place->file, place->way);
    rig_open(rig, name, &config);
    place->the_case->run(rig);
    rig_close(rig);
    free(rig);
}

int corpus_main(const char *file, const struct corpus_case *cases, size_t count)
{
    static struct CMUnitTest tests[MAX_TESTS];
    static struct place places[MAX_TESTS];
    static char names[MAX_TESTS][NAME_BYTES];
    size_t used = 0;

    for (size_t way = 0; way < WAYS; way++) {
        for (size_t i = 0; i < count && used < MAX_TESTS; i++, used++) {
            places[used] = (struct place){file, ways[way], &cases[i]};
            (void)snprintf(names[used], NAME_BYTES, "%s (%s)", cases[i].name, ways[way]);
            tests[used] = (struct CMUnitTest){
                .name = names[used], .test_func = run_place, .initial_state = &places[used]};
        }
    }
    if (used != WAYS * count) {
        print_error("more cases than corpus.c has room for\n");
        return 1;
    }
    return _cmocka_run_group_tests(file, tests, used, NULL, NULL);
}
