/* Devices, contexts, memory, modules, launches: what the driver answers, and exact results. */

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/tests/bed.h"
#include "tests/forked.h"

static int attribute(int number)
{
    int value = -1;

    assert_int_equal(cu.cuDeviceGetAttribute(&value, number, 0), CU_OK);
    return value;
}

static void check_h100(void)
{
    char name[64], address[16];
    size_t bytes;
    int version, count;

    assert_int_equal(cu.cuDeviceGetCount(&count), CU_NOT_INITIALIZED);
    assert_int_equal(cu.cuInit(0), CU_OK);
    assert_int_equal(cu.cuDriverGetVersion(&version), CU_OK);
    assert_int_equal(version, 13000);
    assert_int_equal(cu.cuDeviceGetCount(&count), CU_OK);
    assert_int_equal(count, 1);
    assert_int_equal(cu.cuDeviceGetName(name, sizeof(name), 0), CU_OK);
    assert_string_equal(name, "NVIDIA H100 80GB HBM3");
    assert_int_equal(cu.cuDeviceGetPCIBusId(address, sizeof(address), 0), CU_OK);
    assert_string_equal(address, "0000:06:00.0");
    assert_int_equal(cu.cuDeviceTotalMem_v2(&bytes, 0), CU_OK);
    assert_int_equal(bytes >> 20, 81079);
    assert_int_equal(attribute(16), 132);
    assert_int_equal(attribute(39), 2048);
    assert_int_equal(attribute(75), 9);
    assert_int_equal(attribute(13), 1980000);
    assert_int_equal(attribute(36), 2619000);
    assert_int_equal(attribute(38), 52428800);
    assert_int_equal(attribute(33), 6);
    assert_int_equal(cu.cuDeviceGetAttribute(&count, 9999, 0), CU_INVALID_VALUE);
    assert_int_equal(cu.cuDeviceGetAttribute(&count, 1, 1), CU_INVALID_DEVICE);
}

static void device__h100__properties_of_reference(void **state)
{
    (void)state;
    bed_run("gh100", check_h100);
}

static int visible(const char *list)
{
    int count;

    if (list)
        assert_int_equal(setenv("CUDA_VISIBLE_DEVICES", list, 1), 0);
    if (cu.cuInit(0) == CU_NO_DEVICE)
        return 0;
    assert_int_equal(cu.cuDeviceGetCount(&count), CU_OK);
    return count;
}

static void check_two_of_three(void)
{
    char name[64];

    assert_int_equal(visible("2,0,7,1"), 2); /* what follows a bad one is not looked at */
    assert_int_equal(cu.cuDeviceGetName(name, sizeof(name), 0), CU_OK);
    assert_string_equal(name, "NVIDIA GeForce RTX 5090");
}

static void check_uuid(void)
{
    assert_int_equal(visible("GPU-5a657461-0000-4000-8000-000000000001"), 1);
    assert_int_equal(attribute(75), 8);
}

static void check_hidden(void)
{
    assert_int_equal(visible(""), 0);
}

static void device__several__visible_ones_in_order(void **state)
{
    static const char several[] =
        "{format: 1, gpus: [{chip: gh100}, {chip: ga100}, {chip: gb202}]}";

    (void)state;
    bed_run(several, check_two_of_three);
    bed_run(several, check_uuid);
    bed_run(several, check_hidden);
}

static void check_instances(void)
{
    char name[64];

    assert_int_equal(visible(NULL), 1); /* a process sees one */
    assert_int_equal(cu.cuDeviceGetName(name, sizeof(name), 0), CU_OK);
    assert_string_equal(name, "NVIDIA H100 80GB HBM3 MIG 1g.11gb");
    assert_int_equal(attribute(16), 18);
}

static void check_instance_by_uuid(void)
{
    assert_int_equal(visible("MIG-5a657461-0000-4000-8000-000000000300"), 1);
}

static void device__mig__one_instance(void **state)
{
    static const char mig[] = "{format: 1, gpus: [{chip: gh100, instances: 7}]}";

    (void)state;
    bed_run(mig, check_instances);
    bed_run(mig, check_instance_by_uuid);
}

static void check_fork(void)
{
    pid_t child;
    int status, count;

    assert_int_equal(cu.cuInit(0), CU_OK);
    child = fork_child();
    if (child == 0)
        _exit(cu.cuDeviceGetCount(&count) == CU_NOT_INITIALIZED &&
                      cu.cuInit(0) == CU_NOT_INITIALIZED
                  ? 0
                  : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(cu.cuDeviceGetCount(&count), CU_OK);
}

static void device__forked_child__not_initialised(void **state)
{
    (void)state;
    bed_run("gh100", check_fork);
}

static void check_fma(void)
{
    enum { TURNS = 10 };
    static float results[BED_THREADS];
    uint32_t turns = TURNS;
    float a = 0.999f, b = 0.001f, x[8] = {a};
    uint64_t out, totals[CUDA_COUNTS];
    void *arguments[] = {&out, &turns, &a, &b};

    (void)bed_context(0);
    assert_int_equal(cu.cuMemAlloc_v2(&out, sizeof(results)), CU_OK);
    bed_launch(bed_function("fma_loop"), BED_GROUPS, 256, NULL, arguments);
    assert_int_equal(cu.cuMemcpyDtoH_v2(results, out, sizeof(results)), CU_OK);
    for (int i = 1; i < 8; i++)
        x[i] = x[i - 1] + b;
    for (int turn = 0; turn < TURNS * 8; turn++) {
        for (int i = 0; i < 8; i++)
            x[i] = fmaf(x[i], a, b);
    }
    for (int i = 1; i < 8; i++)
        x[0] += x[i];
    for (int i = 0; i < BED_THREADS; i++)
        assert_memory_equal(&results[i], &x[0], sizeof(float));

    cuda_totals(bed_machine, 0, totals);
    assert_int_equal(totals[CUDA_FFMA], BED_THREADS * 64ull * TURNS);
    assert_int_equal(totals[CUDA_FADD], BED_THREADS * 14ull);
    assert_int_equal(totals[CUDA_WARPS], BED_WARPS);
    assert_int_equal(totals[CUDA_GROUPS], BED_GROUPS);
    assert_int_equal(totals[CUDA_INST], BED_WARPS * (67ull * TURNS + 28));
    assert_int_equal(totals[CUDA_INST_FMA], BED_WARPS * (64ull * TURNS + 16));
    assert_int_equal(totals[CUDA_LAUNCHES], 1);
    assert_int_equal(totals[CUDA_PCIE_WRITE], sizeof(results));
}

static void launch__fma_loop__bits_and_counts(void **state)
{
    (void)state;
    bed_run("gh100", check_fma);
}

static void check_others(void)
{
    enum { THREADS = 256 };
    uint64_t out, a, b, c, totals[CUDA_COUNTS];
    uint32_t n = 100, stride = 4, zeros = 0, words[THREADS];
    float values[THREADS];
    double wide[THREADS];
    void *two[] = {&out, &n};
    void *three[] = {&out, &n, &stride};
    void *four[] = {&a, &b, &c, &n};
    void *halves[] = {&out, &n, &zeros, &zeros};
    struct {
        uint64_t out;
        uint32_t turns;
        double a, b;
    } block;
    size_t bytes = sizeof(block);
    void *extra[] = {(void *)1, &block, (void *)2, &bytes, NULL};

    (void)bed_context(0);
    assert_int_equal(cu.cuMemAlloc_v2(&out, sizeof(wide)), CU_OK);
    bed_launch(bed_function("divergent"), 1, THREADS, NULL, two);
    assert_int_equal(cu.cuMemcpyDtoH_v2(words, out, sizeof(words)), CU_OK);
    assert_int_equal(words[15], 100);
    assert_int_equal(words[16], 0);

    bed_launch(bed_function("shared_stride"), 1, THREADS, NULL, three);
    assert_int_equal(cu.cuMemcpyDtoH_v2(words, out, sizeof(words)), CU_OK);
    assert_int_equal(words[33], 100 * 4);
    cuda_totals(bed_machine, 0, totals);
    assert_int_equal(totals[CUDA_SHARED_LOADS], 8 * 100);
    assert_int_equal(totals[CUDA_SHARED_WAVEFRONTS], 8 * 100 * 4);

    bed_launch(bed_function("mma_chain"), 1, THREADS, NULL, two);
    assert_int_equal(cu.cuMemcpyDtoH_v2(values, out, sizeof(values)), CU_OK);
    assert_true(values[0] == 1600.0f);
    cuda_totals(bed_machine, 0, totals);
    assert_int_equal(totals[CUDA_TENSOR_OPS], 8 * 100 * 4096);

    block.out = out;
    block.turns = 1;
    block.a = 1;
    block.b = 1;
    assert_int_equal(
        cu.cuLaunchKernel(bed_function("dfma_loop"), 1, 1, 1, THREADS, 1, 1, 0, NULL, NULL, extra),
        CU_OK);
    assert_int_equal(cu.cuMemcpyDtoH_v2(wide, out, sizeof(wide)), CU_OK);
    assert_true(wide[THREADS - 1] == 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 64);

    bed_launch(bed_function("hfma_loop"), 1, THREADS, NULL, halves);
    assert_int_equal(cu.cuMemcpyDtoH_v2(words, out, sizeof(words)), CU_OK);
    assert_int_equal(words[THREADS - 1], 0);
    cuda_totals(bed_machine, 0, totals);
    assert_int_equal(totals[CUDA_HFMA], THREADS * 100 * 16);

    n = 200;
    a = b = out;
    assert_int_equal(cu.cuMemAlloc_v2(&c, sizeof(values)), CU_OK);
    assert_int_equal(cu.cuMemsetD32Async(out, 0x3fc00000, THREADS, NULL), CU_OK); /* 1.5 */
    bed_launch(bed_function("vector_add"), 1, THREADS, NULL, four);
    assert_int_equal(cu.cuMemcpyDtoH_v2(values, c, sizeof(values)), CU_OK);
    assert_true(values[199] == 3.0f);
    assert_true(values[200] == 0.0f);
}

static void launch__each_kernel__result(void **state)
{
    (void)state;
    bed_run("gh100", check_others);
}

static void check_refusals(void)
{
    void *context = bed_context(0), *function = bed_function("empty"), *other;
    uint64_t address = 16;
    void *arguments[] = {&address};
    size_t offset, size;

    assert_int_equal(cu.cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
                     CU_INVALID_VALUE);
    assert_int_equal(cu.cuLaunchKernel(function, 1, 1, 1, 1025, 1, 1, 0, NULL, NULL, NULL),
                     CU_INVALID_VALUE);
    assert_int_equal(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 49153, NULL, NULL, NULL),
                     CU_INVALID_VALUE);
    assert_int_equal(
        cu.cuLaunchCooperativeKernel(function, 132 * 8 + 1, 1, 1, 256, 1, 1, 0, NULL, NULL),
        CU_COOPERATIVE_TOO_LARGE);
    assert_int_equal(cu.cuFuncGetParamInfo(function, 0, &offset, &size), CU_INVALID_VALUE);
    other = bed_function("fma_loop");
    assert_int_equal(cu.cuFuncGetParamInfo(other, 3, &offset, &size), CU_OK);
    assert_int_equal(offset, 16);
    assert_int_equal(size, 4);
    assert_int_equal(cu.cuFuncGetParamInfo(other, 4, &offset, &size), CU_INVALID_VALUE);

    /* A fault is for good. */
    bed_launch(bed_function("write_at"), 1, 32, NULL, arguments);
    assert_int_equal(cu.cuCtxSynchronize(), CU_ILLEGAL_ADDRESS);
    assert_int_equal(cu.cuMemAlloc_v2(&address, 16), CU_ILLEGAL_ADDRESS);
    assert_int_equal(cu.cuCtxSetCurrent(context), CU_OK);
    assert_int_equal(cu.cuStreamSynchronize(NULL), CU_ILLEGAL_ADDRESS);
}

static void launch__bad_arguments_and_fault__results(void **state)
{
    (void)state;
    bed_run("gh100", check_refusals);
}

static int load(const char *text, char *log)
{
    int options[] = {5, 6};
    void *values[] = {log, (void *)256};
    void *module;

    return cu.cuModuleLoadDataEx(&module, text, 2, options, values);
}

static void check_images(void)
{
    char log[256];
    unsigned count;
    void *module, *link, *cubin, *functions[16];
    const char *name;
    char *text = bed_text("kernels.ptx");
    size_t bytes;

    (void)bed_context(0);
    assert_int_equal(load("nonsense", log), CU_INVALID_PTX);
    assert_non_null(strstr(log, ".version"));
    assert_int_equal(load(".version 9.1\n.target sm_70\n", log), CU_UNSUPPORTED_PTX_VERSION);
    assert_int_equal(load(".version 7.0\n.target sm_100\n", log), CU_NO_BINARY_FOR_GPU);
    assert_int_equal(load(".version 7.0\n.target sm_70\n.entry other()\n{ ret; }\n", log),
                     CU_INVALID_PTX);
    assert_int_equal(load(".version 7.0\n.target sm_70\n.entry empty(.param .u32 a)\n", log),
                     CU_INVALID_PTX);
    assert_int_equal(load("\177ELF\2\1\1", log), CU_NO_BINARY_FOR_GPU);

    assert_int_equal(cu.cuLinkCreate_v2(0, NULL, NULL, &link), CU_OK);
    assert_int_equal(cu.cuLinkAddData_v2(link, 1, text, strlen(text) + 1, "kernels", 0, NULL, NULL),
                     CU_OK);
    assert_int_equal(cu.cuLinkComplete(link, &cubin, &bytes), CU_OK);
    assert_memory_equal(cubin, "\177ELF", 4);
    assert_int_equal(cu.cuModuleLoadDataEx(&module, cubin, 0, NULL, NULL), CU_OK);
    assert_int_equal(cu.cuLinkDestroy(link), CU_OK);
    assert_int_equal(cu.cuModuleGetFunctionCount(&count, module), CU_OK);
    assert_int_equal(count, 9);
    assert_int_equal(cu.cuModuleEnumerateFunctions(functions, count, module), CU_OK);
    assert_int_equal(cu.cuFuncGetName(&name, functions[1]), CU_OK);
    assert_string_equal(name, "fma_loop");
    assert_int_equal(cu.cuModuleUnload(module), CU_OK);
    free(text);
}

static void module__images__loaded_or_refused(void **state)
{
    (void)state;
    bed_run("gh100", check_images);
}

static void check_memory(void)
{
    uint64_t address, base, handle;
    size_t bytes, free_before, free_now, total, step;
    uint32_t descriptor[3] = {1, 0, 3}, properties[8] = {1};
    void *host;
    int kind;

    (void)bed_context(0);
    assert_int_equal(cu.cuMemGetInfo_v2(&free_before, &total), CU_OK);
    assert_int_equal(cu.cuMemAlloc_v2(&address, 0), CU_INVALID_VALUE);
    assert_int_equal(cu.cuMemAlloc_v2(&address, total + 1), CU_OUT_OF_MEMORY);
    assert_int_equal(cu.cuMemAlloc_v2(&address, 1000), CU_OK);
    assert_int_equal(address % 256, 0);
    assert_int_equal(cu.cuMemGetInfo_v2(&free_now, &total), CU_OK);
    assert_cmp(free_now, <, free_before);
    assert_int_equal(cu.cuMemGetAddressRange_v2(&base, &bytes, address + 999), CU_OK);
    assert_int_equal(bytes, 1000);
    assert_int_equal(cu.cuMemGetAddressRange_v2(&base, &bytes, address + 1000), CU_NOT_FOUND);
    assert_int_equal(cu.cuMemsetD8Async(address, 1, 1001, NULL), CU_INVALID_VALUE);
    assert_int_equal(cu.cuMemFree_v2(address + 1), CU_INVALID_VALUE);
    assert_int_equal(cu.cuMemFree_v2(address), CU_OK);
    assert_int_equal(cu.cuMemFree_v2(address), CU_INVALID_VALUE);
    assert_int_equal(cu.cuMemHostAlloc(&host, 4096, 3), CU_OK);
    assert_int_equal(cu.cuPointerGetAttribute(&kind, 2, (uintptr_t)host), CU_OK);
    assert_int_equal(kind, 1);
    assert_int_equal(cu.cuMemFreeHost(host), CU_OK);

    assert_int_equal(cu.cuMemGetAllocationGranularity(&step, properties, 0), CU_OK);
    assert_int_equal(cu.cuMemAddressReserve(&address, 2 * step, 0, 0, 0), CU_OK);
    assert_int_equal(cu.cuMemCreate(&handle, 2 * step, properties, 0), CU_OK);
    assert_int_equal(cu.cuMemMap(address, 2 * step, 0, handle, 0), CU_OK);
    assert_int_equal(cu.cuMemsetD32Async(address, 7, 1, NULL), CU_INVALID_VALUE);
    assert_int_equal(cu.cuMemSetAccess(address, 2 * step, descriptor, 1), CU_OK);
    assert_int_equal(cu.cuMemsetD32Async(address, 7, 1, NULL), CU_OK);
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    assert_int_equal(cu.cuMemAddressFree(address, 2 * step), CU_INVALID_VALUE);
    assert_int_equal(cu.cuMemUnmap(address, 2 * step), CU_OK);
    assert_int_equal(cu.cuMemRelease(handle), CU_OK);
    assert_int_equal(cu.cuMemAddressFree(address, 2 * step), CU_OK);
    assert_int_equal(cu.cuMemGetInfo_v2(&free_now, &total), CU_OK);
    assert_int_equal(free_now, free_before);
}

static void memory__each_kind__bounds_and_accounts(void **state)
{
    (void)state;
    bed_run("gh100", check_memory);
}

static void note(void *data)
{
    *(uint64_t *)data = cuda_now_ns(bed_machine);
}

static void check_streams(void)
{
    void *first, *second, *start, *end, *never;
    uint64_t seen = 0, before;
    float ms;

    (void)bed_context(0);
    assert_int_equal(cu.cuStreamCreateWithPriority(&first, 1, -5), CU_OK);
    assert_int_equal(cu.cuStreamCreateWithPriority(&second, 1, 0), CU_OK);
    assert_int_equal(cu.cuEventCreate(&start, 0), CU_OK);
    assert_int_equal(cu.cuEventCreate(&end, 0), CU_OK);
    assert_int_equal(cu.cuEventCreate(&never, 0), CU_OK);
    assert_int_equal(cu.cuStreamWaitEvent(second, never, 0), CU_OK); /* passes at once */
    assert_int_equal(cu.cuStreamSynchronize(second), CU_OK);
    before = cuda_now_ns(bed_machine);
    assert_int_equal(cu.cuEventRecord(start, NULL), CU_OK);
    bed_fma(10000); /* some milliseconds of the GPU */
    assert_int_equal(cu.cuEventRecord(end, NULL), CU_OK);
    assert_int_equal(cu.cuStreamWaitEvent(second, end, 0), CU_OK);
    assert_int_equal(cu.cuLaunchHostFunc(second, note, &seen), CU_OK);
    assert_int_equal(cu.cuStreamSynchronize(second), CU_OK);
    assert_int_equal(cu.cuEventSynchronize(end), CU_OK);
    assert_int_equal(cu.cuEventElapsedTime(&ms, start, end), CU_OK);
    /* 4224 warps * 670028 instructions, 528 in a cycle. */
    assert_cmp(ms, >=, 2.7);
    assert_cmp(seen - before, >=, 2700000);
    assert_int_equal(cu.cuEventElapsedTime(&ms, start, never), CU_INVALID_HANDLE);
    assert_int_equal(cu.cuStreamQuery(second), CU_OK);
    assert_int_equal(cu.cuStreamDestroy_v2(first), CU_OK);
    assert_int_equal(cu.cuStreamDestroy_v2(first), CU_INVALID_HANDLE);
    assert_int_equal(cu.cuStreamQuery(first), CU_INVALID_HANDLE);
}

static void stream__events_and_host_functions__in_order(void **state)
{
    (void)state;
    bed_run("gh100", check_streams);
    bed_run("{format: 1, time: manual, gpus: [{chip: gh100}]}", check_streams);
}

SUITE(driver)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device__forked_child__not_initialised),
        cmocka_unit_test(device__h100__properties_of_reference),
        cmocka_unit_test(device__mig__one_instance),
        cmocka_unit_test(device__several__visible_ones_in_order),
        cmocka_unit_test(launch__bad_arguments_and_fault__results),
        cmocka_unit_test(launch__each_kernel__result),
        cmocka_unit_test(launch__fma_loop__bits_and_counts),
        cmocka_unit_test(memory__each_kind__bounds_and_accounts),
        cmocka_unit_test(module__images__loaded_or_refused),
        cmocka_unit_test(stream__events_and_host_functions__in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
