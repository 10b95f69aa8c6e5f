#include "tests/replay/igt_tape.h"

#include <stdlib.h>
#include <string.h>

const struct igt_kind igt_kinds[] = {
    {0x0412, 5, 256, 12500000, 12500000, 1, 2, 10, 45, 8, 8, "Haswell", "Haswell GT2", NULL, NULL},
    {0x1912, 7, 64, 12000000, 12000000, 1, 3, 8, 0, 8, 4, "Skylake", "Skylake GT2", NULL, NULL},
    {0x1912, 10, 256, 12000000, 12000000, 1, 3, 8, 36, 8, 8, "Skylake", "Skylake GT2", NULL, NULL},
    {0x9a49, 10, 256, 19200000, 19200000, 1, 6, 16, 36, 8, 8, "Tiger Lake", "Tiger Lake GT2", NULL,
     NULL},
    {0x56a0, 12, 256, 25000000, 12500000, 8, 4, 16, 38, 8, 8, "Alchemist", "Alchemist G10", NULL,
     NULL},
    {0x7d55, 13, 192, 38400000, 19200000, 2, 4, 16, 8, 8, 8, "Meteor Lake", "Meteor Lake H", NULL,
     NULL},
    {0x7d55, 14, 128, 38400000, 19200000, 2, 4, 16, 8, 8, 8, "Meteor Lake", "Meteor Lake H", NULL,
     NULL},
    {0x9a49, 10, 256, 19200000, 19200000, 1, 6, 16, 36, 8, 8, "Tiger Lake", "Tiger Lake GT2",
     "RenderBasic", "0fc397c0-4833-492c-9ccd-4929d574d5b8"},
    {0x9a49, 10, 256, 19200000, 19200000, 1, 6, 16, 36, 8, 8, "Tiger Lake", "Tiger Lake GT2",
     IGT_ODD_SET, "e0efab61-c904-4354-9fc5-35e8b8bc7d20"},
    /* A set of reports of another format. */
    {0x9a49, 7, 64, 19200000, 19200000, 1, 6, 16, 0, 8, 4, "Tiger Lake", "Tiger Lake GT2",
     "RenderBasic", "0fc397c0-4833-492c-9ccd-4929d574d5b8"},
};
const uint32_t igt_kind_count = sizeof(igt_kinds) / sizeof(igt_kinds[0]);

uint64_t igt_step(char bank, uint32_t index)
{
    return bank == 'A' ? (index + 1) * UINT64_C(1000) : bank == 'B' ? index + 3 : index + 50;
}

/* Near the wrap of every width, so that differences have to be taken modulo it. */
static uint64_t value_of(char bank, uint32_t index, uint32_t k)
{
    return UINT64_C(0xfffffffffffffe00) + index + k * igt_step(bank, index);
}

static void put32(unsigned char *report, uint32_t at, uint64_t value)
{
    for (uint32_t i = 0; i < 4; i++)
        report[at + i] = (unsigned char)(value >> (8 * i));
}

static void put64(unsigned char *report, uint32_t at, uint64_t value)
{
    put32(report, at, value);
    put32(report, at + 4, value >> 32);
}

/* The low 32 bits of a counter at one place, bits 39:32 at another. */
static void put40(unsigned char *report, uint32_t at, uint32_t high_at, uint64_t value)
{
    put32(report, at, value);
    report[high_at] = (unsigned char)(value >> 32);
}

static void put_bank(unsigned char *report, char bank, uint32_t first, uint32_t count, uint32_t at,
                     uint32_t k)
{
    for (uint32_t i = 0; i < count; i++)
        put32(report, at + 4 * i, value_of(bank, first + i, k));
}

/* Time of report k in ticks of the unit. */
static uint64_t ticks_of(uint32_t k)
{
    return UINT64_C(0x7fffff0000) + (uint64_t)k * IGT_PERIOD_TICKS;
}

static void put_counters_of_gen12(unsigned char *report, uint32_t k)
{
    for (uint32_t n = 0; n < 32; n++)
        put40(report, 16 + 4 * n, 160 + n, value_of('A', n, k));
    put_bank(report, 'A', 32, 4, 144, k);
    put_bank(report, 'B', 0, 8, 192, k);
    put_bank(report, 'C', 0, 8, 224, k);
}

static void put_counters_of_dg2(unsigned char *report, uint32_t k)
{
    put_bank(report, 'A', 0, 4, 16, k);
    for (uint32_t n = 4; n < 24; n++)
        put40(report, 16 + 4 * n, 160 + n, value_of('A', n, k));
    put_bank(report, 'A', 24, 4, 112, k);
    for (uint32_t n = 28; n < 32; n++)
        put40(report, 16 + 4 * n, 160 + n, value_of('A', n, k));
    put_bank(report, 'A', 32, 4, 144, k);
    put32(report, 160, value_of('A', 36, k));
    put32(report, 184, value_of('A', 37, k));
    put_bank(report, 'B', 0, 8, 192, k);
    put_bank(report, 'C', 0, 8, 224, k);
}

static void put_head32(unsigned char *report, uint32_t k)
{
    /* Reason: timer; the context is valid. */
    put32(report, 0, 1u << 19 | 1u << 16);
    put32(report, 4, ticks_of(k));
    put32(report, 8, IGT_CONTEXT);
    put32(report, 12, UINT64_C(0xffff0000) + (uint64_t)k * IGT_CLOCKS);
}

static void put_head64(unsigned char *report, uint32_t k)
{
    put64(report, 0, 1u << 19);
    put64(report, 8, ticks_of(k));
    put64(report, 16, IGT_CONTEXT);
    put64(report, 24, (uint64_t)k * IGT_CLOCKS);
}

void igt_make_report(const struct igt_kind *kind, uint32_t k, unsigned char *out_report)
{
    memset(out_report, 0, kind->report_bytes);
    switch (kind->format) {
    case 5: /* Haswell: 12 bytes of header, no reason, no clocks */
        put32(out_report, 0, 0x1234);
        put32(out_report, 4, ticks_of(k));
        put_bank(out_report, 'A', 0, 45, 12, k);
        put_bank(out_report, 'B', 0, 8, 192, k);
        put_bank(out_report, 'C', 0, 8, 224, k);
        break;
    case 7:
        put_head32(out_report, k);
        put_bank(out_report, 'C', 0, 4, 16, k);
        put_bank(out_report, 'B', 0, 8, 32, k);
        break;
    case 10:
        put_head32(out_report, k);
        put_counters_of_gen12(out_report, k);
        break;
    case 12:
        put_head32(out_report, k);
        put_counters_of_dg2(out_report, k);
        break;
    case 13:
        put_head64(out_report, k);
        for (uint32_t n = 0; n < 8; n++)
            put64(out_report, 32 + 8 * n, value_of('A', n, k));
        put_bank(out_report, 'B', 0, 8, 96, k);
        put_bank(out_report, 'C', 0, 8, 128, k);
        break;
    case 14:
        put_head64(out_report, k);
        put_bank(out_report, 'A', 0, 8, 32, k);
        put_bank(out_report, 'B', 0, 8, 64, k);
        put_bank(out_report, 'C', 0, 8, 96, k);
        break;
    default:
        abort();
    }
}

/* ---- records ------------------------------------------------------------------------------ */

static void put_record(struct tape_data *file, uint32_t type, const void *body, size_t bytes)
{
    unsigned char header[8] = {0};

    put32(header, 0, type);
    header[6] = (unsigned char)(bytes + 8);
    header[7] = (unsigned char)((bytes + 8) >> 8);
    tape_put(file, header, sizeof(header));
    if (bytes > 0)
        tape_put(file, body, bytes);
}

void igt_put_version(struct tape_data *file, uint32_t version)
{
    unsigned char body[8] = {0};

    put32(body, 0, version);
    put_record(file, 65536, body, sizeof(body));
}

void igt_put_device(struct tape_data *file, const struct igt_kind *kind)
{
    const char *set = kind->set ? kind->set : "RenderBasic";
    const char *uuid = kind->uuid ? kind->uuid : "12345678-9abc-def0-1234-56789abcdef0";
    unsigned char body[336] = {0};

    put64(body, 0, kind->oa_hz);
    put32(body, 8, kind->pci_id);
    put32(body, 12, 3);
    put32(body, 16, 300000000);
    put32(body, 20, 1300000000);
    put32(body, 24, 0);
    put32(body, 28, 0);
    put32(body, 32, kind->format);
    memcpy(body + 36, set, strlen(set) + 1);
    memcpy(body + 292, uuid, strlen(uuid) + 1);
    put_record(file, 65537, body, sizeof(body));
}

void igt_put_topology(struct tape_data *file, const struct igt_kind *kind)
{
    const uint32_t subslice_stride = (kind->subslices + 7) / 8, eu_stride = (kind->eus + 7) / 8;
    const uint32_t subslice_offset = 1, eu_offset = 1 + kind->slices * subslice_stride;
    unsigned char body[512] = {0};
    unsigned char *data = body + 16;

    body[2] = (unsigned char)kind->slices;
    body[4] = (unsigned char)kind->subslices;
    body[6] = (unsigned char)kind->eus;
    body[8] = (unsigned char)subslice_offset;
    body[10] = (unsigned char)subslice_stride;
    body[12] = (unsigned char)eu_offset;
    body[14] = (unsigned char)eu_stride;
    for (uint32_t s = 0; s < kind->slices; s++) {
        data[0] |= (unsigned char)(1u << s);
        for (uint32_t ss = 0; ss < kind->subslices; ss++) {
            data[subslice_offset + s * subslice_stride] |= (unsigned char)(1u << ss);
            for (uint32_t e = 0; e < kind->eus; e++)
                data[eu_offset + (s * kind->subslices + ss) * eu_stride + e / 8] |=
                    (unsigned char)(1u << (e % 8));
        }
    }
    put_record(file, 65538, body,
               16 + (eu_offset + (size_t)kind->slices * kind->subslices * eu_stride + 7) / 8 * 8);
}

void igt_put_correlation(struct tape_data *file, const struct igt_kind *kind, uint32_t k)
{
    const uint64_t oa = ticks_of(k);
    unsigned char body[16];

    put64(body, 0, UINT64_C(5000000000) + (uint64_t)((double)oa / (double)kind->oa_hz * 1e9));
    put64(body, 8, oa / (kind->oa_hz / kind->cs_hz) & UINT64_C(0xfffffffff));
    put_record(file, 65539, body, sizeof(body));
}

void igt_put_report(struct tape_data *file, const struct igt_kind *kind, uint32_t k)
{
    unsigned char report[256];

    igt_make_report(kind, k, report);
    put_record(file, 1, report, kind->report_bytes);
}

void igt_put_loss(struct tape_data *file, uint32_t type)
{
    put_record(file, type, NULL, 0);
}

void igt_put_head(struct tape_data *file, const struct igt_kind *kind)
{
    igt_put_version(file, 1);
    igt_put_device(file, kind);
    igt_put_topology(file, kind);
    igt_put_correlation(file, kind, 0);
}
