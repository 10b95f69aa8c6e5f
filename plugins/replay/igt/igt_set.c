/*
 * The set file for a report format: the layout, and the raw counters of the reports.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plugins/replay/igt/igt.h"

static void put_metric(FILE *out, const char *name, const char *type, const char *value_type,
                       const char *unit, const char *value, const char *description)
{
    (void)fprintf(out,
                  "      - name: %s\n"
                  "        component: Report\n"
                  "        type: %s\n"
                  "        value_type: %s\n"
                  "        unit: \"%s\"\n"
                  "        tier: 2\n"
                  "        class: exact\n"
                  "        value: \"%s\"\n"
                  "        description: %s\n",
                  name, type, value_type, unit, value, description);
}

char *zeta_igt_set_text(const struct zeta_igt_format *format,
                        const struct zeta_igt_platform *platform, const char *recorded_set,
                        const char *recorded_uuid, size_t *out_bytes)
{
    char name[16], value[16], counter[80], *text = NULL;
    FILE *out = open_memstream(&text, out_bytes);
    bool good;

    if (!out)
        return NULL;
    (void)fputs("format: 1\n"
                "symbols:\n"
                "  GpuTimestampFrequency: {from: provider, type: u64, description: Ticks of the "
                "time stamp in a second.}\n"
                "  GpuMaxFrequency: {from: provider, type: u64, description: Highest core "
                "frequency in hertz.}\n"
                "units:\n"
                "  oa: {description: The observation unit that was recorded.}\n",
                out);

    (void)fprintf(out,
                  "layouts:\n"
                  "  - name: oa-%s\n"
                  "    kind: delta\n"
                  "    record: %u\n"
                  "    header:\n"
                  "      report_id: {at: 0, width: 32}\n",
                  format->name, format->report_bytes);
    if (platform->reason_bits > 0)
        (void)fprintf(out, "      reason: {in: report_id, bit: 19, width: %u}\n",
                      platform->reason_bits);
    if (platform->valid_bit > 0)
        (void)fprintf(out, "      context_valid: {in: report_id, bit: %u, width: 1}\n",
                      platform->valid_bit);
    (void)fputs(format->header_bytes == 32 ? "      ticks: {at: 8, width: 56, delta: 56}\n"
                                             "      context_id: {at: 16, width: 32}\n"
                                             "      core_clocks: {at: 24, width: 64, delta: 64}\n"
                                           : "      ticks: {at: 4, width: 32, delta: 32}\n",
                out);
    if (format->header_bytes == 16)
        (void)fputs("      context_id: {at: 8, width: 32}\n"
                    "      core_clocks: {at: 12, width: 32, delta: 32}\n",
                    out);

    (void)fputs("    counters:\n", out);
    for (const struct zeta_igt_run *run = format->runs; run->bank; run++) {
        if (run == format->runs || run->bank != run[-1].bank)
            (void)fprintf(out, "      %c:\n", run->bank);
        (void)fprintf(out, "        - {n: %u, at: %u, stride: %u, width: %u", run->count, run->at,
                      run->stride, run->width);
        if (run->high_at > 0)
            (void)fprintf(out, ", hi: {at: %u, stride: 1, width: 8}", run->high_at);
        (void)fputs("}\n", out);
    }

    (void)fputs("    identity: [report_id, ticks]\n"
                "    info:\n",
                out);
    put_metric(out, "QueryBeginTime", "timestamp", "u64", "ns",
               "muldiv(now(ticks), 1000000000, $GpuTimestampFrequency)",
               "Time stamp of the report that ends the row. Starts anew when the counter of ticks "
               "wraps.");
    if (platform->reason_bits > 0)
        put_metric(out, "ReportReason", "flag", "u32", "", "reason",
                   "Why the report was written, bit 0 timer, bit 3 context switch, bit 5 change of "
                   "the clock ratio.");
    if (format->header_bytes > 12)
        put_metric(out, "ContextId", "raw", "u32", "", "context_id",
                   "Hardware context of the report, 4294967295 if none was valid.");

    (void)fprintf(out,
                  "sets:\n"
                  "  - name: RawCounters\n"
                  "    description: Counters as they are in the reports. What they count was "
                  "chosen by the set %s (%s).\n"
                  "    domain: 0\n"
                  "    unit: oa\n"
                  "    layout: oa-%s\n"
                  "    sampling: [time]\n"
                  "    metrics:\n",
                  recorded_set, recorded_uuid, format->name);
    put_metric(out, "GpuTime", "duration", "u64", "ns",
               "muldiv(ticks, 1000000000, $GpuTimestampFrequency)",
               "Time between the two reports.");
    if (format->header_bytes > 12) {
        put_metric(out, "GpuCoreClocks", "event", "u64", "cycles", "core_clocks",
                   "Core clock cycles between the two reports.");
        put_metric(out, "AvgGpuCoreFrequencyMHz", "ratio", "u64", "MHz",
                   "GpuCoreClocks * 1000 / GpuTime",
                   "Average core frequency, core clocks divided by time.");
    }
    for (const char *bank = "ABC"; *bank; bank++) {
        uint32_t index = 0;

        for (const struct zeta_igt_run *run = format->runs; run->bank; run++) {
            for (uint32_t i = 0; run->bank == *bank && i < run->count; i++, index++) {
                (void)snprintf(name, sizeof(name), "%c%" PRIu32, *bank, index);
                (void)snprintf(value, sizeof(value), "%c[%" PRIu32 "]", *bank, index);
                (void)snprintf(counter, sizeof(counter),
                               "Counter %s of the report, as counted by the recorded set.", name);
                put_metric(out, name, "event", "u64", "", value, counter);
            }
        }
    }

    good = ferror(out) == 0;
    if (fclose(out) != 0 || !good) {
        free(text);
        return NULL;
    }
    return text;
}
