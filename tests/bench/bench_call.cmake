zeta_add_bench(NAME bench_call SOURCES bench_call.c LIBS dl)
add_dependencies(bench_call zeta)
