/*
 * The objects that families of soak runs use, on the first device of the virtual GPU.
 */
#ifndef ZETA_TESTS_SOAK_BED_H
#define ZETA_TESTS_SOAK_BED_H

#include <stdio.h>
#include <stdlib.h>

#include <level_zero/zet_api.h>

/** Ends the program with status 2 and a line unless the call succeeds. */
#define OK(call)                                                                                   \
    do {                                                                                           \
        const unsigned ok_result = (unsigned)(call);                                               \
        if (ok_result != 0) {                                                                      \
            (void)fprintf(stderr, "%s:%d: %s gives 0x%x\n", __FILE__, __LINE__, #call, ok_result); \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

struct bed {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;      /**< regular, closed, with one barrier in it */
    ze_command_list_handle_t immediate; /**< synchronous */
    ze_module_handle_t module;          /**< NULL without a compiler for kernels */
    ze_kernel_handle_t kernel;
    uint8_t *image; /**< what the module was made of */
    size_t image_bytes;
    void *memory; /**< shared, one page */
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t streamer; /**< opened by the families that need one */
    uint8_t *raw;
    size_t raw_bytes; /**< of raw data at raw, made by bed_sample() */
};

/** Initialises the library and makes the objects. Ends the program if that is not possible. */
void bed_open(struct bed *bed);

/** Destroys all of them. */
void bed_close(struct bed *bed);

/** Activates the group and opens the streamer. */
void bed_stream(struct bed *bed);

/** Ends what bed_stream() began. */
void bed_unstream(struct bed *bed);

/** Reads some raw data into raw. */
void bed_sample(struct bed *bed);

#endif
