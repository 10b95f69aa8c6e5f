/* What a module is made from: the descriptor of the application, for the plugin. */

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <level_zero/zet_api.h>

#include "core/api/chain.h"
#include "core/module/module.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"

#define PROFILE_OPTION "-zet-profile-flags"

#define PROFILE_FLAGS                                                                              \
    ((uint32_t)ZET_PROFILE_FLAG_REGISTER_REALLOCATION |                                            \
     (uint32_t)ZET_PROFILE_FLAG_FREE_REGISTER_INFO)

/* Words of build flags are separated by blanks; the specification also mentions commas. */
static bool separates(char c)
{
    return c == ',' || isspace((unsigned char)c);
}

/* The value of a word, 0 when it is no hexadecimal number. */
static uint32_t flags_of_word(const char *word)
{
    char *end = NULL;
    unsigned long long value;

    if (!isxdigit((unsigned char)*word))
        return 0;
    value = strtoull(word, &end, 16);
    return *end == '\0' || separates(*end) ? (uint32_t)(value & PROFILE_FLAGS) : 0;
}

/*
 * The value behind the last option in a list of build flags, as far as it is a combination of
 * zet_profile_flags_t: bits that nobody defined are left out, and no number is 0.
 */
static uint32_t profile_option(const char *flags)
{
    const size_t length = sizeof(PROFILE_OPTION) - 1;
    uint32_t found = 0;

    if (!flags)
        return 0;
    for (const char *at = flags; (at = strstr(at, PROFILE_OPTION)) != NULL;) {
        const char *value = at + length;

        if ((at == flags || separates(at[-1])) &&
            (*value == '=' || *value == '\0' || separates(*value))) {
            value += *value == '=';
            while (separates(*value))
                value++;
            found = flags_of_word(value);
        }
        at += length;
    }
    return found;
}

/* One image; where: its name, for messages. */
static ze_result_t read_image(const uint8_t *image, size_t bytes, const char *where, uint32_t index,
                              struct zeta_plugin_module_part *part)
{
    if (!image)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "%s (image %u) is null", where,
                          index);
    if (bytes == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE, "%s (image %u) has 0 bytes", where, index);
    part->image = image;
    part->image_bytes = bytes;
    return ZE_RESULT_SUCCESS;
}

static void read_flags(const char *flags, struct zeta_plugin_module_part *part)
{
    if (flags)
        part->build_flags = (struct zeta_plugin_string){.data = flags, .size = strlen(flags)};
}

static ze_result_t read_constants(const ze_module_constants_t *constants, uint32_t format,
                                  struct zeta_plugin_module_part *part)
{
    if (!constants || constants->numConstants == 0 || format != ZETA_PLUGIN_MODULE_IL_SPIRV)
        return ZE_RESULT_SUCCESS;
    if (!constants->pConstantIds || !constants->pConstantValues)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                          "pConstants: %u specialization constants without an array of %s",
                          constants->numConstants, constants->pConstantIds ? "values" : "ids");
    for (uint32_t i = 0; i < constants->numConstants; i++) {
        if (!constants->pConstantValues[i])
            return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                              "pConstants: the value of specialization constant %u is null",
                              constants->pConstantIds[i]);
    }
    part->constant_ids = (struct zeta_plugin_array){.data = constants->pConstantIds,
                                                    .count = constants->numConstants,
                                                    .stride = sizeof(uint32_t)};
    part->constant_values =
        (struct zeta_plugin_array){.data = (const void *)constants->pConstantValues,
                                   .count = constants->numConstants,
                                   .stride = sizeof(void *)};
    return ZE_RESULT_SUCCESS;
}

static ze_result_t read_plain(const ze_module_desc_t *desc, uint32_t format,
                              struct zeta_plugin_module_part *part)
{
    ze_result_t result =
        read_image(desc->pInputModule, desc->inputSize, "desc->pInputModule", 0, part);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    read_flags(desc->pBuildFlags, part);
    return read_constants(desc->pConstants, format, part);
}

static ze_result_t read_program(const ze_module_program_exp_desc_t *program, uint32_t format,
                                struct zeta_plugin_module_part *parts)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (uint32_t i = 0; i < program->count && result == ZE_RESULT_SUCCESS; i++) {
        result = read_image(program->pInputModules[i], program->inputSizes[i],
                            "pInputModules of the program", i, &parts[i]);
        if (result != ZE_RESULT_SUCCESS)
            break;
        parts[i].struct_size = sizeof(parts[i]);
        if (program->pBuildFlags)
            read_flags(program->pBuildFlags[i], &parts[i]);
        if (program->pConstants)
            result = read_constants(program->pConstants[i], format, &parts[i]);
    }
    return result;
}

static ze_result_t check_program(const ze_module_program_exp_desc_t *program)
{
    if (program->count == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE, "the program has a count of 0 modules");
    if (!program->inputSizes || !program->pInputModules)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                          "the program has %u modules and no array %s", program->count,
                          program->inputSizes ? "pInputModules" : "inputSizes");
    return ZE_RESULT_SUCCESS;
}

void zeta_module_input_finishp(struct zeta_module_input *input)
{
    free(input->parts);
}

/* Flags of any image count: the profile is one of the whole module. */
static uint32_t profile_flags_of(const ze_module_desc_t *desc,
                                 const ze_module_program_exp_desc_t *program)
{
    uint32_t flags = 0;

    if (!program)
        return profile_option(desc->pBuildFlags);
    for (uint32_t i = 0; program->pBuildFlags && i < program->count; i++)
        flags |= profile_option(program->pBuildFlags[i]);
    return flags;
}

ze_result_t zeta_module_input_read(const ze_module_desc_t *desc,
                                   struct zeta_module_input *out_input)
{
    const ze_module_program_exp_desc_t *program =
        zeta_chain_find(desc->pNext, ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC, sizeof(*program));
    uint32_t format = desc->format == ZE_MODULE_FORMAT_NATIVE ? ZETA_PLUGIN_MODULE_NATIVE
                                                              : ZETA_PLUGIN_MODULE_IL_SPIRV;
    ze_result_t result = program ? check_program(program) : ZE_RESULT_SUCCESS;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint32_t count = program ? program->count : 1;
    ZETA_CLEANUP(zeta_freep)
    struct zeta_plugin_module_part *parts = calloc(count, sizeof(*parts));
    if (!parts)
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory for %u images of a module",
                          count);
    result = program ? read_program(program, format, parts) : read_plain(desc, format, parts);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *out_input = (struct zeta_module_input){
        .desc = {.struct_size = sizeof(out_input->desc),
                 .format = format,
                 .image = parts[0].image,
                 .image_bytes = parts[0].image_bytes,
                 .build_flags = parts[0].build_flags,
                 .constant_ids = parts[0].constant_ids,
                 .constant_values = parts[0].constant_values,
                 .parts = {.data = parts + 1, .count = count - 1, .stride = sizeof(*parts)}},
        .parts = ZETA_TAKE(parts),
        .profile_flags = profile_flags_of(desc, program)};
    return ZE_RESULT_SUCCESS;
}
