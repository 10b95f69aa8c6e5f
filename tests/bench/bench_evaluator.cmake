# The evaluator beside straight-line C that emit_straight makes from the same sets.
add_executable(emit_straight emit_straight.c)
set_target_properties(emit_straight PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${ZETA_TEST_OUTPUT_DIRECTORY})
target_link_libraries(emit_straight PRIVATE zeta_core_objects)

set(metrics ${PROJECT_SOURCE_DIR}/plugins/vgpu/metrics)
set(device GpuTimestampFrequency=25000000 GpuMaxFrequency=1000000000 EuCoresTotalCount=128
    EuThreadsCount=16 EuSubslicesTotalCount=4 EuSlicesTotalCount=2)
set(render ${CMAKE_CURRENT_SOURCE_DIR}/data/render_basic.yaml)
add_custom_command(OUTPUT straight_compute_basic.c
    COMMAND emit_straight straight_compute_basic ComputeBasic ${metrics}/layout.yaml
            ${metrics}/oa.yaml ${device} > straight_compute_basic.c
    DEPENDS emit_straight ${metrics}/layout.yaml ${metrics}/oa.yaml VERBATIM)
add_custom_command(OUTPUT straight_render_basic.c
    COMMAND emit_straight straight_render_basic RenderBasic ${render} > straight_render_basic.c
    DEPENDS emit_straight ${render} VERBATIM)

zeta_add_bench(NAME bench_evaluator LIBS zeta_core_objects
    SOURCES bench_evaluator.c ${CMAKE_CURRENT_BINARY_DIR}/straight_compute_basic.c
            ${CMAKE_CURRENT_BINARY_DIR}/straight_render_basic.c)
# The peer gets what a user would give it.
set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/straight_compute_basic.c
    ${CMAKE_CURRENT_BINARY_DIR}/straight_render_basic.c
    PROPERTIES COMPILE_OPTIONS "-O3;-march=native;-ffp-contract=off")
string(REGEX REPLACE "([A-Za-z0-9_]+)=([0-9]+)" "{\"\\1\", \\2}" symbols "${device}")
string(REPLACE ";" ", " symbols "${symbols}")
target_compile_definitions(bench_evaluator PRIVATE "ZETA_BENCH_SYMBOLS=${symbols}"
    ZETA_BENCH_SOURCE="${PROJECT_SOURCE_DIR}")
