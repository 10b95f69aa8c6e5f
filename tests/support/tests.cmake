# zeta_add_test(), zeta_add_fuzz() and zeta_add_bench(), and what every ctest entry of ours has.

# The target units builds the tests unit.*, and nothing else; the target fuzz the fuzz targets.
add_custom_target(units)
add_custom_target(fuzz)

# What programs of tests and benchmarks have in common.
function(zeta_test_program_options target)
    target_link_libraries(${target} PRIVATE zeta_flags Threads::Threads)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/sdk/include
        ${CMAKE_BINARY_DIR}/include ${CMAKE_BINARY_DIR}/core/api)
    target_compile_definitions(${target} PRIVATE
        ZETA_BUILD_DIR="${CMAKE_BINARY_DIR}" ZETA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    if(TARGET zeta_api_headers)
        add_dependencies(${target} zeta_api_headers)
    endif()
endfunction()

# zeta_add_test(NAME unit.metric.expr SOURCES test_expr.c [helper.c ...] [LIBS ...] LABELS unit
#     [DEFINES ...] [ENV K=V ...] [TIMEOUT s])
# A ctest entry. Where the first source is a SUITE (suite.h), the entry runs that suite of the program
# that it shares with all suites of the folder that have the same LIBS and DEFINES; else it is a
# program with the name of the entry. One that exits with 77 is reported as skipped. API tests get
# further entries, which run them through loaders (tests/harness/variants.cmake).
function(zeta_add_test)
    cmake_parse_arguments(T "" "NAME;TIMEOUT" "SOURCES;LIBS;LABELS;ENV;DEFINES" ${ARGN})
    list(GET T_SOURCES 0 first)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${first})
    get_filename_component(first ${first} ABSOLUTE)
    set(suite "")
    if(EXISTS ${first})
        file(STRINGS ${first} suite REGEX "^SUITE(_WITH_ARGUMENTS)?\\([a-z_0-9]+" LIMIT_COUNT 1)
    endif()
    if(suite)
        string(REGEX REPLACE "^[A-Z_]+\\(([a-z_0-9]+).*" "\\1" suite ${suite})
        zeta_add_suite(program ${suite} SOURCES ${T_SOURCES} LIBS ${T_LIBS} DEFINES ${T_DEFINES})
    else()
        set(program ${T_NAME})
        add_executable(${program} ${T_SOURCES})
        zeta_set_up_test_program(${program} LIBS ${T_LIBS} DEFINES ${T_DEFINES})
    endif()
    set_property(GLOBAL PROPERTY ZETA_COMMAND_OF_${T_NAME} ${program} ${suite})
    if(T_NAME MATCHES "^unit\\.")
        add_dependencies(units ${program})
    endif()
    # Its GPUs are emulated ones, and those are not hidden.
    if("kmd" IN_LIST T_LIBS)
        list(PREPEND T_ENV ZETA_PLUGINS_DISABLE=)
    endif()
    add_test(NAME ${T_NAME} COMMAND ${program} ${suite})
    zeta_test_properties(${T_NAME} LABELS ${T_LABELS} ENV ${T_ENV} TIMEOUT ${T_TIMEOUT})
    zeta_add_variants(${T_NAME} LIBS ${T_LIBS} LABELS ${T_LABELS} ENV ${T_ENV} TIMEOUT ${T_TIMEOUT})
endfunction()

function(zeta_set_up_test_program program)
    cmake_parse_arguments(T "" "" "LIBS;DEFINES" ${ARGN})
    set_target_properties(${program} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${ZETA_TEST_OUTPUT_DIRECTORY})
    target_link_libraries(${program} PRIVATE ${T_LIBS} PkgConfig::CMOCKA)
    target_compile_definitions(${program} PRIVATE ${T_DEFINES})
    # Optimised as far as warnings and checks of buffers need it: a fifth less time to compile.
    target_compile_options(${program} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>)
    zeta_test_program_options(${program})
endfunction()

# zeta_add_suite(OUT name SOURCES ... LIBS ... DEFINES ...): OUT is the program of this folder with
# these libraries and definitions, to which the sources are added. Its name is that of the folder and
# of the first library, with a number where they differ in something else.
function(zeta_add_suite out name)
    cmake_parse_arguments(T "" "" "SOURCES;LIBS;DEFINES" ${ARGN})
    string(MD5 key "${T_LIBS}|${T_DEFINES}")
    get_property(program DIRECTORY PROPERTY ZETA_PROGRAM_${key})
    if(NOT program)
        file(RELATIVE_PATH base ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
        string(REPLACE "/" "." base tests.${base})
        if(T_LIBS)
            list(GET T_LIBS 0 library)
            string(APPEND base .${library})
        endif()
        set(program ${base})
        set(number 1)
        while(TARGET ${program})
            math(EXPR number "${number} + 1")
            set(program ${base}.${number})
        endwhile()
        set_property(DIRECTORY PROPERTY ZETA_PROGRAM_${key} ${program})
        set(main ${CMAKE_CURRENT_BINARY_DIR}/${program}.c)
        set(suites $<REMOVE_DUPLICATES:$<TARGET_PROPERTY:${program},ZETA_SUITES>>)
        file(GENERATE OUTPUT ${main} CONTENT
            "#define SUITES X($<JOIN:${suites},) X(>)\n#include \"tests/support/suite_main.h\"\n")
        add_executable(${program} ${main})
        zeta_set_up_test_program(${program} LIBS ${T_LIBS} DEFINES ${T_DEFINES})
    endif()
    set_property(TARGET ${program} APPEND PROPERTY ZETA_SUITES ${name})
    get_target_property(known ${program} SOURCES)
    foreach(source IN LISTS T_SOURCES)
        get_filename_component(source ${source} ABSOLUTE)
        if(NOT source IN_LIST known)
            target_sources(${program} PRIVATE ${source})
        endif()
    endforeach()
    set(${out} ${program} PARENT_SCOPE)
endfunction()

# The program that a test runs, for target_*() and add_dependencies().
function(zeta_program_of out name)
    get_property(command GLOBAL PROPERTY ZETA_COMMAND_OF_${name})
    list(GET command 0 program)
    set(${out} ${program} PARENT_SCOPE)
endfunction()

# add_dependencies() for the program of a test.
function(zeta_test_depends name)
    zeta_program_of(program ${name})
    add_dependencies(${program} ${ARGN})
endfunction()

# Properties that every ctest entry of ours has; also for tests made with add_test directly.
# Tests never read the configuration of the person who runs them and never see the GPUs of the
# machine, keep compiled kernels in the build folder, and their virtual GPU is that of no other test
# and of no other build. What stands in ENV wins.
function(zeta_test_properties name)
    cmake_parse_arguments(P "" "TIMEOUT" "LABELS;ENV" ${ARGN})
    # Ends what hangs: five times what the slowest test was measured to take, with the thread
    # sanitizer on a busy machine of two cores.
    if(NOT P_TIMEOUT)
        set(P_TIMEOUT 600)
    endif()
    if(NOT DEFINED ENV{ZETA_SHARED})
        list(APPEND P_ENV ZETA_SHARED=${PROJECT_SOURCE_DIR}/../shared)
    endif()
    string(MD5 build ${CMAKE_BINARY_DIR})
    string(SUBSTRING ${build} 0 8 build)
    set_tests_properties(${name} PROPERTIES LABELS "${P_LABELS}" TIMEOUT ${P_TIMEOUT} SKIP_RETURN_CODE 77
        ENVIRONMENT "ZETA_CONFIG=none;ZETA_PLUGINS_DISABLE=intel-*,nvidia;ZET_ENABLE_METRICS=1;ZETA_VGPU_INSTANCE=${name}-${build};\
XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/cache;${P_ENV}")
endfunction()

# zeta_add_fuzz(NAME fuzz_expr SOURCES a.c [LIBS ...]): with ZETA_FUZZ a libFuzzer program; always a
# program that runs the seeds of tests/fuzz/seeds/<name without fuzz_>, as test fuzz.<name>.
function(zeta_add_fuzz)
    cmake_parse_arguments(F "" "NAME" "SOURCES;LIBS" ${ARGN})
    string(REGEX REPLACE "^fuzz_" "" short ${F_NAME})
    add_executable(${F_NAME} ${F_SOURCES})
    if(ZETA_FUZZ)
        target_link_options(${F_NAME} PRIVATE -fsanitize=fuzzer)
    else()
        target_link_libraries(${F_NAME} PRIVATE fuzz_run_seeds)
    endif()
    add_dependencies(fuzz ${F_NAME})
    set_target_properties(${F_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${ZETA_TEST_OUTPUT_DIRECTORY})
    target_link_libraries(${F_NAME} PRIVATE ${F_LIBS})
    zeta_test_program_options(${F_NAME})
    set(seeds ${PROJECT_SOURCE_DIR}/tests/fuzz/seeds/${short})
    if(ZETA_FUZZ)
        # libFuzzer writes what it finds into the first folder: not into the seeds.
        set(found ${CMAKE_BINARY_DIR}/fuzz/${short})
        file(MAKE_DIRECTORY ${found})
        add_test(NAME fuzz.${short} COMMAND ${F_NAME} -runs=20000 -seed=1 ${found} ${seeds})
    else()
        add_test(NAME fuzz.${short} COMMAND ${F_NAME} ${seeds})
    endif()
    zeta_test_properties(fuzz.${short} LABELS fuzz)
endfunction()

# zeta_add_bench(NAME bench_expr SOURCES a.c [LIBS ...]): a program for ./run bench, not a test. Not
# built with sanitizers unless asked for by name: its figures would mean nothing.
function(zeta_add_bench)
    cmake_parse_arguments(B "" "NAME" "SOURCES;LIBS" ${ARGN})
    add_executable(${B_NAME} ${B_SOURCES})
    set_target_properties(${B_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    if(ZETA_SANITIZE)
        set_target_properties(${B_NAME} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    target_link_libraries(${B_NAME} PRIVATE ${B_LIBS})
    zeta_test_program_options(${B_NAME})
endfunction()
