# The core for the entry by itself; libzeta and the loader are opened at run time.
zeta_add_bench(NAME bench_trace SOURCES ${CMAKE_CURRENT_LIST_DIR}/bench_trace.c
    LIBS zeta_core_objects dl)
add_dependencies(bench_trace zeta)
