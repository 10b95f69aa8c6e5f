/* Modules of SPIR-V: constants, programs, images, and what tools ask of them. */
#include <elf.h>
#include <stdio.h>

#include <zeta/zeta.h>

#include "rig.h"
#include "tests/harness/mode.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* ---------------------------------------------------------------- constants */

static const int8_t value_char = -10;
static const int16_t value_short = -2000;
static const int32_t value_int = 300000;
static const int64_t value_long = INT64_C(40000000000);
static const float value_float = 0.125f;
static const double value_double = -1e200;

static void expect_constants(const struct rig *rig, uint32_t count, const uint32_t *ids,
                             const void **values, const double *wanted)
{
    const ze_module_constants_t constants = {count, ids, values};
    struct rig_file file = rig_spirv("constants");
    ze_module_desc_t desc = rig_desc(&file, NULL);
    ze_module_handle_t module = NULL;
    double *out = rig_memory(rig, 6 * sizeof(double));

    desc.pConstants = &constants;
    assert_success(rig_try(rig, &desc, &module, NULL));
    ze_kernel_handle_t kernel = rig_kernel(module, "constants");
    rig_set(kernel, 0, out);
    rig_run(rig, kernel, 1, 1);
    for (int i = 0; i < 6; i++)
        assert_cmp(out[i], ==, wanted[i]);
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
    rig_file_free(&file);
}

static void constants__of_all_types__are_specialized(void **state)
{
    static const uint32_t ids[6] = {15, 10, 14, 11, 13, 12};
    const void *values[6] = {&value_double, &value_char, &value_float,
                             &value_short,  &value_long, &value_int};
    static const double all[6] = {-10, -2000, 300000, 4e10, 0.125, -1e200};
    static const double none[6] = {1, 2, 3, 4, 5.5, 6.25};
    static const double some[6] = {1, 2, 3, 4, 5.5, -1e200};

    expect_constants(*state, 6, ids, values, all);
    expect_constants(*state, 0, NULL, NULL, none);
    expect_constants(*state, 1, ids, values, some);
}

/* Rule 6.10. */
static void constants__unknown_or_absent__fail_with_their_id(void **state)
{
    const struct rig *rig = *state;
    const uint32_t ids[2] = {10, 999};
    const void *values[2] = {&value_char, &value_int};
    ze_module_constants_t constants = {2, ids, values};
    struct rig_file file = rig_spirv("constants");
    ze_module_desc_t desc = rig_desc(&file, NULL);
    ze_module_handle_t module = NULL;
    char *log = NULL;

    desc.pConstants = &constants;
    assert_result(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, rig_try(rig, &desc, &module, &log));
    assert_non_null(strstr(log, "999"));
    assert_non_null(strstr(log, " 15"));
    free(log);
    values[1] = NULL;
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, rig_try(rig, &desc, &module, NULL));
    assert_non_null(strstr(rig_sentence(), "999"));
    constants.pConstantIds = NULL;
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, rig_try(rig, &desc, &module, NULL));
    assert_null(module);
    rig_file_free(&file);
}

/* ---------------------------------------------------------------- programs */

/* A descriptor whose own image does not matter; the loader's checks want one all the same. */
static ze_module_desc_t ignored_image(ze_module_format_t format,
                                      const ze_module_program_exp_desc_t *program)
{
    static const uint8_t nothing[1];

    return (ze_module_desc_t){.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                              .pNext = program,
                              .format = format,
                              .inputSize = 1,
                              .pInputModule = nothing};
}

/* Rule 6.11. */
static void program__of_two_images__is_one_module(void **state)
{
    const struct rig *rig = *state;
    struct rig_file files[3] = {rig_spirv("imports"), rig_spirv("exports"), rig_spirv("constants")};
    const size_t sizes[3] = {files[0].size, files[1].size, files[2].size};
    const uint8_t *images[3] = {files[0].bytes, files[1].bytes, files[2].bytes};
    const char *flags[3] = {"-ze-opt-level=1", NULL, ""};
    const uint32_t id = 12;
    const void *value = &value_int;
    const ze_module_constants_t own = {1, &id, &value};
    const ze_module_constants_t *constants[3] = {NULL, NULL, &own};
    ze_module_program_exp_desc_t program = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
                                            .count = 3,
                                            .inputSizes = sizes,
                                            .pInputModules = images,
                                            .pBuildFlags = flags,
                                            .pConstants = constants};
    const ze_module_desc_t desc = ignored_image(ZE_MODULE_FORMAT_IL_SPIRV, &program);
    ze_module_properties_t p = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES, .flags = 7};
    ze_module_handle_t module = NULL;
    char *log = NULL;
    uint32_t count = 0;

    if (rig_try(rig, &desc, &module, &log) != ZE_RESULT_SUCCESS)
        fail_msg("%s: %s", rig_sentence(), log);
    free(log);
    assert_success(zeModuleGetProperties(module, &p));
    assert_int_equal(p.flags, 0);
    assert_success(zeModuleGetKernelNames(module, &count, NULL));
    assert_int_equal(count, 3);

    ze_kernel_handle_t kernel = rig_kernel(module, "use_imports");
    int32_t *out = rig_memory(rig, 8 * sizeof(int32_t));
    rig_set(kernel, 0, out);
    rig_run(rig, kernel, 1, 8);
    for (int i = 0; i < 8; i++)
        assert_int_equal(out[i], (i + 1) * 1000 + 700 + 7);
    assert_success(zeKernelDestroy(kernel));
    kernel = rig_kernel(module, "constants");
    double *numbers = rig_memory(rig, 6 * sizeof(double));
    rig_set(kernel, 0, numbers);
    rig_run(rig, kernel, 1, 1);
    assert_cmp(numbers[2], ==, value_int);
    assert_cmp(numbers[3], ==, 4);
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
    for (int i = 0; i < 3; i++)
        rig_file_free(&files[i]);
}

/* Rule 6.11. */
static void program__bad_descriptors__are_refused(void **state)
{
    const struct rig *rig = *state;
    struct rig_file file = rig_spirv("half");
    size_t size = file.size;
    const uint8_t *image = file.bytes;
    ze_module_program_exp_desc_t program = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
                                            .count = 0,
                                            .inputSizes = &size,
                                            .pInputModules = &image};
    ze_module_desc_t desc = ignored_image(ZE_MODULE_FORMAT_IL_SPIRV, &program);
    ze_module_handle_t module = NULL;

    assert_result(ZE_RESULT_ERROR_INVALID_SIZE, rig_try(rig, &desc, &module, NULL));
    program.count = 1;
    program.inputSizes = NULL;
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, rig_try(rig, &desc, &module, NULL));
    program.inputSizes = &size;
    size = 0;
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE, rig_try(rig, &desc, &module, NULL));
    size = file.size;
    image = NULL;
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, rig_try(rig, &desc, &module, NULL));
    image = file.bytes;
    assert_success(rig_try(rig, &desc, &module, NULL));
    assert_success(zeModuleDestroy(module));
    /* With a program the image need not be there at all. */
    desc.pInputModule = NULL;
    desc.inputSize = 0;
    if (!(harness_mode() & HARNESS_VALIDATION)) {
        assert_success(rig_try(rig, &desc, &module, NULL));
        assert_success(zeModuleDestroy(module));
    }
    /* What is no program descriptor does not count, and then the image is missing. */
    program.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, rig_try(rig, &desc, &module, NULL));
    desc.pNext = NULL;
    desc.pInputModule = file.bytes;
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE, rig_try(rig, &desc, &module, NULL));
    rig_file_free(&file);
}

static void program__of_native_images__is_refused_with_advice(void **state)
{
    const struct rig *rig = *state;
    const size_t sizes[2] = {4, 4};
    const uint8_t *images[2] = {(const uint8_t *)"ELF1", (const uint8_t *)"ELF2"};
    ze_module_program_exp_desc_t program = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
                                            .count = 2,
                                            .inputSizes = sizes,
                                            .pInputModules = images};
    const ze_module_desc_t desc = ignored_image(ZE_MODULE_FORMAT_NATIVE, &program);
    ze_module_handle_t module = NULL;
    char *log = NULL;

    assert_result(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, rig_try(rig, &desc, &module, &log));
    assert_non_null(strstr(log, "zeModuleDynamicLink"));
    free(log);
}

/* ---------------------------------------------------------------- images */

/* Rule 6.19. */
static void native_binary__of_a_compiled_module__makes_the_same(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t first = rig_module(rig, "traps", NULL), second = NULL;
    ze_module_desc_t desc = {.format = ZE_MODULE_FORMAT_NATIVE};
    size_t size = 0, again = 0;
    uint8_t *image, *copy;

    assert_success(zeModuleGetNativeBinary(first, &size, NULL));
    image = malloc(size);
    assert_success(zeModuleGetNativeBinary(first, &size, image));
    assert_memory_equal(image, ELFMAG, SELFMAG);
    assert_int_equal(((const Elf64_Ehdr *)image)->e_machine, EM_RISCV);
    assert_success(zeModuleDestroy(first));
    desc.inputSize = size;
    desc.pInputModule = image;
    assert_success(rig_try(rig, &desc, &second, NULL));
    assert_success(zeModuleGetNativeBinary(second, &again, NULL));
    assert_int_equal(again, size);
    copy = malloc(again);
    assert_success(zeModuleGetNativeBinary(second, &again, copy));
    assert_memory_equal(copy, image, size);

    ze_kernel_handle_t kernel = rig_kernel(second, "shared_scalar");
    int32_t *out = rig_memory(rig, 64 * sizeof(int32_t));
    rig_set(kernel, 0, out);
    rig_run(rig, kernel, 1, 64);
    assert_int_equal(out[63], 77);
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(second));
    free(image);
    free(copy);
}

/* Section of an ELF file by its name. */
static const Elf64_Shdr *find_section(const uint8_t *file, const char *name)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)file;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + head->e_shoff);
    const char *names = (const char *)file + sections[head->e_shstrndx].sh_offset;

    for (unsigned i = 0; i < head->e_shnum; i++) {
        if (strcmp(names + sections[i].sh_name, name) == 0)
            return &sections[i];
    }
    return NULL;
}

static uint8_t *debug_info(ze_module_handle_t module, size_t *out_size)
{
    uint8_t *file;

    *out_size = 0;
    assert_success(
        zetModuleGetDebugInfo(module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, out_size, NULL));
    file = malloc(*out_size);
    assert_success(
        zetModuleGetDebugInfo(module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, out_size, file));
    assert_memory_equal(file, ELFMAG, SELFMAG);
    return file;
}

/* Rule 6.20. */
static void debug_info__of_a_module_built_with_g__has_dwarf(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t module = rig_module(rig, "traps", "-g");
    size_t size, small = 10;
    uint8_t *file = debug_info(module, &size);

    assert_non_null(find_section(file, ".debug_info"));
    assert_non_null(find_section(file, ".debug_line"));
    assert_result(
        ZE_RESULT_ERROR_INVALID_SIZE,
        zetModuleGetDebugInfo(module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &small, file));
    assert_int_equal(small, size);
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  zetModuleGetDebugInfo(module, (zet_module_debug_info_format_t)1, &size, NULL));
    assert_result(
        ZE_RESULT_ERROR_INVALID_NULL_POINTER,
        zetModuleGetDebugInfo(module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, NULL, NULL));
    free(file);
    assert_success(zeModuleDestroy(module));
}

/* The lines of llvm-dwarfdump for a file, as far as they go. */
static char *dump_dwarf(const uint8_t *file, size_t size)
{
    char path[] = "/tmp/zeta-test-dwarf-XXXXXX", command[128];
    char *text = calloc(1, 1 << 20);
    int descriptor = mkstemp(path);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");

    assert_non_null(stream);
    assert_int_equal(fwrite(file, 1, size, stream), size);
    fclose(stream);
    snprintf(command, sizeof(command), "llvm-dwarfdump-15 --debug-info %s 2>&1", path);
    stream = popen(command, "r");
    assert_non_null(stream);
    assert_cmp(fread(text, 1, (1 << 20) - 1, stream), >, 0);
    pclose(stream);
    remove(path);
    return text;
}

/* Two repairs, without which the distribution's gdb crashes or shows no variables. Rule 6.20. */
static void debug_info__of_spirv__is_what_gdb_reads(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t module;
    size_t size;
    uint8_t *file;
    char *text;

    if (system("llvm-dwarfdump-15 --version >/dev/null 2>&1") != 0) {
        print_message("skipped: llvm-dwarfdump-15 is missing (package llvm-15)\n");
        skip();
    }
    module = rig_module(rig, "traps", "-g");
    file = debug_info(module, &size);
    text = dump_dwarf(file, size);
    assert_non_null(strstr(text, "(\"shared_scalar\")"));
    assert_non_null(strstr(text, "(\"rows\")"));
    assert_non_null(strstr(text, "traps.cl"));
    assert_null(strstr(text, "DW_OP_xderef"));
    free(text);
    free(file);
    assert_success(zeModuleDestroy(module));
}

/* ---------------------------------------------------------------- tools */

static void expect_profile(const struct rig *rig, const char *flags, uint32_t wanted)
{
    ze_module_handle_t module = rig_module(rig, "half", flags);
    ze_kernel_handle_t kernel = rig_kernel(module, "half_sums");
    zet_profile_properties_t p = {
        .stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES, .flags = 0xffff, .numTokens = 77};

    assert_success(zetKernelGetProfileInfo(kernel, &p));
    if (p.flags != wanted)
        fail_msg("'%s' gives 0x%x", flags, p.flags);
    assert_int_equal(p.numTokens, 0);
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

/* Rule 6.21. */
static void profile_flags__given__are_echoed(void **state)
{
    expect_profile(*state, "-zet-profile-flags 0x1", 1);
    expect_profile(*state, "-zet-profile-flags 0x2", 2);
    expect_profile(*state, "-g -zet-profile-flags 3 -ze-opt-level=1", 3);
    expect_profile(*state, "-zet-profile-flags 0x3", 3);
    expect_profile(*state, "", 0);
    expect_profile(*state, NULL, 0);
}

/* Rule 6.21. */
static void profile_flags__missing_or_garbage__are_none_and_the_module_builds(void **state)
{
    expect_profile(*state, "-zet-profile-flags", 0);
    expect_profile(*state, "-zet-profile-flags ", 0);
    expect_profile(*state, "-zet-profile-flags garbage", 0);
    expect_profile(*state, "-zet-profile-flags 0xZZ", 0);
    expect_profile(*state, "-zet-profile-flags -g", 0);
    expect_profile(*state, "-zet-profile-flagship 3", 0);
}

/* The properties with room behind them, as instrumentation asks for them. */
struct profile {
    zet_profile_properties_t properties;
    zet_profile_free_register_token_t token;
    zet_profile_register_sequence_t sequences[40];
};

/* Asks for the tokens of half_sums; out_needed: bytes that they have. */
static struct profile read_profile(const struct rig *rig, const char *flags, size_t room_bytes,
                                   size_t *out_needed)
{
    ze_module_handle_t module = rig_module(rig, "half", flags);
    ze_kernel_handle_t kernel = rig_kernel(module, "half_sums");
    struct zeta_profile_room room = {.stype = ZETA_STRUCTURE_TYPE_PROFILE_ROOM,
                                     .size_bytes = room_bytes};
    struct profile p;

    memset(&p, 0x5a, sizeof(p));
    p.properties.stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES;
    p.properties.pNext = &room;
    assert_success(zetKernelGetProfileInfo(kernel, &p.properties));
    *out_needed = room.size_bytes;
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
    return p;
}

static bool is_free(const struct profile *p, uint32_t number)
{
    for (uint32_t i = 0; i < p->token.count; i++) {
        if (number * 8 >= p->sequences[i].start &&
            number * 8 + 8 <= p->sequences[i].start + p->sequences[i].count)
            return true;
    }
    return false;
}

/* Rule 6.31. */
static void profile_tokens__with_room__are_free_registers(void **state)
{
    size_t needed = 0;
    const struct profile p =
        read_profile(*state, "-zet-profile-flags 3", sizeof(p) - sizeof(p.properties), &needed);

    assert_int_equal(p.properties.flags, 3);
    assert_int_equal(p.properties.numTokens, 1);
    assert_int_equal(p.token.type, ZET_PROFILE_TOKEN_TYPE_FREE_REGISTER);
    assert_int_equal(p.token.size, needed);
    assert_int_equal(p.token.size, sizeof(p.token) + p.token.count * sizeof(p.sequences[0]));
    for (uint32_t i = 0; i < p.token.count; i++) {
        assert_cmp(p.sequences[i].count, >, 0);
        assert_int_equal((p.sequences[i].start | p.sequences[i].count) % 8, 0);
        assert_cmp(p.sequences[i].start + p.sequences[i].count, <=, 64 * 8);
        if (i > 0)
            assert_cmp(p.sequences[i].start, >,
                       p.sequences[i - 1].start + p.sequences[i - 1].count);
    }
    /* Flag 1 sees to these; the stack, the block of the thread and what is loaded are in use. */
    for (uint32_t number = 24; number < 28; number++)
        assert_true(is_free(&p, number));
    assert_false(is_free(&p, 0));
    assert_false(is_free(&p, 2));
    assert_false(is_free(&p, 4));
    assert_false(is_free(&p, 10));
}

/* Rule 6.31. */
static void profile_tokens__too_little_room_or_no_flag__are_not_written(void **state)
{
    static const unsigned char untouched[sizeof(((struct profile *)NULL)->token)] = {
        0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a};
    size_t needed = 0;
    struct profile p = read_profile(*state, "-zet-profile-flags 2", 0, &needed);

    assert_int_equal(p.properties.numTokens, 0);
    assert_memory_equal(&p.token, untouched, sizeof(untouched));
    assert_cmp(needed, >, sizeof(p.token));
    p = read_profile(*state, "-zet-profile-flags 2", needed - 1, &needed);
    assert_int_equal(p.properties.numTokens, 0);
    assert_memory_equal(&p.token, untouched, sizeof(untouched));
    p = read_profile(*state, "-zet-profile-flags 2", needed, &needed);
    assert_int_equal(p.properties.numTokens, 1);
    p = read_profile(*state, "-zet-profile-flags 1", 4096, &needed);
    assert_int_equal(p.properties.numTokens, 0);
    assert_int_equal(needed, 0);
    assert_memory_equal(&p.token, untouched, sizeof(untouched));
}

/* Many programs leave pNext as it was on their stack. Rule 6.31. */
static void profile_tokens__behind_a_wild_pointer__are_not_written(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t module = rig_module(rig, "half", "-zet-profile-flags 2");
    ze_kernel_handle_t kernel = rig_kernel(module, "half_sums");
    zet_profile_properties_t other = {.stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES};
    void *const pointers[] = {(void *)0x1000, (void *)((char *)&other + 1), &other,
                              (void *)UINTPTR_MAX};

    for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
        zet_profile_properties_t p = {.stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES,
                                      .pNext = pointers[i]};

        assert_success(zetKernelGetProfileInfo(kernel, &p));
        assert_int_equal(p.flags, 2);
        assert_int_equal(p.numTokens, 0);
    }
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

static void properties__of_the_device__name_the_version(void **state)
{
    const struct rig *rig = *state;
    ze_device_module_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};

    assert_success(zeDeviceGetModuleProperties(rig->device, &p));
    assert_cmp(p.spirvVersionSupported, >=, ZE_MAKE_VERSION(1, 2));
    assert_true(p.flags & ZE_DEVICE_MODULE_FLAG_FP64);
}

static void properties__of_compiled_kernels__are_those_of_the_source(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t module = rig_module(rig, "traps", NULL);
    ze_kernel_handle_t sized = rig_kernel(module, "sized");
    ze_kernel_handle_t spilling = rig_kernel(module, "spilling");
    ze_kernel_handle_t hinted = rig_kernel(module, "hinted");
    ze_kernel_properties_t p = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    char text[512];
    char *buffer = text;
    uint32_t size = sizeof(text), x = 0, y = 0, z = 0;

    assert_success(zeKernelGetProperties(sized, &p));
    assert_int_equal(p.requiredGroupSizeX, 4);
    assert_int_equal(p.requiredGroupSizeY, 2);
    assert_int_equal(p.requiredGroupSizeZ, 1);
    assert_int_equal(p.maxSubgroupSize, 1);
    assert_result(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                  zeKernelSetGroupSize(sized, 8, 1, 1));
    assert_success(zeKernelSuggestGroupSize(sized, 64, 64, 1, &x, &y, &z));
    assert_cmp(x, ==, 4);
    assert_cmp(y, ==, 2);
    assert_cmp(z, ==, 1);
    int32_t *out = rig_memory(rig, 64 * sizeof(int32_t));
    rig_set(sized, 0, out);
    assert_success(zeKernelSetGroupSize(sized, 4, 2, 1));
    rig_run_2d(rig, sized, 2, 2);
    assert_int_equal(out[9], 5); /* item (1, 1) of the first group */

    assert_success(zeKernelGetProperties(spilling, &p));
    assert_cmp(p.privateMemSize, >=, 64 * sizeof(float));
    assert_cmp(p.spillMemSize, <=, p.privateMemSize);
    assert_success(zeKernelGetSourceAttributes(hinted, &size, &buffer));
    assert_non_null(strstr(text, "work_group_size_hint(8,1,1)"));
    assert_success(zeKernelDestroy(sized));
    assert_success(zeKernelDestroy(spilling));
    assert_success(zeKernelDestroy(hinted));
    assert_success(zeModuleDestroy(module));
}

/* Rule 6.23. */
static void allocations__of_arguments__are_listed(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t module = rig_module(rig, "half", NULL);
    ze_kernel_handle_t kernel = rig_kernel(module, "half_sums");
    ze_kernel_allocation_exp_properties_t p[4] = {{0}};
    char *first = rig_memory(rig, 1000), *second = rig_memory(rig, 5000);
    void *inner = second + 100, *nothing = NULL;
    uint32_t count = 0;

    assert_success(zeKernelGetAllocationPropertiesExp(kernel, &count, NULL));
    assert_int_equal(count, 0);
    rig_set(kernel, 0, first);
    rig_set(kernel, 1, nothing);
    rig_set(kernel, 2, inner);
    assert_success(zeKernelGetAllocationPropertiesExp(kernel, &count, NULL));
    assert_int_equal(count, 2);
    count = 4;
    assert_success(zeKernelGetAllocationPropertiesExp(kernel, &count, p));
    assert_int_equal(count, 2);
    assert_int_equal(p[0].argIndex, 0);
    assert_cmp(p[0].base, ==, (uintptr_t)first);
    assert_cmp(p[0].size, >=, 1000);
    assert_int_equal(p[1].argIndex, 2);
    assert_cmp(p[1].base, ==, (uintptr_t)second);
    assert_cmp(p[1].size, >=, 5000);
    assert_int_equal(p[1].type, ZE_MEMORY_TYPE_SHARED);
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

SUITE(modules)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants__of_all_types__are_specialized),
        cmocka_unit_test(constants__unknown_or_absent__fail_with_their_id),
        cmocka_unit_test(program__of_two_images__is_one_module),
        cmocka_unit_test(program__bad_descriptors__are_refused),
        cmocka_unit_test(program__of_native_images__is_refused_with_advice),
        cmocka_unit_test(native_binary__of_a_compiled_module__makes_the_same),
        cmocka_unit_test(debug_info__of_a_module_built_with_g__has_dwarf),
        cmocka_unit_test(debug_info__of_spirv__is_what_gdb_reads),
        cmocka_unit_test(profile_flags__given__are_echoed),
        cmocka_unit_test(profile_flags__missing_or_garbage__are_none_and_the_module_builds),
        cmocka_unit_test(profile_tokens__with_room__are_free_registers),
        cmocka_unit_test(profile_tokens__too_little_room_or_no_flag__are_not_written),
        cmocka_unit_test(profile_tokens__behind_a_wild_pointer__are_not_written),
        cmocka_unit_test(properties__of_the_device__name_the_version),
        cmocka_unit_test(properties__of_compiled_kernels__are_those_of_the_source),
        cmocka_unit_test(allocations__of_arguments__are_listed),
    };

    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
