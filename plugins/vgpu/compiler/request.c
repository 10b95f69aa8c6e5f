/* The two messages between the plugin and zeta-vgpu-cc. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sha2.h>

#include "compiler_priv.h"
#include "plugins/vgpu/engine/engine.h"
#include "plugins/vgpu/runtime/vgpu_compile.h"
#include "plugins/vgpu/runtime/vgpu_spirv.h"

/* One image of a module, whether it is the first or a part. */
struct image {
    const uint8_t *bytes;
    uint64_t size;
    struct zeta_plugin_string options;
    struct zeta_plugin_array ids;
    struct zeta_plugin_array values;
};

/* A request that grows; after a failure nothing more is added. */
struct writer {
    struct zeta_vgpu_bytes out;
    size_t room;
    bool failed;
};

static void put(struct writer *writer, const void *bytes, size_t size)
{
    if (writer->failed || size == 0)
        return;
    if (size > writer->room - writer->out.size) {
        size_t room = (writer->out.size + size) * 2;
        uint8_t *grown = room > size ? realloc(writer->out.data, room) : NULL;

        if (!grown) {
            writer->failed = true;
            return;
        }
        writer->out.data = grown;
        writer->room = room;
    }
    memcpy(writer->out.data + writer->out.size, bytes, size);
    writer->out.size += size;
}

static struct image image_at(const struct zeta_plugin_module_desc *desc, uint64_t index)
{
    const struct zeta_plugin_module_part *part;

    if (index == 0)
        return (struct image){desc->image, desc->image_bytes, desc->build_flags, desc->constant_ids,
                              desc->constant_values};
    part = (const void *)((const char *)desc->parts.data + (index - 1) * desc->parts.stride);
    return (struct image){part->image, part->image_bytes, part->build_flags, part->constant_ids,
                          part->constant_values};
}

static uint64_t image_count(const struct zeta_plugin_module_desc *desc)
{
    return ZETA_PLUGIN_HAS(desc, parts) ? desc->parts.count + 1 : 1;
}

static const void *element(const struct zeta_plugin_array *array, uint64_t index)
{
    return (const char *)array->data + index * array->stride;
}

/* The sentence about an id that the module does not have; it names some that it has. */
static bool unknown_constant(uint32_t id, const struct vgpu_spirv_constant *known, uint32_t count,
                             struct zeta_vgpu_message *message)
{
    size_t used =
        (size_t)snprintf(message->text, sizeof(message->text),
                         "the module has no specialization constant %" PRIu32 "; it has", id);

    for (uint32_t i = 0; i < count && used < sizeof(message->text) - 16; i++)
        used += (size_t)snprintf(message->text + used, sizeof(message->text) - used, " %" PRIu32,
                                 known[i].id);
    if (count == 0)
        (void)snprintf(message->text + used, sizeof(message->text) - used, " none");
    return false;
}

static bool put_constant(struct writer *writer, uint32_t id, const void *value,
                         const struct vgpu_spirv_constant *known, uint32_t count,
                         struct zeta_vgpu_message *message)
{
    struct vgpu_compile_constant constant = {.id = id};

    for (uint32_t i = 0; i < count && constant.size_bytes == 0; i++) {
        if (known[i].id == id)
            constant.size_bytes = known[i].size_bytes;
    }
    if (constant.size_bytes == 0)
        return unknown_constant(id, known, count, message);
    memcpy(constant.value, value, constant.size_bytes);
    put(writer, &constant, sizeof(constant));
    return true;
}

/* Values come without their sizes; the module knows the types of its constants. */
static bool put_constants(struct writer *writer, const struct image *image,
                          struct zeta_vgpu_message *message)
{
    struct vgpu_spirv_constant *known = NULL;
    uint32_t count = 0;
    bool fine = true;

    if (image->ids.count == 0)
        return true;
    if (!vgpu_spirv_constants(image->bytes, (size_t)image->size, &known, &count, message->text,
                              sizeof(message->text)))
        return false;
    for (uint64_t i = 0; i < image->ids.count && fine; i++) {
        const void *value;
        uint32_t id;

        memcpy(&id, element(&image->ids, i), sizeof(id));
        memcpy(&value, element(&image->values, i), sizeof(value));
        fine = put_constant(writer, id, value, known, count, message);
    }
    free(known);
    return fine;
}

/* The compiler separates options by blanks; the specification speaks of commas as well. */
static void put_options(struct writer *writer, const struct zeta_plugin_string *options)
{
    size_t begin = writer->out.size;

    put(writer, options->data, (size_t)options->size);
    for (size_t i = begin; !writer->failed && i + 1 < writer->out.size; i++) {
        if (writer->out.data[i] == ',' && writer->out.data[i + 1] == '-')
            writer->out.data[i] = ' ';
    }
}

static bool put_image(struct writer *writer, const struct image *image,
                      struct zeta_vgpu_message *message)
{
    const struct vgpu_compile_image head = {.image_bytes = image->size,
                                            .options_bytes = (uint32_t)image->options.size,
                                            .constant_count = (uint32_t)image->ids.count};

    if (image->size > VGPU_COMPILE_MAX_IMAGE_BYTES)
        return zeta_vgpu_reject(message,
                                "the SPIR-V module is larger than the compiler takes (1 GiB)");
    if (image->options.size > VGPU_COMPILE_MAX_OPTIONS_BYTES)
        return zeta_vgpu_reject(message,
                                "the build options are longer than the compiler takes (1 MiB)");
    if (image->ids.count > VGPU_COMPILE_MAX_CONSTANTS || image->ids.count != image->values.count)
        return zeta_vgpu_reject(message,
                                "there are more specialization constants than the compiler takes");
    if (!vgpu_spirv_check(image->bytes, (size_t)image->size, message->text, sizeof(message->text)))
        return false;
    put(writer, &head, sizeof(head));
    put_options(writer, &image->options);
    if (!put_constants(writer, image, message))
        return false;
    put(writer, image->bytes, (size_t)image->size);
    return true;
}

bool zeta_vgpu_compiler_request(const struct zeta_plugin_module_desc *desc,
                                struct zeta_vgpu_bytes *out_request,
                                struct zeta_vgpu_message *out_message)
{
    const uint64_t count = image_count(desc);
    const struct vgpu_compile_request head = {.magic = VGPU_COMPILE_REQUEST_MAGIC,
                                              .version = VGPU_COMPILE_VERSION,
                                              .format = VGPU_COMPILE_SPIRV,
                                              .image_count = (uint32_t)count};
    struct writer writer = {0};
    bool fine = count <= VGPU_COMPILE_MAX_IMAGES;

    if (!fine)
        zeta_vgpu_reject(out_message,
                         "the program consists of more images than the compiler takes (256)");
    put(&writer, &head, sizeof(head));
    for (uint64_t i = 0; i < count && fine; i++) {
        const struct image image = image_at(desc, i);

        fine = put_image(&writer, &image, out_message);
    }
    if (fine && writer.failed)
        fine = zeta_vgpu_reject(out_message, "no memory for a request to the compiler");
    if (fine)
        *out_request = writer.out;
    else
        free(writer.out.data);
    return fine;
}

enum zeta_vgpu_answer_state zeta_vgpu_compiler_answer(const uint8_t *bytes, size_t size,
                                                      const char **out_why)
{
    struct vgpu_compile_answer answer;
    SHA2_CTX digest;
    uint8_t sum[32];

    *out_why = "its answer is not one of this version of the virtual GPU";
    if (size >= sizeof(answer.magic)) {
        memcpy(&answer.magic, bytes, sizeof(answer.magic));
        if (answer.magic != VGPU_COMPILE_ANSWER_MAGIC)
            return ZETA_VGPU_ANSWER_WRONG;
    }
    if (size < sizeof(answer))
        return ZETA_VGPU_ANSWER_MORE;
    memcpy(&answer, bytes, sizeof(answer));
    if (answer.version != VGPU_COMPILE_VERSION || answer.status > VGPU_COMPILE_BAD_REQUEST ||
        answer.log_bytes > VGPU_COMPILE_MAX_IMAGE_BYTES ||
        answer.image_bytes > VGPU_COMPILE_MAX_IMAGE_BYTES)
        return ZETA_VGPU_ANSWER_WRONG;
    if (size - sizeof(answer) < answer.log_bytes + answer.image_bytes)
        return ZETA_VGPU_ANSWER_MORE;
    *out_why = "there is more than its answer";
    if (size - sizeof(answer) > answer.log_bytes + answer.image_bytes)
        return ZETA_VGPU_ANSWER_WRONG;
    *out_why = "the digest of its answer is wrong";
    SHA256Init(&digest);
    SHA256Update(&digest, bytes + sizeof(answer), size - sizeof(answer));
    SHA256Final(sum, &digest);
    return memcmp(sum, answer.digest, sizeof(sum)) == 0 ? ZETA_VGPU_ANSWER_WHOLE
                                                        : ZETA_VGPU_ANSWER_WRONG;
}
