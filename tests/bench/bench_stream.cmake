# Reading a stream beside memcpy. The backend is a plugin of its own whose ring is always full.
set(stream_dir ${CMAKE_CURRENT_BINARY_DIR}/stream)
set(STREAM_LIBRARY ${stream_dir}/libbench-stream.so)
add_library(bench-stream-backend MODULE stream/stream_backend.c)
set_target_properties(bench-stream-backend PROPERTIES OUTPUT_NAME bench-stream PREFIX lib
    LIBRARY_OUTPUT_DIRECTORY ${stream_dir})
target_include_directories(bench-stream-backend PRIVATE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/sdk/include)
target_link_libraries(bench-stream-backend PRIVATE zeta_flags)
configure_file(stream/10-stream.yaml.in ${stream_dir}/share/plugins.d/10-stream.yaml @ONLY)
configure_file(stream/stream.yaml ${stream_dir}/share/plugins.d/sets/stream.yaml COPYONLY)

zeta_add_bench(NAME bench_stream SOURCES bench_stream.c LIBS zeta dl)
target_compile_definitions(bench_stream PRIVATE STREAM_DIR="${stream_dir}/share"
    STREAM_LIBRARY="${STREAM_LIBRARY}")
add_dependencies(bench_stream bench-stream-backend)
