# Exported data beside calculation in place.
zeta_add_bench(NAME bench_export SOURCES bench_export.c LIBS zeta)
if(TARGET bench_export AND TARGET zeta-vgpu)
    add_dependencies(bench_export zeta-vgpu)
endif()
