#include "tests/cuda/cupti/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BOTH (IN_PM | IN_RANGE)
#define COUNT(name, unit, dimension, count, ...)                                                   \
    {                                                                                              \
        name, unit, dimension, METRIC_COUNTER, FROM_COUNT, CUDA_##count, 0, 0, __VA_ARGS__         \
    }
#define SUM(name, unit, dimension, a, b, ...)                                                      \
    {                                                                                              \
        name, unit, dimension, METRIC_COUNTER, FROM_COUNTS, CUDA_##a, CUDA_##b, 0, __VA_ARGS__     \
    }
#define SOURCE(name, unit, dimension, source, ...)                                                 \
    {                                                                                              \
        name, unit, dimension, METRIC_COUNTER, source, 0, 0, 0, __VA_ARGS__                        \
    }
#define RATIO(name, unit, a, b, c, ...)                                                            \
    {                                                                                              \
        name, unit, "", METRIC_RATIO, FROM_QUOTIENT, CUDA_##a, CUDA_##b, CUDA_##c, __VA_ARGS__     \
    }
#define SHARE(name, unit, count, flags, pm, range, peak)                                           \
    {                                                                                              \
        name, unit, "percent", METRIC_THROUGHPUT, FROM_SHARE, CUDA_##count, 0, 0, flags, pm,       \
            range, peak                                                                            \
    }
#define SASS(op, count)                                                                            \
    COUNT("smsp__sass_thread_inst_executed_op_" op "_pred_on", "smsp", "instruction", count,       \
          IN_RANGE | IS_SASS | EVERYWHERE, 0, 0, 0)
#define TPC "TPC.TriageCompute."
#define SMA "SM_A.TriageCompute."
#define LTS "LTS.TriageCompute.lts__average_t_sector_"

const struct metric metric_table[] = {
    SOURCE("gpu__time_duration", "gpu", "nanosecond", FROM_DURATION, BOTH | EVERYWHERE, 0, 0, 0),
    SOURCE("gpc__cycles_elapsed", "gpc", "gpc_cycle", FROM_GPC, BOTH | EVERYWHERE, 0, 0, 1),
    SOURCE("sm__cycles_elapsed", "sm", "gpc_cycle", FROM_GPC, BOTH | EVERYWHERE, 0, 0, 1),
    SOURCE("sys__cycles_elapsed", "sys", "sys_cycle", FROM_SYS, BOTH | EVERYWHERE, 0, 0, 1),
    SOURCE("lts__cycles_elapsed", "lts", "fbp_cycle", FROM_GPC, BOTH | EVERYWHERE, 0, 0, 1),
    SOURCE("dram__cycles_elapsed", "dram", "dram_cycle", FROM_DRAM, BOTH | EVERYWHERE | IS_SHARED,
           0, 0, 1),
    COUNT("sm__cycles_active", "sm", "gpc_cycle", SM_ACTIVE, BOTH | EVERYWHERE, 0, 0, 1),
    COUNT("sm__inst_executed", "sm", "instruction", INST, BOTH | EVERYWHERE | SM_INST, 0, 0, 4),
    COUNT("sm__inst_executed_realtime", "sm", "instruction", INST, BOTH | EVERYWHERE | SM_INST, 0,
          0, 4),
    COUNT("sm__inst_executed_pipe_fma", "sm", "instruction", INST_FMA, BOTH, 0, 0, 4),
    COUNT("sm__inst_issued", "sm", "instruction", INST, BOTH | SM_INST, 0, 0, 4),
    SOURCE("sm__inst_executed_pipe_lsu", "sm", "instruction", FROM_NOTHING, BOTH, 0, 0, 1),
    SOURCE("sm__inst_executed_pipe_cbu", "sm", "instruction", FROM_NOTHING, BOTH, 0, 0, 1),
    SOURCE("l1tex__data_bank_conflicts_pipe_lsu_mem_shared", "l1tex", "l1data_bank_conflict",
           FROM_NOTHING, BOTH, 0, 0, 0),
    SOURCE("gcc__cache_requests_lookup_miss", "gpc", "gcc_request", FROM_NOTHING, BOTH, 0, 0, 0),
    SOURCE("idc__requests_lookup_miss", "idc", "idc_request", FROM_NOTHING, BOTH, 0, 0, 0),
    SOURCE("lts__t_sectors_srcunit_gcc", "lts", "l2_sector", FROM_NOTHING, BOTH, 0, 0, 0),
    COUNT("sm__warps_active_realtime", "sm", "gpc_cyclewarp", WARP_CYCLES, BOTH, 0, 0, 64),
    COUNT("sm__warps_active", "sm", "gpc_cyclewarp", WARP_CYCLES, BOTH | EVERYWHERE, 0, 0, 64),
    COUNT("sm__warps_launched", "sm", "warp", WARPS, BOTH | EVERYWHERE | SM_LAUNCHED, 0, 0, 0),
    COUNT("sm__ctas_launched", "sm", "cta", GROUPS, BOTH | EVERYWHERE | SM_LAUNCHED, 0, 0, 0),
    COUNT("gr__compute_cycles_active", "gr", "sys_cycle", WORK_CYCLES, IN_PM | EVERYWHERE, 0, 0, 1),
    COUNT("gr__cycles_active", "gr", "sys_cycle", WORK_CYCLES, BOTH | EVERYWHERE, 0, 0, 1),
    COUNT("gr__dispatch_count", "gr", "workload", LAUNCHES, IN_PM | EVERYWHERE, 0, 0, 0),
    COUNT("dram__bytes_read", "dram", "byte", DRAM_READ, BOTH | EVERYWHERE | IS_SHARED, 0, 0, 32),
    COUNT("dram__bytes_write", "dram", "byte", DRAM_WRITE, BOTH | EVERYWHERE | IS_SHARED, 0, 0, 32),
    SUM("dram__bytes", "dram", "byte", DRAM_READ, DRAM_WRITE, BOTH | EVERYWHERE | IS_SHARED, 0, 0,
        32),
    COUNT("fbpa__dram_read_bytes", "fbpa", "byte", DRAM_READ, BOTH | EVERYWHERE | IS_SHARED, 0, 0,
          0),
    COUNT("fbpa__dram_write_bytes", "fbpa", "byte", DRAM_WRITE, BOTH | EVERYWHERE | IS_SHARED, 0, 0,
          0),
    COUNT("dram__cycles_active", "dram", "dram_cycle", COPY_CYCLES, BOTH | IS_SHARED, 0, 0, 1),
    SUM("lts__t_sectors", "lts", "l2_sector", L2_READ, L2_WRITE, BOTH | EVERYWHERE, 0, 0, 1),
    SUM("lts__t_requests", "lts", "l2_request", L2_READ, L2_WRITE, BOTH, 0, 0, 1),
    SUM("lts__t_sectors_srcunit_tex", "lts", "l2_sector", L2_READ, L2_WRITE, BOTH, 0, 0, 1),
    COUNT("lts__t_sectors_op_read", "lts", "l2_sector", L2_READ, IN_RANGE, 0, 0, 0),
    COUNT("lts__t_sectors_op_write", "lts", "l2_sector", L2_WRITE, IN_RANGE, 0, 0, 0),
    SOURCE("lts__t_sectors_op_atom", "lts", "l2_sector", FROM_NOTHING, IN_RANGE, 0, 0, 0),
    SOURCE("lts__t_sectors_op_red", "lts", "l2_sector", FROM_NOTHING, IN_RANGE, 0, 0, 0),
    COUNT("l1tex__t_sectors_pipe_lsu_mem_global_op_ld", "l1tex", "l2_sector", L2_READ,
          IN_RANGE | EVERYWHERE, 0, 0, 0),
    COUNT("l1tex__t_sectors_pipe_lsu_mem_global_op_st", "l1tex", "l2_sector", L2_WRITE,
          IN_RANGE | EVERYWHERE, 0, 0, 0),
    COUNT("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit", "l1tex", "l2_sector", L1_HITS,
          IN_RANGE | EVERYWHERE, 0, 0, 0),
    COUNT("l1tex__t_sectors", "l1tex", "l2_sector", L1_SECTORS, BOTH | EVERYWHERE, 0, 0, 0),
    COUNT("l1tex__t_sectors_lookup_hit", "l1tex", "l2_sector", L1_HITS, BOTH | EVERYWHERE, 0, 0, 0),
    COUNT("l1tex__t_sectors_lookup_miss", "l1tex", "l2_sector", L1_SECTORS, BOTH, 0, 0, 0),
    COUNT(TPC "sm__cycles_active", "sm", "gpc_cycle", SM_ACTIVE, BOTH | TPC_CORE, 0, 0, 1),
    COUNT(TPC "sm__inst_executed_realtime", "sm", "instruction", INST, BOTH | TPC_CORE, 0, 0, 4),
    COUNT(TPC "sm__inst_executed_pipe_alu_realtime", "sm", "instruction", INST_ALU, BOTH | TPC_MORE,
          0, 0, 2),
    COUNT(TPC "sm__inst_executed_pipe_fma_realtime", "sm", "instruction", INST_FMA, BOTH | TPC_CORE,
          0, 0, 4),
    COUNT(TPC "sm__pipe_fp64_cycles_active_realtime", "sm", "gpc_cycle", FP64_CYCLES,
          BOTH | TPC_MORE, 0, 0, 1),
    COUNT(TPC "sm__pipe_tensor_cycles_active_realtime", "sm", "gpc_cycle", TENSOR_CYCLES,
          BOTH | TPC_CORE, 0, 0, 1),
    COUNT(TPC "sm__pipe_tensor_op_hmma_cycles_active_realtime", "sm", "gpc_cycle", TENSOR_CYCLES,
          BOTH | TPC_CORE, 0, 0, 1),
    SOURCE(TPC "sm__pipe_tensor_op_imma_cycles_active_realtime", "sm", "gpc_cycle", FROM_NOTHING,
           BOTH | TPC_MORE, 0, 0, 1),
    COUNT(TPC "tpc__warps_launched_shader_cs", "tpc", "warp", WARPS, BOTH | TPC_MORE, 0, 0, 0),
    SOURCE(TPC "tpc__warps_active_realtime", "tpc", "gpc_cyclewarp", FROM_WRONG_WARPS,
           BOTH | TPC_MORE, 0, 0, 0),
    SOURCE(TPC "tpc__warps_inactive_sm_active_realtime", "tpc", "gpc_cyclewarp", FROM_WRONG_WARPS,
           BOTH | TPC_MORE, 0, 0, 0),
    SOURCE(TPC "tpc__warps_inactive_sm_idle_realtime", "tpc", "gpc_cyclewarp", FROM_NOTHING,
           BOTH | TPC_MORE, 0, 0, 0),
    COUNT(TPC "tpc__sm_rf_registers_allocated_shader_cs_realtime", "tpc", "gpc_cycleregister",
          WARP_CYCLES, BOTH | TPC_MORE, 0, 0, 0),
    SOURCE(TPC "tpc__l1tex_mem_shared_data_compute_bytes_allocated_realtime", "tpc",
           "bytegpc_cycle", FROM_NOTHING, BOTH | TPC_MORE, 0, 0, 0),
    COUNT(SMA "sm__thread_inst_executed_pred_on_realtime", "sm", "instruction", THREAD_INST,
          BOTH | SM_A, 0, 0, 128),
    COUNT(SMA "sm__inst_executed_pipe_xu_realtime", "sm", "instruction", INST_XU, BOTH | SM_A, 0, 0,
          1),
    COUNT(SMA "sm__inst_executed_pipe_uniform_realtime", "sm", "instruction", INST_UNIFORM,
          BOTH | SM_A, 0, 0, 2),
    COUNT(SMA "l1tex__m_xbar2l1tex_read_sectors_realtime", "l1tex", "l2_sector", L2_READ,
          BOTH | SM_A, 0, 0, 2),
    COUNT(SMA "l1tex__m_l1tex2xbar_req_cycles_active_realtime", "l1tex", "gpc_cycle", L1_SECTORS,
          BOTH | SM_A, 0, 0, 1),
    COUNT(SMA "l1tex__data_pipe_lsu_wavefronts", "l1tex", "l1tex_wavefront", WAVEFRONTS,
          BOTH | SM_A, 0, 0, 1),
    COUNT(SMA "l1tex__data_pipe_lsu_wavefronts_mem_shared", "l1tex", "l1tex_wavefront",
          SHARED_WAVEFRONTS, BOTH | SM_A, 0, 0, 1),
    COUNT(SMA "l1tex__lsu_writeback_active", "l1tex", "gpc_cycle", WAVEFRONTS, BOTH | HEAVY, 0, 0,
          1),
    COUNT("FE_B.TriageCompute.gr__ctas_launched_realtime", "gr", "cta", GROUPS, BOTH, 0, 0, 0),
    COUNT("GPC_B.TriageCompute.gpc__cgas_launched", "gpc", "cga", GROUPS, BOTH, 0, 0, 0),
    SOURCE("GPC_B.TriageCompute.gpc__cgas_active_realtime", "gpc", "cgagpc_cycle", FROM_NOTHING,
           BOTH, 0, 0, 0),
    SOURCE("sm__pipe_shared_cycles_active_realtime", "sm", "gpc_cycle", FROM_NOTHING,
           BOTH | TPC_MORE, 0, 0, 1),
    COUNT("gpu__scheduler_engine_asyncce0_cycles_active", "gpu", "sys_cycle", COPY_CYCLES, IN_PM, 0,
          0, 1),
    SOURCE("gpu__engine_cycles_active_any_syncce", "gpu", "sys_cycle", FROM_NOTHING, IN_PM, 0, 0,
           1),
    SOURCE("gpu__gr_cycles_active_cmd_ctxsw", "gpu", "sys_cycle", FROM_NOTHING, IN_PM | HEAVY, 0, 0,
           1),
    COUNT("pcie__read_bytes", "pcie", "byte", PCIE_READ, BOTH | IS_SHARED | IS_DEVICE, 0, 0, 0),
    COUNT("pcie__write_bytes", "pcie", "byte", PCIE_WRITE, BOTH | IS_SHARED | IS_DEVICE, 0, 0, 0),
    SOURCE("nvlrx__bytes", "nvlrx", "byte", FROM_NOTHING, BOTH | IS_LINK | IS_DEVICE, 0, 0, 0),
    SOURCE("nvltx__bytes", "nvltx", "byte", FROM_NOTHING, BOTH | IS_LINK | IS_DEVICE, 0, 0, 0),
    SOURCE("nvlrx__bytes_data_user", "nvlrx", "byte", FROM_NOTHING, BOTH | IS_LINK | IS_DEVICE, 0,
           0, 0),
    SOURCE("nvltx__bytes_data_user", "nvltx", "byte", FROM_NOTHING, BOTH | IS_LINK | IS_DEVICE, 0,
           0, 0),
    RATIO(LTS "hit_rate_realtime", "lts", L2_HITS, L2_READ, L2_WRITE, BOTH, 0, 0, 0),
    RATIO(LTS "hit_rate_srcunit_tex_realtime", "lts", L2_HITS, L2_READ, L2_WRITE, BOTH, 0, 0, 0),
    RATIO(LTS "srcunit_tex", "lts", L2_READ, L2_READ, L2_WRITE, BOTH, 0, 0, 0),
    RATIO(LTS "srcunit_gcc", "lts", PCIE_READ, L2_READ, L2_WRITE, BOTH, 0, 0, 0),
    RATIO(LTS "srcnode_gpc", "lts", L2_READ, L2_READ, L2_WRITE, BOTH, 0, 0, 0),
    RATIO(LTS "srcnode_hub", "lts", PCIE_READ, L2_READ, L2_WRITE, BOTH, 0, 0, 0),
    RATIO(LTS "srcnode_fbp", "lts", PCIE_READ, L2_READ, L2_WRITE, BOTH, 0, 0, 0),
    RATIO(LTS "aperture_device", "lts", L2_READ, L2_READ, L2_WRITE, BOTH, 0, 0, 0),
    RATIO(LTS "aperture_other", "lts", PCIE_READ, L2_READ, L2_WRITE, BOTH, 0, 0, 0),
    SHARE("LTS.TriageCompute.lts__throughput", "lts", L2_READ, BOTH, 1, 1, 1),
    SHARE("sm__throughput", "sm", INST, BOTH | EVERYWHERE, 19, 8, 4),
    SHARE("l1tex__throughput", "l1tex", L1_SECTORS, BOTH | EVERYWHERE, 5, 4, 4),
    SHARE("lts__throughput", "lts", L2_READ, BOTH | EVERYWHERE, 4, 4, 1),
    SHARE("dram__throughput", "dram", DRAM_READ, BOTH | EVERYWHERE | IS_SHARED, 1, 1, 32),
    COUNT("sm__inst_executed_pipe_tensor", "sm", "instruction", INST_TENSOR, BOTH | EVERYWHERE, 2,
          1, 0),
    COUNT("sm__inst_executed_pipe_tensor_op_hmma", "sm", "instruction", INST_TENSOR, IN_RANGE, 0, 0,
          0),
    SOURCE("sm__inst_executed_pipe_tensor_op_gmma", "sm", "instruction", FROM_NOTHING, IN_RANGE, 0,
           0, 0),
    SOURCE("sm__inst_executed_pipe_tensor_op_dmma", "sm", "instruction", FROM_NOTHING, IN_RANGE, 0,
           0, 0),
    SOURCE("sm__inst_executed_pipe_tensor_op_imma", "sm", "instruction", FROM_NOTHING, IN_RANGE, 0,
           0, 0),
    COUNT("sm__ops_path_tensor_src_bf16_dst_fp32", "sm", "operation", TENSOR_OPS, IN_RANGE, 1, 1,
          0),
    SOURCE("sm__ops_path_tensor_src_fp16", "sm", "operation", FROM_NOTHING, IN_RANGE, 2, 2, 0),
    SOURCE("sm__ops_path_tensor_src_int8", "sm", "operation", FROM_NOTHING, IN_RANGE, 2, 2, 0),
    SOURCE("smsp__warps_issue_stalled_long_scoreboard", "smsp", "gpc_cyclewarp", FROM_NOTHING, BOTH,
           2, 1, 0),
    SASS("fadd", FADD),
    SASS("fmul", FMUL),
    SASS("ffma", FFMA),
    SASS("dadd", DADD),
    SASS("dmul", DMUL),
    SASS("dfma", DFMA),
    SASS("hadd", HADD),
    SASS("hmul", HMUL),
    SASS("hfma", HFMA),
    SASS("integer", INTEGER),
    COUNT("smsp__sass_inst_executed_op_shared_ld", "smsp", "instruction", SHARED_LOADS,
          IN_RANGE | IS_SASS | EVERYWHERE, 0, 0, 0),
};

const uint32_t metric_count = sizeof(metric_table) / sizeof(metric_table[0]);
_Static_assert(sizeof(metric_table) / sizeof(metric_table[0]) <= METRICS, "sets have a bit each");

static const char *const rollups[] = {"avg", "max", "min", "sum"};
static const char *const subs[] = {"",
                                   ".peak_sustained",
                                   ".peak_sustained_active",
                                   ".peak_sustained_active.per_second",
                                   ".peak_sustained_elapsed",
                                   ".peak_sustained_elapsed.per_second",
                                   ".per_cycle_active",
                                   ".per_cycle_elapsed",
                                   ".per_second",
                                   ".pct_of_peak_sustained_active",
                                   ".pct_of_peak_sustained_elapsed"};
static const char *const ratio_forms[] = {".max_rate", ".pct", ".ratio"};

enum {
    MAX_ROLLUP = 1,
    MIN_ROLLUP = 2,
    SUM_ROLLUP = 3,
    PLAIN = 0,
    PEAK = 1,
    PER_CYCLE_ACTIVE = 6,
    PER_CYCLE = 7,
    PER_SECOND = 8,
    PCT_ACTIVE = 9,
    PCT = 10,
    SUBS = 11,
    RATIO_FORMS = 3
};

const char *metric_form(enum metric_kind kind, uint32_t form)
{
    static char texts[4 * SUBS][64];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const uint32_t per_rollup = kind == METRIC_COUNTER ? SUBS : 2;
    const uint32_t sub =
        kind == METRIC_COUNTER ? form % SUBS : (uint32_t)PCT_ACTIVE + form % per_rollup;

    if (kind == METRIC_RATIO)
        return form < RATIO_FORMS ? ratio_forms[form] : NULL;
    if (form >= 4 * per_rollup)
        return NULL;
    form = form / per_rollup * SUBS + sub;
    (void)pthread_mutex_lock(&lock);
    (void)snprintf(texts[form], sizeof(texts[form]), ".%s%s", rollups[form / SUBS], subs[sub]);
    (void)pthread_mutex_unlock(&lock);
    return texts[form];
}

static bool parse_form(enum metric_kind kind, const char *text, uint32_t *out_rollup,
                       uint32_t *out_sub)
{
    const uint32_t forms = kind == METRIC_RATIO ? RATIO_FORMS : SUBS;

    *out_rollup = 0;
    if (kind != METRIC_RATIO) {
        while (*out_rollup < 4 && (strncmp(text + 1, rollups[*out_rollup], 3) != 0 ||
                                   (text[4] != '\0' && text[4] != '.')))
            (*out_rollup)++;
        if (*out_rollup == 4)
            return false;
        text += 4;
    }
    for (*out_sub = 0; *out_sub < forms; (*out_sub)++) {
        if (strcmp(text, kind == METRIC_RATIO ? ratio_forms[*out_sub] : subs[*out_sub]) == 0)
            return kind != METRIC_THROUGHPUT || *out_sub >= PCT_ACTIVE;
    }
    return false;
}

bool metric_parse(const char *text, uint32_t *out_index, uint32_t *out_rollup, uint32_t *out_sub)
{
    for (uint32_t i = 0; i < metric_count; i++) {
        const size_t length = strlen(metric_table[i].name);

        if (strncmp(text, metric_table[i].name, length) == 0 && text[length] == '.' &&
            parse_form(metric_table[i].kind, text + length, out_rollup, out_sub)) {
            *out_index = i;
            return true;
        }
    }
    return false;
}

static double instances_of(const struct metric *metric, const struct cuda_chip *chip)
{
    const struct {
        const char *unit;
        uint64_t count;
    } units[] = {{"gpc", chip->gpcs},     {"sm", chip->sms},       {"tpc", chip->sms},
                 {"l1tex", chip->sms},    {"smsp", 4 * chip->sms}, {"lts", chip->slices},
                 {"dram", chip->channels}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(units[i].unit, metric->unit) == 0)
            return (double)units[i].count;
    }
    return 1;
}

/* Cycles of one instance of the metric's unit. */
static double cycles_of(const struct metric *metric, const struct interval *interval)
{
    if (strcmp(metric->unit, "dram") == 0)
        return (double)interval->dram;
    if (strcmp(metric->unit, "gr") == 0 || strcmp(metric->unit, "sys") == 0 ||
        strcmp(metric->unit, "gpu") == 0)
        return (double)interval->sys;
    return (double)interval->gpc;
}

static double sum_of(const struct metric *metric, double instances, const struct interval *interval)
{
    const uint64_t *counts = interval->counts;

    switch (metric->source) {
    case FROM_COUNT:
        return (double)counts[metric->a];
    case FROM_COUNTS:
        return (double)(counts[metric->a] + counts[metric->b]);
    case FROM_QUOTIENT:
        return (double)counts[metric->a] / (double)(counts[metric->b] + counts[metric->c]);
    case FROM_GPC:
        return (double)interval->gpc * instances;
    case FROM_SYS:
        return (double)interval->sys;
    case FROM_DRAM:
        return (double)interval->dram * instances;
    case FROM_DURATION:
        return (double)interval->duration;
    case FROM_SHARE:
        return (double)counts[metric->a];
    case FROM_WRONG_WARPS:
        return (double)(counts[CUDA_WARP_CYCLES] * 2 % 128);
    case FROM_NOTHING:
        break;
    }
    return 0;
}

double metric_evaluate(const struct metric *metric, uint32_t rollup, uint32_t sub,
                       const struct cuda_chip *chip, const struct interval *interval)
{
    const double instances = instances_of(metric, chip);
    const double cycles = cycles_of(metric, interval);
    double value = sum_of(metric, instances, interval);
    double peak = metric->peak * instances;

    if (interval->is_open)
        return sub == PLAIN && metric->kind == METRIC_COUNTER ? INFINITY : NAN;
    if ((metric->flags & IS_LINK && !chip->has_links) ||
        (metric->flags & IS_SHARED && chip->instances > 0))
        return NAN;
    if (metric->kind == METRIC_RATIO)
        return sub == 2 ? value : sub == 1 ? 100 * value : 1;
    if (rollup != SUM_ROLLUP) {
        value /= instances;
        peak = metric->peak;
    }
    if (metric->source == FROM_COUNT && rollup == MIN_ROLLUP)
        value = floor(value);
    else if (metric->source == FROM_COUNT && rollup == MAX_ROLLUP)
        value = ceil(value);
    if (peak <= 0 &&
        (sub != PLAIN && sub != PER_CYCLE && sub != PER_CYCLE_ACTIVE && sub != PER_SECOND))
        return NAN;
    switch (sub) {
    case PLAIN:
        return value;
    case PER_SECOND:
        return value / ((double)interval->duration * 1e-9);
    case PER_CYCLE:
    case PER_CYCLE_ACTIVE:
        return value / cycles;
    case PCT:
    case PCT_ACTIVE:
        return 100 * value / (peak * cycles);
    case PEAK:
        return peak;
    default:
        return peak * cycles;
    }
}
