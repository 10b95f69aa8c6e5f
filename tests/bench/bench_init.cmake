# Both libraries are opened at run time, so neither is linked.
zeta_add_bench(NAME bench_init SOURCES ${CMAKE_CURRENT_LIST_DIR}/bench_init.c LIBS dl)
add_dependencies(bench_init zeta)
