zeta_add_bench(NAME bench_sink SOURCES ${CMAKE_CURRENT_LIST_DIR}/bench_sink.c LIBS zeta)
