#!/bin/sh
# run_test.sh REPOSITORY CASE: ./run and .ci/run among tools that only write down how they are
# called, so that no package is installed and nothing is built. Each case_<CASE> is a test.
set -eu
source=$1
name=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
out=$work/out

die()
{
    echo "$name: $*" >&2
    echo "--- output" >&2
    cat "$out" >&2
    echo "--- calls" >&2
    cat "$log" >&2
    exit 1
}

# fake NAME: a tool with the body on stdin, which logs its arguments first.
fake()
{
    {
        echo '#!/bin/sh'
        echo "echo \"$1 \$*\" >>'$log'"
        cat
    } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

mkdir -p "$work/bin" "$work/tree/.ci" "$work/tree/build" "$work/tree/tests/cross"
cp "$source/run" "$work/tree/run"
cp "$source/.ci/run" "$work/tree/.ci/run"
: >"$log"
: >"$out"
printf '#!/bin/sh\necho "make_libraries $*" >>"%s"\n' "$log" >"$work/tree/tests/cross/make_libraries.sh"
chmod +x "$work/tree/tests/cross/make_libraries.sh"
: >"$work/missing"
: >"$work/unknown"
fake dpkg-query <<SCRIPT
for package; do :; done
grep -qx "\$package" '$work/missing' || printf installed
SCRIPT
fake apt-cache <<SCRIPT
for package; do :; done
! grep -qx "\$package" '$work/unknown'
SCRIPT
fake apt-get <<SCRIPT
[ "\$1" != update ] || : >'$work/unknown'
[ ! -e '$work/apt-fails' ] || exit 100
[ "\$1" != install ] || : >'$work/missing'
SCRIPT
fake sudo <<SCRIPT
exec "\$@"
SCRIPT
fake id <<SCRIPT
cat '$work/uid'
SCRIPT
fake cmake <<SCRIPT
[ "\$1" != --preset ] || : >"build/\$2/build.ninja"
SCRIPT
# Fails for the build whose name is in the file, with a summary like that of ctest.
fake ctest <<SCRIPT
build=\$2
while [ "\$1" != --output-log ]; do shift; done
if grep -qx "\$build" '$work/failing' 2>/dev/null; then
    echo "50% tests passed, 1 tests failed out of 2" | tee "\$2"
    exit 8
fi
echo "100% tests passed, 0 tests failed out of 2" | tee "\$2"
SCRIPT
echo 0 >"$work/uid"
PATH=$work/bin:/usr/bin:/bin
export PATH
cd "$work/tree"

# expect STATUS COMMAND...
expect()
{
    wanted=$1
    shift
    status=0
    "$@" >"$out" 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || die "'$*' gave $status, not $wanted"
}

out_has()
{
    grep -qF -- "$1" "$out" || die "the output lacks '$1'"
}

called()
{
    grep -qE -- "$1" "$log" || die "no call like '$1'"
}

not_called()
{
    ! grep -qE -- "$1" "$log" || die "there was a call like '$1'"
}

case_unknown_words()
{
    for words in "" frobnicate "demo 256" "test nonsense" "test matrix unit" "test cross unit" "build x" "bench x"; do
        # shellcheck disable=SC2086 # a list of words
        expect 2 ./run $words
        out_has "usage: ./run COMMAND"
    done
    expect 0 ./run help
    not_called "^(cmake|apt-get)"
}

case_nothing_missing()
{
    expect 0 ./run test
    not_called "^(apt-get|sudo)"
    called "^cmake --preset release .*BUILD_TESTING=ON"
    called "^cmake --build build/release"
    called "^ctest --test-dir build/release .*-LE .*bench"
    # The second time nobody is told about the configuration.
    expect 0 ./run test
    ! grep -q "Configuring" "$out" || die "configured aloud again"
}

case_programs_need_no_test_packages()
{
    printf 'libcmocka-dev\nqemu-user\n' >"$work/missing"
    expect 0 ./run build
    not_called "^apt-get"
    called "^cmake --preset release .*BUILD_TESTING=OFF"
}

case_package_missing_as_root()
{
    printf 'libyaml-dev\nlld-15\n' >"$work/missing"
    expect 0 ./run build
    out_has "Installing libyaml-dev lld-15"
    called "^apt-get install -y .*libyaml-dev lld-15"
    not_called "^(sudo|apt-get update)"
}

case_package_missing_as_user()
{
    echo 1000 >"$work/uid"
    echo ninja-build >"$work/missing"
    expect 0 ./run build
    called "^sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y .*ninja-build"
}

case_no_sudo()
{
    echo 1000 >"$work/uid"
    echo ninja-build >"$work/missing"
    rm "$work/bin/sudo"
    mkdir "$work/only"
    # Without the directories that may have a real sudo.
    for tool in sh env dirname cat mkdir grep sed rm; do
        ln -s "$(command -v $tool)" "$work/only/$tool"
    done
    PATH=$work/bin:$work/only
    expect 1 ./run build
    out_has "needs root and there is no sudo"
}

case_lists_outdated()
{
    echo lld-15 >"$work/missing"
    echo lld-15 >"$work/unknown"
    expect 0 ./run build
    called "^apt-get update"
    called "^apt-get install -y .*lld-15"
}

case_install_fails()
{
    echo lld-15 >"$work/missing"
    : >"$work/apt-fails"
    expect 1 ./run build
    out_has "failed; see"
    not_called "^cmake"
}

case_test_fails()
{
    echo build/release >"$work/failing"
    expect 8 ./run test
    expect 0 ./run test asan "unit|api"
    called "^ctest --test-dir build/asan .*-L unit.api"
}

case_matrix()
{
    expect 0 ./run test matrix
    for preset in release clang asan tsan; do
        called "^ctest --test-dir build/$preset"
    done
    called "^ctest --test-dir build/fuzz .*-L fuzz"
    called "^cmake -S . -B build/plain .*ZETA_WERROR=ON"
    called "^ctest --test-dir build/riscv64"
    echo build/clang >"$work/failing"
    : >"$log"
    expect 1 ./run test matrix
    out_has "failed: clang"
    called "^ctest --test-dir build/tsan"
}

case_ci()
{
    expect 0 .ci/run
    for preset in release asan tsan aarch64 riscv64; do
        called "^ctest --test-dir build/$preset"
    done
    called "^cmake --build build/plain"
    [ "$(tail -n 1 "$out")" = "100% tests passed, 0 tests failed out of 2" ] ||
        die "the end is not a summary"
    echo build/tsan >"$work/failing"
    expect 1 .ci/run
    out_has "50% tests passed"
    [ "$(tail -n 1 "$out")" = "100% tests passed, 0 tests failed out of 2" ] ||
        die "the end is not the summary of the whole suite"
}

if ! command -v "case_$name" >/dev/null; then
    echo "there is no case $name" >&2
    exit 1
fi
"case_$name"
