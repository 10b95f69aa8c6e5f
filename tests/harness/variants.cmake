# Every API test that is linked to libzeta runs several times: the same program, another
# environment. With a loader preloaded the program's calls bind to the loader, and what the loader
# does not have binds to libzeta, which is the instance that the loader opens.
#
#   NAME.loader      the installed loader                                        label loader
#   NAME.validation  the same with its validation layer                          label validation
#   NAME.newloader   the stand-in for the newest loader (tests/harness/loader)   label newloader
#
# and, with label newloader, for some of them
#   NAME.ddi         the stand-in in intercept mode, dispatching through the driver's handles
#   NAME.wrapped     the stand-in in intercept mode, all handles wrapped
#
# tests/harness/mode.h tells a test which of them it is in.

# Tests in which numbers become text, or text numbers, run once more, whether or not they are linked
# to libzeta:
#
#   NAME.comma       the decimal point of the C library is a comma, for the test and for what it
#                    starts (tests/harness/locale)                               label locale
set(ZETA_COMMA_TESTS
    api.export.calc api.export.data api.export.elsewhere api.export.recording
    api.programmable.values unit.cc.options unit.export.describe unit.metric.evaluate_random
    unit.metric.expr unit.metric.recipe unit.metric.set_load unit.tools.ip_profile
    unit.tools.report unit.tools.stat_report unit.tools.text unit.trace.render unit.util.error
    unit.util.yaml unit.vgpu.engine_kernels)

# In these modes a loader reads what a handle points to. The driver's own objects can be read also
# after they were destroyed; objects of a loader are gone then, and mean nothing to functions that
# the loader does not have (zeta/zeta.h). So the second list is shorter.
set(ZETA_DDI_TESTS
    api.command.copy api.command.event api.command.launch api.command.list api.command.queue
    api.command.threads api.command.vgpu api.compat.samples_0_91
    api.compat.samples_1_0_provisional_cxx api.device.context api.device.driver api.device.fork
    api.device.kernel api.device.memory api.device.module api.device.properties api.device.runtime
    api.export.data api.loader.mode api.metric.activate api.metric.calculate api.metric.event api.metric.groups
    api.metric.marker api.metric.query api.metric.query_append api.metric.query_data
    api.metric.query_execution api.metric.read api.metric.tiles api.metric.vgpu
    api.metric_tracer.create api.metric_tracer.decode api.metric_tracer.event api.metric_tracer.read
    api.metric_tracer.tiles api.metric_tracer.use api.programmable.api api.programmable.concurrent
    api.programmable.model api.programmable.tiles api.programmable.values api.query.beside
    api.query.clients api.query.markers api.query.work api.trace.fork api.trace.pairs
    api.trace.tracer)
set(ZETA_WRAPPED_TESTS
    api.command.copy api.command.launch api.command.threads api.command.vgpu
    api.compat.samples_0_91 api.compat.samples_1_0_provisional_cxx api.device.memory
    api.device.runtime api.export.data api.loader.mode api.metric.calculate api.metric.event api.metric.query_data
    api.metric.query_execution api.metric.tiles api.metric_tracer.event api.metric_tracer.read
    api.metric_tracer.tiles api.query.beside api.query.clients api.query.markers api.query.work
    api.trace.pairs
    api.trace.tracer)

find_library(ZETA_OLD_LOADER NAMES libze_loader.so.1 DOC "The installed Level Zero loader")
set(ZETA_STANDIN ${CMAKE_BINARY_DIR}/tests/harness/loader/libze_standin.so)
if(BUILD_TESTING)
    if(ZETA_SANITIZE AND NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
        message(STATUS "API tests through a loader: not with the sanitizers of this compiler")
    elseif(ZETA_SANITIZE)
        message(STATUS "API tests through a loader: only the stand-in, which has the sanitizers too")
    elseif(ZETA_OLD_LOADER)
        message(STATUS "API tests through a loader: ${ZETA_OLD_LOADER} and the stand-in")
    else()
        message(STATUS "API tests through a loader: only the stand-in (package libze1 is absent)")
    endif()
endif()

# The stand-in has the same sanitizers as everything else; their runtime has to be loaded first.
set(ZETA_PRELOADED_FIRST "")
if(ZETA_SANITIZE)
    foreach(pair address=libasan.so thread=libtsan.so)
        string(REPLACE "=" ";" pair ${pair})
        list(GET pair 0 sanitizer)
        list(GET pair 1 runtime)
        if(ZETA_SANITIZE MATCHES ${sanitizer})
            execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${runtime}
                OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
            set(ZETA_PRELOADED_FIRST "${runtime}:")
        endif()
    endforeach()
endif()

find_program(ZETA_LOCALEDEF localedef)
if(BUILD_TESTING AND NOT ZETA_LOCALEDEF)
    message(STATUS "No localedef: nothing is tested where the decimal point is a comma")
endif()

# zeta_add_comma(NAME COMMAND [ARGUMENTS]... LABELS ... [ENV K=V ...]): the entry NAME.comma.
function(zeta_add_comma name)
    cmake_parse_arguments(C "" "TIMEOUT" "COMMAND;LABELS;ENV" ${ARGN})
    if(NOT ZETA_LOCALEDEF OR CMAKE_CROSSCOMPILING OR
            (ZETA_SANITIZE AND NOT CMAKE_C_COMPILER_ID STREQUAL "GNU"))
        return()
    endif()
    set(folder ${CMAKE_BINARY_DIR}/tests/harness/locale)
    add_test(NAME ${name}.comma COMMAND ${C_COMMAND})
    zeta_test_properties(${name}.comma LABELS ${C_LABELS} locale TIMEOUT ${C_TIMEOUT} ENV ${C_ENV}
        LD_PRELOAD=${ZETA_PRELOADED_FIRST}${folder}/libzeta_comma.so LOCPATH=${folder}
        LC_NUMERIC=comma LC_ALL= LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/harness/locale/leaks.txt:print_suppressions=0)
endfunction()

# out: true when one of the libraries is libzeta itself or passes it on.
function(zeta_links_library out)
    set(${out} FALSE PARENT_SCOPE)
    foreach(library IN LISTS ARGN)
        if(library MATCHES "^(zeta|zeta_harness|metric_api_harness)$") # made later than some tests
            set(${out} TRUE PARENT_SCOPE)
            return()
        endif()
        if(TARGET ${library})
            get_target_property(passed_on ${library} INTERFACE_LINK_LIBRARIES)
            if(passed_on)
                zeta_links_library(found ${passed_on})
                if(found)
                    set(${out} TRUE PARENT_SCOPE)
                    return()
                endif()
            endif()
        endif()
    endforeach()
endfunction()

# One more ctest entry for the program of a test, with a loader preloaded.
function(zeta_add_variant name suffix)
    cmake_parse_arguments(V "" "PRELOAD;MODE;TIMEOUT" "LABELS;ENV" ${ARGN})
    get_property(command GLOBAL PROPERTY ZETA_COMMAND_OF_${name})
    add_test(NAME ${name}.${suffix} COMMAND ${command})
    zeta_test_properties(${name}.${suffix} LABELS ${V_LABELS} TIMEOUT ${V_TIMEOUT} ENV ${V_ENV}
        LD_PRELOAD=${V_PRELOAD} HARNESS_MODE=${V_MODE}
        ZE_ENABLE_ALT_DRIVERS=${CMAKE_BINARY_DIR}/lib/libzeta.so.0)
endfunction()

# The entries of one test; called by zeta_add_test() with the arguments that it got.
function(zeta_add_variants name)
    cmake_parse_arguments(V "" "TIMEOUT" "LIBS;LABELS;ENV" ${ARGN})
    if(name IN_LIST ZETA_COMMA_TESTS)
        get_property(command GLOBAL PROPERTY ZETA_COMMAND_OF_${name})
        zeta_add_comma(${name} COMMAND ${command} LABELS ${V_LABELS} TIMEOUT ${V_TIMEOUT} ENV ${V_ENV})
    endif()
    zeta_links_library(linked ${V_LIBS})
    if(NOT linked OR NOT "api" IN_LIST V_LABELS)
        return()
    endif()
    if(ZETA_SANITIZE AND NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
        return()
    endif()
    if(ZETA_OLD_LOADER AND NOT ZETA_SANITIZE)
        zeta_add_variant(${name} loader PRELOAD ${ZETA_OLD_LOADER} MODE loader LABELS loader
            TIMEOUT ${V_TIMEOUT} ENV ${V_ENV})
        zeta_add_variant(${name} validation PRELOAD ${ZETA_OLD_LOADER} MODE loader:validation
            LABELS validation TIMEOUT ${V_TIMEOUT} ENV ${V_ENV} ZE_ENABLE_VALIDATION_LAYER=1
            ZE_ENABLE_PARAMETER_VALIDATION=1 ZE_ENABLE_HANDLE_LIFETIME=1)
    endif()
    set(standin ${ZETA_PRELOADED_FIRST}${ZETA_STANDIN})
    zeta_add_variant(${name} newloader PRELOAD ${standin} MODE newloader LABELS newloader
        TIMEOUT ${V_TIMEOUT} ENV ${V_ENV})
    zeta_test_depends(${name} ze_standin)
    if(name IN_LIST ZETA_DDI_TESTS)
        zeta_add_variant(${name} ddi PRELOAD ${standin} MODE newloader:ddi LABELS newloader
            TIMEOUT ${V_TIMEOUT} ENV ${V_ENV} ZE_ENABLE_LOADER_INTERCEPT=1)
    endif()
    if(name IN_LIST ZETA_WRAPPED_TESTS)
        zeta_add_variant(${name} wrapped PRELOAD ${standin} MODE newloader:wrapped
            LABELS newloader TIMEOUT ${V_TIMEOUT} ENV ${V_ENV} ZE_ENABLE_LOADER_INTERCEPT=1
            ZE_ENABLE_LOADER_DRIVER_DDI_PATH=0)
    endif()
endfunction()
