/* Random equations with every operator: the importer's expressions mean the same. Rule 14.14. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/metric/support.h"
#include "tests/oa/oa_sets.h"
#include "tests/support/suite.h"

#define SETS 8u
#define COUNTERS 60u
#define MAX_OPERATORS 12u

static uint64_t seed = 20;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)(next_random(&seed) >> 33) % limit;
}

/** An operand; counters before this one may be referred to. */
static void write_operand(FILE *file, uint32_t counter)
{
    static const char *const symbols[] = {"$EuCoresTotalCount", "$SliceMask", "$SubsliceMask",
                                          "$GpuMaxFrequency", "$QueryMode"};
    static const char *const constants[] = {"0",
                                            "1",
                                            "100",
                                            "0xff",
                                            "64",
                                            "63",
                                            "1000000000",
                                            "0xffffffffffffffff",
                                            "0x8000000000000000",
                                            "true",
                                            "9007199254740993"};

    switch (below(8)) {
    case 0:
        (void)fprintf(file, "%s", constants[below(sizeof(constants) / sizeof(constants[0]))]);
        break;
    case 1:
        (void)fprintf(file, "%s", symbols[below(sizeof(symbols) / sizeof(symbols[0]))]);
        break;
    case 2:
        if (counter > 0) {
            /* Not far back, but not in a long row either: that has a bound. */
            (void)fprintf(file, "$M%u", below(counter < 8 ? counter : 8));
            break;
        }
        (void)fprintf(file, "GPU_TIME 0 READ");
        break;
    case 3:
        (void)fprintf(file, "GPU_CLOCK 0 READ");
        break;
    case 4:
        (void)fprintf(file, "B %u READ", below(8));
        break;
    default:
        (void)fprintf(file, "A %u READ", below(36));
        break;
    }
}

static void write_equation(FILE *file, uint32_t counter)
{
    static const char *const operators[] = {
        "UADD", "USUB", "UMUL", "UDIV", "UMIN", "UMAX", "FADD",       "FSUB",     "FMUL", "FDIV",
        "FMAX", "FMIN", "AND",  "OR",   "XOR",  "XNOR", "&lt;&lt;",   "&gt;&gt;", "UGT",  "UGTE",
        "ULT",  "ULTE", "FGT",  "FGTE", "FLT",  "FLTE", "&amp;&amp;", "=="};
    uint32_t left = 1 + below(MAX_OPERATORS);
    uint32_t depth = 1;

    write_operand(file, counter);
    while (left > 0 || depth > 1) {
        /* An operator needs two operands; at the end they all come together. */
        if (depth > 1 && (left == 0 || below(2) == 0)) {
            (void)fprintf(file, " %s", operators[below(sizeof(operators) / sizeof(operators[0]))]);
            depth--;
            continue;
        }
        (void)fprintf(file, " ");
        write_operand(file, counter);
        depth++;
        left--;
    }
}

static void write_counter(FILE *file, uint32_t counter)
{
    (void)fprintf(file, "<counter symbol_name=\"M%u\" semantic_type=\"event\" units=\"%s\" ",
                  counter, below(2) ? "percent" : "events");
    (void)fprintf(file, "data_type=\"%s\" equation=\"", below(2) ? "uint64" : "float");
    write_equation(file, counter);
    if (below(3) == 0) {
        (void)fprintf(file, "\" max_equation=\"");
        write_equation(file, counter);
    }
    if (counter > 16 && below(8) == 0)
        (void)fprintf(file, "\" availability=\"$SubsliceMask %u AND", 1u << below(4));
    (void)fprintf(file, "\"/>\n");
}

SUITE(random)
{
    const char *folder = ZETA_BUILD_DIR "/tests/oa-random";
    const char *path = ZETA_BUILD_DIR "/tests/oa-random/oa-tglgt2.xml";
    FILE *file;

    (void)mkdir(folder, 0777);
    file = fopen(path, "w");
    if (!file) {
        perror(path);
        return 1;
    }
    (void)fprintf(file, "<metrics>\n");
    for (uint32_t i = 0; i < SETS; i++) {
        (void)fprintf(file,
                      "<set symbol_name=\"S%u\" chipset=\"TGLGT2\" mdapi_supported_apis=\"IO\" "
                      "hw_config_guid=\"00000000-0000-0000-0000-%012u\">\n",
                      i, i);
        for (uint32_t counter = 0; counter < COUNTERS; counter++)
            write_counter(file, counter);
        (void)fprintf(file, "</set>\n");
    }
    (void)fprintf(file, "</metrics>\n");
    if (fclose(file) != 0)
        return 1;
    return oa_sets_run(path);
}
