# Needs what tests/oa has: libdrm, for the plugin's parts, and expat.
pkg_check_modules(EXPAT IMPORTED_TARGET expat)
if(TARGET intel_parts AND EXPAT_FOUND)
    zeta_add_bench(NAME bench_intel_query LIBS oa_oracle_support PkgConfig::CMOCKA
        SOURCES ${CMAKE_CURRENT_LIST_DIR}/bench_intel_query.c)
endif()
