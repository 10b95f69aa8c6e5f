#!/bin/sh
# make_libraries.sh FOLDER PROCESSOR...: what libzeta and its tests need, from Debian's sources, for
# each processor into FOLDER/PROCESSOR. Nothing outside of FOLDER is written; what is there is kept.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/sources/lists/partial"
folder=$(cd "$1" && pwd)
shift
sources=$folder/sources

# The archives that have the packages, as places of sources. apt checks signatures as always, but
# with lists of its own, so that neither root nor a change of the machine is needed.
fetch()
{
    apt-cache policy libyaml-0-2 libcmocka0 libjson-c5 libmd0 |
        awk '$2 ~ /:\// { split($3, part, "/"); print "deb-src", $2, part[1], part[2] }' |
        sort -u >"$sources/sources.list"
    for word in update "source --download-only libyaml cmocka json-c libmd"; do
        # shellcheck disable=SC2086 # a list of words
        (cd "$sources" && apt-get -q -o Dir::Etc::sourcelist="$sources/sources.list" \
            -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$sources/lists" \
            -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User= $word)
    done
    (cd "$sources" && for archive in *.orig.tar.*z; do cmake -E tar xf "$archive"; done)
    touch "$sources/complete"
}

# with_cmake NAME [OPTIONS]: a library that is built with CMake.
with_cmake()
{
    name=$1
    shift
    cmake -S "$sources/$name"-[0-9j]* -B "$root/build/$name" -G Ninja \
        "-DCMAKE_TOOLCHAIN_FILE=$here/$processor.cmake" "-DCMAKE_INSTALL_PREFIX=$root" \
        -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
        -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF "$@"
    cmake --build "$root/build/$name" --target install
}

make_all()
{
    with_cmake libyaml
    sed "s|@prefix@|$root|; s|@exec_prefix@|$root|; s|@includedir@|$root/include|
        s|@libdir@|$root/lib|; s|@PACKAGE_VERSION@|0|" "$sources"/libyaml-*/yaml-0.1.pc.in \
        >"$root/lib/pkgconfig/yaml-0.1.pc"
    with_cmake json-c
    with_cmake cmocka -DWITH_EXAMPLES=OFF
    mkdir -p "$root/build/libmd"
    (cd "$root/build/libmd" && "$sources"/libmd-*/configure "--host=$processor-linux-gnu" \
        "--prefix=$root" --disable-shared --with-pic && make install)
}

[ -f "$sources/complete" ] || fetch
for processor in "$@"; do
    root=$folder/$processor
    mkdir -p "$root/lib/pkgconfig"
    [ -f "$root/complete" ] || make_all
    touch "$root/complete"
done
