# Rules for libraries of OpenCL C functions: the sources of this folder and those of a device become one
# file of LLVM bitcode. Both need clang-15 and llvm-15.
find_program(ZETA_OPENCL_CLANG NAMES clang-15)
find_program(ZETA_LLVM_LINK NAMES llvm-link-15)
find_program(ZETA_LLVM_AS NAMES llvm-as-15)
set(ZETA_OPENCL_LIBRARY ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "Folder of the OpenCL C library")
# Those that every device has as they are.
set(ZETA_OPENCL_SOURCES bits common convert convert_vector group half integer math math_vector memory
    relational shuffle CACHE INTERNAL "Sources of the OpenCL C library that no device has of its own")
list(TRANSFORM ZETA_OPENCL_SOURCES PREPEND ${ZETA_OPENCL_LIBRARY}/)
list(TRANSFORM ZETA_OPENCL_SOURCES APPEND .cl)
set(ZETA_OPENCL_SOURCES ${ZETA_OPENCL_SOURCES} CACHE INTERNAL "")

set(ZETA_OPENCL_SPIR --target=spir64-unknown-unknown -x cl -cl-std=CL2.0 -Xclang -opaque-pointers
    CACHE INTERNAL "Flags of sources that are compiled as programs are")

# zeta_opencl_module(text source target flags...): a source as LLVM assembler in file `text`, whose layout
# and triple the sed script `target` replaces.
function(zeta_opencl_module text source target)
    add_custom_command(OUTPUT ${text}
        COMMAND ${ZETA_OPENCL_CLANG} ${ARGN} -O2 -ffreestanding -fno-strict-aliasing
            -ffp-contract=off -fno-math-errno -fno-vectorize -fno-slp-vectorize -fno-unroll-loops
            -Wall -Wextra -Wno-unused-parameter -Werror -Xclang -mframe-pointer=none
            -I${ZETA_OPENCL_LIBRARY} -MD -MF ${text}.d -MT ${text} -S -emit-llvm ${source} -o ${text}
        COMMAND sed -E -i -f ${ZETA_OPENCL_LIBRARY}/retarget.sed -f ${target} ${text}
        DEPENDS ${source} ${ZETA_OPENCL_LIBRARY}/retarget.sed ${target}
        DEPFILE ${text}.d
        COMMENT "Compiling device library ${text}"
        VERBATIM)
endfunction()

# zeta_opencl_library(library work modules...): texts as one file of bitcode. Functions are linkonce_odr,
# so that who links the library gets only what is used. llvm-link would drop them for the same reason, so
# that is said last.
function(zeta_opencl_library library work)
    add_custom_command(OUTPUT ${library}
        COMMAND ${ZETA_LLVM_LINK} -S ${ARGN} -o ${work}/runtime.ll
        COMMAND sed -i -E "s/^define (weak_odr )?dso_local /define linkonce_odr hidden /"
            ${work}/runtime.ll
        COMMAND ${ZETA_LLVM_AS} ${work}/runtime.ll -o ${library}
        DEPENDS ${ARGN}
        COMMENT "Linking device library ${library}"
        VERBATIM)
endfunction()
