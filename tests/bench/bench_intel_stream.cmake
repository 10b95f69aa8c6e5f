if(TARGET intel_parts)
    zeta_add_bench(NAME bench_intel_stream SOURCES ${CMAKE_CURRENT_LIST_DIR}/bench_intel_stream.c
        LIBS kmd zeta)
    add_dependencies(bench_intel_stream zeta-intel)
endif()
