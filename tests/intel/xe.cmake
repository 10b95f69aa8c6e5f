# What counts through the xe driver.
foreach(name IN ITEMS parse stream)
    zeta_add_test(NAME plugin.intel.xe.${name} SOURCES test_xe_${name}.c LIBS intel_parts LABELS plugin)
endforeach()
# Answers of the emulated kernel that are changed on their way.
zeta_add_test(NAME plugin.intel.xe.probe SOURCES test_xe_probe.c LIBS kmd intel_parts LABELS plugin)

# The same through the API, on an emulated kernel.
function(add_xe_test name)
    cmake_parse_arguments(X "" "" "LABELS" ${ARGN})
    zeta_add_test(NAME api.intel.xe.${name} SOURCES test_xe_${name}.c
        LIBS kmd intel_bed LABELS api ${X_LABELS} ENV ZETA_PLUGIN_PATH=${ZETA_DATA_OUTPUT_DIRECTORY})
    zeta_test_depends(api.intel.xe.${name} zeta-intel)
endfunction()

add_xe_test(devices)
add_xe_test(platforms)
add_xe_test(refusals)
add_xe_test(stall)
add_xe_test(streams)
add_xe_test(threads LABELS tsan)

# The command shows samples of a device whose code it does not know.
if(TARGET zeta_command AND NOT ZETA_SANITIZE)
    add_test(NAME api.intel.xe.stat_ip COMMAND kmd-run --device bmg --
        $<TARGET_FILE:zeta_command> stat -a --ip --for 200ms)
    zeta_test_properties(api.intel.xe.stat_ip LABELS api tools ENV ZETA_PLUGINS_DISABLE=)
    set_tests_properties(api.intel.xe.stat_ip PROPERTIES PASS_REGULAR_EXPRESSION
        "a sample every [0-9.]+ ns at the highest clock.*Address  Reasons.*does not load the kernels")
    add_test(NAME api.intel.xe.hidden COMMAND kmd-run --device pvc --
        env ZE_AFFINITY_MASK=1 $<TARGET_FILE:zeta_command> devices)
    zeta_test_properties(api.intel.xe.hidden LABELS api tools ENV ZETA_PLUGINS_DISABLE=)
    set_tests_properties(api.intel.xe.hidden PROPERTIES PASS_REGULAR_EXPRESSION
        "intel-xehpc: active: Its devices are hidden by ZE_AFFINITY_MASK=1")
endif()
