#ifndef ZETA_COMPILER_PROTOCOL_H
#define ZETA_COMPILER_PROTOCOL_H

/*
 * What a plugin and its compiler, zeta-vgpu-cc or zeta-nv-cc, say to each other. The plugin starts
 * the compiler with --serve, writes one request to its standard input and closes it; the compiler
 * writes one answer to its standard output. Messages of a crash go to standard error. A whole
 * answer with the right digest is success, whatever the exit status; anything else is a crash.
 * Little endian, no padding between the parts.
 */

#include <stdint.h>

#define ZETA_COMPILE_REQUEST_MAGIC 0x51524356u /* "VCRQ" */
#define ZETA_COMPILE_ANSWER_MAGIC 0x4e414356u  /* "VCAN" */
#define ZETA_COMPILE_VERSION 1u

/* Bounds that both sides check. */
#define ZETA_COMPILE_MAX_IMAGES 256u
#define ZETA_COMPILE_MAX_CONSTANTS 65536u
#define ZETA_COMPILE_MAX_OPTIONS_BYTES (1u << 20)
#define ZETA_COMPILE_MAX_IMAGE_BYTES (1u << 30)

/** Forms of the input. */
enum zeta_compile_format {
    ZETA_COMPILE_SPIRV = 0,
    ZETA_COMPILE_BITCODE = 1,
    ZETA_COMPILE_OPENCL_C = 2
};

/**
 * A request: this struct, then for each image a struct zeta_compile_image, its options, its
 * constants and its bytes. Several images are compiled one by one and linked to one program.
 */
struct zeta_compile_request {
    uint32_t magic;
    uint32_t version;
    uint32_t format; /* enum zeta_compile_format */
    uint32_t image_count;
};

struct zeta_compile_image {
    uint64_t image_bytes;
    uint32_t options_bytes; /* build options as zeModuleCreate takes them, no terminator */
    uint32_t constant_count;
};

/** A specialization constant; the value is in the first size_bytes bytes. */
struct zeta_compile_constant {
    uint32_t id;
    uint32_t size_bytes; /* 1, 2, 4 or 8 */
    uint8_t value[8];
};

enum zeta_compile_status {
    ZETA_COMPILE_OK = 0,
    ZETA_COMPILE_BUILD_FAILED = 1, /* the log says why */
    ZETA_COMPILE_TOOL_MISSING = 2, /* the log names the Debian package */
    ZETA_COMPILE_BAD_REQUEST = 3
};

/** An answer: this struct, the log (text, no terminator), what was made: an ELF file, or PTX. */
struct zeta_compile_answer {
    uint32_t magic;
    uint32_t version;
    uint32_t status; /* enum zeta_compile_status */
    uint32_t reserved;
    uint64_t log_bytes;
    uint64_t image_bytes;
    uint8_t digest[32]; /* SHA-256 of log and image, one after the other */
};

#endif
