#!/bin/sh
# What zeta-nv-cc makes of kernels, and what it refuses: cases_ptx.sh COMPILER FOLDER CASE, with a
# folder of SPIR-V modules. PTX is also given to
# ptxas where it is installed. Rule 28.12.
set -u
compiler=$1 spirv=$2 case=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null || true)

fail() {
    printf '%s: %s\n' "$case" "$1" >&2
    cat "$work/log" "$work/ptx" 2>/dev/null >&2
    exit 1
}

# The source on the standard input becomes $work/ptx.
builds() {
    cat > "$work/kernel.cl"
    "$compiler" "$work/kernel.cl" -o "$work/ptx" "$@" 2> "$work/log" || fail "it was not compiled"
    [ -z "$ptxas" ] || "$ptxas" -arch=sm_90 -o /dev/null "$work/ptx" 2> "$work/log" ||
        fail "ptxas refuses it"
}

# The source on the standard input is refused with that sentence.
refuses() {
    sentence=$1
    shift
    cat > "$work/kernel.cl"
    rm -f "$work/ptx"
    if "$compiler" "$work/kernel.cl" -o "$work/ptx" "$@" 2> "$work/log"; then
        fail "it was compiled"
    fi
    [ ! -e "$work/ptx" ] || fail "there is a file"
    grep -qF -- "$sentence" "$work/log" || fail "the log lacks: $sentence"
}

has() {
    grep -qE -- "$1" "$work/ptx" || fail "the text lacks: $1"
}

lacks() {
    ! grep -qE -- "$1" "$work/ptx" || fail "the text has: $1"
}

arguments__each_kind__are_told() {
    builds << 'EOF'
struct pair { long a; int b; };
kernel void k(global int *p, constant int *c, local int *l, float4 v, struct pair s, local long *m, char x)
{
    l[get_local_id(0)] = p[0] + c[0];
    m[get_local_id(0)] = s.a + s.b;
    barrier(CLK_LOCAL_MEM_FENCE);
    p[1] = l[1] + (int)v.x + (int)m[0] + x;
}
EOF
    has '^//zeta kernel k arguments pplvvlv$'
    has '\.extern \.shared \.align 128 \.b8 __zeta_dynamic\[\]'
    lacks 'k_param_7'
}

arguments__none__are_told() {
    builds << 'EOF'
kernel void k(void) {}
EOF
    has '^//zeta kernel k arguments -$'
}

offset__asked_for__is_three_arguments() {
    builds << 'EOF'
__attribute__((noinline)) size_t where(uint d) { return get_global_id(d); }
kernel void k(global ulong *p, uint d) { p[0] = where(0) + where(d); }
kernel void other(global ulong *p) { p[get_local_id(0)] = get_group_id(0); }
EOF
    has '^//zeta kernel k arguments pvooo$'
    has '^//zeta kernel other arguments p$'
    has '\.param \.u32 k_param_4'
    lacks '__zeta_global_offset'
}

group_size__required__is_in_text_and_line() {
    builds << 'EOF'
kernel __attribute__((reqd_work_group_size(8, 4, 2))) void k(global int *p) { p[0] = 1; }
EOF
    has '^\.reqntid 8, 4, 2'
    has '^//zeta kernel k arguments p group 8,4,2 attributes reqd_work_group_size\(8,4,2\)$'
}

# Options that have nothing to do with it, and levels, leave a multiplication and an addition apart.
contraction__not_allowed__stays_two_operations() {
    for option in -O0 -O1 -O3 -cl-denorms-are-zero -cl-finite-math-only -cl-no-signed-zeros '-O0 -cl-mad-enable'; do
        # shellcheck disable=SC2086
        builds $option << 'EOF'
kernel void k(global float *p, global double *d)
{
    p[0] = p[1] * p[2] + p[3];
    p[4] = mad(p[5], p[6], p[7]);
    d[0] = d[1] * d[2] + d[3];
}
EOF
        [ "$(grep -c 'mul\.rn\.f32' "$work/ptx")" = 2 ] || fail "$option: products are not those of the source"
        [ "$(grep -c 'add\.rn\.f32' "$work/ptx")" = 2 ] || fail "$option: sums are not those of the source"
        has 'mul\.rn\.f64'
        has 'add\.rn\.f64'
        lacks 'fma|mad\..*f(32|64)'
    done
}

contraction__allowed__is_one_operation() {
    for option in -cl-mad-enable -cl-unsafe-math-optimizations -cl-fast-relaxed-math; do
        builds "$option" << 'EOF'
kernel void k(global float *p, global double *d)
{
    p[0] = p[1] * p[2] + p[3];
    p[4] = mad(p[5], p[6], p[7]);
    d[0] = d[1] * d[2] + d[3];
}
EOF
        [ "$(grep -c 'fma\.rn\.f32' "$work/ptx")" = 2 ] || fail "$option: there are no two fused operations"
        has 'fma\.rn\.f64'
        lacks 'mul\.|add\.rn'
    done
}

# fma() is one operation, whatever the options.
contraction__asked_for_by_the_function__is_one_operation() {
    builds << 'EOF'
kernel void k(global float *p) { p[0] = fma(p[1], p[2], p[3]); }
EOF
    has 'fma\.rn\.f32'
}

# As the properties of the device say: quotients and roots are correctly rounded, denormals kept.
arithmetic__whatever_the_options__rounds_and_keeps_denormals() {
    for option in -O0 -O2 -cl-denorms-are-zero -cl-fp32-correctly-rounded-divide-sqrt -cl-mad-enable \
        -cl-unsafe-math-optimizations -cl-fast-relaxed-math; do
        builds "$option" << 'EOF'
kernel void k(global float *p, global double *d)
{
    p[0] = p[1] / p[2];
    p[3] = sqrt(p[4]);
    p[5] = (p[6] - p[7]) * p[8];
    p[9] = exp(p[10]) + fmax(p[11], p[12]);
    d[0] = d[1] / d[2];
    d[3] = sqrt(d[4]);
}
EOF
        has 'div\.rn\.f32'
        has 'sqrt\.rn\.f32'
        has 'div\.rn\.f64'
        has 'sqrt\.rn\.f64'
        lacks '\.ftz|\.approx'
    done
}

# Not by way of wide integers or doubles, which GPUs have few units for.
conversions__of_singles_and_halves__are_instructions() {
    builds << 'EOF'
kernel void k(global float *p, global half *h, int n)
{
    p[0] = floor(p[1]) + ceil(p[2]) + rint(p[3]) + trunc(p[4]) + round(p[5]) + ldexp(p[6], n);
    p[7] = vload_half(0, h);
    vstore_half(p[8], 1, h);
    vstore_half_rtz(p[9], 2, h);
}
EOF
    for instruction in rmi.f32.f32 rpi.f32.f32 rni.f32.f32 rzi.f32.f32 rn.f16.f32 rz.f16.f32 f32.f16; do
        has "cvt\\.$instruction"
    done
    lacks 'f64|s64\.f32|f32\.s64'
}

spaces__generic_and_constant__are_resolved() {
    builds << 'EOF'
constant int table[4] = {1, 2, 3, 4};
struct node { constant int *values; generic int *to; };
int read(generic int *p) { return *p; }
kernel void k(global int *p, local int *l)
{
    struct node node = {table + 1, get_local_id(0) ? p : (generic int *)l};
    private int own[4] = {p[0], p[1], p[2], p[3]};

    p[4] = node.values[p[3] & 1] + read(node.to) + read(own + (p[1] & 3)) + (to_local(node.to) != 0);
}
EOF
    has 'table'
}

names__not_of_ptx__become_legal() {
    builds << 'EOF'
global int _ = 3;
global int other __asm__("größe") = 4;
global int third __asm__("2.d") = 5;
int read(global int *p) __asm__("a.b.c");
__attribute__((noinline)) int read(global int *p) { return p[p[0]]; }
kernel void k(global int *p)
{
    local int shared[4];
    shared[get_local_id(0)] = read(p);
    barrier(CLK_LOCAL_MEM_FENCE);
    p[1] = shared[0] + read(p + 2) + _ + other + third;
}
EOF
    has 'k_shared'
    has '_z_ = 3'
    has '_z2_d = 5'
}

atomics__orders__have_fences() {
    builds << 'EOF'
kernel void k(global atomic_int *a, global int *p)
{
    p[0] = atomic_fetch_add_explicit(a, 1, memory_order_relaxed, memory_scope_device);
}
kernel void ordered(global atomic_int *a, global int *p) { p[0] = atomic_fetch_add(a, 1); }
EOF
    [ "$(grep -c 'membar' "$work/ptx")" = 2 ] || fail "fences are not those of one operation"
    [ "$(grep -c 'membar.gl' "$work/ptx")" = 2 ] || fail "fences are not those of the device"
}

# What acquires has its fence behind, what releases before; each for those who are in the scope. Rule 28.13.
atomics__scopes__are_those_of_fences() {
    for pair in all_svm_devices:sys device:gl work_group:cta sub_group:cta; do
        for order in acquire release acq_rel seq_cst; do
            builds "-DORDER=memory_order_$order" "-DSCOPE=memory_scope_${pair%:*}" << 'EOF'
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void k(global atomic_int *a, global int *p)
{
    p[0] = atomic_fetch_add_explicit(a, 1, ORDER, SCOPE);
}
EOF
            case $order in
            acquire) expected='atom membar' ;;
            release) expected='membar atom' ;;
            *) expected='membar atom membar' ;;
            esac
            found=$(grep -oE 'atom\.|membar\.[a-z]*' "$work/ptx" | sed "s/membar.${pair#*:}/membar/; s/atom\\./atom/" |
                tr '\n' ' ')
            [ "$found" = "$expected " ] || fail "$order, ${pair%:*}: $found"
            if [ "$pair" = all_svm_devices:sys ]; then
                has 'atom\.sys\.add\.u32'
            else
                has 'atom\.global\.add\.u32'
            fi
        done
    done
}

# The host may be at work on the same numbers: each operation is one for all, on memory of each kind.
atomics__of_all_devices__are_of_the_system() {
    cat > "$work/source" << 'EOF'
#define ALL memory_order_relaxed, memory_scope_all_svm_devices
kernel void k(global atomic_int *a, global atomic_uint *u, global atomic_long *l, global atomic_ulong *w,
              local atomic_int *s, global long *p)
{
    generic atomic_int *g = get_local_id(0) ? (generic atomic_int *)a : (generic atomic_int *)s;
    int seen = 5;
    long seen_wide = 5;

    p[0] = atomic_fetch_add_explicit(a, 1, ALL);
    p[1] = atomic_fetch_sub_explicit(a, p[20], ALL);
    p[2] = atomic_fetch_min_explicit(a, 1, ALL);
    p[3] = atomic_fetch_max_explicit(u, 1u, ALL);
    p[4] = atomic_fetch_and_explicit(l, 1, ALL);
    p[5] = atomic_fetch_or_explicit(l, 1, ALL);
    p[6] = atomic_fetch_xor_explicit(u, 1, ALL);
    p[7] = atomic_fetch_min_explicit(w, 1, ALL);
    p[8] = atomic_exchange_explicit(w, 1, ALL);
    p[9] = atomic_compare_exchange_strong_explicit(a, &seen, 7, memory_order_relaxed, ALL) + seen;
    p[10] = atomic_compare_exchange_weak_explicit(l, &seen_wide, 7, memory_order_relaxed, ALL) + seen_wide;
    p[11] = atomic_fetch_add_explicit(g, 1, ALL);
    p[12] = atomic_fetch_add_explicit(s, 1, ALL);
}
EOF
    builds < "$work/source"
    for operation in add.u32 min.s32 max.u32 and.b64 or.b64 xor.b32 min.u64 exch.b64 cas.b32 cas.b64; do
        has "atom\\.sys\\.(global\\.)?$operation"
    done
    [ "$(grep -c 'atom\.' "$work/ptx")" = "$(grep -c 'atom\.sys' "$work/ptx")" ] || fail "some are of the device"
    lacks membar
    builds --gpu sm_52 < "$work/source"
    lacks 'atom\.sys'
}

fences__scopes__are_theirs() {
    builds << 'EOF'
kernel void k(global int *p, local int *l)
{
    p[0] = 1;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_all_svm_devices);
    p[1] = 1;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    p[2] = 1;
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, memory_scope_work_group);
    p[3] = 1;
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_item);
}
EOF
    [ "$(grep -oE 'membar\.[a-z]*' "$work/ptx" | tr '\n' ' ')" = 'membar.sys membar.gl membar.cta ' ] ||
        fail "fences have other scopes"
}

atomics__of_known_memory__name_its_space() {
    builds << 'EOF'
kernel void k(global atomic_int *a, local atomic_int *l, global int *p)
{
    p[0] = atomic_fetch_add_explicit(a, 1, memory_order_relaxed, memory_scope_device);
    p[1] = atomic_fetch_xor_explicit(l, 1, memory_order_relaxed, memory_scope_work_group);
    p[2] = atomic_cmpxchg(p + 3, 1, 2);
}
EOF
    has 'atom\.global\.add'
    has 'atom\.shared\.xor'
    has 'atom\.global\.cas'
    lacks membar
}

# Only the barrier itself says in SPIR-V that items come to it together: not the functions that call it.
barrier__in_a_function__is_not_duplicated() {
    cat > "$work/kernel.ll" << 'EOF'
target triple = "spir64-unknown-unknown"
declare spir_func void @_Z7barrierj(i32) convergent
define spir_func void @together(ptr addrspace(3) %l) noinline {
  store i32 1, ptr addrspace(3) %l
  call spir_func void @_Z7barrierj(i32 1)
  ret void
}
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(3) %l, i32 %n, i32 %x) {
begin:
  %is_first = icmp eq i32 %x, 0
  br label %loop
loop:
  %i = phi i32 [0, %begin], [%next, %rest]
  %at = getelementptr i32, ptr addrspace(1) %p, i32 %i
  br i1 %is_first, label %more, label %rest
more:
  %old = atomicrmw add ptr addrspace(1) %p, i32 1 monotonic
  br label %rest
rest:
  call spir_func void @together(ptr addrspace(3) %l)
  store i32 %i, ptr addrspace(1) %at
  %next = add i32 %i, 1
  %goes_on = icmp slt i32 %next, %n
  br i1 %goes_on, label %loop, label %end
end:
  ret void
}
EOF
    for level in -O1 -O2 -O3; do
        "$compiler" "$work/kernel.ll" "$level" -o "$work/ptx" 2> "$work/log" || fail "it was not compiled"
        [ "$(grep -c '^[[:space:]]*together, *$' "$work/ptx")" = 1 ] || fail "$level: several places call it"
    done
}

# LLVM takes what two branches begin with to the place before them, where other items are.
lanes__asked_for_in_both_branches__are_not_merged() {
    for level in -O1 -O2 -O3; do
        builds "$level" << 'EOF'
int __attribute__((overloadable, convergent)) intel_sub_group_shuffle(int x, uint lane);
kernel void k(global int *p, int n)
{
    const int x = p[get_global_id(0)];

    if (x > n)
        p[get_global_id(0)] = intel_sub_group_shuffle(x, 0u) + 1;
    else
        p[get_global_id(0)] = intel_sub_group_shuffle(x, 0u) * 3;
}
EOF
        [ "$(grep -c 'activemask' "$work/ptx")" = 2 ] || fail "$level: the branches do not ask apart"
    done
}

# As many barriers as the source has, each in one place; the loop is not a plain one.
barriers__in_flow__are_those_of_the_source() {
    for level in -O1 -O2 -O3; do
        builds "$level" << 'EOF'
kernel void k(global int *p, local int *l, int n, int m)
{
    const size_t id = get_local_id(0);
    int x = p[id];

    for (int i = 0; i < n; i++) {
        if (x > i)
            x ^= i;
        l[id] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i == m)
            continue;
        if (x < 0)
            x = l[id ^ 1] + 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (p[0] == i)
            break;
    }
    if (id > 5)
        return;
    p[id] = x;
}
EOF
        [ "$(grep -c 'bar\.sync' "$work/ptx")" = 2 ] || fail "$level: barriers are not those of the source"
    done
}

sampler__used__is_refused() {
    refuses "samplers are not supported by an NVIDIA GPU" << 'EOF'
kernel void k(global int *p) { const sampler_t s = CLK_FILTER_LINEAR; p[0] = 1; }
EOF
}

rotation__of_64_bits__counts_modulo_64() {
    builds << 'EOF'
kernel void k(global ulong *p, ulong n)
{
    p[0] = rotate(p[1], n);
    p[2] = p[3] >> (n & 63) | p[3] << (-n & 63);
    p[4] = rotate(p[5], (ulong)67);
}
EOF
    [ "$(grep -c 'and\.b32.* 63;' "$work/ptx")" = 4 ] || fail "counts are not taken modulo 64"
    has ' 61;'
    lacks ' 67;'
}

loops__of_known_turns__are_unrolled() {
    builds << 'EOF'
kernel void k(global float *p)
{
    float sum = 0;
    for (int i = 0; i < 16; i++)
        sum += p[i * 2] * p[i * 3];
    p[0] = sum;
}
EOF
    [ "$(grep -c 'mul.rn.f32' "$work/ptx")" = 16 ] || fail "there are not 16 multiplications"
    lacks 'bra'
}

loops__that_shall_stay__do() {
    builds << 'EOF'
kernel void k(global float *p)
{
    float sum = 0;
    _Pragma("nounroll") for (int i = 0; i < 16; i++)
        sum += p[i * 2] * p[i * 3];
    p[0] = sum;
}
EOF
    has 'pragma "nounroll"'
    [ "$(grep -c 'mul.rn.f32' "$work/ptx")" = 1 ] || fail "there is not one multiplication"
}

loops__of_the_example_in_spirv__are_unrolled() {
    example=$(dirname "$compiler")/../../share/zeta/kernels/matmul.spv
    [ -f "$example" ] || { echo "skipped: there is no SPIR-V"; exit 77; }
    "$compiler" "$example" -o "$work/ptx" 2> "$work/log" || fail "it was not compiled"
    [ "$(grep -c 'mul.rn.f32' "$work/ptx")" = 16 ] || fail "there are not 16 multiplications"
    lacks 'nounroll'
}

processor__of_the_gpu__is_the_target() {
    for pair in sm_70:sm_70 sm_75:sm_75 sm_86:sm_80 sm_90:sm_80 sm_90a:sm_80 sm_121:sm_80; do
        builds --gpu "${pair%:*}" << 'EOF'
kernel void k(global int *p) { p[0] = 1; }
EOF
        has "^\\.target ${pair#*:}\$"
    done
    refuses 'option --gpu: turing is no value for it' --gpu turing < /dev/null
}

constants__given_a_value__are_it() {
    [ -f "$spirv/test-constants.spv" ] || { echo "skipped: there is no SPIR-V"; exit 77; }
    "$compiler" "$spirv/test-constants.spv" -o "$work/ptx" --spec-constant 12:i32:123456789 2> "$work/log" ||
        fail "it was not compiled"
    has 4728057454347157504 # 123456789, as the bits of a double
    "$compiler" "$spirv/test-constants.spv" -o "$work/ptx" --spec-constant 99:i32:1 2> "$work/log" &&
        fail "it was compiled"
    grep -q 'there is no specialization constant 99; the module has' "$work/log" || fail "another reason"
}

module__broken__is_refused() {
    [ -f "$spirv/test-abilities.spv" ] || { echo "skipped: there is no SPIR-V"; exit 77; }
    for bytes in 0 4 18 102; do
        head -c "$bytes" "$spirv/test-abilities.spv" > "$work/cut.spv"
        "$compiler" "$work/cut.spv" -o "$work/ptx" 2> "$work/log" && fail "$bytes bytes were compiled"
        grep -q '^error: ' "$work/log" || fail "$bytes bytes: there is no reason"
    done
    "$compiler" "$spirv/test-image.spv" -o "$work/ptx" 2> "$work/log" && fail "images were compiled"
    grep -q 'not supported by an NVIDIA GPU' "$work/log" || fail "another reason"
}

printf__used__has_the_buffer_as_argument() {
    builds << 'EOF'
__attribute__((noinline)) void say(int i) { printf("i = %d\n", i); }
kernel void k(global int *p, float4 f, double h, uint d)
{
    local int l[4];
    p[0] = printf("%d %v4hlf %f %s %p %p\n", p[0], f, h, "text", p, l);
    say((int)get_global_id(d));
}
kernel void plain(global int *p, int n) { printf("%d\n", n); }
kernel void no_arguments(void) { printf("none\n"); }
kernel void quiet(global int *p) { p[0] = 1; }
EOF
    has '^//zeta kernel k arguments pvvvooob$'
    has '^//zeta kernel plain arguments pvb$'
    has '^//zeta kernel no_arguments arguments b$'
    has '^//zeta kernel quiet arguments p$'
    has '\.param \.u64 no_arguments_param_0$'
    [ "$(grep -c 'atom\.add\.u64' "$work/ptx")" = 2 ] || fail "the library is not there once"
    lacks 'vprintf|__zeta_print_buffer'
}

printf__not_optimised__has_the_buffer_as_argument() {
    builds -O0 << 'EOF'
void say(int i) { printf("i = %d\n", i); }
kernel void k(int n) { say(n); }
EOF
    has '^//zeta kernel k arguments vb$'
    lacks '__zeta_print_buffer'
}

printf__not_used__costs_nothing() {
    builds << 'EOF'
kernel void k(global int *p) { p[0] = 1; }
EOF
    lacks 'print'
}

printf__of_what_has_no_slot__is_refused() {
    cat > "$work/kernel.ll" << 'EOF'
target triple = "spir64-unknown-unknown"
@format = addrspace(2) constant [4 x i8] c"%d\0A\00"
declare spir_func i32 @printf(ptr addrspace(2), ...)
define spir_kernel void @k({ i32, i32 } %pair) {
  %done = call spir_func i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) @format, { i32, i32 } %pair)
  ret void
}
EOF
    "$compiler" "$work/kernel.ll" -o "$work/ptx" 2> "$work/log" && fail "it was compiled"
    grep -q 'printf takes numbers, vectors of them, pointers and strings' "$work/log" || fail "another reason"
}

recursion__direct_or_not__is_refused() {
    refuses "recursion is not supported by an NVIDIA GPU" << 'EOF'
int odd(int n);
__attribute__((noinline)) int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__attribute__((noinline)) int odd(int n) { return n == 0 ? 0 : even(n - 1); }
kernel void k(global int *p) { p[0] = even(p[1]); }
EOF
}

# .loc and .file for ptxas, and the same instructions as without. A function that is inlined has its own lines.
lines__of_the_source__are_in_the_text() {
    cat > "$work/source.cl" << 'EOF'
int helper(int x, int y)
{
    return x * 3 + y;
}
kernel void k(global int *p, local int *l, int n)
{
    l[get_local_id(0)] = p[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < n; i++)
        p[i] += helper(l[i], i);
}
EOF
    builds -O2 < "$work/source.cl"
    lacks '\.(loc|file)'
    grep -vE '^ *//|^$|^\$L__' "$work/ptx" > "$work/without"
    builds -O2 -g < "$work/source.cl"
    [ -z "$ptxas" ] || "$ptxas" -arch=sm_90 -lineinfo -o /dev/null "$work/ptx" 2> "$work/log" ||
        fail "ptxas refuses its lines"
    has "\.file	1 \"$work/kernel.cl\""
    for line in 3 7 9 10; do has "\.loc	1 $line "; done
    lacks '\.section	\.debug_(info|abbrev|str|line)'
    grep -vE '^ *//|^$|^\$L__|\.(loc|file|section)	' "$work/ptx" | diff - "$work/without" > "$work/log" ||
        fail "lines change the code"
}

half__of_gpus_without_it__is_computed_in_float() {
    cat > "$work/kernel.cl" << 'EOF'
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void k(global half *p) { p[0] = p[1] * p[2] + p[3]; }
EOF
    "$compiler" "$work/kernel.cl" --gpu sm_52 -o "$work/ptx" 2> "$work/log" || fail "it was not compiled"
    has '^\.target sm_52'
    has 'cvt\.f32\.f16'
    has 'mul\.rn\.f32'
    lacks '(add|mul|fma)[.a-z]*\.f16'
}

# As many kernels as 1 MiB of SPIR-V has; 10 MiB: ZETA_TEST_KERNELS=4800, see the README.
module__with_many_kernels__has_them_all() {
    count=${ZETA_TEST_KERNELS:-480}
    awk -v n="$count" 'BEGIN { for (i = 0; i < n; i++) {
        printf "int h%d(int x, int y) { int s = x; for (int j = 0; j < y; j++) ", i
        printf "s = s * %d + (s >> %d) ^ j; return s; }\n", i * 7 + 3, i % 7 + 1
        printf "kernel void k%d(global int *p, int n) { size_t g = get_global_id(0); ", i
        printf "p[g] = h%d(p[g] + %d, n) + h%d(n, %d); }\n", i, i, (i > 0 ? i - 1 : 0), i % 13 } }' > "$work/many.cl"
    "$compiler" "$work/many.cl" -o "$work/ptx" 2> "$work/log" || { head -c 2000 "$work/log" >&2; exit 1; }
    [ "$(grep -c '^\.visible \.entry' "$work/ptx")" = "$count" ] && [ "$(grep -c '^//zeta kernel' "$work/ptx")" = "$count" ] || {
        echo "kernels are missing" >&2
        exit 1
    }
}

# Lines of the source, where there is debug information.
lines__of_what_is_refused__are_told() {
    refuses "supported by an NVIDIA GPU ($work/kernel.cl:3, in f)" -g << 'EOF'
int f(int x);
__attribute__((noinline)) int g(int x) { return x ? f(x - 1) : 0; }
__attribute__((noinline)) int f(int x) { return g(x) + 1; }
kernel void k(global int *p) { p[0] = f(p[1]); }
EOF
    refuses "elsewhere is not defined: PTX" -g << 'EOF'
int elsewhere(int x) __asm__("elsewhere");
kernel void k(global int *p)
{
    p[0] = elsewhere(p[1]);
}
EOF
    grep -qF "together ($work/kernel.cl:4, in k)" "$work/log" || fail "no line of an import"
    refuses "which is not supported by an NVIDIA GPU ($work/kernel.cl:2)" -g << 'EOF'

kernel void k(read_only image2d_t image, global int *p) { p[0] = 1; }
EOF
    refuses "used in kernel k ($work/kernel.cl:3, in helper)" -g << 'EOF'
ulong intel_sub_group_shuffle_all(ulong x) __attribute__((overloadable));
__attribute__((noinline)) ulong helper(ulong x) {
    return intel_sub_group_shuffle_all(x);
}
kernel void k(global ulong *p) { p[0] = helper(p[1]); }
EOF
    cat > "$work/kernel.ll" << 'EOF'
target triple = "spir64"
define spir_kernel void @k(i32 (i32)* %f) !dbg !4 {
  %x = call spir_func i32 %f(i32 1), !dbg !5
  ret void
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "pointers.cl", directory: "/")
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "k", file: !1, line: 7, unit: !0, type: !6, spFlags: DISPFlagDefinition)
!5 = !DILocation(line: 8, scope: !4)
!6 = !DISubroutineType(types: !{})
EOF
    "$compiler" "$work/kernel.ll" -o "$work/ptx" 2> "$work/log" && fail "it was compiled"
    grep -qF "k calls through a pointer, which is not supported by an NVIDIA GPU (pointers.cl:8, in k)" "$work/log" ||
        fail "no line of a call through a pointer"
}

image__as_argument__is_refused() {
    refuses "argument 0 is an image (image2d_t), which is not supported by an NVIDIA GPU" << 'EOF'
kernel void k(read_only image2d_t image, global int *p) { p[0] = 1; }
EOF
}

sub_group__of_another_size__is_refused() {
    refuses "kernel k requires sub-groups of 16 items, those of an NVIDIA GPU have 32" << 'EOF'
kernel __attribute__((intel_reqd_sub_group_size(16))) void k(global int *p) { p[0] = 1; }
EOF
    builds << 'EOF'
kernel __attribute__((intel_reqd_sub_group_size(32))) void k(global int *p) { p[0] = 1; }
EOF
}

symbol__not_defined__is_refused() {
    refuses "error: elsewhere is not defined: PTX for an NVIDIA GPU has nothing that others define" << 'EOF'
int elsewhere(int x) __asm__("elsewhere");
kernel void k(global int *p) { p[0] = elsewhere(p[1]); }
EOF
}

symbol__not_defined_and_allowed__is_an_import() {
    cat > "$work/kernel.cl" << 'EOF'
int elsewhere(int x) __asm__("elsewhere");
extern global int there;
global int here = 3;
static global int hidden;
constant int table[2] = {1, 2};
void given(int x) __asm__("given");
void given(int x) { hidden = x; }
kernel void k(global int *p) { p[0] = elsewhere(p[1]) + there + here + hidden; }
EOF
    "$compiler" "$work/kernel.cl" -o "$work/ptx" --imports 2> "$work/log" || fail "it was not compiled"
    for line in 'import elsewhere' 'import there' 'export given' 'export here' 'export table' \
        'variable 0 here here w' 'variable 0 hidden hidden w' 'variable 0 table table c'; do
        has "^//zeta $line\$"
    done
    lacks '^//zeta export (k|hidden)$'
    grep -q 'note: elsewhere is not defined: another module' "$work/log" || fail "no note"
}

symbols__none_for_others__stay_inside() {
    builds --imports << 'EOF'
static global int hidden;
kernel void k(global int *p) { p[0] = hidden++; }
EOF
    lacks '^//zeta (import|export|variable)'
    lacks '\.visible \.global'
}

modules__several__are_linked() {
    printf '%s\n' 'int twice(int x) __asm__("twice"); int twice(int x) { return 2 * x; }' > "$work/other.cl"
    builds "$work/other.cl" << 'EOF'
int twice(int x) __asm__("twice");
kernel void k(global int *p) { p[0] = twice(p[1]); }
EOF
    lacks 'twice'
}

kernel__whose_name_ptx_lacks__is_refused() {
    for name in a.b _ 2d; do
        refuses "kernel $name: names in PTX have letters, digits, _ and \$ only" << EOF
kernel void k(global int *p) __asm__("$name");
kernel void k(global int *p) { p[0] = 1; }
EOF
    done
}

# PTX converts a double that is not a number to -2^31, a place outside of a table.
tables__for_no_number__are_read_at_0() {
    builds << 'EOF'
kernel void k(global double *p) { p[0] = cosh(p[1]); }
EOF
    conversions=$(grep -c 'cvt\.rzi\.s32\.f64' "$work/ptx")
    [ "$conversions" -gt 0 ] || fail "cosh converts nothing"
    [ "$(grep -cE 'setp\.(nan|num)\.f64' "$work/ptx")" -ge "$conversions" ] ||
        fail "conversions are not checked"
}

# sin, cos and tan of large angles read it by 16 bytes: elsewhere that is a misaligned address.
tables__read_by_16_bytes__are_aligned() {
    builds << 'EOF'
kernel void k(global double *p) { p[0] = cos(p[1]); }
EOF
    has 'ld\.global.*\.v4\.u32'
    has '\.align 16 \.b8 PIBITS_TBL'
}

# The one of libclc is the exponential of the logarithm: hundreds of places off.
tgamma__of_doubles__takes_no_logarithm() {
    builds << 'EOF'
kernel void k(global double *p) { p[0] = tgamma(p[1]); }
EOF
    lacks 'lgamma'
    has 'gamma_near_one'
}

c__for_the_virtual_gpu__is_refused() {
    printf 'int x;\n' > "$work/kernel.c"
    "$compiler" "$work/kernel.c" -o "$work/ptx" 2> "$work/log" && fail "it was compiled"
    grep -q 'unknown language' "$work/log" || fail "another reason"
}

help__asked_for__is_of_this_program() {
    "$compiler" --help > "$work/log" || fail "no help"
    grep -q '^usage: zeta-nv-cc' "$work/log" || fail "the help of another program"
    "$compiler" --version | grep -q '^zeta-nv-cc [0-9]' || fail "the version of another program"
}

[ -n "$ptxas" ] || echo "ptxas is not installed: texts are looked at, and not given to it"
"$case"
