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

static const void *element(const struct zeta_plugin_array *array, uint64_t index)
{
    return (const char *)array->data + index * array->stride;
}

/* Values come without their sizes; the module knows the types of its constants. */
static bool put_constants(FILE *request, const struct image *image,
                          struct zeta_vgpu_message *message)
{
    struct vgpu_spirv_constant *known = NULL;
    uint32_t count = 0, k;
    bool fine = true;

    if (image->ids.count == 0)
        return true;
    if (!vgpu_spirv_constants(image->bytes, (size_t)image->size, &known, &count, message->text,
                              sizeof(message->text)))
        return false;
    for (uint64_t i = 0; i < image->ids.count && fine; i++) {
        struct vgpu_compile_constant constant = {0};
        const void *value;

        memcpy(&constant.id, element(&image->ids, i), sizeof(constant.id));
        memcpy(&value, element(&image->values, i), sizeof(value));
        for (k = 0; k < count && known[k].id != constant.id; k++)
            continue;
        fine = k < count;
        if (fine) {
            constant.size_bytes = known[k].size_bytes;
            memcpy(constant.value, value, constant.size_bytes);
            (void)fwrite(&constant, sizeof(constant), 1, request);
        } else {
            size_t used =
                (size_t)snprintf(message->text, sizeof(message->text),
                                 "the module has no specialization constant %" PRIu32 "; it has%s",
                                 constant.id, count == 0 ? " none" : "");

            for (k = 0; k < count && used < sizeof(message->text) - 16; k++)
                used += (size_t)snprintf(message->text + used, sizeof(message->text) - used,
                                         " %" PRIu32, known[k].id);
        }
    }
    free(known);
    return fine;
}

static bool put_image(FILE *request, const struct image *image, struct zeta_vgpu_message *message)
{
    const struct vgpu_compile_image head = {.image_bytes = image->size,
                                            .options_bytes = (uint32_t)image->options.size,
                                            .constant_count = (uint32_t)image->ids.count};
    const char *options = (const char *)image->options.data;

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
    (void)fwrite(&head, sizeof(head), 1, request);
    /* The compiler separates options by blanks; the specification speaks of commas as well. */
    for (size_t i = 0; i < image->options.size; i++) {
        const bool separator =
            i + 1 < image->options.size && options[i] == ',' && options[i + 1] == '-';

        (void)fputc(separator ? ' ' : options[i], request);
    }
    if (!put_constants(request, image, message))
        return false;
    (void)fwrite(image->bytes, 1, (size_t)image->size, request);
    return true;
}

bool zeta_vgpu_compiler_request(const struct zeta_plugin_module_desc *desc,
                                struct zeta_vgpu_bytes *out_request,
                                struct zeta_vgpu_message *out_message)
{
    const uint64_t count = ZETA_PLUGIN_HAS(desc, parts) ? desc->parts.count + 1 : 1;
    const struct vgpu_compile_request head = {.magic = VGPU_COMPILE_REQUEST_MAGIC,
                                              .version = VGPU_COMPILE_VERSION,
                                              .format = VGPU_COMPILE_SPIRV,
                                              .image_count = (uint32_t)count};
    FILE *request;
    char *bytes = NULL;
    size_t size = 0;
    bool fine = true;

    if (count > VGPU_COMPILE_MAX_IMAGES)
        return zeta_vgpu_reject(
            out_message, "the program consists of more images than the compiler takes (256)");
    request = open_memstream(&bytes, &size);
    if (!request)
        return zeta_vgpu_reject(out_message, "no memory for a request to the compiler");
    (void)fwrite(&head, sizeof(head), 1, request);
    for (uint64_t i = 0; i < count && fine; i++) {
        struct image image = {desc->image, desc->image_bytes, desc->build_flags, desc->constant_ids,
                              desc->constant_values};

        if (i > 0) {
            const struct zeta_plugin_module_part *part = element(&desc->parts, i - 1);

            image = (struct image){part->image, part->image_bytes, part->build_flags,
                                   part->constant_ids, part->constant_values};
        }
        fine = put_image(request, &image, out_message);
    }
    if (fine && (fflush(request) != 0 || ferror(request)))
        fine = zeta_vgpu_reject(out_message, "no memory for a request to the compiler");
    (void)fclose(request);
    if (fine)
        *out_request = (struct zeta_vgpu_bytes){(uint8_t *)bytes, size};
    else
        free(bytes);
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
