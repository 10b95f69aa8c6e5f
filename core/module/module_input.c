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
            found = 0;
            if (isxdigit((unsigned char)*value)) {
                char *end = NULL;
                const unsigned long long number = strtoull(value, &end, 16);

                if (*end == '\0' || separates(*end))
                    found = (uint32_t)(number & PROFILE_FLAGS);
            }
        }
        at += length;
    }
    return found;
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

void zeta_module_input_finishp(struct zeta_module_input *input)
{
    free(input->parts);
}

ze_result_t zeta_module_input_read(const ze_module_desc_t *desc,
                                   struct zeta_module_input *out_input)
{
    size_t size = desc->inputSize;
    const uint8_t *image = desc->pInputModule;
    const char *build_flags = desc->pBuildFlags;
    const ze_module_constants_t *constants = desc->pConstants;
    /* The plain descriptor is a program of one image. */
    const ze_module_program_exp_desc_t plain = {.count = 1,
                                                .inputSizes = &size,
                                                .pInputModules = &image,
                                                .pBuildFlags = &build_flags,
                                                .pConstants = &constants};
    const ze_module_program_exp_desc_t *chained =
        zeta_chain_find(desc->pNext, ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC, sizeof(*chained));
    const ze_module_program_exp_desc_t *program = chained ? chained : &plain;
    const char *where = chained ? "pInputModules of the program" : "desc->pInputModule";
    uint32_t format = desc->format == ZE_MODULE_FORMAT_NATIVE ? ZETA_PLUGIN_MODULE_NATIVE
                                                              : ZETA_PLUGIN_MODULE_IL_SPIRV;
    uint32_t profile_flags = 0;

    if (program->count == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE, "the program has a count of 0 modules");
    if (!program->inputSizes || !program->pInputModules)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                          "the program has %u modules and no array %s", program->count,
                          program->inputSizes ? "pInputModules" : "inputSizes");
    ZETA_CLEANUP(zeta_freep)
    struct zeta_plugin_module_part *parts = calloc(program->count, sizeof(*parts));
    if (!parts)
        return zeta_error_no_memory("the images of a module");
    for (uint32_t i = 0; i < program->count; i++) {
        struct zeta_plugin_module_part *part = &parts[i];
        const char *flags = program->pBuildFlags ? program->pBuildFlags[i] : NULL;

        part->struct_size = sizeof(*part);
        part->image = program->pInputModules[i];
        part->image_bytes = program->inputSizes[i];
        if (!part->image)
            return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "%s (image %u) is null", where,
                              i);
        if (part->image_bytes == 0)
            return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE, "%s (image %u) has 0 bytes", where, i);
        if (flags)
            part->build_flags = (struct zeta_plugin_string){.data = flags, .size = strlen(flags)};
        /* The profile is one of the whole module. */
        profile_flags |= profile_option(flags);
        ze_result_t result =
            read_constants(program->pConstants ? program->pConstants[i] : NULL, format, part);
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    *out_input = (struct zeta_module_input){.desc = {.struct_size = sizeof(out_input->desc),
                                                     .format = format,
                                                     .image = parts[0].image,
                                                     .image_bytes = parts[0].image_bytes,
                                                     .build_flags = parts[0].build_flags,
                                                     .constant_ids = parts[0].constant_ids,
                                                     .constant_values = parts[0].constant_values,
                                                     .parts = {.data = parts + 1,
                                                               .count = program->count - 1,
                                                               .stride = sizeof(*parts)}},
                                            .parts = ZETA_TAKE(parts),
                                            .profile_flags = profile_flags};
    return ZE_RESULT_SUCCESS;
}
