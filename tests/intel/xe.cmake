# What counts through the xe driver.
foreach(name IN ITEMS parse stream)
    zeta_add_test(NAME plugin.intel.xe.${name} SOURCES test_xe_${name}.c LIBS intel_parts LABELS plugin)
endforeach()

# The same through the API, on an emulated kernel.
function(add_xe_test name)
    zeta_add_test(NAME api.intel.xe.${name} SOURCES test_xe_${name}.c xe_bed.c
        LIBS kmd metric_api_harness LABELS api ENV ZETA_PLUGIN_PATH=${ZETA_DATA_OUTPUT_DIRECTORY} ${ARGN})
    add_dependencies(api.intel.xe.${name} zeta-intel)
endfunction()

add_xe_test(devices)
add_xe_test(stall)
add_xe_test(streams)
