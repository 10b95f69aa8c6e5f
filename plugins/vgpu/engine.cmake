# The execution engine as a static library: the plugin and the tests link it.
add_library(vgpu_engine STATIC
    cache.c
    elf.c
    elf_relocate.c
    engine.c
    engine_call.c
    engine_code.c
    engine_eu.c
    engine_event.c
    engine_extent.c
    engine_fault.c
    engine_group.c
    engine_image.c
    engine_link.c
    engine_model.c
    engine_print.c
    engine_sample.c
    host_clock.c
    message.c
    rv64.c
    rv64_decode.c
    rv64_fp.c
    rv64_memory.c
    space.c)
target_link_libraries(vgpu_engine PUBLIC zeta_c_locale zeta_flags Threads::Threads m)
target_include_directories(vgpu_engine PUBLIC ${PROJECT_SOURCE_DIR})

# The interpreter needs computed goto and 128-bit integers; rounding and exception flags of the
# host are those of the kernel, so the compiler must not assume the default environment.
set(rounding -frounding-math -fno-math-errno -ffp-contract=off)
set(interpreter ${rounding} -Wno-pedantic)
if(ZETA_SANITIZE MATCHES "thread")
    # Races between kernels, or with the host, are the kernel's affair; the rest is checked.
    list(APPEND interpreter -fno-sanitize=thread)
endif()
set_source_files_properties(rv64.c PROPERTIES COMPILE_OPTIONS "${interpreter}")
set_source_files_properties(rv64_fp.c PROPERTIES COMPILE_OPTIONS "${rounding}")

include(${CMAKE_CURRENT_LIST_DIR}/runtime/device.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/runtime/opencl.cmake)
