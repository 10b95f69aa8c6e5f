/*
 * A core dump is an ELF file of type ET_CORE: notes with the registers of threads, and segments of
 * memory. It is written with the structures of <elf.h>, as there are no sections and no symbols in
 * it with which a library would help.
 *
 * GDB opens it alone, without a program beside it: it takes the file for one of RV64 Linux and
 * reads the module of the kernel as the ELF file that the system has put into the process ("vDSO"):
 * AT_SYSINFO_EHDR names an address in the core, and from there on lies the module's file with its
 * debug information, behind a program header that tells GDB where the module was loaded.
 */
#include "core.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <zeta/vgpu_debug.h>

#include "control.h"
#include "plugins/vgpu/device/vgpu.h"
#include "plugins/vgpu/engine/debug.h"
#include "plugins/vgpu/machine/space.h"
#include "plugins/vgpu/memory/memory.h"
#include "plugins/vgpu/memory/pool.h"
#include "plugins/vgpu/tile/tile.h"
#include "target.h"

/* Where the kernel's module has its file in the core: no process has such addresses. */
#define FILE_ADDRESS (UINT64_C(1) << 60)

/* Threads are numbered from here on: 1 is what a debugger shows while nothing runs. */
#define FIRST_NUMBER 2u

enum {
    PIECE_BYTES = 1 << 20,   /* parts of memory that are kept or left out as a whole */
    NEAR_BYTES = 64 << 10,   /* what is so near to the address of the fault goes first */
    MOST_SEGMENTS = 0xff00,  /* e_phnum has 16 bits */
    MOST_LOGGED_MODULES = 4, /* whose commands are logged */
    MOST_SCRIPT_BYTES = 400, /* of a path, so that a line of the log has room for it */
    RISCV_DOUBLE_ABI = 4,    /* EF_RISCV_FLOAT_ABI_DOUBLE */
    MAPPING_MISSING = 1,     /* SEGV_MAPERR */
    MAPPING_REFUSED = 2,     /* SEGV_ACCERR */
    NOTE_ALIGNMENT = 4,
};

/* struct elf_prstatus, elf_prpsinfo and siginfo_t of Linux on RV64. */
struct prstatus {
    int32_t signal, code, error;
    int16_t current_signal, padding;
    uint64_t pending, held;
    int32_t number, parent, group, session;
    uint64_t times[8];
    uint64_t pc, x[31]; /* x1..x31 */
    int32_t has_fp, end;
};

struct fpregs {
    uint64_t f[32];
    uint32_t fcsr, padding;
};

struct prpsinfo {
    char state, state_name, zombie, nice;
    uint32_t padding;
    uint64_t flags;
    uint32_t user, user_group;
    int32_t process, parent, group, session;
    char name[16];
    char arguments[80];
};

struct siginfo {
    int32_t signal, error, code, padding;
    uint64_t address;
    uint8_t rest[104];
};

_Static_assert(sizeof(struct prstatus) == 376 && sizeof(struct fpregs) == 264 &&
                   sizeof(struct prpsinfo) == 136 && sizeof(struct siginfo) == 128,
               "GDB knows notes by their sizes");
_Static_assert(sizeof(struct zeta_vgpu_core_thread) == 112 &&
                   offsetof(struct zeta_vgpu_core_thread, local_address) == 104,
               "scripts know where its members are");

/* In which order memory is kept while there is room for it. */
enum rank {
    RANK_SYMBOLS, /* files of modules that threads were in, their ids, and the stack of the fault */
    RANK_LOCAL,   /* local memory of the fault's group, and code */
    RANK_NEAR,    /* what the fault and the registers of its thread are about */
    RANK_STACK,   /* private memory of the other threads */
    RANK_GROUP,   /* local memory of all groups */
    RANK_REST     /* all else, small allocations first */
};

/* A part of memory. */
struct piece {
    uint64_t address;
    uint64_t bytes;
    const unsigned char *from;
    uint64_t whole; /* bytes of what it is part of */
    enum rank rank;
    uint32_t flags; /* PF_* */
};

/* A core dump while it is made. */
struct core {
    struct zeta_vgpu *vgpu;
    struct zeta_vgpu_tile *tile;
    const struct zeta_vgpu_launch *launch;
    const struct zeta_vgpu_fault *fault;
    uint32_t faulted;                      /* number of the thread in its tile */
    struct zeta_vgpu_core_module *modules; /* the kernel's first */
    bool *entered;                         /* of each: threads were in it */
    size_t module_count;
    unsigned char *file; /* of the kernel's module, as it is in the core */
    uint64_t file_bytes;
    Elf64_Phdr *segments; /* in that, of the module */
    uint32_t segment_count;
    char *notes;
    size_t notes_bytes;
    struct zeta_vgpu_core_thread *threads;
    size_t threads_bytes;
    struct piece *pieces;
    size_t piece_count, piece_room;
    bool no_memory;
    uint64_t left_out; /* bytes of memory */
    char path[ZETA_VGPU_FOLDER_BYTES + 96];
};

/* ---- notes ---------------------------------------------------------------------------------- */

static void put_note(FILE *out, const char *owner, uint32_t type, const void *content, size_t size)
{
    static const char zeros[NOTE_ALIGNMENT];
    const size_t name = strlen(owner) + 1;
    const Elf64_Nhdr header = {(Elf64_Word)name, (Elf64_Word)size, type};

    (void)fwrite(&header, sizeof(header), 1, out);
    (void)fwrite(owner, name, 1, out);
    (void)fwrite(zeros, (NOTE_ALIGNMENT - name % NOTE_ALIGNMENT) % NOTE_ALIGNMENT, 1, out);
    (void)fwrite(content, size, 1, out);
    (void)fwrite(zeros, (NOTE_ALIGNMENT - size % NOTE_ALIGNMENT) % NOTE_ALIGNMENT, 1, out);
}

/* The signal by which a processor would report the fault, with its code. */
static int32_t signal_of(const struct core *core, int32_t *out_code)
{
    struct zeta_vgpu_range range;

    *out_code = 1; /* ILL_ILLOPC, BUS_ADRALN, TRAP_BRKPT */
    switch (core->fault->reason) {
    case ZETA_VGPU_FAULT_ILLEGAL_INSTRUCTION:
    case ZETA_VGPU_FAULT_UNKNOWN_CALL:
        return SIGILL;
    case ZETA_VGPU_FAULT_BREAKPOINT:
        return SIGTRAP;
    case ZETA_VGPU_FAULT_MISALIGNED_JUMP:
    case ZETA_VGPU_FAULT_MISALIGNED_ATOMIC:
        return SIGBUS;
    case ZETA_VGPU_FAULT_ABORT:
        return SIGABRT;
    default:
        *out_code = zeta_vgpu_space_find(core->vgpu->space, core->fault->address, &range)
                        ? MAPPING_REFUSED
                        : MAPPING_MISSING;
        return SIGSEGV;
    }
}

static uint32_t tile_threads(const struct core *core)
{
    return zeta_vgpu_control_threads(&core->vgpu->description) / core->vgpu->description.tiles;
}

static uint32_t number_of(const struct core *core, uint32_t thread)
{
    return FIRST_NUMBER + core->tile->index * tile_threads(core) + thread;
}

static void put_thread(FILE *out, uint32_t number, const struct zeta_vgpu_debug_remains *remains,
                       int32_t signal)
{
    struct prstatus status = {
        .signal = signal,
        .current_signal = (int16_t)signal,
        .number = (int32_t)number,
        .pc = remains->pc,
        .has_fp = 1,
    };
    struct fpregs fp = {.fcsr = remains->fcsr};

    memcpy(status.x, remains->x + 1, sizeof(status.x));
    memcpy(fp.f, remains->f, sizeof(fp.f));
    put_note(out, "CORE", NT_PRSTATUS, &status, sizeof(status));
    put_note(out, "CORE", NT_FPREGSET, &fp, sizeof(fp));
}

/* What is about the process, behind the first thread: GDB takes it for that of the fault. */
static void put_process(FILE *out, const struct core *core, int32_t signal, int32_t code)
{
    const struct zeta_vgpu_fault *fault = core->fault;
    const struct siginfo info = {.signal = signal, .code = code, .address = fault->address};
    const uint64_t vector[] = {AT_SYSINFO_EHDR, FILE_ADDRESS, AT_NULL, 0};
    struct prpsinfo process = {.state_name = 'R', .process = (int32_t)getpid()};

    (void)snprintf(process.name, sizeof(process.name), "%s", program_invocation_short_name);
    (void)snprintf(process.arguments, sizeof(process.arguments),
                   "group (%u, %u, %u), local id (%u, %u, %u) of %s", fault->group_id[0],
                   fault->group_id[1], fault->group_id[2], fault->local_id[0], fault->local_id[1],
                   fault->local_id[2], core->launch->kernel->name);
    put_note(out, "CORE", NT_SIGINFO, &info, sizeof(info));
    put_note(out, "CORE", NT_PRPSINFO, &process, sizeof(process));
    put_note(out, "CORE", NT_AUXV, vector, sizeof(vector));
}

/* The threads in the order of the file: the faulting one, then the others. UINT32_MAX: no more. */
static uint32_t next_thread(const struct core *core, uint32_t before,
                            struct zeta_vgpu_debug_remains *out_remains)
{
    uint32_t thread = before == core->faulted ? 0 : before + 1;

    if (before == UINT32_MAX)
        thread = core->faulted;
    for (; thread < tile_threads(core); thread++) {
        if ((thread != core->faulted || before == UINT32_MAX) &&
            zeta_vgpu_debug_remains(core->tile->engine, thread, out_remains))
            return thread;
    }
    return UINT32_MAX;
}

/* Writes all notes to memory; false without it. */
static bool make_notes(struct core *core)
{
    FILE *out = open_memstream(&core->notes, &core->notes_bytes);
    struct zeta_vgpu_core_thread *threads = calloc(tile_threads(core), sizeof(*threads));
    struct zeta_vgpu_debug_remains remains;
    int32_t code, signal = signal_of(core, &code);
    size_t count = 0;
    bool good = out && threads;

    for (uint32_t t = UINT32_MAX; good && (t = next_thread(core, t, &remains)) != UINT32_MAX;) {
        struct zeta_vgpu_core_thread *thread = &threads[count++];

        thread->number = number_of(core, t);
        memcpy(thread->ids, remains.ids, sizeof(thread->ids));
        thread->local_begin = remains.local_begin;
        thread->local_bytes = remains.local_bytes;
        thread->local_address = (uintptr_t)remains.local;
        /* GDB shows that of the last one, and it is one for all of a core anyway. */
        put_thread(out, (uint32_t)thread->number, &remains, signal);
        if (count == 1)
            put_process(out, core, signal, code);
    }
    if (good) {
        put_note(out, "ZETA", ZETA_VGPU_NOTE_FAULT, core->fault->message.text,
                 strlen(core->fault->message.text) + 1);
        put_note(out, "ZETA", ZETA_VGPU_NOTE_THREADS, threads, count * sizeof(*threads));
        put_note(out, "ZETA", ZETA_VGPU_NOTE_MODULES, core->modules,
                 core->module_count * sizeof(*core->modules));
    }
    core->threads = threads;
    core->threads_bytes = count * sizeof(*threads);
    good = good && ferror(out) == 0;
    return out && fclose(out) == 0 && good;
}

/* ---- memory --------------------------------------------------------------------------------- */

/*
 * A copy of the file of the kernel's module with program headers of our own behind it: the first
 * one covers all of it and tells GDB where the module is (the address in memory minus that in the
 * header). The others are those of the file.
 */
static bool make_file(struct core *core)
{
    size_t size;
    const void *given = zeta_vgpu_image_file(core->launch->image, &size);
    Elf64_Phdr all = {.p_type = PT_LOAD, .p_flags = PF_R, .p_align = 1};
    Elf64_Ehdr header;

    memcpy(&header, given, sizeof(header));
    core->segment_count = header.e_phnum;
    core->file_bytes = (size + 7) / 8 * 8 + ((uint64_t)header.e_phnum + 1) * sizeof(Elf64_Phdr);
    core->file = calloc(1, core->file_bytes);
    if (!core->file)
        return false;
    memcpy(core->file, given, size);
    core->segments = (Elf64_Phdr *)(void *)(core->file + (size + 7) / 8 * 8);
    all.p_vaddr = all.p_paddr = FILE_ADDRESS - core->modules[0].offset;
    all.p_filesz = all.p_memsz = core->file_bytes;
    *core->segments++ = all;
    memcpy(core->segments, core->file + header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
    header.e_phoff = (size + 7) / 8 * 8;
    header.e_phnum++;
    memcpy(core->file, &header, sizeof(header));
    return true;
}

/* True when the range has a part of the kernel's module. */
static bool is_of_module(const struct core *core, const struct zeta_vgpu_range *range)
{
    for (uint32_t i = 0; i < core->segment_count; i++) {
        const uint64_t begin = core->segments[i].p_vaddr + core->modules[0].offset;

        if (core->segments[i].p_type == PT_LOAD && begin < range->end &&
            begin + core->segments[i].p_filesz > range->begin)
            return true;
    }
    return false;
}

/*
 * GDB reads the segments of the module from the core as well, and gives up when one is not there:
 * those that had no room become empty ones.
 */
static void clear_missing_segments(struct core *core)
{
    for (uint32_t i = 0; i < core->segment_count; i++) {
        Elf64_Phdr *segment = &core->segments[i];
        const uint64_t begin = segment->p_vaddr + core->modules[0].offset;
        const uint64_t end = begin + segment->p_filesz;
        uint64_t at = begin;

        for (size_t k = 0; k < core->piece_count; k++) {
            const struct piece *piece = &core->pieces[k];

            if (piece->address <= at && at < piece->address + piece->bytes)
                at = piece->address + piece->bytes;
        }
        if (at < end)
            segment->p_filesz = 0;
    }
}

static void add_piece(struct core *core, struct piece piece)
{
    if (core->piece_count == core->piece_room) {
        const size_t room = core->piece_room ? core->piece_room * 2 : 1024;
        struct piece *pieces = realloc(core->pieces, room * sizeof(*pieces));

        core->no_memory |= !pieces;
        if (!pieces)
            return;
        core->pieces = pieces;
        core->piece_room = room;
    }
    core->pieces[core->piece_count++] = piece;
}

static void add_bytes(struct core *core, uint64_t address, const void *from, uint64_t bytes,
                      enum rank rank)
{
    const struct piece piece = {.address = address,
                                .bytes = bytes,
                                .from = from,
                                .whole = bytes,
                                .rank = rank,
                                .flags = PF_R | PF_W};

    if (bytes > 0)
        add_piece(core, piece);
}

/* Private and local memory of all threads. */
static void add_threads(struct core *core)
{
    struct zeta_vgpu_debug_remains remains;

    for (uint32_t t = UINT32_MAX; (t = next_thread(core, t, &remains)) != UINT32_MAX;) {
        const uint64_t sp = remains.x[2];
        const bool is_inside = sp >= remains.private_begin && sp < remains.private_end;
        const uint64_t begin = is_inside ? sp : remains.private_begin;

        add_bytes(core, begin, (const void *)(uintptr_t)begin, remains.private_end - begin,
                  t == core->faulted ? RANK_SYMBOLS : RANK_STACK);
        if (t == core->faulted)
            add_bytes(core, remains.local_begin, remains.local, remains.local_bytes, RANK_LOCAL);
        /* Of each thread the same; it is taken once. */
        add_bytes(core, (uintptr_t)remains.local, remains.local, remains.local_bytes, RANK_GROUP);
    }
}

/* ---- modules -------------------------------------------------------------------------------- */

static void add_module(struct core *core, const struct zeta_vgpu_image *image)
{
    struct zeta_vgpu_core_module *module = &core->modules[core->module_count++];
    size_t size;

    module->offset = zeta_vgpu_image_offset(image);
    module->file_begin = (uintptr_t)zeta_vgpu_image_file(image, &size);
    module->file_bytes = size;
    zeta_vgpu_image_text(image, &module->text_begin, &module->text_end);
}

/* A thread is at this address or may come back to it. */
static void enter(struct core *core, uint64_t address)
{
    for (size_t i = 0; i < core->module_count; i++)
        core->entered[i] |=
            address >= core->modules[i].text_begin && address < core->modules[i].text_end;
}

/* All modules, and which of them threads were in; false without memory. */
static bool list_modules(struct core *core, const struct zeta_vgpu_target_module *first)
{
    const struct zeta_vgpu_target_module *module;
    struct zeta_vgpu_debug_remains remains;
    size_t count = 1;

    for (module = first; module; module = TAILQ_NEXT(module, entry))
        count++;
    core->modules = calloc(count, sizeof(*core->modules));
    core->entered = calloc(count, sizeof(*core->entered));
    if (!core->modules || !core->entered)
        return false;
    add_module(core, core->launch->image);
    for (module = first; module; module = TAILQ_NEXT(module, entry)) {
        if (module->image != core->launch->image)
            add_module(core, module->image);
    }
    for (uint32_t t = UINT32_MAX; (t = next_thread(core, t, &remains)) != UINT32_MAX;) {
        const uint64_t sp = remains.x[2];
        const bool has_stack = t == core->faulted && sp % sizeof(uint64_t) == 0 &&
                               sp >= remains.private_begin && sp < remains.private_end;

        enter(core, remains.pc);
        enter(core, remains.x[1]);
        for (uint64_t at = sp; has_stack && at < remains.private_end; at += sizeof(uint64_t))
            enter(core, *(const uint64_t *)(uintptr_t)at);
    }
    return true;
}

/* ---- global memory -------------------------------------------------------------------------- */

static bool is_near(const struct core *core, const struct zeta_vgpu_debug_remains *remains,
                    uint64_t begin, uint64_t end)
{
    const uint64_t address = core->fault->address;

    if (address < end + NEAR_BYTES && address + NEAR_BYTES >= begin)
        return true;
    for (uint32_t i = 1; i < 32; i++) {
        if (remains->x[i] >= begin && remains->x[i] < end)
            return true;
    }
    return false;
}

/* Cuts what holds something into pieces, of which some may be near to what the fault is about. */
static void add_extent(struct core *core, const struct zeta_vgpu_range *range, uint64_t begin,
                       uint64_t end, enum rank rank, const struct zeta_vgpu_debug_remains *remains)
{
    while (begin < end) {
        const uint64_t cut = (begin / PIECE_BYTES + 1) * PIECE_BYTES;
        struct piece piece = {.address = begin,
                              .bytes = (end < cut ? end : cut) - begin,
                              .from = (const void *)(uintptr_t)begin,
                              .whole = range->end - range->begin,
                              .rank = rank,
                              .flags =
                                  PF_R | (range->writable ? PF_W : 0) | (range->code ? PF_X : 0)};

        if (rank == RANK_REST && is_near(core, remains, begin, begin + piece.bytes))
            piece.rank = RANK_NEAR;
        add_piece(core, piece);
        begin += piece.bytes;
    }
}

/* What of all ranges that kernels may touch holds something. */
static void add_ranges(struct core *core)
{
    struct zeta_vgpu_debug_remains remains;
    struct zeta_vgpu_range range;

    (void)zeta_vgpu_debug_remains(core->tile->engine, core->faulted, &remains);
    for (uint64_t at = 0; zeta_vgpu_space_next(core->vgpu->space, at, &range); at = range.end) {
        enum rank rank = range.code || is_of_module(core, &range) ? RANK_LOCAL : RANK_REST;
        uint64_t begin = range.begin, end;

        for (size_t i = 1; i < core->module_count; i++) {
            if (core->entered[i] && range.begin == core->modules[i].file_begin)
                rank = RANK_SYMBOLS;
        }
        for (; begin < range.end && zeta_vgpu_memory_find_data(core->vgpu->memory, range.begin,
                                                               begin, range.end, &begin, &end);
             begin = end)
            add_extent(core, &range, begin, end, rank, &remains);
    }
}

static int by_rank(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->whole != b->whole)
        return a->whole < b->whole ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

static int by_address(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

/* Chooses what has room in so many bytes, and makes segments of it in the order of addresses. */
static void choose_pieces(struct core *core, uint64_t room)
{
    struct piece *pieces = core->pieces;
    size_t kept = 0, segments = 0;
    uint64_t before = 0;

    qsort(pieces, core->piece_count, sizeof(*pieces), by_rank);
    for (size_t i = 0; i < core->piece_count; i++) {
        struct piece piece = pieces[i];
        uint64_t most =
            kept < MOST_SEGMENTS && room > sizeof(Elf64_Phdr) ? room - sizeof(Elf64_Phdr) : 0;

        if (i > 0 && piece.address == before)
            continue;
        before = piece.address;
        most = piece.bytes < most ? piece.bytes : most;
        core->left_out += piece.bytes - most;
        if (most == 0)
            continue;
        room -= most + sizeof(Elf64_Phdr);
        piece.bytes = most;
        pieces[kept++] = piece;
    }
    qsort(pieces, kept, sizeof(*pieces), by_address);
    for (size_t i = 0; i < kept; i++) {
        struct piece *last = segments > 0 ? &pieces[segments - 1] : NULL;

        if (last && last->address + last->bytes == pieces[i].address &&
            last->from + last->bytes == pieces[i].from && last->flags == pieces[i].flags)
            last->bytes += pieces[i].bytes;
        else
            pieces[segments++] = pieces[i];
    }
    core->piece_count = segments;
}

/* ---- the file ------------------------------------------------------------------------------- */

/* Writes bytes of this process, leaving a hole where some are gone. An errno value. */
static int write_bytes(struct core *core, int file, const void *bytes, uint64_t size, uint64_t at)
{
    const unsigned char *from = bytes;
    const uint64_t page = zeta_vgpu_page_bytes();

    while (size > 0) {
        const ssize_t written = pwrite(file, from, size, (off_t)at);
        uint64_t done = written > 0 ? (uint64_t)written : 0;

        if (written < 0 && errno == EFAULT) {
            /* Memory of the application, which has taken it away since. */
            done = page - (uintptr_t)from % page;
            done = done < size ? done : size;
            core->left_out += done;
        } else if (written < 0 && errno != EINTR) {
            return errno;
        }
        from += done;
        at += done;
        size -= done;
    }
    return 0;
}

static int write_core(struct core *core, int file)
{
    const size_t count = core->piece_count + 1;
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
                    ELFOSABI_LINUX},
        .e_type = ET_CORE,
        .e_machine = EM_RISCV,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof(header),
        .e_flags = RISCV_DOUBLE_ABI,
        .e_ehsize = sizeof(header),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = (Elf64_Half)count,
    };
    Elf64_Phdr *segments = calloc(count, sizeof(*segments));
    uint64_t at = sizeof(header) + count * sizeof(*segments);
    int error = segments ? 0 : ENOMEM;

    if (error == 0) {
        segments[0] = (Elf64_Phdr){
            .p_type = PT_NOTE, .p_offset = at, .p_filesz = core->notes_bytes, .p_align = 4};
        error = write_bytes(core, file, core->notes, core->notes_bytes, at);
        at += core->notes_bytes;
    }
    for (size_t i = 0; error == 0 && i < core->piece_count; i++) {
        const struct piece *piece = &core->pieces[i];

        segments[i + 1] = (Elf64_Phdr){.p_type = PT_LOAD,
                                       .p_flags = piece->flags,
                                       .p_offset = at,
                                       .p_vaddr = piece->address,
                                       .p_filesz = piece->bytes,
                                       .p_memsz = piece->bytes,
                                       .p_align = 1};
        error = write_bytes(core, file, piece->from, piece->bytes, at);
        at += piece->bytes;
    }
    if (error == 0)
        error = write_bytes(core, file, segments, count * sizeof(*segments), sizeof(header));
    if (error == 0)
        error = write_bytes(core, file, &header, sizeof(header), 0);
    if (error == 0 && ftruncate(file, (off_t)at) != 0)
        error = errno;
    free(segments);
    return error;
}

/*
 * Makes the file with another name first, so that who finds it finds all of it, and gives it a name
 * that no other has. An errno value.
 */
static int make_core(struct core *core)
{
    const char *folder = core->vgpu->description.core_dir;
    char path[sizeof(core->path)];
    int file, error;

    (void)snprintf(path, sizeof(path), "%s/.zeta-core-XXXXXX", folder);
    file = mkostemp(path, O_CLOEXEC); /* of mode 0600 */
    if (file < 0)
        return errno;
    error = write_core(core, file);
    if (close(file) != 0 && error == 0)
        error = errno;
    for (uint32_t n = 0, linked = EEXIST; error == 0 && linked == EEXIST; n++) {
        (void)snprintf(core->path, sizeof(core->path), "%s/zeta-core-%.32s-%d-%u", folder,
                       program_invocation_short_name, (int)getpid(), n);
        linked = link(path, core->path) == 0 ? 0 : (uint32_t)errno;
        error = linked == EEXIST ? 0 : (int)linked;
    }
    (void)unlink(path);
    return error;
}

/* Bytes that the file may have. */
static uint64_t most_bytes(const struct zeta_vgpu *vgpu)
{
    const uint64_t wanted = vgpu->description.core_size_bytes;
    struct rlimit limit;

    /* A file that is larger than this limit would end the process with SIGXFSZ. */
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < wanted ? limit.rlim_cur
                                                                           : wanted;
}

/* Takes all of it down; nothing executes meanwhile. An errno value. */
static int collect(struct core *core)
{
    const struct zeta_vgpu_topology *topology = &core->vgpu->description.topology;
    const struct zeta_vgpu_fault *fault = core->fault;
    const uint64_t most = most_bytes(core->vgpu);
    uint64_t used;
    int error = ENOMEM;

    core->faulted = ((fault->slice * topology->subslices_per_slice + fault->subslice) *
                         topology->eus_per_subslice +
                     fault->eu) *
                        topology->threads_per_eu +
                    fault->thread;
    if (list_modules(core, zeta_vgpu_target_lock_modules(core->vgpu->target))) {
        (void)zeta_vgpu_space_hold(core->vgpu->space);
        if (make_notes(core) && make_file(core)) {
            add_bytes(core, FILE_ADDRESS, core->file, core->file_bytes, RANK_SYMBOLS);
            add_bytes(core, ZETA_VGPU_CORE_THREADS_ADDRESS, core->threads, core->threads_bytes,
                      RANK_SYMBOLS);
            add_threads(core);
            add_ranges(core);
        }
        used = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + core->notes_bytes;
        if (core->piece_count > 0 && !core->no_memory) {
            choose_pieces(core, most > used ? most - used : 0);
            clear_missing_segments(core);
            error = used > most ? EFBIG : make_core(core);
        }
        zeta_vgpu_space_release(core->vgpu->space);
    }
    zeta_vgpu_target_unlock_modules(core->vgpu->target);
    return error;
}

/* ---- what people read ----------------------------------------------------------------------- */

static void tell(const struct core *core)
{
    const struct zeta_vgpu_description *d = &core->vgpu->description;
    const struct zeta_host *host = &core->vgpu->self->host;
    char left_out[128] = "", path[1024], script[PATH_MAX];
    uint32_t told = 0;

    /* Commands of GDB for work-items: in the folder that has those of the data, or the manifests.
     */
    (void)snprintf(path, sizeof(path), "%.900s/../zeta-gdb.py", host->data_dir);
    if (access(path, R_OK) != 0)
        (void)snprintf(path, sizeof(path), "%.900s/../../zeta-gdb.py", host->data_dir);
    if (!realpath(path, script) || strlen(script) > MOST_SCRIPT_BYTES)
        script[0] = '\0';
    if (core->left_out > 0)
        (void)snprintf(left_out, sizeof(left_out),
                       "; it lacks %" PRIu64 " KiB of memory: core_size_mib is %" PRIu64,
                       (core->left_out + 1023) / 1024, d->core_size_bytes >> 20);
    zeta_host_log(host, ZETA_PLUGIN_LOG_ERROR,
                  "%s: the fault left a core dump, see it with: gdb-multiarch --core='%s'%s%s%s%s",
                  d->id, core->path, script[0] ? " -x '" : "", script, script[0] ? "'" : "",
                  left_out);
    for (size_t i = 1; i < core->module_count && told < MOST_LOGGED_MODULES; i++) {
        const struct zeta_vgpu_core_module *module = &core->modules[i];

        if (!core->entered[i])
            continue;
        told++;
        zeta_host_log(host, ZETA_PLUGIN_LOG_ERROR,
                      "%s: for names in another module append: -ex 'dump binary memory %s.%u.elf "
                      "0x%" PRIx64 " 0x%" PRIx64 "' -ex 'add-symbol-file %s.%u.elf -o 0x%" PRIx64
                      "'",
                      d->id, core->path, told, module->file_begin,
                      module->file_begin + module->file_bytes, core->path, told, module->offset);
    }
}

void zeta_vgpu_core_dump(struct zeta_vgpu_tile *tile, const struct zeta_vgpu_launch *launch,
                         const struct zeta_vgpu_fault *fault)
{
    struct zeta_vgpu *vgpu = tile->vgpu;
    const char *folder = vgpu->description.core_dir, *id = vgpu->description.id;
    const struct zeta_host *host = &vgpu->self->host;
    struct core core = {.vgpu = vgpu, .tile = tile, .launch = launch, .fault = fault};
    uint32_t number;
    int error;

    if (strcmp(folder, "off") == 0)
        return;
    /* As the kernel does it: it clears the second where a process changes its ids. */
    if (getauxval(AT_SECURE) != 0 || prctl(PR_GET_DUMPABLE) != 1) {
        zeta_host_log(host, ZETA_PLUGIN_LOG_WARN,
                      "%s: no core dump, as the program has more rights than its caller (setuid, "
                      "setcap), has changed its ids, or forbids core dumps (PR_SET_DUMPABLE)",
                      id);
        return;
    }
    number = atomic_fetch_add(&vgpu->core_dumps, 1);
    if (number >= ZETA_VGPU_CORE_DUMPS) {
        atomic_fetch_sub(&vgpu->core_dumps, 1);
        zeta_host_log(host, ZETA_PLUGIN_LOG_WARN,
                      "%s: no core dump of this fault, this process left %u already", id,
                      ZETA_VGPU_CORE_DUMPS);
        return;
    }
    error = collect(&core);
    if (error == 0)
        tell(&core);
    else
        zeta_host_log(host, ZETA_PLUGIN_LOG_ERROR,
                      "%s: no core dump of the fault could be written to %s (core_dir): %s%s", id,
                      folder, strerror(error),
                      error == EFBIG ? "; the registers of all threads need more than "
                                       "core_size_mib, or ulimit -f, leaves"
                                     : "");
    free(core.file);
    free(core.notes);
    free(core.threads);
    free(core.pieces);
    free(core.modules);
    free(core.entered);
}
