# zeta_add_fake_test(NAME api.device.x SOURCES ... [ENV ...]): an API test that sees only the fake
# device of tests/harness.
function(zeta_add_fake_test)
    cmake_parse_arguments(T "" "NAME" "SOURCES;ENV" ${ARGN})
    zeta_add_test(NAME ${T_NAME} SOURCES ${T_SOURCES} LIBS zeta_harness LABELS api
        ENV ZETA_PLUGIN_PATH=${CMAKE_BINARY_DIR}/tests/harness/tree ${T_ENV})
endfunction()
