# Queries of whole GPUs.
zeta_add_test(NAME plugin.intel.totals SOURCES test_totals.c totals_model.c
    LIBS intel_parts LABELS plugin)
zeta_add_test(NAME plugin.intel.sampler SOURCES test_sampler.c sampler_bed.c scripted.c
    LIBS intel_parts LABELS plugin)
zeta_add_test(NAME plugin.intel.query_marks SOURCES test_query_marks.c sampler_bed.c scripted.c
    LIBS intel_parts LABELS plugin)
# Streams of the same kernel.
zeta_add_test(NAME plugin.intel.stream SOURCES test_stream.c sampler_bed.c scripted.c
    LIBS intel_parts LABELS plugin)

# On machines that the emulated kernel shows, through the public API.
function(add_query_machine_test name)
    zeta_add_test(NAME api.intel.${name} SOURCES test_${name}.c query_bed.c LIBS kmd intel_bed
        LABELS api ENV ZETA_PLUGIN_PATH=${ZETA_DATA_OUTPUT_DIRECTORY})
    zeta_test_depends(api.intel.${name} zeta-intel)
endfunction()
add_query_machine_test(query)
add_query_machine_test(query_xe)
add_query_machine_test(programmables)
target_include_directories(api.intel.programmables SYSTEM PRIVATE ${DRM_INCLUDE_DIRS})
# Its drmIoctl stands before that of libdrm.
set_target_properties(api.intel.programmables PROPERTIES ENABLE_EXPORTS ON)
add_query_machine_test(client)
