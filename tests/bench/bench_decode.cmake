zeta_add_bench(NAME bench_decode SOURCES bench_decode.c LIBS zeta_core_objects)
