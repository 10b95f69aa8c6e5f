#ifndef ZETA_PLUGINS_VGPU_RUNTIME_VGPU_SPIRV_H
#define ZETA_PLUGINS_VGPU_RUNTIME_VGPU_SPIRV_H

/*
 * Numbers of SPIR-V that both the virtual GPU and its compiler look for in a module.
 * Source: the SPIR-V specification, sections 2.3 (layout) and 3 (binary form).
 */

enum {
    SPIRV_MAGIC = 0x07230203,
    SPIRV_MAGIC_SWAPPED = 0x03022307, /* the bytes of each word in the other order */
    SPIRV_HEADER_WORDS = 5,

    SPIRV_OP_MEMORY_MODEL = 14,
    SPIRV_OP_CAPABILITY = 17,
    SPIRV_OP_TYPE_BOOL = 20,
    SPIRV_OP_TYPE_INT = 21,
    SPIRV_OP_TYPE_FLOAT = 22,
    SPIRV_OP_SPEC_CONSTANT_TRUE = 48,
    SPIRV_OP_SPEC_CONSTANT_FALSE = 49,
    SPIRV_OP_SPEC_CONSTANT = 50,
    SPIRV_OP_DECORATE = 71,

    SPIRV_CAPABILITY_SHADER = 1,
    SPIRV_CAPABILITY_KERNEL = 6,
    SPIRV_ADDRESSING_PHYSICAL64 = 2,
    SPIRV_DECORATION_SPEC_ID = 1
};

#endif
