#include "tests/kmd/machine/counter.h"

#include <string.h>

#include "tests/kmd/machine/machine.h"

/* Patterns that TestOa sets make: with the counter C that counts periods, Counter8 of the set. */
enum test_kind { TEST_NONE, TEST_C7, TEST_C0, TEST_PVC, TEST_PEC };

/* uuids of the TestOa sets (TestOam on media units) of all platforms that have one. */
static const struct {
    const char *uuid;
    enum test_kind kind;
} test_sets[] = {
    {"d6de6f55-e526-4f79-a6a6-d7315c09044e", TEST_C7},  /* bdw */
    {"4a534b07-cba3-414d-8d60-874830e883aa", TEST_C7},  /* chv */
    {"c5384091-ce4c-406c-ab4d-4c530f71c7ae", TEST_C7},  /* skl gt2 */
    {"14cadcfd-fb3a-46a3-8c13-0a4f850a4b18", TEST_C7},  /* skl gt3 */
    {"c1c2d40e-652a-482c-98fc-28bdb7c6ee44", TEST_C7},  /* skl gt4 */
    {"5ee72f5c-092f-421e-8b70-225f7c3e9612", TEST_C7},  /* bxt */
    {"dd3fd789-e783-4204-8cd0-b671bbccb0cf", TEST_C7},  /* glk */
    {"cd4b577b-073a-423f-a948-e198dd818c71", TEST_C7},  /* kbl gt2 */
    {"bb3344bf-2551-40f7-b75f-cbf29e4195f7", TEST_C7},  /* kbl gt3 */
    {"d3c99326-e161-4e44-9745-7772bdc579c5", TEST_C7},  /* cfl gt2 */
    {"f240ef8d-4a2e-4961-a63c-cc43b01ed923", TEST_C7},  /* cfl gt3 */
    {"99517a69-b9a7-4124-8f59-06645ea13187", TEST_C7},  /* cnl */
    {"e617cfd5-6cc5-4143-8994-cd36cebb921f", TEST_C0},  /* icl */
    {"4cbcfaf7-3c0c-42b8-a324-b1e58329c732", TEST_C0},  /* ehl */
    {"6f27aaed-4f08-4e0f-95a9-231d9b4fa111", TEST_C0},  /* tgl gt1 */
    {"6607f034-d053-40d1-8215-67c07f3041bb", TEST_C0},  /* tgl gt2 */
    {"74dbc739-d871-41b5-be7b-fb547ac5bec9", TEST_C0},  /* rkl */
    {"23f51139-6973-4b45-a211-778834ce2c9a", TEST_C0},  /* dg1 */
    {"89173c19-fcfe-48da-ac26-fb64425f141b", TEST_C0},  /* adl */
    {"57f210de-b537-464a-af7b-7dfe2f3780c1", TEST_C0},  /* dg2 g11 */
    {"cfac9130-4f6a-4a2a-aafc-9e88751ce983", TEST_C0},  /* dg2 g12 */
    {"7389b9c9-de73-468d-83a8-b27776215e6b", TEST_C0},  /* dg2 g10 */
    {"d0ed8afd-ad64-4774-8788-1a15f4ab7829", TEST_C7},  /* mtl gt2 */
    {"7272a7b8-6df2-4180-a95f-2ef7ad4412cc", TEST_C0},  /* mtl gt3 */
    {"a1700053-56bc-4b7e-87b9-e29b07a08f62", TEST_C0},  /* mtl gt2, media */
    {"bac01106-5869-487c-a306-67303a434173", TEST_C0},  /* mtl gt3, media */
    {"339a376a-4696-4e0d-812a-5fd13b0e1aa8", TEST_PVC}, /* pvc */
    {"24c33f2c-f8d9-40d9-b2db-64e863b4d625", TEST_PEC}, /* lnl */
    {"9ec392a7-4c77-4253-a28a-85240821e82c", TEST_PEC}, /* bmg */
    {"cf90eca9-c696-4e2c-8f48-0574b1745a58", TEST_PEC}, /* ptl */
};

static enum test_kind find_test(const char *uuid)
{
    for (size_t i = 0; i < sizeof(test_sets) / sizeof(test_sets[0]); i++) {
        if (strcmp(test_sets[i].uuid, uuid) == 0)
            return test_sets[i].kind;
    }
    return TEST_NONE;
}

static void set(struct kmd_track *track, uint64_t rate, bool is_special)
{
    track->rate = rate > UINT32_MAX ? UINT32_MAX : (uint32_t)rate;
    if (is_special)
        track->pace = KMD_STEADY;
}

static void set_a(struct kmd_tracks *tracks, const struct kmd_gpu *gpu, uint64_t f)
{
    const uint64_t eus = (uint64_t)gpu->slices * gpu->subslices * gpu->eus;
    const bool is_haswell = kmd_gpu_platform(gpu)->graphics < 800;
    struct kmd_track *a = tracks->banks[KMD_BANK_A];

    for (uint32_t n = 0; n < KMD_BANK_SIZE; n++) {
        if (is_haswell ? n == 41 : n == 0)
            set(&a[n], f, true);
        else if (is_haswell)
            set(&a[n], n <= 30 ? f * eus * (n + 1) / 128 : (n - 30) * 32768ull, false);
        else if (n <= 6)
            set(&a[n], n * 4096ull, false);
        else
            set(&a[n], n <= 20 ? f * eus * (n + 1) / 64 : (n - 20) * 32768ull, false);
    }
}

static void set_share(struct kmd_track *track, uint64_t f, uint8_t times, uint8_t by)
{
    set(track, f, true);
    track->times = times;
    track->by = by;
}

static void set_test_b(struct kmd_tracks *tracks, uint64_t f, enum test_kind kind)
{
    static const uint8_t shares[8][2] = {{0, 1}, {1, 1}, {1, 1}, {1, 2},
                                         {1, 3}, {1, 3}, {1, 6}, {2, 3}};
    static const uint8_t of_pvc[5] = {0, 1, 3, 4, 5};

    for (uint32_t n = 0; n < (kind == TEST_PVC ? 5u : 8u); n++) {
        const uint8_t *share = shares[kind == TEST_PVC ? of_pvc[n] : n];

        /* A share of nothing: the rate alone says so. */
        if (share[0] == 0)
            set_share(&tracks->banks[KMD_BANK_B][n], 0, 1, 1);
        else
            set_share(&tracks->banks[KMD_BANK_B][n], f, share[0], share[1]);
    }
    tracks->banks[KMD_BANK_C][kind == TEST_C0 ? 0 : 7].pace = KMD_PERIODS;
}

static void set_test_pec(struct kmd_tracks *tracks, const struct kmd_gpu *gpu, uint64_t f)
{
    struct kmd_track *pec = tracks->banks[KMD_BANK_PEC];

    set(&pec[32], f, true);
    set(&pec[2], f * gpu->slices * gpu->subslices, true);
    for (uint32_t n = 3; n <= 31; n++)
        set(&pec[n], f, true);
    set_share(&pec[35], f * gpu->slices, 1, 2);
}

/* A counters that have 32 bits in reports: what a subslice makes one of in a clock at most. */
static bool is_narrow(uint32_t graphics, uint32_t a)
{
    return graphics < 1255 ? a >= 32 : a <= 3 || (a >= 24 && a <= 27) || a >= 32;
}

static void set_flat_out(struct kmd_tracks *tracks, const struct kmd_gpu *gpu,
                         const struct kmd_unit *unit, uint64_t f)
{
    const struct kmd_platform *platform = kmd_gpu_platform(gpu);
    const uint64_t subslices = (uint64_t)gpu->slices * gpu->subslices;
    const uint64_t eus = subslices * gpu->eus;
    const uint64_t parts =
        unit->kind == KMD_UNIT_OAG ? eus : platform->engines[2] + platform->engines[3];

    for (uint32_t n = 0; n < KMD_BANK_SIZE; n++) {
        struct kmd_track *a = &tracks->banks[KMD_BANK_A][n];

        if (platform->graphics < 800)
            set(a, n == 41 ? f : f * eus, true);
        else
            set(a, n == 0 ? f : f * (is_narrow(platform->graphics, n) ? subslices : eus), true);
        set(&tracks->banks[KMD_BANK_B][n], f, true);
        set(&tracks->banks[KMD_BANK_C][n], f, true);
        set(&tracks->banks[KMD_BANK_PEC][n], f * parts, true);
    }
}

void kmd_tracks_init(struct kmd_tracks *tracks, const struct kmd_gpu *gpu,
                     const struct kmd_unit *unit, const char *uuid)
{
    const uint64_t f = gpu->max_mhz * 1000000ull * 65536 / unit->oa_hz;
    const enum test_kind test = find_test(uuid);

    tracks->shift = unit->stream.exponent + 1;
    for (uint32_t bank = 0; bank <= KMD_BANK_PEC; bank++) {
        for (uint32_t n = 0; n < KMD_BANK_SIZE; n++) {
            tracks->banks[bank][n] = (struct kmd_track){.times = 1, .by = 1};
            tracks->banks[bank][n].pace = n % 2 == 1 ? KMD_BURSTS : KMD_STEADY;
        }
    }
    set(&tracks->banks[KMD_BANK_CLOCK][0], f, true);
    set_a(tracks, gpu, f);
    for (uint32_t n = 0; n < 8; n++) {
        set(&tracks->banks[KMD_BANK_B][n], (2 * n + 1) * 8192ull, false);
        set(&tracks->banks[KMD_BANK_C][n], (2 * n + 1) * 4096ull, false);
    }
    if (kmd_gpu_platform(gpu)->graphics < 800)
        set(&tracks->banks[KMD_BANK_C][2], f, true);
    for (uint32_t n = 0; n < KMD_BANK_SIZE; n++)
        set(&tracks->banks[KMD_BANK_PEC][n], f * (n + 1) / (unit->kind == KMD_UNIT_OAG ? 64 : 16),
            false);
    if (gpu->is_flat_out)
        set_flat_out(tracks, gpu, unit, f);
    if (test == TEST_PEC)
        set_test_pec(tracks, gpu, f);
    else if (test != TEST_NONE)
        set_test_b(tracks, f, test);
}

void kmd_sleep_init(struct kmd_sleep *sleep, const struct kmd_gpu *gpu, const struct kmd_unit *unit)
{
    sleep->count = gpu->idle_count;
    for (uint32_t i = 0; i < gpu->idle_count; i++) {
        sleep->from[i] = kmd_unit_ticks(gpu, unit, gpu->idles[i].from_ns);
        sleep->to[i] = gpu->idles[i].to_ns == UINT64_MAX
                           ? UINT64_MAX
                           : kmd_unit_ticks(gpu, unit, gpu->idles[i].to_ns);
    }
}

uint64_t kmd_counter(const struct kmd_machine *machine, uint32_t device, uint32_t unit,
                     const char *uuid, enum kmd_bank bank, uint32_t index, uint64_t oa_ticks)
{
    struct kmd_shared *shared = kmd_machine_shared(machine);
    struct kmd_tracks tracks;
    struct kmd_sleep sleep;
    struct kmd_moment moment;
    struct kmd_gpu *gpu;

    if (device >= shared->gpu_count || unit >= shared->gpus[device].unit_count ||
        index >= KMD_BANK_SIZE)
        return 0;
    gpu = &shared->gpus[device];
    kmd_lock(gpu);
    kmd_tracks_init(&tracks, gpu, &gpu->units[unit], uuid);
    kmd_sleep_init(&sleep, gpu, &gpu->units[unit]);
    kmd_unlock(gpu);
    moment = kmd_moment_at(&sleep, oa_ticks);
    return kmd_track_value(&tracks, &tracks.banks[bank][index], &moment);
}
