"""Commands of GDB for kernels that run on Zeta's virtual GPU.

    info kernels          what runs
    info groups           the work-groups that are resident, and what they do
    info barriers         who waits at a barrier, and who has not come
    info fault            what a work-item did whose access or instruction failed
    workitem              choose a work-item by its ids
    print-group           an expression in every work-item of a group, as a table
    break-diverge         stop where work-items of a group take different ways

"zeta debug" loads this file; without it: source zeta-gdb.py. sdk/doc/gdb-commands.md shows it at
work.

A work-item is a thread of GDB. Its ids, and the sizes of its launch, are in its thread block, which
is memory at tp, of a live device and of a core file. All else are registers of the server's feature
org.zeta.vgpu.thread; a core file has some of them as memory. zeta-gdbserver lists what the commands
need of all threads at once. What was read is kept until threads run.
"""

import collections
import contextlib
import os
import re
import struct

import gdb

# struct vgpu_thread: global size and offset, local size, group count, group id, local id (three
# numbers each), dimensions, hardware thread, begin and size of local and of private memory.
THREAD_BLOCK = struct.Struct("<18Q2I4Q")
# An array of struct zeta_vgpu_core_thread, at this address of a core file: the thread's number, its
# ids (whether it waits at a barrier and its launch among them), and where its local memory is.
CORE_THREADS = 1 << 61
CORE_THREAD = struct.Struct("<14Q")
TILE_SHIFT = 24  # of the tile's number in the hardware thread
MOST_ITEMS = 1 << 16  # of a group; blocks that say more are none

# What the symbols at which kernels begin have before the kernel's name.
ENTRY_PREFIXES = ("__vgpu_entry.", "vgpu_entry_")
# Source files of the device's library, in which nobody looks for a mistake.
LIBRARY_FILES = ("vgpu.h", "runtime.c")

# Bits of the register cause.
CAUSE_ILLEGAL = 1 << 28
CAUSE_FAULT = 1 << 16
# SIGILL, SIGABRT, SIGBUS and SIGSEGV of a core file.
CAUSES_OF_SIGNALS = {4: CAUSE_ILLEGAL, 6: CAUSE_FAULT, 7: CAUSE_FAULT, 11: CAUSE_FAULT}

X_NAMES = (
    "zero ra sp gp tp t0 t1 t2 fp s1 a0 a1 a2 a3 a4 a5 a6 a7 "
    "s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"
).split()
MASK_64 = (1 << 64) - 1
SLICE_BYTES = 0x8000  # of a document, in a packet
ECALL = 0x00000073
JUMP = 0x06F  # the low bits of a jal that does not link

FORMATS = tuple("xduotacfsz")  # letters that print-group knows
MOST_IDS = 8  # in a line; more are counted


# Work-items ---------------------------------------------------------------------------------------

# What work-items of one kernel have in common. A tile runs one launch at a time.
Launch = collections.namedtuple("Launch", "tile global_size global_offset local_size group_count")

# A thread block: the launch and the ids; where local memory of the group and its own memory are.
Block = collections.namedtuple(
    "Block", "launch group local local_begin local_bytes private_begin private_bytes"
)


def read_block(address):
    """The thread block at an address; None if there is none: tp may point to anything."""
    try:
        memory = gdb.selected_inferior().read_memory(address & MASK_64, THREAD_BLOCK.size)
    except (gdb.error, ValueError):
        return None
    numbers = THREAD_BLOCK.unpack(bytes(memory))
    triples = [numbers[i : i + 3] for i in range(0, 18, 3)]
    launch = Launch(numbers[19] >> TILE_SHIFT, *triples[:4])
    block = Block(launch, *triples[4:], *numbers[20:])
    is_sound = (
        volume(launch.local_size) <= MOST_ITEMS
        and is_below(block.local, launch.local_size)
        and is_below(block.group, launch.group_count)
        and all(
            launch.global_size[d] == launch.local_size[d] * launch.group_count[d] for d in range(3)
        )
    )
    return block if is_sound else None


class Item:
    """A work-item that has a thread."""

    def __init__(self, thread, pc, block_address, group, local, launch, registers):
        self.thread = thread
        self.pc = pc
        self.block_address = block_address
        self.group, self.local = group, local
        self.launch = launch
        self.registers = registers  # of the server's feature, as far as they were read

    def register(self, name):
        """A register of the server's feature; None where there is no such register."""
        read_register([self], name)
        return self.registers[name]

    @property
    def waits(self):
        """Whether it waits at the barrier of its group; None: not known."""
        value = self.register("at_barrier")
        return None if value is None else value != 0

    @property
    def has_fault(self):
        """Behind read_causes()."""
        return bool((self.registers["cause"] or 0) & (CAUSE_FAULT | CAUSE_ILLEGAL))

    @property
    def name(self):
        return f"group {ids_text(self.group)} local {ids_text(self.local)}"


# Forgotten when threads run.
_items = {}  # by number of the inferior
_places = {}  # in the source, by what tells them: see place_in_source()


def _forget(_event):
    _items.clear()
    _places.clear()


def volume(size):
    return size[0] * size[1] * size[2]


def is_below(ids, size):
    return all(0 <= ids[d] < size[d] for d in range(3))


def read_item(thread, frame):
    """The work-item of the selected thread, whose newest frame is given; None if it is none."""
    try:
        address = int(frame.read_register("tp"))
    except (gdb.error, ValueError):
        return None
    block = read_block(address)
    if block is None:
        return None
    return Item(thread, frame.pc(), address, block.group, block.local, block.launch, {})


@contextlib.contextmanager
def kept_selection():
    """The selected thread and frame are the same afterwards."""
    thread, frame = gdb.selected_thread(), None
    with contextlib.suppress(gdb.error):
        frame = gdb.selected_frame()
    try:
        yield
    finally:
        if thread is not None and thread.is_valid():
            thread.switch()
        if frame is not None and frame.is_valid():
            frame.select()


def read_document(inferior, name):
    """A text that the server of an inferior has; None where there is no such server or text."""
    text = b""
    try:
        while True:
            packet = f"qXfer:{name}:read::{len(text):x},{SLICE_BYTES:x}"
            answer = inferior.connection.send_packet(packet)
            if answer[:1] not in (b"m", b"l"):
                return None
            text += answer[1:]
            if answer[:1] == b"l":
                return text.decode(errors="replace")
    except (AttributeError, TypeError, gdb.error):
        return None


def items_of_server(inferior, document):
    """The work-items as zeta-gdbserver lists them: all at once, which matters with thousands."""
    threads = {thread.ptid[1]: thread for thread in inferior.threads()}
    launches, items = {}, []
    for line in document.splitlines():
        tid, pc, address, *values = (int(word, 16) for word in line.split())
        group, local = tuple(values[:3]), tuple(values[3:6])
        number, _, waits, launch, cause, cause_address, ra = values[6:13]
        # Threads of a tile have the same distance to their numbers in it.
        key = tid - number, launch
        if key not in launches:
            # A kernel may have overwritten some of its blocks, but not what the server says.
            block = read_block(address)
            if block and (block.group, block.local) == (group, local):
                launches[key] = block.launch
        registers = {"at_barrier": waits, "launch": launch, "cause": cause}
        registers.update(cause_address=cause_address, ra=ra)
        if tid in threads:
            items.append(Item(threads[tid], pc, address, group, local, key, registers))
    for item in items:
        item.launch = launches.get(item.launch)
    return [item for item in items if item.launch is not None]


def read_core(inferior):
    """Registers that a core file has, by the number of the thread; none of what is no core file."""
    try:
        size = CORE_THREAD.size * len(inferior.threads())
        entries = CORE_THREAD.iter_unpack(bytes(inferior.read_memory(CORE_THREADS, size)))
    except gdb.error:
        return {}
    return {entry[0]: {"at_barrier": entry[9], "launch": entry[10]} for entry in entries}


def items_of_threads(inferior):
    """The same by asking each thread: of a core file."""
    items = []
    with kept_selection():
        for thread in inferior.threads():
            if not thread.is_running():
                thread.switch()
                items.append(read_item(thread, gdb.newest_frame()))
    items = [item for item in items if item is not None]
    registers = read_core(inferior)
    for item in items:
        item.registers.update(registers.get(item.thread.ptid[1], {}))
    return items


def read_items(inferior):
    """The work-items of the selected inferior, in the order of their threads."""
    document = read_document(inferior, "work-items")
    if document is None:
        items = items_of_threads(inferior)
    else:
        try:
            items = items_of_server(inferior, document)
        except ValueError:
            raise gdb.GdbError(
                "The server lists work-items in a form that this zeta-gdb.py does not know: both "
                "have to be of one version of Zeta."
            ) from None
    return sorted(items, key=lambda item: item.thread.num)


def read_register(items, name):
    """Reads a register of all these work-items, which takes less than one after the other."""
    missing = [item for item in items if name not in item.registers]
    if not missing:
        return
    with kept_selection():
        for item in missing:
            item.registers[name] = None
            item.thread.switch()
            with contextlib.suppress(gdb.error, ValueError):
                item.registers[name] = int(gdb.newest_frame().read_register(name))


def read_causes(items):
    """Reads the cause of each; a core file has none but a signal of the thread that failed."""
    read_register(items, "cause")
    if not items or items[0].registers["cause"] is not None:
        return
    with kept_selection():
        for item in items:
            item.thread.switch()
            with contextlib.suppress(gdb.error):
                info = gdb.parse_and_eval("$_siginfo")
                address = info["_sifields"]["_sigfault"]["si_addr"]
                item.registers["cause_address"] = int(address) & MASK_64
                item.registers["cause"] = CAUSES_OF_SIGNALS.get(int(info["si_signo"]), 0)


def is_device(inferior):
    """Whether it executes what the virtual GPU does."""
    return bool(inferior.threads()) and inferior.architecture().name().startswith("riscv:rv64")


def some_run():
    return any(thread.is_running() for thread in gdb.selected_inferior().threads())


def find_items():
    """All work-items of the selected inferior that are stopped, at least one; GdbError says why
    there are none."""
    inferior = gdb.selected_inferior()
    if inferior.num not in _items and is_device(inferior):
        _items[inferior.num] = read_items(inferior)
    if _items.get(inferior.num):
        return _items[inferior.num]
    others = [other.num for other in gdb.inferiors() if other != inferior and is_device(other)]
    hint = f' The device is another inferior: "inferior {others[0]}".' if others else ""
    if not inferior.threads():
        raise gdb.GdbError(f"No kernel runs: inferior {inferior.num} has no threads.{hint}")
    if not is_device(inferior):
        raise gdb.GdbError(
            f"Inferior {inferior.num} is no virtual GPU: its architecture is "
            f"{inferior.architecture().name()}.{hint}"
        )
    if some_run():
        raise gdb.GdbError('The threads run; stop them first: "interrupt -a".')
    raise gdb.GdbError(
        f"No kernel runs on the device of inferior {inferior.num} now. To stop in the next one: "
        f'"break KERNEL", "continue".{hint}'
    )


def find_all_items():
    """The same, for those who tell of every work-item, also of what has no thread any more."""
    items = find_items()
    if some_run():
        raise gdb.GdbError('Some work-items run; stop them first: "interrupt -a".')
    return items


def selected_item(items):
    thread = gdb.selected_thread()
    return next((item for item in items if thread and item.thread.num == thread.num), None)


def demand_selected_item(items):
    item = selected_item(items)
    if item is None:
        raise gdb.GdbError(
            'The selected thread is no work-item. Choose one: "workitem GROUP LOCAL"; '
            '"info groups" lists the groups.'
        )
    return item


def groups_of(items):
    """Lists of work-items by launch and group, in the order of their threads."""
    groups = {}
    for item in items:
        groups.setdefault((item.launch, item.group), []).append(item)
    return groups


def ended_of(members):
    """The local ids of a group that these work-items are the rest of, and not all."""
    there = {item.local for item in members}
    size = members[0].launch.local_size
    every = ((x, y, z) for z in range(size[2]) for y in range(size[1]) for x in range(size[0]))
    return [ids for ids in every if ids not in there]


# Places in the program ----------------------------------------------------------------------------


def frames():
    """Frames of the selected thread, from the newest on, as far as they can be found."""
    frame = gdb.newest_frame()
    while frame is not None:
        yield frame
        try:
            frame = frame.older()
        except gdb.error:
            return


def symbol_at(pc):
    text = gdb.execute(f"info symbol {pc:#x}", False, True)
    match = re.match(r"(.+?)(?: \+ \d+)? in section", text)
    return match.group(1) if match else None


def kernel_of(item):
    """Name of the kernel that a work-item executes: its oldest function."""
    oldest = f"{item.pc:#x}"
    with kept_selection():
        item.thread.switch()
        for frame in frames():
            name = frame.name() or symbol_at(frame.pc())
            if name is None:
                break
            oldest = name
    for prefix in ENTRY_PREFIXES:
        if oldest.startswith(prefix):
            return oldest[len(prefix) :]
    return oldest


def line_text(sal):
    return f"{os.path.basename(sal.symtab.filename)}:{sal.line}"


def place_of_pc(pc):
    sal = gdb.find_pc_line(pc)
    if sal.symtab is not None and sal.line > 0:
        return line_text(sal)
    return symbol_at(pc) or f"{pc:#x}"


def place_in_source(item):
    """Where a work-item is in the program's source: the newest frame that is not the library's.

    A group waits at one line mostly. Of those at the same pc one is looked at, if the place is
    there, or where ra points to and that was the caller."""
    here = gdb.selected_inferior().num, item.waits, item.pc
    behind = here + (item.registers.get("ra"),)
    if here not in _places and behind not in _places:
        place, pcs = find_place(item)
        if len(pcs) == 1:
            _places[here] = place
        elif pcs[1:] == [behind[-1]]:
            _places[behind] = place
        else:
            return place
    return _places.get(here) or _places[behind]


def find_place(item):
    """The place, and the different pcs of the frames up to there."""
    pcs = []
    with kept_selection():
        item.thread.switch()
        for frame in frames():
            if frame.pc() not in pcs[-1:]:
                pcs.append(frame.pc())
            sals = [frame.find_sal()]
            if item.waits and frame.pc() == item.pc:
                # The call of the barrier was executed: pc is behind it.
                sals.insert(0, gdb.find_pc_line(item.pc - 4))
            for sal in sals:
                if sal.symtab is None or sal.line == 0:
                    continue
                if os.path.basename(sal.symtab.filename) not in LIBRARY_FILES:
                    return f"{frame.name()} at {line_text(sal)}", pcs
    return place_of_pc(item.pc), pcs


def most_frequent_places(items):
    counts = collections.Counter(place_of_pc(item.pc) for item in items).most_common()
    if len(counts) == 1:
        return counts[0][0]
    texts = [f"{place} ({number})" for place, number in counts[:2]]
    if len(counts) > 2:
        texts.append(counted(len(counts) - 2, "more place"))
    return ", ".join(texts)


# Text ---------------------------------------------------------------------------------------------


def put(text):
    gdb.write(text + "\n")


def put_columns(rows, right=()):
    """Rows of equally many texts, in columns; those with a number in @right are flush right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [
            text.rjust(width) if i in right else text.ljust(width)
            for i, (text, width) in enumerate(zip(row, widths))
        ]
        put("  ".join(cells).rstrip())


def counted(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def ids_text(ids):
    return ",".join(str(i) for i in ids)


def list_text(every):
    """Ids, the first of many."""
    texts = [ids_text(ids) for ids in every[:MOST_IDS]]
    if len(every) > MOST_IDS:
        texts.append(f"and {len(every) - MOST_IDS} more")
    return "  ".join(texts)


def parse_ids(text):
    """X[,Y[,Z]], each a number or an expression of GDB."""
    parts = text.split(",")
    if len(parts) > 3 or not all(parts):
        raise gdb.GdbError(f'"{text}" is no id: it is X, X,Y or X,Y,Z, without blanks.')
    ids = [int(part) if part.isdecimal() else int(gdb.parse_and_eval(part)) for part in parts]
    return tuple(ids + [0] * (3 - len(ids)))


def find_group(items, group):
    """The work-items of a group, of the selected launch first."""
    selected = selected_item(items)
    groups = groups_of(items)
    launches = list(dict.fromkeys(([selected.launch] if selected else []) + [l for l, _ in groups]))
    for launch in launches:
        if (launch, group) in groups:
            return groups[launch, group]
    if not any(is_below(group, launch.group_count) for launch in launches):
        raise gdb.GdbError(
            f"There is no group {ids_text(group)}: the launch has "
            f"{ids_text(launches[0].group_count)} groups."
        )
    raise gdb.GdbError(
        f"Group {ids_text(group)} is not resident: it has ended, or has not begun. "
        f'"info groups" lists those that are.'
    )


def put_local_note(item, items):
    """In a core file local memory, whose addresses groups share, is that of the first thread."""
    failed, block = items[0], read_block(item.block_address)
    is_core = getattr(gdb.selected_inferior().connection, "type", None) == "core"
    if is_core and item.group != failed.group and block and block.local_bytes > 0:
        put(
            f"Local memory is that of group {ids_text(failed.group)}, which failed: a core dump has "
            f"no other group's at its address."
        )


def find_member(members, local):
    size = members[0].launch.local_size
    if not is_below(local, size):
        raise gdb.GdbError(
            f"There is no work-item {ids_text(local)}: groups have {ids_text(size)} work-items."
        )
    item = next((item for item in members if item.local == local), None)
    if item is None:
        raise gdb.GdbError(
            f"Work-item {ids_text(local)} of group {ids_text(members[0].group)} has ended"
            f"{', or runs' if some_run() else ''}."
        )
    return item


# Commands -----------------------------------------------------------------------------------------


class Command(gdb.Command):
    """A command. The documentation of its class is its help."""

    def __init__(self):
        super().__init__(self.NAME, self.KIND)

    def invoke(self, argument, from_tty):
        try:
            self.run(argument.strip())
        except (gdb.error, RuntimeError) as error:
            raise gdb.GdbError(str(error)) from None


class InfoKernels(Command):
    """List the kernels that run on the device.

    For each launch: the kernel, the launch's number on its tile, how many work-items it has, how
    large groups are, how many groups there are and how many of them are resident, and where most
    of the resident work-items are. The launch of the selected work-item has a *."""

    NAME, KIND = "info kernels", gdb.COMMAND_STATUS

    def run(self, argument):
        items = find_items()
        selected = selected_item(items)
        rows = [("  Kernel", "Launch", "Tile", "Global", "Local", "Groups", "Resident", "Where")]
        for launch in dict.fromkeys(item.launch for item in items):
            members = [item for item in items if item.launch == launch]
            number = members[0].register("launch")
            rows.append(
                (
                    f"{'*' if selected in members else ' '} {kernel_of(members[0])}",
                    "?" if number is None else str(number),
                    str(launch.tile),
                    ids_text(launch.global_size),
                    ids_text(launch.local_size),
                    str(volume(launch.group_count)),
                    str(len(groups_of(members))),
                    most_frequent_places(members),
                )
            )
        put_columns(rows, right=(1, 2, 5, 6))


class InfoGroups(Command):
    """List the work-groups that are resident on the device.

    For each group: how many work-items run, wait at a barrier and have ended, which threads of
    GDB they are, and where they are. The group of the selected work-item has a *."""

    NAME, KIND = "info groups", gdb.COMMAND_STATUS

    def run(self, argument):
        items = find_all_items()
        read_register(items, "at_barrier")
        selected = selected_item(items)
        rows = [("  Group", "Run", "Wait", "Ended", "Threads", "Where")]
        for members in groups_of(items).values():
            waiting = sum(1 for item in members if item.waits)
            first, last = members[0].thread.num, members[-1].thread.num
            rows.append(
                (
                    f"{'*' if selected in members else ' '} {ids_text(members[0].group)}",
                    str(len(members) - waiting),
                    "?" if members[0].waits is None else str(waiting),
                    str(len(ended_of(members))),
                    str(first) if first == last else f"{first}-{last}",
                    most_frequent_places(members),
                )
            )
        put_columns(rows, right=(1, 2, 3))


class InfoBarriers(Command):
    """Tell who waits at a barrier, and who has not come.

    info barriers [GROUP]

    A barrier lets a group go on when all its work-items that have not ended are there. For each
    group with work-items that wait: at which line they do, which work-items have not come, and
    where those are. If a program hangs, stop it (Ctrl-C) and look here: a work-item that has not
    come after a while, as it spins, waits for the others or has a fault, is the reason.

    Two mistakes are told that this device passes over and others hang at: work-items of a group
    wait at different barriers, or some have ended while the others wait.

    GROUP is X, X,Y or X,Y,Z; without it all groups are shown."""

    NAME, KIND = "info barriers", gdb.COMMAND_STATUS

    def run(self, argument):
        items = find_all_items()
        groups = list(groups_of(items).values())
        if argument:
            groups = [find_group(items, parse_ids(argument))]
        members = [item for group in groups for item in group]
        read_register(members, "at_barrier")
        if members[0].waits is None:
            raise gdb.GdbError(
                "Who waits at a barrier is not known here: there is no register at_barrier."
            )
        if not any(item.waits for item in members):
            put(
                f"Nobody waits at a barrier: {counted(len(groups), 'group')}, "
                f"{counted(len(members), 'work-item')}."
            )
        for group in groups:
            if any(item.waits for item in group):
                self.tell(group)

    @staticmethod
    def tell(members):
        members = sorted(members, key=lambda item: item.local[::-1])
        waiting = [item for item in members if item.waits]
        missing = [item for item in members if not item.waits]
        ended = ended_of(members)
        put(
            f"Group {ids_text(members[0].group)}: {len(waiting)} of "
            f"{counted(len(members) + len(ended), 'work-item')} wait at a barrier"
        )
        places = {}
        for item in waiting:
            places.setdefault(place_in_source(item), []).append(item.local)
        for place, ids in places.items():
            put(f"  wait in {place}: {list_text(ids)}")
        read_causes(missing[:MOST_IDS])
        for item in missing[:MOST_IDS]:
            put(
                f"  has not come: {ids_text(item.local)}, thread {item.thread.num}, in "
                f"{place_in_source(item)}{', with a fault' if item.has_fault else ''}"
            )
        if len(missing) > MOST_IDS:
            put(f"  have not come: {counted(len(missing) - MOST_IDS, 'more work-item')}")
        if ended:
            put(f"  have ended, and are not waited for: {list_text(ended)}")
        if len(places) > 1:
            put("  They wait at different barriers; this device takes them for one, others hang.")
        elif ended:
            put("  Other devices may wait for those that have ended, and hang.")


class WorkItem(Command):
    """Choose a work-item by its ids, or show which one is selected.

    workitem GROUP LOCAL    of any resident group
    workitem LOCAL          of the group of the selected work-item
    workitem                the selected one

    GROUP and LOCAL are X, X,Y or X,Y,Z, without blanks; what is left out is 0. Each may be an
    expression: workitem $group_x+1 0,3"""

    NAME, KIND = "workitem", gdb.COMMAND_RUNNING

    def run(self, argument):
        items = find_items()
        words = argument.split()
        if len(words) > 2:
            raise gdb.GdbError('It takes a group and a local id: "workitem 1,0,0 5,0,0".')
        if len(words) == 2:
            members = find_group(items, parse_ids(words[0]))
        else:
            item = demand_selected_item(items)
            members = groups_of(items)[item.launch, item.group]
        if words:
            item = find_member(members, parse_ids(words[-1]))
            item.thread.switch()
        put(f"[Work-item {item.name} of kernel {kernel_of(item)}, thread {item.thread.num}]")
        put_local_note(item, items)
        gdb.execute("frame")


class PrintGroup(Command):
    """Print an expression in every work-item of the selected group, as a table.

    print-group [/FORMAT] EXPRESSION

    The expression is evaluated in the newest frame of each work-item that executes the function
    of the selected frame: "up" to the kernel to print its variables. FORMAT is a letter, as of
    print. A row begins with the ids of its first work-item; +1 is the next one in x. In place of
    a value: "-" the work-item has ended, "?" the expression has no value there."""

    NAME, KIND = "print-group", gdb.COMMAND_DATA

    def run(self, argument):
        letter, expression = re.fullmatch(r"(?:/(\S+)(?:\s+|$))?(.*)", argument).groups()
        if letter is not None and letter not in FORMATS:
            raise gdb.GdbError(
                f'"{letter}" is no format; it is one letter of: {" ".join(FORMATS)}.'
            )
        if not expression:
            raise gdb.GdbError("What to print is missing: print-group [/FORMAT] EXPRESSION.")
        items = find_all_items()
        selected = demand_selected_item(items)
        members = groups_of(items)[selected.launch, selected.group]
        function = gdb.selected_frame().name()
        texts, failures = {}, collections.Counter()
        with kept_selection():
            for item in members:
                item.thread.switch()
                try:
                    texts[item.local] = self.evaluate(function, expression, letter)
                except gdb.error as error:
                    texts[item.local] = "?"
                    failures[str(error)] += 1
        if sum(failures.values()) == len(members):
            raise gdb.GdbError(f"In no work-item: {failures.most_common(1)[0][0]}")
        put(
            f"{expression} in {function} of group {ids_text(selected.group)}, "
            f"{ids_text(selected.launch.local_size)} work-items"
        )
        put_local_note(selected, items)
        self.put_table(texts, selected.launch.local_size)
        for message, number in failures.most_common():
            put(f"?  {counted(number, 'work-item')}: {message}")

    @staticmethod
    def evaluate(function, expression, letter):
        frame = next((frame for frame in frames() if frame.name() == function), None)
        if frame is None:
            raise gdb.error(f"it does not execute {function}")
        frame.select()
        value = gdb.parse_and_eval(expression)
        if value.is_optimized_out:
            raise gdb.error("the compiler did not keep it")
        return value.format_string(format=letter) if letter else value.format_string()

    @staticmethod
    def put_table(texts, size):
        label = len(ids_text([count - 1 for count in size]))
        width = 2 + max(max(len(text) for text in texts.values()), len("+15"))
        columns = min(size[0], 16)
        while columns > 1 and label + columns * width > (gdb.parameter("width") or 1 << 30):
            columns = (columns + 1) // 2
        if columns > 1:
            put(" " * label + "".join(f"+{i}".rjust(width) for i in range(columns)))
        for z in range(size[2]):
            for y in range(size[1]):
                for x in range(0, size[0], columns):
                    row = [(i, y, z) for i in range(x, min(x + columns, size[0]))]
                    cells = [texts.get(ids, "-").rjust(width) for ids in row]
                    put(ids_text(row[0]).ljust(label) + "".join(cells))


# Faults -------------------------------------------------------------------------------------------


def read_word(pc):
    try:
        return int.from_bytes(bytes(gdb.selected_inferior().read_memory(pc, 4)), "little")
    except gdb.error:
        return None


def read_x(name):
    return int(gdb.newest_frame().read_register(name)) & MASK_64


def explain_address(item, address):
    """What is at an address that could not be used, or near it."""
    block = read_block(item.block_address)
    if address < 4096:
        return "nothing is there: it is the null pointer, or an index to it"
    below = block.private_begin - address if block else 0
    behind = address - block.local_begin - block.local_bytes if block else -1
    if 0 < below <= 1 << 20:
        return (
            f"it is {counted(below, 'byte')} below the private memory of the work-item, which has "
            f"{block.private_bytes}: its calls and variables need more"
        )
    if 0 <= behind < 1 << 24:
        return (
            f"it is {counted(behind, 'byte')} behind the local memory of the group, which has "
            f"{block.local_bytes}"
        )
    if read_word(address & ~3) is not None:
        return "kernels may read or execute what is there, but not write it"
    return "no allocation of the program is there"


def explain_fault(item):
    """What the newest instruction of the selected thread, which is this work-item, did wrong."""
    verbs = {0x03: "read", 0x07: "read", 0x23: "wrote", 0x27: "wrote", 0x2F: "changed atomically"}
    address, word = item.register("cause_address"), read_word(item.pc)
    if word is None:
        caller = place_of_pc(read_x("ra") - 4)
        return f"it jumped to {item.pc:#x}, where no code is; it was called from {caller}, says ra."
    text = gdb.newest_frame().architecture().disassemble(item.pc)[0]["asm"].replace("\t", " ")
    if word == ECALL and item.register("cause") & CAUSE_ILLEGAL:
        return f"it made the device call {read_x('a7')}, which does not exist."
    if word == ECALL:
        message = read_x("a0")
        if message == 0:
            return "it gave up, without a message."
        # As GDB prints strings: not too long, and without what a terminal would obey.
        return f"it gave up: {gdb.parse_and_eval(f'(char *) {message}').format_string()}"
    verb, size = verbs.get(word & 0x7F), 1 << (word >> 12 & 3)
    if verb is None or item.register("cause") & CAUSE_ILLEGAL:
        return f"the device cannot execute {word:#010x} ({text}) at {item.pc:#x}."
    if verb == "changed atomically" and address % size:
        why = f"it is no multiple of {size}, as addresses of such atomics have to be"
    else:
        why = explain_address(item, address)
    base = X_NAMES[word >> 15 & 31]
    return (
        f"it {verb} {counted(size, 'byte')} at {address:#x}: {why}.\n"
        f"Instruction: {text}, with {base} = {read_x(base):#x}"
    )


class InfoFault(Command):
    """Explain the fault of a work-item.

    Which work-item it is, its line, what its instruction did, and what is wrong with that: of the
    selected work-item, or else of the first that has a fault, which is selected then."""

    NAME, KIND = "info fault", gdb.COMMAND_STATUS

    def run(self, argument):
        items = find_items()
        read_causes(items)
        if all(item.registers["cause"] is None for item in items):
            raise gdb.GdbError("Why threads stopped is not known here: there is no register cause.")
        failed = [item for item in items if item.has_fault]
        if not failed:
            raise gdb.GdbError(
                f"No work-item has a fault: {counted(len(items), 'work-item')} stopped for "
                f"another reason."
            )
        selected = selected_item(items)
        item = selected if selected in failed else failed[0]
        item.thread.switch()
        put(
            f"Work-item {item.name} of kernel {kernel_of(item)}, thread {item.thread.num}, in "
            f"{place_in_source(item)}:"
        )
        put(explain_fault(item))
        if len(failed) > 1:
            other = next(other for other in failed if other is not item)
            put(f"{counted(len(failed), 'work-item')} have a fault; another is {other.name}.")


# Divergence ---------------------------------------------------------------------------------------


def signed(value):
    return value - (1 << 64) if value >> 63 else value


# Conditional branches by the three bits of their kind.
BRANCHES = {
    0: lambda a, b: a == b,
    1: lambda a, b: a != b,
    4: lambda a, b: signed(a) < signed(b),
    5: lambda a, b: signed(a) >= signed(b),
    6: lambda a, b: a < b,
    7: lambda a, b: a >= b,
}


def is_branch(word):
    return word is not None and word & 0x7F == 0x63 and word >> 12 & 7 in BRANCHES


def function_block(block, name=None):
    """The innermost function around a block, or the one of this name; inlined ones are some too."""
    while block is not None and (block.function is None or name not in (None, block.function.name)):
        block = block.superblock
    return block


def branches_of(block, line=None):
    """Addresses of the conditional branches of a function, or of a line of it. The device executes
    RV64IMAFD, whose instructions all have 4 bytes."""
    if block is None:
        return set()
    return {
        pc
        for pc in range(block.start, block.end, 4)
        if is_branch(read_word(pc)) and (line is None or gdb.find_pc_line(pc).line == line)
    }


class DivergeBreakpoint(gdb.Breakpoint):
    """At one branch: stops a work-item whose way differs from that of one of its group.

    Compared is the n-th time that each comes here in a launch; of one group, or of each."""

    def __init__(self, pc, group):
        super().__init__(f"*{pc:#x}")
        if group is not None:
            # For a server that can spare GDB the other groups.
            self.condition = " && ".join(f"$group_{d} == {i}" for d, i in zip("xyz", group))
        self.group = group
        self.pc = pc
        self.word = read_word(pc)
        self.launch = None
        self.times = collections.Counter()  # that a work-item came here
        self.ways = {}  # of a group and time: who came first, and whether it branched
        self.told = set()  # groups and times

    def stop(self):
        frame, number = gdb.newest_frame(), None
        item = read_item(gdb.selected_thread(), frame)
        if item is None or self.group not in (None, item.group):
            return False
        with contextlib.suppress(gdb.error, ValueError):
            number = int(frame.read_register("launch"))
        launch = gdb.selected_inferior().num, item.launch, number
        if launch != self.launch:
            self.launch = launch
            self.times.clear()
            self.ways.clear()
            self.told.clear()
        a, b = (read_x(X_NAMES[self.word >> shift & 31]) for shift in (15, 20))
        branches = BRANCHES[self.word >> 12 & 7](a, b)
        self.times[item.group, item.local] += 1
        turn = item.group, self.times[item.group, item.local]
        first, did = self.ways.setdefault(turn, (item.local, branches))
        if branches == did or turn in self.told:
            return False
        self.told.add(turn)
        put(
            f"Group {ids_text(item.group)} diverges at {place_of_pc(self.pc)}, time {turn[1]}: "
            f"work-item {ids_text(item.local)} goes {self.way(branches)}, "
            f"{ids_text(first)} goes {self.way(did)}."
        )
        return True

    def way(self, branches):
        """Where the branch leads, in words; what only jumps on is passed over."""
        pc, word, offset = self.pc, self.word, 4
        if branches:
            offset = (word >> 7 & 1) << 11 | (word >> 25 & 0x3F) << 5 | (word >> 8 & 0xF) << 1
            offset -= word >> 31 << 12
        word = read_word(pc + offset)
        if word is not None and word & 0xFFF == JUMP:
            pc += offset
            offset = (word >> 12 & 0xFF) << 12 | (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1
            offset -= word >> 31 << 20
        return f"{'to' if branches else 'on to'} {place_of_pc(pc + offset)}"


class BreakDiverge(Command):
    """Stop where work-items of the selected group take different ways.

    break-diverge [-all] [LOCATION]

    LOCATION is a line, or a function for all its branches; without it, the function of the
    selected frame. A breakpoint is set at each conditional branch there; "delete" removes it.

    The device executes each work-item by itself: none waits for another at a branch. Work-items
    of a group diverge when the n-th execution of a branch leads one of them one way and another
    one the other way, whenever each of the two comes there. The second of them is stopped before
    it branches, once for each n. With -all every group is watched, each by itself.

    Code that the compiler made without a branch does not diverge. Every work-item of the group
    that comes to such a breakpoint stops the device for a moment."""

    NAME, KIND = "break-diverge", gdb.COMMAND_BREAKPOINTS

    def run(self, argument):
        every, location = re.fullmatch(r"(?:(-all)(?:\s+|$))?(.*)", argument).groups()
        items = find_items()
        group = None if every else demand_selected_item(items).group
        found = self.find(location)
        if not found:
            raise gdb.GdbError(
                f"There is no conditional branch in "
                f"{location or 'the function of the selected frame'}: all work-items go the same "
                f"way there."
            )
        for pc in sorted(found):
            DivergeBreakpoint(pc, group)

    @staticmethod
    def find(location):
        if not location:
            return branches_of(function_block(gdb.selected_frame().block()))
        symbol = gdb.lookup_static_symbol(location) or gdb.lookup_global_symbol(location)
        found = set()
        # Where code was inlined, it is at several places.
        for sal in gdb.decode_line(location)[1] or ():
            block = gdb.block_for_pc(sal.pc)
            if symbol is not None and symbol.is_function:
                found |= branches_of(function_block(block, symbol.name))
            else:
                found |= branches_of(function_block(block), sal.line)
        return found


# Conditions ---------------------------------------------------------------------------------------

# GDB 13 gives the opposite of "a && b" in OpenCL C, and makes no bytecode of its conditions, which the
# server evaluates a thousand times as fast. So those that are set while a kernel in OpenCL C is
# stopped become conditions in C. New symbols make GDB parse them anew, in the language of the code.
_in_c = set()  # numbers of breakpoints
_parsed_anew = False
_is_parsing = False


def parse_in_c(breakpoint):
    global _is_parsing
    _is_parsing = True
    try:
        with gdb.with_parameter("language", "c"):
            breakpoint.condition = breakpoint.condition
        _in_c.add(breakpoint.number)
    except gdb.error:
        pass  # C does not know it, OpenCL C does
    finally:
        _is_parsing = False


def _on_breakpoint(breakpoint):
    if _is_parsing or not breakpoint.condition or gdb.parameter("language") != "auto":
        return
    with contextlib.suppress(gdb.error, AttributeError):
        if gdb.selected_frame().language() == "opencl":
            parse_in_c(breakpoint)


def _on_symbols(_event):
    global _parsed_anew
    _parsed_anew = True


def _on_stop(_event):
    global _parsed_anew
    if not _parsed_anew:
        return
    _parsed_anew = False
    for breakpoint in gdb.breakpoints():
        if breakpoint.number in _in_c and breakpoint.condition:
            parse_in_c(breakpoint)


# Another "source" of this file, as behind "zeta debug", defines them again, which changes nothing.
for _class in Command.__subclasses__():
    _class()
for _events in (
    gdb.events.stop,
    gdb.events.cont,
    gdb.events.exited,
    gdb.events.inferior_deleted,
    gdb.events.new_thread,
    gdb.events.memory_changed,
    gdb.events.register_changed,
):
    _events.connect(_forget)
for _events, _handler in (
    (gdb.events.breakpoint_created, _on_breakpoint),
    (gdb.events.breakpoint_modified, _on_breakpoint),
    (gdb.events.new_objfile, _on_symbols),
    (gdb.events.stop, _on_stop),
):
    _events.connect(_handler)
