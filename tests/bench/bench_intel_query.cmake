if(TARGET intel_parts)
    zeta_add_bench(NAME bench_intel_query SOURCES ${CMAKE_CURRENT_LIST_DIR}/bench_intel_query.c
        LIBS intel_parts)
endif()
