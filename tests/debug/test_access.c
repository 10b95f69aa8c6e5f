/* Memory and registers: which thread's, which of them, and what is wrong with a request. */
#include <string.h>

#include "debugging.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* The process, with thread 2 stopped and reported. */
static struct debugging start_stopped(void)
{
    struct debugging d = debugging_start("debug0");

    d.control->run(0xff, 0);
    EXPECT_OK(zetDebugInterrupt(d.session, thread_at(2)));
    expect_thread_event(&d, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED, thread_at(2));
    return d;
}

static zet_debug_memory_space_desc_t space(zet_debug_memory_space_type_t type, uint64_t address)
{
    return (zet_debug_memory_space_desc_t){
        .stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC, .type = type, .address = address};
}

static ze_result_t read_memory(const struct debugging *d, ze_device_thread_t thread,
                               zet_debug_memory_space_type_t type, uint64_t address, size_t size)
{
    const zet_debug_memory_space_desc_t desc = space(type, address);
    uint8_t bytes[512];

    return zetDebugReadMemory(d->session, thread, &desc, size, bytes);
}

/* Rule 27.12. */
static void memory__of_the_process__without_a_stopped_thread(void **state)
{
    struct debugging d = debugging_start("debug0");
    const zet_debug_memory_space_desc_t desc =
        space(ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT, DEBUG_MEMORY + 3);
    uint8_t bytes[7] = {1, 2, 3, 4, 5, 6, 7}, back[7];

    (void)state;
    EXPECT_OK(zetDebugWriteMemory(d.session, all_threads, &desc, sizeof(bytes), bytes));
    assert_memory_equal(d.control->memory() + 3, bytes, sizeof(bytes));
    assert_int_equal(d.control->memory()[2], 0);
    assert_int_equal(d.control->memory()[10], 0);
    EXPECT_OK(zetDebugReadMemory(d.session, all_threads, &desc, sizeof(back), back));
    assert_memory_equal(back, bytes, sizeof(bytes));
    EXPECT_OK(read_memory(&d, all_threads, ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT, 12, 0));
    debugging_end(&d);
}

/* Rule 27.12. */
static void memory__each_thread_and_space__result(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer does not know the newer spaces");
    static const zet_debug_memory_space_type_t spaces[] = {
        ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT, ZET_DEBUG_MEMORY_SPACE_TYPE_SLM,
        ZET_DEBUG_MEMORY_SPACE_TYPE_ELF, ZET_DEBUG_MEMORY_SPACE_TYPE_BARRIER};
    struct debugging d = start_stopped();
    const ze_device_thread_t some = {0, 0, 0, ANY};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        const bool is_local = spaces[i] == ZET_DEBUG_MEMORY_SPACE_TYPE_SLM;
        const uint64_t address = is_local ? 1 : DEBUG_MEMORY;
        const bool of_process = spaces[i] == ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT ||
                                spaces[i] == ZET_DEBUG_MEMORY_SPACE_TYPE_ELF;

        EXPECT_RESULT(read_memory(&d, all_threads, spaces[i], address, 8),
                      of_process ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT);
        EXPECT_RESULT(read_memory(&d, some, spaces[i], address, 8),
                      ZE_RESULT_ERROR_INVALID_ARGUMENT);
        EXPECT_RESULT(read_memory(&d, thread_at(3), spaces[i], address, 8),
                      ZE_RESULT_ERROR_NOT_AVAILABLE);
        expect_sentence("is not stopped");
        EXPECT_RESULT(read_memory(&d, thread_at(2), spaces[i], address, 8),
                      i < 3 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_NOT_AVAILABLE);
    }
    EXPECT_RESULT(read_memory(&d, (ze_device_thread_t){9, 0, 0, 0}, spaces[0], DEBUG_MEMORY, 8),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    debugging_end(&d);
}

static void memory__sizes_and_addresses__refused_whole(void **state)
{
    struct debugging d = debugging_start("debug0");
    const zet_debug_memory_space_type_t type = ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT;

    (void)state;
    EXPECT_RESULT(read_memory(&d, all_threads, type, DEBUG_MEMORY + 250, 8),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_RESULT(read_memory(&d, all_threads, type, 0x66000000, 4), ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_RESULT(read_memory(&d, all_threads, type, DEBUG_MEMORY, SIZE_MAX / 2 + 1),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_RESULT(read_memory(&d, all_threads, type, UINT64_MAX - 3, 8),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("beyond the end of memory");
    debugging_end(&d);
}

/* Rule 27.13. */
static void register_sets__of_device_and_thread__as_the_backend_says(void **state)
{
    struct debugging d = start_stopped();
    zet_debug_regset_properties_t sets[4], of_thread[4];
    uint32_t count = 0;

    (void)state;
    memset(sets, 0, sizeof(sets));
    EXPECT_OK(zetDebugGetRegisterSetProperties(d.device, &count, NULL));
    assert_int_equal(count, 3);
    count = 1;
    EXPECT_OK(zetDebugGetRegisterSetProperties(d.device, &count, sets));
    assert_int_equal(count, 1);
    assert_int_equal(sets[1].type, 0);
    count = 4;
    EXPECT_OK(zetDebugGetRegisterSetProperties(d.device, &count, sets));
    assert_int_equal(count, 3);
    assert_int_equal(sets[0].type, 1);
    assert_int_equal(sets[0].generalFlags,
                     ZET_DEBUG_REGSET_FLAG_READABLE | ZET_DEBUG_REGSET_FLAG_WRITEABLE);
    assert_int_equal(sets[0].count, 4);
    assert_int_equal(sets[0].bitSize, 64);
    assert_int_equal(sets[0].byteSize, 8);
    assert_int_equal(sets[1].version, 5);
    assert_int_equal(sets[1].deviceFlags, 9);
    memset(of_thread, 0, sizeof(of_thread));
    count = 4;
    EXPECT_OK(zetDebugGetThreadRegisterSetProperties(d.session, thread_at(2), &count, of_thread));
    assert_int_equal(count, 3);
    assert_int_equal(of_thread[2].type, 3);
    EXPECT_RESULT(zetDebugGetThreadRegisterSetProperties(d.session, thread_at(3), &count, NULL),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_RESULT(zetDebugGetThreadRegisterSetProperties(d.session, all_threads, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    count = 7;
    EXPECT_OK(zetDebugGetRegisterSetProperties(find_device("debug2"), &count, NULL));
    assert_int_equal(count, 0);
    debugging_end(&d);
}

/* Rule 27.13. */
static void registers__what_is_wrong__result(void **state)
{
    struct debugging d = start_stopped();
    const ze_device_thread_t two = thread_at(2);
    uint64_t values[4] = {1, 2, 3, UINT64_MAX}, back[4] = {0};
    uint32_t number = 0;

    (void)state;
    EXPECT_OK(zetDebugWriteRegisters(d.session, two, 1, 0, 4, values));
    EXPECT_OK(zetDebugReadRegisters(d.session, two, 1, 1, 3, back));
    assert_memory_equal(back, values + 1, 3 * sizeof(back[0]));
    EXPECT_OK(zetDebugReadRegisters(d.session, two, 2, 0, 1, &number));
    assert_int_equal(number, 2);
    EXPECT_RESULT(zetDebugReadRegisters(d.session, two, 1, 4, 1, back),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zetDebugReadRegisters(d.session, two, 1, 1, 4, back),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("has 4 registers");
    EXPECT_RESULT(zetDebugReadRegisters(d.session, two, 1, 1, UINT32_MAX, back),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zetDebugReadRegisters(d.session, two, 9, 0, 1, back),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("no register set of type 9");
    EXPECT_RESULT(zetDebugReadRegisters(d.session, two, 3, 0, 1, back),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zetDebugWriteRegisters(d.session, two, 2, 0, 1, values),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("cannot be written");
    EXPECT_RESULT(zetDebugReadRegisters(d.session, two, 1, 0, 1, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_OK(zetDebugReadRegisters(d.session, two, 1, 0, 0, NULL));
    EXPECT_RESULT(zetDebugReadRegisters(d.session, thread_at(3), 1, 0, 1, back),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_RESULT(zetDebugReadRegisters(d.session, all_threads, 1, 0, 1, back),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_OK(zetDebugResume(d.session, two));
    EXPECT_RESULT(zetDebugReadRegisters(d.session, two, 1, 0, 1, back),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_RESULT(zetDebugWriteRegisters(d.session, two, 1, 0, 1, values),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    debugging_end(&d);
}

static void arguments__missing_or_unknown__refused(void **state)
{
    struct debugging d = start_stopped();
    const ze_device_thread_t two = thread_at(2);
    const zet_debug_memory_space_desc_t desc =
        space(ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT, DEBUG_MEMORY);
    const zet_debug_memory_space_desc_t unknown =
        space((zet_debug_memory_space_type_t)77, DEBUG_MEMORY);
    const zet_debug_config_t config = {.pid = 1};
    zet_debug_session_handle_t session = NULL;
    uint8_t bytes[8] = {0};

    (void)state;
    EXPECT_RESULT(zetDeviceGetDebugProperties(d.device, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetDebugAttach(d.device, NULL, &session), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetDebugAttach(d.device, &config, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetDebugReadEvent(d.session, 0, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetDebugAcknowledgeEvent(d.session, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetDebugGetRegisterSetProperties(d.device, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetDebugGetThreadRegisterSetProperties(d.session, two, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetDebugReadMemory(d.session, two, NULL, 8, bytes),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetDebugReadMemory(d.session, two, &desc, 8, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetDebugReadMemory(d.session, two, &unknown, 8, bytes),
                  ZE_RESULT_ERROR_INVALID_ENUMERATION);
    EXPECT_RESULT(zetDebugWriteMemory(d.session, two, NULL, 8, bytes),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetDebugWriteMemory(d.session, two, &desc, 8, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetDebugWriteMemory(d.session, two, &unknown, 8, bytes),
                  ZE_RESULT_ERROR_INVALID_ENUMERATION);
    debugging_end(&d);
}

SUITE(access)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory__of_the_process__without_a_stopped_thread),
        cmocka_unit_test(memory__each_thread_and_space__result),
        cmocka_unit_test(memory__sizes_and_addresses__refused_whole),
        cmocka_unit_test(register_sets__of_device_and_thread__as_the_backend_says),
        cmocka_unit_test(registers__what_is_wrong__result),
        cmocka_unit_test(arguments__missing_or_unknown__refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
