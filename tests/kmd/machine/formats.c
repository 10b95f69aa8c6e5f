/* Formats of reports: where each bank of counters is. */

#include "tests/kmd/machine/kmd_priv.h"

#define RUN(bank_, width_, first_, count_, offset_)                                                \
    {                                                                                              \
        .bank = KMD_BANK_##bank_, .width = KMD_##width_, .first = (first_), .count = (count_),     \
        .offset = (offset_)                                                                        \
    }
#define B8(offset) RUN(B, U32, 0, 8, offset)
#define C8(offset) RUN(C, U32, 0, 8, offset)

/*
 * The generations that have it (first, last), users, bytes, header, runs. Haswell's formats 6 and
 * 7 are laid out as its 12-byte header asks for.
 */
static const struct kmd_format formats[] = {
    {1, false, 0, 750, 750, KMD_FOR_OAG, 64, KMD_HEADER_HSW, {RUN(A, U32, 0, 13, 12)}},
    {2, false, 0, 750, 750, KMD_FOR_OAG, 128, KMD_HEADER_HSW, {RUN(A, U32, 0, 29, 12)}},
    {3,
     false,
     0,
     750,
     750,
     KMD_FOR_OAG,
     128,
     KMD_HEADER_HSW,
     {RUN(A, U32, 0, 13, 12), B8(64), C8(96)}},
    {4, false, 0, 750, 750, KMD_FOR_OAG, 64, KMD_HEADER_HSW, {RUN(B, U32, 0, 4, 16), C8(32)}},
    {5,
     false,
     0,
     750,
     750,
     KMD_FOR_OAG,
     256,
     KMD_HEADER_HSW,
     {RUN(A, U32, 0, 45, 12), B8(192), C8(224)}},
    {6,
     false,
     0,
     750,
     750,
     KMD_FOR_OAG,
     128,
     KMD_HEADER_HSW,
     {RUN(A, U32, 29, 16, 60), RUN(B, U32, 0, 4, 12), C8(28)}},
    {7, false, 0, 750, 750, KMD_FOR_OAG, 64, KMD_HEADER_HSW, {RUN(C, U32, 0, 4, 12), B8(28)}},

    {7, true, 0x700, 800, 1210, KMD_FOR_OAG, 64, KMD_HEADER_32, {RUN(C, U32, 0, 4, 16), B8(32)}},
    {8, true, 0x000, 800, 1210, KMD_FOR_OAG, 64, KMD_HEADER_32, {RUN(A, U32, 7, 12, 16)}},
    {9,
     true,
     0x200,
     800,
     1210,
     KMD_FOR_OAG,
     128,
     KMD_HEADER_32,
     {RUN(A, U32, 7, 12, 16), B8(64), C8(96)}},
    {10,
     true,
     0x500,
     800,
     1210,
     KMD_FOR_OAG,
     256,
     KMD_HEADER_32,
     {RUN(A, U40, 0, 32, 16), RUN(A, U32, 32, 4, 144), B8(192), C8(224)}},

    {11,
     true,
     0x501,
     1255,
     1274,
     KMD_FOR_OAG,
     256,
     KMD_HEADER_32,
     {RUN(A, U40, 0, 32, 16), RUN(A, U32, 32, 4, 144), B8(192), C8(224)}},
    {12,
     true,
     0x500,
     1255,
     1274,
     KMD_FOR_OAG,
     256,
     KMD_HEADER_32,
     {RUN(A, U32, 0, 4, 16), RUN(A, U40, 4, 20, 32), RUN(A, U32, 24, 4, 112),
      RUN(A, U40, 28, 4, 128), RUN(A, U32, 32, 5, 144), RUN(A, U32, 37, 1, 184), B8(192), C8(224)}},
    {0,
     true,
     0x103,
     1255,
     1274,
     KMD_FOR_OAG,
     320,
     KMD_HEADER_64,
     {RUN(A, U64, 28, 8, 160), B8(224), C8(256)}},
    {0, true, 0x203, 1255, 1274, KMD_FOR_OAG, 192, KMD_HEADER_64, {B8(128), C8(160)}},

    {13,
     true,
     0x104,
     1270,
     3000,
     KMD_FOR_OAM,
     192,
     KMD_HEADER_64,
     {RUN(PEC, U64, 0, 8, 32), B8(96), C8(128)}},
    {14,
     true,
     0x204,
     1270,
     3000,
     KMD_FOR_OAM,
     128,
     KMD_HEADER_64,
     {RUN(PEC, U32, 0, 8, 32), B8(64), C8(96)}},

    {0, true, 0x00010105, 2000, 3000, KMD_FOR_OAG, 576, KMD_HEADER_64, {RUN(PEC, U64, 0, 64, 32)}},
    {0,
     true,
     0x01010105,
     2000,
     3000,
     KMD_FOR_OAG,
     640,
     KMD_HEADER_64,
     {RUN(PEC, U64, 0, 64, 32), B8(544), C8(576)}},
    {0, true, 0x00000105, 2000, 3000, KMD_FOR_OAG, 320, KMD_HEADER_64, {RUN(PEC, U32, 0, 64, 32)}},
    {0, true, 0x00010505, 2000, 3000, KMD_FOR_OAG, 320, KMD_HEADER_64, {RUN(PEC, U64, 0, 32, 32)}},
    {0, true, 0x00000505, 2000, 3000, KMD_FOR_OAG, 192, KMD_HEADER_64, {RUN(PEC, U32, 0, 32, 32)}},
    {0, true, 0x00010605, 2000, 3000, KMD_FOR_OAG, 320, KMD_HEADER_64, {RUN(PEC, U64, 32, 32, 32)}},
    {0, true, 0x00000605, 2000, 3000, KMD_FOR_OAG, 192, KMD_HEADER_64, {RUN(PEC, U32, 32, 32, 32)}},
    {0, true, 0x00010305, 2000, 3000, KMD_FOR_OAG, 320, KMD_HEADER_64, {RUN(PEC, U64, 0, 36, 32)}},
    {0,
     true,
     0x00010405,
     2000,
     3000,
     KMD_FOR_OAG,
     320,
     KMD_HEADER_64,
     {RUN(PEC, U64, 0, 4, 32), RUN(PEC, U64, 32, 32, 64)}},
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

static bool is_of(const struct kmd_format *format, uint32_t graphics)
{
    return graphics >= format->min_graphics && graphics <= format->max_graphics;
}

const struct kmd_format *kmd_format_i915(uint32_t graphics, uint32_t id)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (id > 0 && formats[i].i915 == id && is_of(&formats[i], graphics))
            return &formats[i];
    }
    return NULL;
}

const struct kmd_format *kmd_format_xe(uint32_t graphics, uint32_t word)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (formats[i].has_xe && formats[i].xe == word && is_of(&formats[i], graphics))
            return &formats[i];
    }
    return NULL;
}

void kmd_stream_set_format(struct kmd_stream *stream, const struct kmd_format *format)
{
    stream->format = (uint32_t)(format - formats);
    stream->report_bytes = format->bytes;
}

const struct kmd_format *kmd_stream_format(const struct kmd_stream *stream)
{
    return &formats[stream->format];
}
