/* Start, devices and contexts. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda/driver/driver.h"

pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    _Atomic pid_t pid; /* 0 before cuInit; changed with driver_lock */
    int result;
    int count;
    struct device devices[DRIVER_DEVICES];
} driver;

/* In the part of the storage of threads that is laid out at the start: LeakSanitizer cannot find
 * the others of a library that was opened later, and dies. */
static _Thread_local struct context *current __attribute__((tls_model("initial-exec")));

int driver_enter(const char *function)
{
    int forced;

    if (cuda_enter(function, &forced))
        return forced;
    if (atomic_load(&driver.pid) != getpid())
        return CU_NOT_INITIALIZED; /* also in a child that was forked afterwards */
    return cuda_shared() ? CU_OK : CU_UNKNOWN;
}

int driver_enter_context(const char *function, struct context **out_context)
{
    const int entered = driver_enter(function);

    if (entered != CU_OK)
        return entered;
    if (!current)
        return CU_INVALID_CONTEXT;
    *out_context = current;
    (void)pthread_mutex_lock(&driver_lock);
    int error = current->users > 0 ? current->error : CU_INVALID_CONTEXT;
    (void)pthread_mutex_unlock(&driver_lock);
    return error;
}

struct device *driver_device(int ordinal)
{
    return ordinal >= 0 && ordinal < driver.count ? &driver.devices[ordinal] : NULL;
}

const struct cuda_chip *driver_chip(const struct device *device)
{
    return &cuda_shared()->description.gpus[device->gpu];
}

uint64_t driver_sms(const struct device *device)
{
    const struct cuda_chip *chip = driver_chip(device);

    return device->instance > 0 ? chip->sms / chip->instances : chip->sms;
}

static void write_uuid(uint32_t gpu, uint32_t instance, uint8_t out[16])
{
    static const uint8_t base[16] = {0x5a, 0x65, 0x74, 0x61, 0, 0, 0x40, 0,
                                     0x80, 0,    0,    0,    0, 0, 0,    0};

    (void)memcpy(out, base, 16);
    out[14] = (uint8_t)instance;
    out[15] = (uint8_t)gpu;
}

static void add_device(uint32_t gpu, uint32_t instance)
{
    struct device *device = &driver.devices[driver.count];

    for (int i = 0; i < driver.count; i++) {
        if (driver.devices[i].gpu == gpu && driver.devices[i].instance == instance)
            return;
    }
    if (driver.count == DRIVER_DEVICES)
        return;
    *device = (struct device){.gpu = gpu, .instance = instance, .primary.ordinal = driver.count};
    device->primary.id = (uint32_t)driver.count + 1;
    write_uuid(gpu, instance, device->uuid);
    driver.count++;
}

/* "GPU-5a657461-0000-4000-8000-000000000000", or its beginning; "MIG-" with an instance. */
static bool has_uuid(const char *text, size_t length, uint32_t gpu, uint32_t instance)
{
    uint8_t uuid[16];
    char name[48];
    size_t at = 4;

    write_uuid(gpu, instance, uuid);
    (void)strcpy(name, instance > 0 ? "MIG-" : "GPU-");
    for (int i = 0; i < 16; i++)
        at += (size_t)snprintf(name + at, sizeof(name) - at, "%s%02x",
                               i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    return length > 4 && length <= at && strncasecmp(name, text, length) == 0;
}

static uint32_t first_instance(const struct cuda_description *machine, uint32_t gpu)
{
    return machine->gpus[gpu].instances > 0 ? 1 : 0;
}

/* Adds what an element of CUDA_VISIBLE_DEVICES names; false if that is nothing. */
static bool add_named(const struct cuda_description *machine, const char *text, size_t length)
{
    char *end;
    const long number = strtol(text, &end, 10);

    if (end == text + length && length > 0 && number >= 0 && number < machine->gpu_count) {
        add_device((uint32_t)number, first_instance(machine, (uint32_t)number));
        return true;
    }
    for (uint32_t gpu = 0; gpu < machine->gpu_count; gpu++) {
        for (uint32_t i = first_instance(machine, gpu); i <= machine->gpus[gpu].instances; i++) {
            if (has_uuid(text, length, gpu, i)) {
                add_device(gpu, i);
                return true;
            }
        }
    }
    return false;
}

/* Elements behind one that names nothing are not looked at. A process sees one instance of MIG. */
static void find_devices(const struct cuda_description *machine)
{
    const char *text = getenv("CUDA_VISIBLE_DEVICES");

    if (!text) {
        for (uint32_t gpu = 0; gpu < machine->gpu_count; gpu++) {
            add_device(gpu, first_instance(machine, gpu));
            if (machine->gpus[gpu].instances > 0)
                break;
        }
        return;
    }
    for (size_t length = strcspn(text, ","); add_named(machine, text, length);
         length = strcspn(text, ",")) {
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
}

int cuInit(unsigned flags)
{
    struct cuda_shared *shared = cuda_shared();
    int forced;

    if (cuda_enter(__func__, &forced))
        return forced;
    if (flags != 0)
        return CU_INVALID_VALUE;
    (void)pthread_mutex_lock(&driver_lock);
    if (driver.pid == 0 && shared) {
        find_devices(&shared->description);
        if (driver.count > 0)
            driver.pid = getpid();
    }
    if (driver.pid == 0)
        driver.result = CU_NO_DEVICE;
    else
        driver.result = driver.pid == getpid() ? CU_OK : CU_NOT_INITIALIZED;
    int result = driver.result;
    (void)pthread_mutex_unlock(&driver_lock);
    return result;
}

int cuDriverGetVersion(int *out)
{
    const struct cuda_shared *shared = cuda_shared();
    int forced;

    if (cuda_enter(__func__, &forced))
        return forced;
    if (!out)
        return CU_INVALID_VALUE;
    *out = shared ? (int)shared->description.driver : 0;
    return CU_OK;
}

static const struct {
    int error;
    const char *name, *text;
} errors[] = {
    {CU_OK, "CUDA_SUCCESS", "no error"},
    {CU_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CU_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CU_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CU_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {CU_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CU_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CU_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CU_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CU_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {CU_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CU_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {CU_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CU_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CU_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CU_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CU_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CU_COOPERATIVE_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {CU_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CU_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

int cuGetErrorName(int error, const char **out)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        if (errors[i].error == error) {
            *out = errors[i].name;
            return CU_OK;
        }
    }
    *out = NULL;
    return CU_INVALID_VALUE;
}

int cuGetErrorString(int error, const char **out)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        if (errors[i].error == error) {
            *out = errors[i].text;
            return CU_OK;
        }
    }
    *out = NULL;
    return CU_INVALID_VALUE;
}

int cuDeviceGetCount(int *out)
{
    ENTER();
    if (!out)
        return CU_INVALID_VALUE;
    *out = driver.count;
    return CU_OK;
}

int cuDeviceGet(int *out, int ordinal)
{
    ENTER();
    if (!out)
        return CU_INVALID_VALUE;
    if (!driver_device(ordinal))
        return CU_INVALID_DEVICE;
    *out = ordinal;
    return CU_OK;
}

int cuDeviceGetName(char *out, int size, int device)
{
    const struct device *found;

    ENTER();
    found = driver_device(device);
    if (!found)
        return CU_INVALID_DEVICE;
    if (!out || size <= 0)
        return CU_INVALID_VALUE;
    if (found->instance > 0)
        (void)snprintf(
            out, (size_t)size, "%s MIG 1g.%llugb", driver_chip(found)->name,
            (unsigned long long)(driver_chip(found)->memory_bytes / driver_chip(found)->instances >>
                                 30));
    else
        (void)snprintf(out, (size_t)size, "%s", driver_chip(found)->name);
    return CU_OK;
}

int cuDeviceTotalMem_v2(size_t *out, int device)
{
    const struct device *found;

    ENTER();
    found = driver_device(device);
    if (!found)
        return CU_INVALID_DEVICE;
    if (!out)
        return CU_INVALID_VALUE;
    *out = driver_chip(found)->memory_bytes;
    if (found->instance > 0)
        *out /= driver_chip(found)->instances;
    return CU_OK;
}

int cuDeviceGetUuid_v2(void *out, int device)
{
    ENTER();
    if (!driver_device(device))
        return CU_INVALID_DEVICE;
    (void)memcpy(out, driver_device(device)->uuid, 16);
    return CU_OK;
}

int cuDeviceGetPCIBusId(char *out, int size, int device)
{
    ENTER();
    if (!driver_device(device))
        return CU_INVALID_DEVICE;
    if (!out || size < 13)
        return CU_INVALID_VALUE;
    (void)snprintf(out, (size_t)size, "%s", driver_chip(driver_device(device))->pci);
    return CU_OK;
}

static unsigned pci_part(const struct cuda_chip *chip, int part)
{
    unsigned numbers[3] = {0};

    (void)sscanf(chip->pci, "%x:%x:%x", &numbers[0], &numbers[1], &numbers[2]);
    return numbers[part];
}

int cuDeviceGetAttribute(int *out, int attribute, int device)
{
    const struct device *found;
    const struct cuda_chip *chip;

    ENTER();
    found = driver_device(device);
    if (!found)
        return CU_INVALID_DEVICE;
    if (!out)
        return CU_INVALID_VALUE;
    chip = driver_chip(found);
    const struct {
        int attribute;
        uint64_t value;
    } table[] = {
        {1, 1024},
        {2, 1024},
        {3, 1024},
        {4, 64},
        {5, INT32_MAX},
        {6, 65535},
        {7, 65535},
        {8, 49152},
        {9, 65536},
        {10, 32},
        {11, INT32_MAX},
        {12, 65536},
        {13, chip->sm_khz},
        {14, 512},
        {15, 1},
        {16, driver_sms(found)},
        {17, 0},
        {18, 0},
        {19, 1},
        {20, chip->compute_mode},
        {31, 1},
        {32, chip->has_ecc},
        {33, pci_part(chip, 1)},
        {34, pci_part(chip, 2)},
        {36, chip->memory_khz},
        {37, chip->bus_bits},
        {38, chip->l2_bytes},
        {39, chip->warps_per_sm * 32},
        {40, chip->copy_engines},
        {41, 1},
        {50, pci_part(chip, 0)},
        {75, chip->cc_major},
        {76, chip->cc_minor},
        {78, 1},
        {81, chip->shared_per_sm},
        {82, 65536},
        {83, 1},
        {88, 0},
        {89, 1},
        {95, 1},
        {97, chip->shared_opt_in},
        {102, 1},
        {103, 1},
        {106, chip->groups_per_sm},
        {122, chip->cc_major >= 7},
        {133, 1},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].attribute == attribute) {
            *out = (int)table[i].value;
            return CU_OK;
        }
    }
    return CU_INVALID_VALUE;
}

int cuDevicePrimaryCtxRetain(void **out, int device)
{
    struct device *found;
    int result = CU_OK;

    ENTER();
    found = driver_device(device);
    if (!found)
        return CU_INVALID_DEVICE;
    if (!out)
        return CU_INVALID_VALUE;
    (void)pthread_mutex_lock(&driver_lock);
    if (driver_chip(found)->compute_mode == 2 ||
        (driver_chip(found)->compute_mode == 3 && found->primary.users == 0 &&
         !cuda_unit_take(CUDA_COMPUTE, found->gpu))) {
        result = CU_DEVICE_UNAVAILABLE;
    } else {
        found->primary.users++;
        *out = &found->primary;
    }
    (void)pthread_mutex_unlock(&driver_lock);
    return result;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    struct device *found;
    int result = CU_OK;

    ENTER();
    found = driver_device(device);
    if (!found)
        return CU_INVALID_DEVICE;
    (void)pthread_mutex_lock(&driver_lock);
    if (found->primary.users == 0)
        result = CU_INVALID_CONTEXT;
    else if (--found->primary.users == 0)
        cuda_unit_give(CUDA_COMPUTE, found->gpu);
    (void)pthread_mutex_unlock(&driver_lock);
    return result;
}

__attribute__((visibility("default"))) bool cuda_context_gpu(const void *context, uint32_t *out_gpu,
                                                             int *out_ordinal)
{
    for (int i = 0; i < driver.count; i++) {
        if (context == &driver.devices[i].primary) {
            *out_gpu = driver.devices[i].gpu;
            *out_ordinal = i;
            return true;
        }
    }
    return false;
}

__attribute__((visibility("default"))) bool cuda_ordinal_gpu(int ordinal, uint32_t *out_gpu)
{
    const struct device *device;
    bool is_known;

    (void)pthread_mutex_lock(&driver_lock);
    device = driver.pid == getpid() ? driver_device(ordinal) : NULL;
    is_known = device != NULL;
    if (device)
        *out_gpu = device->gpu;
    (void)pthread_mutex_unlock(&driver_lock);
    return is_known;
}

int cuCtxSetCurrent(void *context)
{
    uint32_t gpu;
    int ordinal;

    ENTER();
    if (context && !cuda_context_gpu(context, &gpu, &ordinal))
        return CU_INVALID_CONTEXT;
    current = context;
    return CU_OK;
}

int cuCtxGetCurrent(void **out)
{
    ENTER();
    if (!out)
        return CU_INVALID_VALUE;
    *out = current;
    return CU_OK;
}

int cuCtxGetDevice(int *out)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    *out = context->ordinal;
    return CU_OK;
}
