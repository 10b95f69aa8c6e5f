#ifndef ZETA_PLUGINS_VGPU_RUNTIME_VGPU_COMPILE_H
#define ZETA_PLUGINS_VGPU_RUNTIME_VGPU_COMPILE_H

/*
 * What the virtual GPU and its compiler, zeta-vgpu-cc, say to each other. The plugin starts
 * "zeta-vgpu-cc --serve", writes one request to its standard input and closes it; the compiler
 * writes one answer to its standard output. Messages of a crash go to standard error. A whole
 * answer with the right digest is success, whatever the exit status; anything else is a crash.
 * Little endian, no padding between the parts.
 */

#include <stdint.h>

#define VGPU_COMPILE_REQUEST_MAGIC 0x51524356u /* "VCRQ" */
#define VGPU_COMPILE_ANSWER_MAGIC 0x4e414356u  /* "VCAN" */
#define VGPU_COMPILE_VERSION 1u

/* Bounds that both sides check. */
#define VGPU_COMPILE_MAX_IMAGES 256u
#define VGPU_COMPILE_MAX_CONSTANTS 65536u
#define VGPU_COMPILE_MAX_OPTIONS_BYTES (1u << 20)
#define VGPU_COMPILE_MAX_IMAGE_BYTES (1u << 30)

/** Forms of the input. */
enum vgpu_compile_format {
    VGPU_COMPILE_SPIRV = 0,
    VGPU_COMPILE_BITCODE = 1,
    VGPU_COMPILE_OPENCL_C = 2
};

/**
 * A request: this struct, then for each image a struct vgpu_compile_image, its options, its
 * constants and its bytes. Several images are compiled one by one and linked to one program.
 */
struct vgpu_compile_request {
    uint32_t magic;
    uint32_t version;
    uint32_t format; /* enum vgpu_compile_format */
    uint32_t image_count;
};

struct vgpu_compile_image {
    uint64_t image_bytes;
    uint32_t options_bytes; /* build options as zeModuleCreate takes them, no terminator */
    uint32_t constant_count;
};

/** A specialization constant; the value is in the first size_bytes bytes. */
struct vgpu_compile_constant {
    uint32_t id;
    uint32_t size_bytes; /* 1, 2, 4 or 8 */
    uint8_t value[8];
};

enum vgpu_compile_status {
    VGPU_COMPILE_OK = 0,
    VGPU_COMPILE_BUILD_FAILED = 1, /* the log says why */
    VGPU_COMPILE_TOOL_MISSING = 2, /* the log names the Debian package */
    VGPU_COMPILE_BAD_REQUEST = 3
};

/** An answer: this struct, the log (text, no terminator), the ELF file. */
struct vgpu_compile_answer {
    uint32_t magic;
    uint32_t version;
    uint32_t status; /* enum vgpu_compile_status */
    uint32_t reserved;
    uint64_t log_bytes;
    uint64_t image_bytes;
    uint8_t digest[32]; /* SHA-256 of log and image, one after the other */
};

#endif
