#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta-gdbserver/process/process.h"

/* Where a device has its watchpoints, for all threads: entries of four words of 64 bits, address,
 * bytes, kinds (1 write, 2 read; 0: none) and 0. */
#define WATCHPOINTS_ADDRESS UINT64_C(0xfffffffffffff000)

/* Where it has its breakpoint registers: addresses of 64 bits, 0: none. A thread that stopped at
 * one passes it when it is resumed. */
#define BREAKPOINTS_ADDRESS UINT64_C(0xffffffffffffe000)
#define BREAKPOINT_REGISTERS 128u

static const uint8_t break_4[] = {0x73, 0x00, 0x10, 0x00}; /* ebreak */
static const uint8_t break_2[] = {0x02, 0x90};             /* c.ebreak */

static bool move(struct zeta_gdb_process *process, uint32_t thread, uint64_t address, size_t size,
                 void *bytes, bool writes)
{
    const zet_debug_memory_space_desc_t space = {.stype =
                                                     ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                                 .type = ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT,
                                                 .address = address};
    const bool is_thread = thread < process->thread_count && process->threads[thread].is_stopped;
    const ze_device_thread_t who =
        is_thread ? zeta_gdb_thread_name(process, thread)
                  : (ze_device_thread_t){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    ze_result_t result;

    if (writes)
        result = zetDebugWriteMemory(process->session, who, &space, size, bytes);
    else
        result = zetDebugReadMemory(process->session, who, &space, size, bytes);
    return result == ZE_RESULT_SUCCESS;
}

/* Breakpoints ---------------------------------------------------------------------------------- */

static struct zeta_gdb_breakpoint *find_breakpoint(const struct zeta_gdb_process *process,
                                                   uint64_t address)
{
    for (uint32_t i = 0; i < process->breakpoint_count; i++)
        if (process->breakpoints[i].bytes > 0 && process->breakpoints[i].address == address)
            return &process->breakpoints[i];
    return NULL;
}

const struct zeta_gdb_breakpoint *zeta_gdb_breakpoint_at(const struct zeta_gdb_process *process,
                                                         uint64_t address)
{
    return find_breakpoint(process, address);
}

void zeta_gdb_breakpoints_init(struct zeta_gdb_process *process)
{
    uint64_t registers[BREAKPOINT_REGISTERS];

    process->breakpoint_registers = move(process, ZETA_GDB_CONTROL_THREAD, BREAKPOINTS_ADDRESS,
                                         sizeof(registers), registers, false)
                                        ? BREAKPOINT_REGISTERS
                                        : 0;
}

/* Makes threads stop there, or not any more. */
static bool write_breakpoint(struct zeta_gdb_process *process,
                             const struct zeta_gdb_breakpoint *breakpoint, uint32_t index,
                             bool is_set)
{
    const uint64_t address = is_set ? breakpoint->address : 0;
    const uint8_t *instruction = breakpoint->original;

    if (breakpoint->is_register)
        return move(process, ZETA_GDB_CONTROL_THREAD, BREAKPOINTS_ADDRESS + index * sizeof(address),
                    sizeof(address), (void *)(uintptr_t)&address, true);
    if (is_set)
        instruction = breakpoint->bytes == 4 ? break_4 : break_2;
    return move(process, ZETA_GDB_CONTROL_THREAD, breakpoint->address, breakpoint->bytes,
                (void *)(uintptr_t)instruction, true);
}

bool zeta_gdb_memory_breaks(struct zeta_gdb_process *process, uint64_t address)
{
    uint8_t there[4];

    return (move(process, ZETA_GDB_CONTROL_THREAD, address, 2, there, false) &&
            memcmp(there, break_2, 2) == 0) ||
           (move(process, ZETA_GDB_CONTROL_THREAD, address, 4, there, false) &&
            memcmp(there, break_4, 4) == 0);
}

static struct zeta_gdb_breakpoint *add_breakpoint(struct zeta_gdb_process *process)
{
    struct zeta_gdb_breakpoint *more;

    for (uint32_t i = 0; i < process->breakpoint_count; i++)
        if (process->breakpoints[i].bytes == 0)
            return &process->breakpoints[i];
    more = reallocarray(process->breakpoints, process->breakpoint_count + 1, sizeof(*more));
    if (!more)
        return NULL;
    process->breakpoints = more;
    more[process->breakpoint_count] = (struct zeta_gdb_breakpoint){0};
    return &more[process->breakpoint_count++];
}

bool zeta_gdb_breakpoint_insert(struct zeta_gdb_process *process, uint64_t address, uint32_t bytes,
                                struct zeta_gdb_condition *conditions)
{
    struct zeta_gdb_breakpoint made = {
        .address = address, .bytes = bytes, .conditions = conditions};
    struct zeta_gdb_breakpoint *breakpoint;
    uint32_t index;

    zeta_gdb_process_take_events(process); /* other code may be there now */
    breakpoint = find_breakpoint(process, address);
    if (breakpoint) {
        zeta_gdb_conditions_free(breakpoint->conditions);
        breakpoint->conditions = conditions;
        return true;
    }
    breakpoint = bytes == 2 || bytes == 4 ? add_breakpoint(process) : NULL;
    index = breakpoint ? (uint32_t)(breakpoint - process->breakpoints) : 0;
    made.is_register = bytes == 4 && index < process->breakpoint_registers;
    if (!breakpoint ||
        !zeta_gdb_memory_read(process, ZETA_GDB_CONTROL_THREAD, address, bytes, made.original) ||
        !write_breakpoint(process, &made, index, true)) {
        zeta_gdb_conditions_free(conditions);
        return false;
    }
    *breakpoint = made;
    return true;
}

/* Makes an entry free, and gives what it was. */
static struct zeta_gdb_breakpoint forget(struct zeta_gdb_breakpoint *breakpoint)
{
    const struct zeta_gdb_breakpoint was = *breakpoint;

    zeta_gdb_conditions_free(breakpoint->conditions);
    *breakpoint = (struct zeta_gdb_breakpoint){0};
    return was;
}

bool zeta_gdb_breakpoint_remove(struct zeta_gdb_process *process, uint64_t address)
{
    struct zeta_gdb_breakpoint *breakpoint;
    struct zeta_gdb_breakpoint was;

    zeta_gdb_process_take_events(process); /* other code may be there now */
    breakpoint = find_breakpoint(process, address);
    if (!breakpoint)
        return true;
    was = forget(breakpoint);
    return write_breakpoint(process, &was, (uint32_t)(breakpoint - process->breakpoints), false);
}

void zeta_gdb_breakpoints_drop(struct zeta_gdb_process *process, uint64_t begin, uint64_t end)
{
    for (uint32_t i = 0; i < process->breakpoint_count; i++)
        if (process->breakpoints[i].address >= begin && process->breakpoints[i].address < end) {
            const struct zeta_gdb_breakpoint was = forget(&process->breakpoints[i]);

            if (was.is_register)
                (void)write_breakpoint(process, &was, i, false);
        }
}

/* The bytes of a range that a breakpoint in memory has: where they begin in the range and in it. */
static size_t overlap(const struct zeta_gdb_breakpoint *breakpoint, uint64_t address, size_t size,
                      size_t *out_at, size_t *out_in)
{
    const uint64_t before = breakpoint->address < address ? address - breakpoint->address : 0;
    const uint64_t at = breakpoint->address > address ? breakpoint->address - address : 0;
    size_t bytes;

    if (breakpoint->is_register || before >= breakpoint->bytes || at >= size)
        return 0;
    bytes = breakpoint->bytes - (size_t)before;
    *out_at = (size_t)at;
    *out_in = (size_t)before;
    return bytes < size - at ? bytes : size - (size_t)at;
}

bool zeta_gdb_memory_read(struct zeta_gdb_process *process, uint32_t thread, uint64_t address,
                          size_t size, uint8_t *out_bytes)
{
    if (!move(process, thread, address, size, out_bytes, false))
        return false;
    for (uint32_t i = 0; i < process->breakpoint_count; i++) {
        size_t at = 0, in = 0;
        const size_t bytes = overlap(&process->breakpoints[i], address, size, &at, &in);

        memcpy(out_bytes + at, process->breakpoints[i].original + in, bytes);
    }
    return true;
}

bool zeta_gdb_memory_write(struct zeta_gdb_process *process, uint32_t thread, uint64_t address,
                           size_t size, const uint8_t *bytes)
{
    if (!move(process, thread, address, size, (void *)(uintptr_t)bytes, true))
        return false;
    for (uint32_t i = 0; i < process->breakpoint_count; i++) {
        struct zeta_gdb_breakpoint *const breakpoint = &process->breakpoints[i];
        size_t at = 0, in = 0;
        const size_t common = overlap(breakpoint, address, size, &at, &in);

        if (common == 0)
            continue;
        memcpy(breakpoint->original + in, bytes + at, common);
        if (!write_breakpoint(process, breakpoint, i, true))
            return false;
    }
    return true;
}

/* Watchpoints ---------------------------------------------------------------------------------- */

static bool write_watchpoint(struct zeta_gdb_process *process, uint32_t index)
{
    static const uint64_t kinds[] = {
        [ZETA_GDB_WATCH_WRITE] = 1, [ZETA_GDB_WATCH_READ] = 2, [ZETA_GDB_WATCH_ACCESS] = 3};
    const struct zeta_gdb_watchpoint *const watch = &process->watchpoints[index];
    uint64_t entry[] = {watch->address, watch->bytes, kinds[watch->kind], 0};

    return move(process, ZETA_GDB_CONTROL_THREAD, WATCHPOINTS_ADDRESS + index * sizeof(entry),
                sizeof(entry), entry, true);
}

static bool replace_watchpoint(struct zeta_gdb_process *process,
                               const struct zeta_gdb_watchpoint *old,
                               const struct zeta_gdb_watchpoint *wanted)
{
    for (uint32_t i = 0; i < ZETA_GDB_WATCHPOINTS; i++) {
        struct zeta_gdb_watchpoint *const watch = &process->watchpoints[i];
        const struct zeta_gdb_watchpoint before = *watch;

        if (watch->kind != old->kind || watch->address != old->address ||
            watch->bytes != old->bytes)
            continue;
        *watch = *wanted;
        if (write_watchpoint(process, i))
            return true;
        *watch = before;
        return false;
    }
    return false;
}

bool zeta_gdb_watchpoint_insert(struct zeta_gdb_process *process, enum zeta_gdb_watch kind,
                                uint64_t address, uint64_t bytes)
{
    const struct zeta_gdb_watchpoint none = {0}, wanted = {kind, address, bytes};

    return bytes > 0 && replace_watchpoint(process, &none, &wanted);
}

bool zeta_gdb_watchpoint_remove(struct zeta_gdb_process *process, enum zeta_gdb_watch kind,
                                uint64_t address, uint64_t bytes)
{
    const struct zeta_gdb_watchpoint none = {0}, old = {kind, address, bytes};

    return replace_watchpoint(process, &old, &none);
}

void zeta_gdb_points_clear(struct zeta_gdb_process *process)
{
    for (uint32_t i = 0; i < process->breakpoint_count; i++)
        if (process->breakpoints[i].bytes > 0)
            (void)zeta_gdb_breakpoint_remove(process, process->breakpoints[i].address);
    for (uint32_t i = 0; i < ZETA_GDB_WATCHPOINTS; i++) {
        const struct zeta_gdb_watchpoint watch = process->watchpoints[i];

        if (watch.kind)
            (void)zeta_gdb_watchpoint_remove(process, watch.kind, watch.address, watch.bytes);
    }
}
