if(TARGET intel_parts)
    zeta_add_bench(NAME bench_start SOURCES ${CMAKE_CURRENT_LIST_DIR}/bench_start.c
        LIBS kmd zeta ${CMAKE_DL_LIBS})
    add_dependencies(bench_start zeta-intel)
endif()
