#ifndef ZETA_TESTS_CUDA_CUDA_H
#define ZETA_TESTS_CUDA_CUDA_H

/*
 * A machine with NVIDIA GPUs, for programs that open the vendor's libraries by name: libcuda.so.1,
 * libcupti.so.13 with libnvperf_host.so, and libnvidia-ml.so.1 of our own. A machine is a folder in
 * shared memory that all processes with CUDA_MACHINE in their environment map, so that they see one
 * state: time, work, who samples. Kernels run on the host; what they count is known exactly.
 *
 * Written from descriptions of the vendor's interfaces, apart from any plugin.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Variable with the folder of the machine. */
#define CUDA_MACHINE_VARIABLE "CUDA_MACHINE"

struct cuda_machine;

/**
 * What a GPU counts. Counts of work are exact; cycles follow from the modelled time of the work.
 */
enum cuda_count {
    CUDA_INST,        /**< instructions of warps */
    CUDA_THREAD_INST, /**< of threads that a predicate did not switch off */
    CUDA_INST_ALU,
    CUDA_INST_FMA,
    CUDA_INST_XU,
    CUDA_INST_UNIFORM,
    CUDA_INST_TENSOR,
    CUDA_FP64_CYCLES,
    CUDA_TENSOR_CYCLES,
    CUDA_WARPS,       /**< launched */
    CUDA_GROUPS,      /**< thread blocks launched */
    CUDA_LAUNCHES,    /**< grids that reached the engine */
    CUDA_WARP_CYCLES, /**< warps on an SM, summed over its cycles */
    CUDA_SM_ACTIVE,   /**< cycles of SMs with a warp */
    CUDA_WORK_CYCLES, /**< system clocks with compute work in flight */
    CUDA_COPY_CYCLES, /**< system clocks with a copy engine at work */
    CUDA_DRAM_READ,   /**< bytes */
    CUDA_DRAM_WRITE,
    CUDA_L2_READ, /**< sectors of 32 bytes */
    CUDA_L2_WRITE,
    CUDA_L2_HITS, /**< sectors that were there */
    CUDA_L1_SECTORS,
    CUDA_L1_HITS,
    CUDA_WAVEFRONTS,        /**< of the L1 data stage */
    CUDA_SHARED_WAVEFRONTS, /**< those for shared memory */
    CUDA_SHARED_LOADS,      /**< instructions of warps that load from shared memory */
    CUDA_FADD,              /**< this and the following: instructions of threads */
    CUDA_FMUL,
    CUDA_FFMA,
    CUDA_DADD,
    CUDA_DMUL,
    CUDA_DFMA,
    CUDA_HADD,
    CUDA_HMUL,
    CUDA_HFMA,
    CUDA_INTEGER,
    CUDA_TENSOR_OPS,
    CUDA_PCIE_READ, /**< bytes */
    CUDA_PCIE_WRITE,
    CUDA_COUNTS
};

/**
 * Makes a machine from a description: YAML as the files in machines/, or the name of one of them.
 * Sets the variable for this process and its children. NULL with a sentence on standard error if
 * the description is wrong. One machine of a process at a time.
 */
struct cuda_machine *cuda_start(const char *description);

/** Ends it: its folder goes, and libraries that still have it find no device any more. */
void cuda_stop(struct cuda_machine *machine);

/**
 * The folder, for other processes. Its sub-folder `root` has files as a driver shows them in /dev
 * (nvidiactl, nvidia0), /proc/driver/nvidia (version, params) and /sys/bus/pci/devices.
 */
const char *cuda_folder(const struct cuda_machine *machine);

/** Lets time pass on a machine with `time: manual`. */
void cuda_advance(struct cuda_machine *machine, uint64_t ns);

/** Time of the GPUs: CLOCK_MONOTONIC_RAW, or what was advanced. */
uint64_t cuda_now_ns(const struct cuda_machine *machine);

/** Everything that a GPU was given to do so far, also what is still running. */
void cuda_totals(const struct cuda_machine *machine, uint32_t gpu, uint64_t out[CUDA_COUNTS]);

/**
 * Makes functions of the libraries misbehave. Text: FUNCTION=WHAT[@N[+]], for example
 * "cuptiPmSamplingDecodeData=8@3" (result 8 at the third call from now), "cu*=999@1+" (all calls
 * whose name begins with cu, for ever), "cuInit=crash", "cuptiPmSamplingStop=hang",
 * "cuptiPmSamplingDecodeData=delay:5000@1+" (takes 5000 us longer), "nvmlGpmMetricsGet=value:nan"
 * (all values of a function that evaluates are that number). Without @ the first call.
 * False if the text is wrong or 32 are set.
 */
bool cuda_fault(struct cuda_machine *machine, const char *text);

/** Takes back all faults. */
void cuda_no_faults(struct cuda_machine *machine);

/** How often a function was called, in all processes. */
uint64_t cuda_calls(const struct cuda_machine *machine, const char *function);

#endif
