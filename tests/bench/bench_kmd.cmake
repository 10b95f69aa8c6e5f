zeta_add_bench(NAME bench_kmd SOURCES ${CMAKE_CURRENT_LIST_DIR}/bench_kmd.c LIBS kmd)
