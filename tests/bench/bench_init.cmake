# Both libraries are opened at run time, so neither is linked.
zeta_add_bench(NAME bench_init SOURCES ${CMAKE_CURRENT_LIST_DIR}/bench_init.c LIBS dl)
target_compile_definitions(bench_init PRIVATE ZETA_BENCH_SOURCE="${PROJECT_SOURCE_DIR}")
add_dependencies(bench_init zeta)
