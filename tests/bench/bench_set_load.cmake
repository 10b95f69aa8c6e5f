zeta_add_bench(NAME bench_set_load SOURCES ${CMAKE_CURRENT_LIST_DIR}/bench_set_load.c
    LIBS zeta_core_objects)
