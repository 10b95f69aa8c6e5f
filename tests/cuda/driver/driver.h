#ifndef ZETA_TESTS_CUDA_DRIVER_DRIVER_H
#define ZETA_TESTS_CUDA_DRIVER_DRIVER_H

/* What the files of libcuda.so.1 share. One lock over all objects of the process. */

#include "tests/cuda/driver/abi.h"
#include "tests/cuda/driver/observer.h"
#include "tests/cuda/machine/machine.h"

#define DECLARE(name, parameters) __attribute__((visibility("default"))) int name parameters;
CUDA_API(DECLARE)
#undef DECLARE

enum { DRIVER_DEVICES = CUDA_GPUS, PARAMETERS = 16, ARGUMENT_BYTES = 4096, NAME_BYTES = 128 };

struct context {
    struct context *next; /* one that has been made is never freed: handles stay comparable */
    int ordinal;
    uint32_t id, users;
    int error; /* of a fault: for good */
    struct stream *streams;
    struct stream *default_stream;
};

struct device {
    uint32_t gpu, instance; /* instance of MIG from 1; 0: the whole GPU */
    uint8_t uuid[16];
    struct context primary;
};

struct parameter {
    size_t offset, size;
};

struct function {
    struct module *module;
    const struct kernel *kernel;
    char name[NAME_BYTES];
    struct parameter parameters[PARAMETERS];
    uint32_t parameter_count;
    uint32_t offset_first; /* parameter of the offset of a launch */
    uint32_t offset_count; /* 3, or 0: there is none */
    uint32_t print;        /* parameter of the buffer of printf; parameter_count: there is none */
    int dynamic_limit;     /* may be set while others launch: atomic accesses */
};

struct variable {
    char name[NAME_BYTES];
    void *memory;
    size_t bytes;
};

struct module {
    struct context *context;
    struct function *functions;
    uint32_t count;
    struct variable *variables;
    uint32_t variable_count;
    int ptx_version;
};

struct launch {
    const struct function *function;
    const struct cuda_chip *chip;
    uint64_t threads, warps, groups, sms;
    uint32_t grid[3], block[3], shared;
    uint32_t offset[3]; /* of the ids; 0 unless the entry has parameters for it */
    uint64_t print;     /* the buffer of printf, likewise */
    uint8_t arguments[ARGUMENT_BYTES];
};

/* What a kernel did: counts and the SM cycles that it takes; or the fault. */
struct outcome {
    uint64_t counts[CUDA_COUNTS];
    uint64_t cycles;
    int error;
};

/* Of the size of an argument: an entry that ends before it is the same kernel. */
enum { OPTIONAL = 0x80 };

/* A kernel of section 11 of the reference, by the name of its entry and sizes of its arguments. */
struct kernel {
    const char *name;
    uint8_t sizes[PARAMETERS];
    void (*run)(const struct launch *launch, struct outcome *outcome);
    bool heeds_offset; /* others are launched without */
};

/* Marks the calls of the library: faults, then whether it is there at all. */
#define ENTER()                                                                                    \
    do {                                                                                           \
        const int entered = driver_enter(__func__);                                                \
        if (entered != CU_OK)                                                                      \
            return entered;                                                                        \
    } while (0)

/* The same for calls that need a context: *out_context. */
#define ENTER_CONTEXT(out_context)                                                                 \
    do {                                                                                           \
        const int entered = driver_enter_context(__func__, (out_context));                         \
        if (entered != CU_OK)                                                                      \
            return entered;                                                                        \
    } while (0)

int driver_enter(const char *function);
int driver_enter_context(const char *function, struct context **out_context);

/* device.c */
struct device *driver_device(int ordinal); /* NULL: there is none */
const struct cuda_chip *driver_chip(const struct device *device);
uint64_t driver_sms(const struct device *device);

/* memory.c */
/* The allocation that holds these bytes: whether the GPU may access them. */
bool memory_is_accessible(uint64_t address, uint64_t bytes);
/* 1 host memory that is known, 2 device, 4 managed, 0 memory of the program. */
int memory_kind(uint64_t address);

/* Memory of the device, which cuMemFree_v2 takes. */
int memory_of_variable(struct context *context, size_t bytes, void **out);

/* variables.c: those of a text, which needs no other one. */
int variables_read(const char *text, struct module *module, char *log, size_t log_bytes);
void variables_free(struct module *module);

/* kernels.c */
const struct kernel *kernel_find(const char *name);
/* An argument of a launch, zero extended. */
uint64_t kernel_argument(const struct launch *launch, uint32_t index);
/* Memory that the GPU may access; NULL and the fault else. */
void *kernel_memory(uint64_t address, uint64_t bytes, struct outcome *outcome);
/* So many instructions of each warp. */
void kernel_count(const struct launch *launch, struct outcome *outcome, uint64_t per_warp);

/* api_kernels.c: ends with an entry without a name. */
extern const struct kernel api_kernels[];

/* ptx.c: reads a text; a sentence in log when it is refused. */
int ptx_read(const char *text, const struct cuda_chip *chip, uint64_t driver, struct module *module,
             char *log, size_t log_bytes);
/* Of ".u32" and the like; 0: there is no such type. */
size_t ptx_type_bytes(const char *name);

/* stream.c */
enum operation_kind {
    OP_LAUNCH,
    OP_COPY,
    OP_FILL /* work up to here */,
    OP_RECORD,
    OP_WAIT,
    OP_HOST
};

struct operation {
    struct operation *next;
    enum operation_kind kind;
    uint32_t correlation;
    uint64_t mark;
    union {
        struct launch *launch;
        struct cu_copy copy;
        struct {
            uint64_t target;
            uint32_t value, width;
            size_t count;
        } fill;
        struct {
            struct event *event;
            uint64_t number;
        } event;
        struct {
            void (*function)(void *);
            void *data;
        } host;
    };
};

/* Frees the operation if it fails. */
int stream_enqueue(struct context *context, void *stream, struct operation *operation);
int stream_wait(struct context *context, void *stream);
struct operation *operation_create(enum operation_kind kind);

/* work.c: does an operation that makes the GPU work; when it ends. */
uint64_t work_do(struct context *context, uint32_t stream, const struct operation *operation,
                 uint64_t not_before_ns, int *out_error);

/* observer.c */
uint64_t observer_mark(void *context, bool is_launch);
void observer_enqueued(uint32_t stream);
void observer_seen(const struct cuda_seen *seen);

extern pthread_mutex_t driver_lock;

#endif
