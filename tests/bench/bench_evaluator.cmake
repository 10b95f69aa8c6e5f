# The evaluator beside straight-line C that emit_straight makes from the same sets.
set(metrics ${PROJECT_SOURCE_DIR}/plugins/vgpu/metrics)
set(device GpuTimestampFrequency=25000000 GpuMaxFrequency=1000000000 EuCoresTotalCount=128
    EuThreadsCount=16 EuSubslicesTotalCount=4 EuSlicesTotalCount=2
    WorkRateLimit=64000000000)
string(REGEX REPLACE "([A-Za-z0-9_]+)=([0-9]+)" "{\"\\1\", \\2}" symbols "${device}")
string(REPLACE ";" ", " symbols "${symbols}")

add_executable(emit_straight emit_straight.c bench_sets.c)
set_target_properties(emit_straight PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${ZETA_TEST_OUTPUT_DIRECTORY})
target_link_libraries(emit_straight PRIVATE zeta_core_objects)

file(GLOB set_files CONFIGURE_DEPENDS ${metrics}/*.yaml)
add_custom_command(OUTPUT straight_sets.c
    COMMAND emit_straight > straight_sets.c
    DEPENDS emit_straight ${set_files} ${CMAKE_CURRENT_SOURCE_DIR}/data/render_basic.yaml VERBATIM)

zeta_add_bench(NAME bench_evaluator LIBS zeta_core_objects
    SOURCES bench_evaluator.c bench_sets.c ${CMAKE_CURRENT_BINARY_DIR}/straight_sets.c)
# The peer gets what a user would give it.
set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/straight_sets.c
    PROPERTIES COMPILE_OPTIONS "-O3;-march=native;-ffp-contract=off")
foreach(target IN ITEMS emit_straight bench_evaluator)
    target_compile_definitions(${target} PRIVATE "ZETA_BENCH_SYMBOLS=${symbols}"
        ZETA_BENCH_SOURCE="${PROJECT_SOURCE_DIR}")
endforeach()
