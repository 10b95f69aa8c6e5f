# Against libi915_perf of intel-gpu-tools, which is opened at run time: without it tests are skipped.
if(NOT TARGET intel_data_support)
    return()
endif()

add_library(oa_oracle_support STATIC oa_match.c oa_c.c oa_oracle.c oa_sequence.c)
target_link_libraries(oa_oracle_support PUBLIC intel_data_support oa_test_support
    metric_test_support m ${CMAKE_DL_LIBS} PRIVATE zeta_flags PkgConfig::CMOCKA)
target_include_directories(oa_oracle_support PUBLIC ${PROJECT_SOURCE_DIR})

zeta_add_test(NAME unit.oa.oracle SOURCES test_oracle.c LIBS oa_oracle_support LABELS unit)
zeta_add_test(NAME unit.oa.oracle_traps SOURCES test_oracle_traps.c LIBS oa_oracle_support
    LABELS unit)
foreach(file
        i915/adl i915/bdw i915/bxt i915/cflgt2 i915/cflgt3 i915/chv i915/cnl i915/dg1 i915/ehl
        i915/glk i915/hsw i915/icl i915/kblgt2 i915/kblgt3 i915/mtlgt2 i915/mtlgt3 i915/rkl
        i915/sklgt2 i915/sklgt3 i915/sklgt4 i915/tglgt1 i915/tglgt2 xe/acmgt1 xe/acmgt2 xe/acmgt3)
    string(REPLACE "/" "." name unit.oa.oracle.${file})
    string(REPLACE "/" "/oa-" file ${file})
    add_test(NAME ${name} COMMAND unit.oa.oracle ${file}.xml)
    zeta_test_properties(${name} LABELS unit)
endforeach()
