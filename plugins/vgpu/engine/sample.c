/*
 * Samples of instruction pointers: where threads are, and what they do there, at instants spread
 * evenly over the clocks that they spend. The clocks are those of the cycle model.
 *
 * A thread's clocks are spent in its quanta, at barriers, and in waits that are known only when the
 * epoch is replayed. Each of the three is sampled on its own, once in `interval` clocks.
 *
 * Quanta: of `stride` quanta of a subslice one, chosen evenly, runs instruction by instruction, so
 * that the cost of each is known; as all quanta are as likely, the clocks of stepped quanta stand
 * for stride times as many, and each `spacing` = interval / stride of them give one sample. All
 * other quanta run at full speed. Stepped quanta do the same, and count the same, as others.
 * Barriers: what a thread waited is known exactly when it goes on.
 * Replay: what L3 misses cost is shared out to samples of instructions that missed the L1, what
 * threads of an EU waited for each other to those that were seen issuing, and the clocks of threads
 * that a debugger has to where these are.
 *
 * Where chance is needed it comes from the numbers of the quanta and samples of the session, so
 * that the same work gives the same samples, for any number of workers.
 */
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"

enum {
    /* Clocks of stepped quanta between samples, if the stride allows it: a few samples per quantum.
     */
    SPACING = 320,
    LARGEST_STRIDE = 1024,
    /* Most samples of an epoch; more are more than a reader could want. */
    LARGEST_LOG = 65536,
    /* What replay adds comes in batches of so many. */
    BATCH = 256
};

/* A number without a pattern from two that have one (the finisher of splitmix64). */
static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a + 1) * UINT64_C(0x9e3779b97f4a7c15) + b;

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* One of @width numbers from the @stratum-th multiple of it on; @sequence tells choices apart. */
static uint64_t choose(uint64_t stratum, uint64_t width, uint64_t sequence)
{
    return stratum * width + mix(stratum, sequence) % width;
}

void zeta_vgpu_sampler_update(struct subslice *subslice)
{
    const struct zeta_vgpu_callbacks *callbacks = &subslice->engine->config.callbacks;
    struct sampler *sampler = &subslice->sampler;
    uint64_t session = 0;
    uint64_t interval = callbacks->sampled ? callbacks->sampling(callbacks->user, &session) : 0;

    if (interval == sampler->interval && (interval == 0 || session == sampler->session))
        return;
    sampler->session = session;
    sampler->interval = interval;
    sampler->log.count = 0;
    sampler->log.lost = 0;
    if (interval == 0)
        return;
    sampler->stride = interval / SPACING;
    if (sampler->stride > LARGEST_STRIDE)
        sampler->stride = LARGEST_STRIDE;
    if (sampler->stride == 0)
        sampler->stride = 1;
    sampler->spacing = interval / sampler->stride;
    sampler->quantum = 0;
    sampler->clock = 0;
    /* Not at once, and not in all subslices at the same time. */
    sampler->waited = mix(0, subslice->index) % interval;
    sampler->chosen = choose(0, sampler->stride, 2 * subslice->index);
    sampler->due = choose(0, sampler->spacing, 2 * subslice->index + 1);
}

bool zeta_vgpu_sampler_quantum(struct subslice *subslice)
{
    struct sampler *sampler = &subslice->sampler;
    const bool chosen = sampler->quantum == sampler->chosen;

    sampler->quantum++;
    if (sampler->quantum % sampler->stride == 0)
        sampler->chosen =
            choose(sampler->quantum / sampler->stride, sampler->stride, 2 * subslice->index);
    return chosen;
}

static void add_sample(struct sample_log *log, const struct sample *sample)
{
    if (log->count == log->room) {
        uint32_t room = log->room ? 2 * log->room : 64;
        struct sample *entries =
            room <= LARGEST_LOG ? realloc(log->entries, room * sizeof(*entries)) : NULL;

        if (!entries) {
            log->lost += sample->count;
            return;
        }
        log->entries = entries;
        log->room = room;
    }
    log->entries[log->count++] = *sample;
}

/*
 * Takes the samples that are due in an instruction: it is fetched, issues, and then waits for its
 * unit, for memory, or for the next instruction.
 */
static void take_samples(struct subslice *subslice, uint64_t address, bool is_store, bool missed,
                         const struct costs *costs)
{
    struct sampler *sampler = &subslice->sampler;
    const uint64_t issue = sampler->clock + costs->fetch, pipe = issue + costs->issue;
    const uint64_t memory = pipe + costs->pipe, control = memory + costs->memory;

    sampler->clock = control + costs->control;
    while (sampler->due < sampler->clock) {
        const uint64_t due = sampler->due;
        const enum zeta_vgpu_stall stall = due < issue      ? ZETA_VGPU_STALL_FETCH
                                           : due < pipe     ? ZETA_VGPU_STALL_ACTIVE
                                           : due < memory   ? ZETA_VGPU_STALL_PIPE
                                           : due >= control ? ZETA_VGPU_STALL_CONTROL
                                           : is_store       ? ZETA_VGPU_STALL_SEND
                                                            : ZETA_VGPU_STALL_SBID;

        add_sample(&sampler->log,
                   &(struct sample){
                       .address = address, .count = 1, .stall = (uint8_t)stall, .missed = missed});
        sampler->due =
            choose(due / sampler->spacing + 1, sampler->spacing, 2 * subslice->index + 1);
    }
}

enum zeta_rv64_stop zeta_vgpu_sampler_step(struct subslice *subslice, struct hart *hart,
                                           bool *out_block_end)
{
    const uint64_t pc = hart->cpu->pc, misses = subslice->l1.misses;
    struct costs costs;
    const enum zeta_rv64_stop stop = zeta_vgpu_step(subslice, hart, &costs, out_block_end);
    uint32_t word = 0;
    bool is_store;

    if (zeta_rv64_code_holds(subslice->context.code, pc))
        memcpy(&word, (const void *)(uintptr_t)pc, sizeof(word));
    /* Stores of integers and of floating point numbers, by the opcode of the word. */
    is_store = (word & 0x7f) == 0x23 || (word & 0x7f) == 0x27;
    take_samples(subslice, pc, is_store, subslice->l1.misses != misses, &costs);
    return stop;
}

void zeta_vgpu_sampler_wait(struct subslice *subslice, const struct hart *hart, uint64_t cycles)
{
    struct sampler *sampler = &subslice->sampler;
    struct sample sample = {.address = hart->cpu->pc - 4, .stall = ZETA_VGPU_STALL_SYNC};

    sampler->waited += cycles;
    sample.count = (uint32_t)(sampler->waited / sampler->interval);
    sampler->waited %= sampler->interval;
    if (sample.count > 0)
        add_sample(&sampler->log, &sample);
}

void zeta_vgpu_sampler_note_stops(const struct subslice *subslice, struct sample_log *log)
{
    for (uint32_t i = 0; i < subslice->used_slots; i++) {
        const struct hart *hart = &subslice->harts[i];

        if (hart->stopped)
            add_sample(log,
                       &(struct sample){.address = hart->cpu->pc, .stall = ZETA_VGPU_STALL_OTHER});
    }
}

static bool is_shared_out(const struct sample *sample, enum zeta_vgpu_stall stall)
{
    switch (stall) {
    case ZETA_VGPU_STALL_DIST:
        return sample->stall == ZETA_VGPU_STALL_ACTIVE;
    case ZETA_VGPU_STALL_OTHER:
        return sample->stall == ZETA_VGPU_STALL_OTHER;
    default:
        return sample->missed;
    }
}

/* Shares owed clocks out to samples of the epoch; without a fitting one they stay owed. */
static void share_out(struct sample_log *log, uint32_t count, uint64_t interval,
                      enum zeta_vgpu_stall stall, uint64_t *owed)
{
    uint64_t samples = *owed / interval;
    uint64_t fitting = 0, number = 0;

    for (uint32_t i = 0; samples > 0 && i < count; i++)
        fitting += is_shared_out(&log->entries[i], stall);
    if (fitting == 0)
        return;
    *owed %= interval;
    for (uint32_t i = 0; i < count; i++) {
        struct sample share = log->entries[i];

        if (!is_shared_out(&share, stall))
            continue;
        /* The n-th of m gets what the first n have in all without what the ones before have. */
        share.count = (uint32_t)(samples * (number + 1) / fitting - samples * number / fitting);
        share.stall = (uint8_t)stall;
        number++;
        if (share.count > 0)
            add_sample(log, &share);
    }
}

void zeta_vgpu_sampler_deliver(struct zeta_vgpu_engine *engine, uint32_t subslice,
                               struct epoch *epoch, uint64_t memory, uint64_t issue,
                               uint64_t stopped)
{
    const struct zeta_vgpu_callbacks *callbacks = &engine->config.callbacks;
    struct owed *owed = &engine->model.owed[subslice];
    struct sample_log *log = &epoch->samples;
    const uint32_t taken = log->count;
    struct zeta_vgpu_ip_sample batch[BATCH];
    uint64_t lost;
    uint32_t used = 0;

    if (owed->session != epoch->sample_session)
        *owed = (struct owed){.session = epoch->sample_session};
    owed->memory += memory;
    owed->issue += issue;
    owed->stopped += stopped;
    share_out(log, taken, epoch->sample_interval, ZETA_VGPU_STALL_SBID, &owed->memory);
    share_out(log, taken, epoch->sample_interval, ZETA_VGPU_STALL_DIST, &owed->issue);
    share_out(log, taken, epoch->sample_interval, ZETA_VGPU_STALL_OTHER, &owed->stopped);
    lost = log->lost;
    for (uint32_t i = 0; i < log->count; i++) {
        const struct sample *sample = &log->entries[i];

        if (sample->count > 0) /* none: a stop that was noted */
            batch[used++] =
                (struct zeta_vgpu_ip_sample){sample->address, sample->stall, sample->count};
        if (used == BATCH || (i + 1 == log->count && used > 0)) {
            callbacks->sampled(callbacks->user, batch, used, lost);
            used = 0;
            lost = 0;
        }
    }
}
