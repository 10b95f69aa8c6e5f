#include "control.h"

#include <stdlib.h>
#include <string.h>

#include "plugins/vgpu/device/vgpu.h"
#include "plugins/vgpu/engine/debug.h"
#include "plugins/vgpu/tile/tile.h"

#define REGISTERS(kind, access, number, size)                                                      \
    {                                                                                              \
        .struct_size = sizeof(struct zeta_plugin_register_set), .type = (kind), .flags = (access), \
        .count = (number), .bits = (size), .bytes = (size) / 8                                     \
    }
#define READ ZETA_PLUGIN_REGISTER_READ
#define READ_WRITE (ZETA_PLUGIN_REGISTER_READ | ZETA_PLUGIN_REGISTER_WRITE)

const struct zeta_plugin_register_set zeta_vgpu_register_sets[ZETA_VGPU_REGISTER_SETS] = {
    REGISTERS(ZETA_VGPU_REGISTERS_X, READ_WRITE, 31, 64),
    REGISTERS(ZETA_VGPU_REGISTERS_F, READ_WRITE, 32, 64),
    /* The third set has to be small: tools read it to find out whether a thread is stopped. */
    REGISTERS(ZETA_VGPU_REGISTERS_PC, READ_WRITE, 1, 64),
    REGISTERS(ZETA_VGPU_REGISTERS_CE, READ, 1, 32),
    REGISTERS(ZETA_VGPU_REGISTERS_CR, READ_WRITE, 1, 128),
    REGISTERS(ZETA_VGPU_REGISTERS_ID, READ, 10, 64),
    REGISTERS(ZETA_VGPU_REGISTERS_FCSR, READ_WRITE, 1, 32),
};

/* Numerically zet_debug_page_fault_reason_t. */
enum { REASON_MAPPING = 1, REASON_PERMISSION = 2 };

static uint32_t tile_threads(const struct zeta_vgpu_description *description)
{
    return zeta_vgpu_topology_subslices(&description->topology) *
           zeta_vgpu_topology_group_limit(&description->topology);
}

uint32_t zeta_vgpu_control_threads(const struct zeta_vgpu_description *description)
{
    return tile_threads(description) * description->tiles;
}

static uint32_t tile_count(const struct zeta_vgpu_control *control)
{
    return control->vgpu->description.tiles;
}

static struct zeta_vgpu_engine *engine_of(const struct zeta_vgpu_control *control, uint32_t tile)
{
    return control->vgpu->tiles[tile].engine;
}

uint32_t zeta_vgpu_control_begin(struct zeta_vgpu_control *control, struct zeta_vgpu *vgpu,
                                 void (*changed)(void *user), void *user)
{
    const uint32_t threads = tile_threads(&vgpu->description);
    uint32_t tile = 0;

    *control = (struct zeta_vgpu_control){
        .vgpu = vgpu,
        .tile_threads = threads,
        .threads = zeta_vgpu_control_threads(&vgpu->description),
        .masks = calloc((size_t)zeta_vgpu_debug_words(threads) * 2, sizeof(uint64_t)),
    };
    uint32_t result = control->masks ? ZETA_PLUGIN_SUCCESS : ZETA_PLUGIN_OUT_OF_HOST_MEMORY;

    for (; result == ZETA_PLUGIN_SUCCESS && tile < tile_count(control); tile++) {
        result = zeta_vgpu_tile_prepare(&vgpu->tiles[tile]);
        if (result == ZETA_PLUGIN_SUCCESS &&
            !zeta_vgpu_debug_begin(engine_of(control, tile), changed, user))
            result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
        if (result != ZETA_PLUGIN_SUCCESS)
            break;
    }
    if (result == ZETA_PLUGIN_SUCCESS)
        return result;
    while (tile > 0)
        zeta_vgpu_debug_end(engine_of(control, --tile));
    free(control->masks);
    control->masks = NULL;
    return result;
}

void zeta_vgpu_control_end(struct zeta_vgpu_control *control)
{
    for (uint32_t tile = 0; tile < tile_count(control); tile++)
        zeta_vgpu_debug_end(engine_of(control, tile));
    free(control->masks);
    control->masks = NULL;
}

/* Copies bits between masks whose bit 0 is at a position of the other: of the root, of a tile. */
static void copy_bits(uint64_t *to, uint32_t to_first, const uint64_t *from, uint32_t from_first,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = from_first + i, put = to_first + i;

        to[put / 64] |= (from[at / 64] >> at % 64 & 1) << put % 64;
    }
}

/* The part of a root's mask that is a tile's. */
static const uint64_t *mask_of_tile(struct zeta_vgpu_control *control, uint32_t tile,
                                    const uint64_t *threads)
{
    memset(control->masks, 0,
           zeta_vgpu_debug_words(control->tile_threads) * sizeof(*control->masks));
    copy_bits(control->masks, 0, threads, tile * control->tile_threads, control->tile_threads);
    return control->masks;
}

uint64_t zeta_vgpu_control_halt(struct zeta_vgpu_control *control, const uint64_t *threads)
{
    for (uint32_t tile = 0; tile < tile_count(control); tile++)
        zeta_vgpu_debug_halt(engine_of(control, tile), mask_of_tile(control, tile, threads));
    return ++control->halts;
}

void zeta_vgpu_control_resume(struct zeta_vgpu_control *control, const uint64_t *threads)
{
    for (uint32_t tile = 0; tile < tile_count(control); tile++)
        zeta_vgpu_debug_resume(engine_of(control, tile), mask_of_tile(control, tile, threads));
}

uint64_t zeta_vgpu_control_poll(struct zeta_vgpu_control *control, uint64_t *out_stopped,
                                uint64_t *out_excepted)
{
    const uint32_t words = zeta_vgpu_debug_words(control->tile_threads);
    uint64_t *stopped = control->masks, *excepted = control->masks + words;

    for (uint32_t tile = 0; tile < tile_count(control); tile++) {
        const uint32_t first = tile * control->tile_threads;

        zeta_vgpu_debug_threads(engine_of(control, tile), stopped, excepted);
        copy_bits(out_stopped, first, stopped, 0, control->tile_threads);
        copy_bits(out_excepted, first, excepted, 0, control->tile_threads);
    }
    return control->halts;
}

bool zeta_vgpu_control_fault(struct zeta_vgpu_control *control, uint32_t thread,
                             struct zeta_vgpu_debug_fault *out_fault)
{
    struct zeta_vgpu_range range;
    struct zeta_vgpu_fault fault;

    if (!zeta_vgpu_debug_fault(engine_of(control, thread / control->tile_threads),
                               thread % control->tile_threads, &fault))
        return false;
    switch (fault.reason) {
    case ZETA_VGPU_FAULT_READ:
    case ZETA_VGPU_FAULT_WRITE:
    case ZETA_VGPU_FAULT_FETCH:
    case ZETA_VGPU_FAULT_STACK_OVERFLOW:
        break;
    default:
        return false;
    }
    /* What is there and was refused nevertheless may not be used so. */
    *out_fault = (struct zeta_vgpu_debug_fault){
        .address = fault.address,
        .reason = zeta_vgpu_space_find(control->vgpu->space, fault.address, &range)
                      ? REASON_PERMISSION
                      : REASON_MAPPING,
        .thread = thread,
    };
    return true;
}

uint32_t zeta_vgpu_control_registers_write(struct zeta_vgpu_control *control, uint32_t thread,
                                           uint64_t type, uint64_t first, uint64_t count,
                                           void *buffer, uint64_t bytes)
{
    const struct zeta_plugin_register_set *set = zeta_vgpu_register_sets;
    const struct zeta_plugin_register_set *end = set + ZETA_VGPU_REGISTER_SETS;

    while (set < end && set->type != type)
        set++;
    if (thread >= control->threads || set == end || first >= set->count ||
        count > set->count - first || bytes != count * set->bytes ||
        (set->flags & ZETA_PLUGIN_REGISTER_WRITE) == 0)
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    return zeta_vgpu_debug_registers(engine_of(control, thread / control->tile_threads),
                                     thread % control->tile_threads, set->type, (uint32_t)first,
                                     (uint32_t)count, buffer, true)
               ? ZETA_PLUGIN_SUCCESS
               : ZETA_PLUGIN_NOT_AVAILABLE;
}

bool zeta_vgpu_control_snapshots(struct zeta_vgpu_control *control, const uint64_t *threads,
                                 struct zeta_vgpu_debug_buffer *buffer, bool *out_still)
{
    struct zeta_vgpu_debug_snapshot *snapshots;
    uint32_t wanted = 0;
    bool good;

    for (uint32_t i = 0; i < zeta_vgpu_debug_words(control->threads); i++)
        wanted += (uint32_t)__builtin_popcountll(threads[i]);
    /* Room for those alone: a step wants one of thousands of threads. */
    snapshots = calloc((size_t)wanted + 1, sizeof(*snapshots));
    good = snapshots != NULL;
    *out_still = true;
    for (uint32_t tile = 0; good && tile < tile_count(control); tile++) {
        bool still;
        const uint32_t count = zeta_vgpu_debug_snapshots(
            engine_of(control, tile), mask_of_tile(control, tile, threads), snapshots, &still);

        *out_still &= still;
        for (uint32_t i = 0; i < count; i++)
            snapshots[i].thread += tile * control->tile_threads;
        good = zeta_vgpu_debug_append(buffer, snapshots, count * sizeof(*snapshots));
    }
    free(snapshots);
    return good;
}

/* What a watchpoint says, to all tiles. */
static void set_watchpoint(struct zeta_vgpu_control *control, uint32_t index)
{
    const struct zeta_vgpu_watchpoint *point = &control->watchpoints[index];
    const uint64_t known = ZETA_VGPU_WATCHPOINT_READ | ZETA_VGPU_WATCHPOINT_WRITE;

    for (uint32_t tile = 0; tile < tile_count(control); tile++)
        zeta_vgpu_debug_watch(engine_of(control, tile), index, point->address, point->bytes,
                              point->bytes == 0 ? 0 : (uint32_t)(point->kinds & known));
}

static void set_breakpoint(struct zeta_vgpu_control *control, uint32_t index)
{
    for (uint32_t tile = 0; tile < tile_count(control); tile++)
        zeta_vgpu_debug_break(engine_of(control, tile), index, control->breakpoints[index]);
}

/*
 * Reads or writes registers of the device that are in the memory of the process, as arrays; what is
 * written holds at once, on every tile. False when the bytes are not all in one of the arrays.
 */
static bool use_device_registers(struct zeta_vgpu_control *control, uint64_t address,
                                 uint64_t size_bytes, void *buffer, bool write)
{
    const struct {
        uint64_t address;
        void *entries;
        uint64_t bytes;
        uint32_t entry_bytes;
        void (*set)(struct zeta_vgpu_control *control, uint32_t index);
    } arrays[] = {
        {ZETA_VGPU_WATCHPOINTS_ADDRESS, control->watchpoints, sizeof(control->watchpoints),
         sizeof(control->watchpoints[0]), set_watchpoint},
        {ZETA_VGPU_BREAKPOINTS_ADDRESS, control->breakpoints, sizeof(control->breakpoints),
         sizeof(control->breakpoints[0]), set_breakpoint},
    };

    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        const uint64_t offset = address - arrays[i].address;
        char *bytes;

        if (offset >= arrays[i].bytes || size_bytes > arrays[i].bytes - offset)
            continue;
        bytes = (char *)arrays[i].entries + offset;
        if (buffer)
            memcpy(write ? bytes : buffer, write ? buffer : bytes, size_bytes);
        for (uint64_t at = offset / arrays[i].entry_bytes;
             write && at * arrays[i].entry_bytes < offset + size_bytes; at++)
            arrays[i].set(control, (uint32_t)at);
        return true;
    }
    return false;
}

/* One access to the memory of a thread or the process. */
static bool use_memory(struct zeta_vgpu_control *control, uint32_t space, uint32_t thread,
                       uint64_t address, uint64_t size_bytes, void *buffer, bool write)
{
    const bool is_process = thread == ZETA_PLUGIN_DEBUG_NO_THREAD;

    return zeta_vgpu_debug_memory(
        engine_of(control, is_process ? 0 : thread / control->tile_threads),
        is_process ? UINT32_MAX : thread % control->tile_threads, space == ZETA_PLUGIN_SPACE_SLM,
        address, size_bytes, buffer, write);
}

uint32_t zeta_vgpu_control_memory(struct zeta_vgpu_control *control, uint32_t space,
                                  uint32_t thread, uint64_t address, uint64_t size_bytes,
                                  void *buffer, bool write, uint64_t *out_missing)
{
    uint64_t good = 0, bad = size_bytes;

    if (size_bytes == 0)
        return ZETA_PLUGIN_SUCCESS;
    if (thread == ZETA_PLUGIN_DEBUG_NO_THREAD && space == ZETA_PLUGIN_SPACE_DEFAULT &&
        use_device_registers(control, address, size_bytes, buffer, write))
        return ZETA_PLUGIN_SUCCESS;
    if (use_memory(control, space, thread, address, size_bytes, buffer, write))
        return ZETA_PLUGIN_SUCCESS;

    /* The first byte that is not there: good bytes are, bad ones are not. */
    while (bad - good > 1) {
        const uint64_t middle = good + (bad - good) / 2;

        if (use_memory(control, space, thread, address, middle, NULL, false))
            good = middle;
        else
            bad = middle;
    }
    *out_missing = address + good;
    return ZETA_PLUGIN_NOT_AVAILABLE;
}
