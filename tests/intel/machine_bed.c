#include "tests/intel/machine_bed.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zeta/zeta.h>

extern char **environ;

static struct kmd_machine *machine;

/* ---- processes ------------------------------------------------------------------------------ */

static int run_here(const struct CMUnitTest *tests, size_t count, const char *name, char *value)
{
    struct CMUnitTest chosen;
    bool found = false;
    int failed;

    for (size_t i = 0; i < count && !found; i++) {
        found = strcmp(tests[i].name, name) == 0;
        chosen = tests[i];
    }
    if (!found) {
        print_error("there is no case %s\n", name);
        return 1;
    }
    chosen.initial_state = value;
    failed = _cmocka_run_group_tests(name, &chosen, 1, NULL, NULL);
    if (machine)
        kmd_stop(machine);
    return failed;
}

static int run_apart(const char *program, const char *name, const char *value)
{
    char *arguments[] = {strdup(program), strdup(name), value ? strdup(value) : NULL, NULL};
    int status = -1;
    pid_t pid;

    if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ) == 0)
        (void)waitpid(pid, &status, 0);
    for (size_t i = 0; i < 3; i++)
        free(arguments[i]);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    print_error("failed: %s %s %s\n", program, name, value ? value : "");
    return 1;
}

int bed_main(int argc, char **argv, const struct CMUnitTest *tests, size_t count)
{
    int failed = 0;

    if (argc > 1)
        return run_here(tests, count, argv[1], argc > 2 ? argv[2] : NULL);
    for (size_t i = 0; i < count; i++) {
        const char *const *values = tests[i].initial_state;

        if (!values)
            failed += run_apart(argv[0], tests[i].name, NULL);
        for (; values && *values; values++)
            failed += run_apart(argv[0], tests[i].name, *values);
    }
    return failed;
}

/* ---- machines ------------------------------------------------------------------------------- */

struct kmd_config bed_config(const char *platform, const char *driver)
{
    return (struct kmd_config){
        .device_count = 1,
        .devices = {{.platform = platform, .driver = driver}},
        .is_privileged = true,
        .is_paranoid = true,
        .is_manual = true,
        .first_ticks = 1000000,
    };
}

struct kmd_machine *bed_start_machine(const struct kmd_config *config)
{
    machine = kmd_start(config);
    assert_non_null(machine);
    return machine;
}

struct kmd_machine *bed_start(const struct kmd_config *config)
{
    (void)bed_start_machine(config);
    EXPECT_OK(zeInit(0));
    return machine;
}

struct kmd_machine *bed_machine(void)
{
    return machine;
}

void bed_devices(uint32_t count, ze_device_handle_t *out_devices)
{
    ze_driver_handle_t drivers[8];
    uint32_t driver_count = 8, found = 0;

    EXPECT_OK(zeDriverGet(&driver_count, drivers));
    for (uint32_t i = 0; i < driver_count; i++) {
        uint32_t here = 0;

        EXPECT_OK(zeDeviceGet(drivers[i], &here, NULL));
        assert_true(found + here <= count);
        EXPECT_OK(zeDeviceGet(drivers[i], &here, out_devices + found));
        found += here;
    }
    assert_int_equal(found, count);
}

ze_device_handle_t bed_device(void)
{
    ze_device_handle_t device;

    bed_devices(1, &device);
    return device;
}

uint32_t bed_plugin(const char *id, const char **out_reason)
{
    struct zeta_plugin_info plugins[64];
    uint32_t count = 64;

    for (uint32_t i = 0; i < count; i++)
        plugins[i].struct_size = sizeof(plugins[i]);
    EXPECT_OK(zetaPluginGet(&count, plugins));
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(plugins[i].id, id) == 0) {
            *out_reason = plugins[i].reason;
            return plugins[i].state;
        }
    }
    fail_msg("there is no plugin %s", id);
    return 0;
}

/* ---- streams -------------------------------------------------------------------------------- */

static void activate(struct bed_stream *stream, ze_device_handle_t device, const char *group)
{
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct zeta_group_info info = {.struct_size = sizeof(info)};

    stream->device = device;
    EXPECT_OK(zeContextCreate(driver_of(device), &desc, &stream->context));
    stream->properties.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES;
    stream->properties.pNext = NULL;
    stream->group = find_group(device, group, TIME_BASED, &stream->properties);
    EXPECT_OK(zetaMetricGroupGetInfo(stream->group, &info));
    stream->record_bytes = info.record_bytes;
    EXPECT_OK(zetContextActivateMetricGroups(stream->context, device, 1, &stream->group));
}

static void deactivate(struct bed_stream *stream)
{
    EXPECT_OK(zetContextActivateMetricGroups(stream->context, stream->device, 0, NULL));
    EXPECT_OK(zeContextDestroy(stream->context));
}

static ze_result_t open_streamer(struct bed_stream *stream, uint32_t period_ns)
{
    zet_metric_streamer_desc_t desc = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
        .notifyEveryNReports = 1,
        .samplingPeriod = period_ns,
    };
    const ze_result_t result = zetMetricStreamerOpen(stream->context, stream->device, stream->group,
                                                     &desc, NULL, &stream->streamer);

    stream->period_ns = desc.samplingPeriod;
    return result;
}

struct bed_stream bed_open(ze_device_handle_t device, const char *group, uint32_t period_ns)
{
    struct bed_stream stream;

    activate(&stream, device, group);
    EXPECT_OK(open_streamer(&stream, period_ns));
    return stream;
}

void bed_open_fails(ze_device_handle_t device, const char *group, uint32_t period_ns,
                    ze_result_t wanted)
{
    struct bed_stream stream;
    char sentence[1200];

    activate(&stream, device, group);
    EXPECT_RESULT(open_streamer(&stream, period_ns), wanted);
    (void)snprintf(sentence, sizeof(sentence), "%s", zetaGetLastError());
    print_message("%s\n", sentence);
}

void bed_close(struct bed_stream *stream)
{
    EXPECT_OK(zetMetricStreamerClose(stream->streamer));
    deactivate(stream);
}

size_t bed_read(struct bed_stream *stream, uint8_t *data, size_t bytes, ze_result_t wanted)
{
    size_t got = bytes;

    EXPECT_RESULT(zetMetricStreamerReadData(stream->streamer, UINT32_MAX, &got, data), wanted);
    return got;
}

uint32_t bed_collect(struct bed_stream *stream, uint32_t reports, uint8_t *data, size_t bytes)
{
    size_t used = 0;

    for (uint32_t step = 0; step < BED_STEPS && used / stream->record_bytes < reports; step++) {
        const size_t got = bed_read(stream, data + used, bytes - used, ZE_RESULT_SUCCESS);

        /* Every read begins with the last report of the one before it. */
        if (used > 0 && got > stream->record_bytes) {
            memmove(data + used, data + used + stream->record_bytes, got - stream->record_bytes);
            used += got - stream->record_bytes;
        } else if (used == 0) {
            used += got;
        }
        kmd_advance(machine, BED_STEP_NS);
    }
    assert_true(used / stream->record_bytes >= reports);
    return (uint32_t)(used / stream->record_bytes);
}

uint64_t bed_value(const zet_typed_value_t *value)
{
    switch (value->type) {
    case ZET_VALUE_TYPE_UINT32:
        return value->value.ui32;
    case ZET_VALUE_TYPE_UINT64:
        return value->value.ui64;
    case ZET_VALUE_TYPE_FLOAT32:
        return (uint64_t)value->value.fp32;
    case ZET_VALUE_TYPE_FLOAT64:
        return (uint64_t)value->value.fp64;
    default:
        return value->value.b8;
    }
}
