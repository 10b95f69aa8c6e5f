zeta_add_bench(NAME bench_call SOURCES bench_call.c LIBS dl)
target_compile_definitions(bench_call PRIVATE STANDIN="${ZETA_STANDIN}")
add_dependencies(bench_call zeta ze_standin)
