"""Sets out of libi915_perf of intel-gpu-tools: what the XML of Alchemist would say, which is in no
file that is small enough to hand on. Equations are functions there: they are called."""

import ctypes
import functools
import random
import struct

import match
from findings import Refused

LIBRARY = "libi915_perf.so.1.5"
PREFIX = "libi915_perf:"
# Offsets in the structures of release 1.27 on 64-bit machines; tests/oa/oa_oracle.c has more of them.
DEVICE_SETS, DEVICE_EUS, DEVICE_THREADS, DEVICE_SLICE_MASK = 16, 32 + 176, 32 + 224, 32 + 216
DEVICE_CORE_STRIDE, DEVICE_SLICES, DEVICE_CORES = 32 + 236, 32 + 244, 32 + 245
LINK_NEXT, SET_LINK, SET_NAME, SET_UUID, SET_COUNTERS, SET_COUNTER_COUNT = 8, 128, 8, 16, 24, 32
COUNTER_NAME, COUNTER_STORAGE, COUNTER_MAXIMUM, COUNTER_READ, COUNTER_BYTES = 16, 32, 48, 56, 80
# Pointers to pairs of address and value, and their number behind it: mux, boolean, flexible.
SET_LISTS = (96, 80, 112)
MAX_WRITES = 8192
SLICES, CORES, EUS, TIMESTAMP_HZ, MAX_HZ = 8, 4, 16, 25000000, 1350000000
# What the library's functions get: the differences of a report.
FIELDS = ["ticks", "clocks"] + [f"{bank}[{number}]" for bank, count in
                                (("A", 38), ("B", 8), ("C", 8)) for number in range(count)]
DELTAS = ctypes.c_uint64 * 64
# By PCI id: the platform in the name of the function that loads the sets.
LOADERS = {0x56a0: "acmgt3", 0x56a5: "acmgt1", 0x5696: "acmgt2"}


def u32(address):
    return ctypes.c_uint32.from_address(address).value


def pointer(address):
    return ctypes.c_uint64.from_address(address).value


def text(address):
    return ctypes.string_at(pointer(address)).decode()


class Device:
    """A device as the library knows it. cores: a mask for each slice."""

    def __init__(self, name, cores):
        try:
            self.id = int(name[len(PREFIX):], 16)
        except ValueError:
            raise Refused(name, 0, "there is no PCI id in it, as in libi915_perf:56a0") from None
        try:
            self.handle = ctypes.CDLL(LIBRARY)
        except OSError:
            raise Refused(LIBRARY, 0, "it is not installed (Debian: intel-gpu-tools)") from None
        self.cores = cores
        flat = sum(mask << CORES * place for place, mask in enumerate(cores))
        # The kernel's topology: one slice that has all cores.
        topology = struct.pack("<8HB", 0, 1, SLICES * CORES, EUS, 1, 4, 5, 2, 1) + \
            flat.to_bytes(4, "little") + b"".join(
                (b"\xff\xff" if flat >> core & 1 else b"\0\0") for core in range(SLICES * CORES))
        self.handle.intel_perf_for_devinfo.restype = ctypes.c_void_p
        self.at = self.handle.intel_perf_for_devinfo(
            ctypes.c_uint32(self.id), ctypes.c_uint32(0), ctypes.c_uint64(TIMESTAMP_HZ),
            ctypes.c_uint64(300000000), ctypes.c_uint64(MAX_HZ), topology)
        if not self.at:
            raise Refused(LIBRARY, 0, f"it does not know the device {self.id:#06x}")
        if self.id in LOADERS:
            self.fill(LOADERS[self.id])

    def fill(self, loader):
        """The library reads which slices and cores there are, and never fills that in."""
        slices = sum((mask != 0) << place for place, mask in enumerate(self.cores))
        ctypes.c_uint64.from_address(self.at + DEVICE_SLICE_MASK).value = slices
        ctypes.c_uint16.from_address(self.at + DEVICE_CORE_STRIDE).value = 1
        ctypes.memmove(self.at + DEVICE_SLICES, bytes([slices]), 1)
        ctypes.memmove(self.at + DEVICE_CORES, bytes(self.cores), SLICES)
        head = self.at + DEVICE_SETS
        for link in (head, head + LINK_NEXT):
            ctypes.c_uint64.from_address(link).value = head
        getattr(self.handle, f"intel_perf_load_metrics_{loader}")(ctypes.c_void_p(self.at))

    def sets(self):
        """Addresses of the sets by uuid, in the library's order."""
        head = self.at + DEVICE_SETS
        link = pointer(head + LINK_NEXT)
        found = {}
        while link != head:
            found[text(link - SET_LINK + SET_UUID)] = link - SET_LINK
            link = pointer(link + LINK_NEXT)
        return found

    def symbol(self, name):
        """The value of a symbol of the equations on this device."""
        slices, count = sum(mask != 0 for mask in self.cores), sum(m.bit_count() for m in self.cores)
        mask = sum((cores != 0) << place for place, cores in enumerate(self.cores))
        parts = {f"GtSlice{s}": cores != 0 for s, cores in enumerate(self.cores)}
        parts.update({f"GtSlice{s}XeCore{c}": cores >> c & 1 for s, cores in enumerate(self.cores)
                      for c in range(CORES)})
        return int({"GpuTimestampFrequency": TIMESTAMP_HZ, "GpuMaxFrequency": MAX_HZ,
                    "EuCoresTotalCount": pointer(self.at + DEVICE_EUS), "SliceMask": mask,
                    "EuThreadsCount": pointer(self.at + DEVICE_THREADS), "XeCoreMask": mask,
                    "XeCoreTotalCount": count, "SliceTotalCount": slices, **parts}[name])


def programs(name):
    """The programs of libi915_perf:PCIID, in the library's order: a list of (uuid, parts)."""
    out = []
    for uuid, found in Device(name, [0x3f]).sets().items():
        writes = []
        for offset in SET_LISTS:
            pairs = pointer(found + offset)
            count = u32(found + offset + 8)
            if count > MAX_WRITES:
                raise Refused(LIBRARY, 0, "it is not laid out as in release 1.27")
            writes += [(u32(pairs + 8 * i), u32(pairs + 8 * i + 4)) for i in range(count)]
        out.append((uuid, [(None, writes)]))
    return out


class Source:
    """The sets of libi915_perf:PCIID with what their counters give on invented devices."""

    def __init__(self, name):
        chance = random.Random(name)
        masks = [[(1 << CORES) - 1] * SLICES] + \
            [[chance.getrandbits(CORES) & -chance.randrange(2) for _ in range(SLICES)]
             for _ in range(match.CASES - 1)]
        self.devices = [Device(name, cores) for cores in masks]
        self.found = [device.sets() for device in self.devices]
        self.reports = [DELTAS(*row) for row in zip(*map(match.invented, FIELDS))]
        self.fields = {}  # by function

    def names(self):
        """Names of the sets by uuid."""
        return {uuid: text(found + SET_NAME) for uuid, found in self.found[0].items()}

    @functools.cache
    def symbol(self, name):
        return [device.symbol(name) for device in self.devices]

    def call(self, case, found, counter, offset, report):
        """What a function of a counter gives; None if it has no such function."""
        function = pointer(counter + offset)
        kind = ctypes.c_double if u32(counter + COUNTER_STORAGE) else ctypes.c_uint64
        return ctypes.CFUNCTYPE(kind, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(function)(
            self.devices[case].at, found, ctypes.addressof(report)) if function else None

    def reads(self, found, counter):
        """The counters of the report that a counter adds, then those that it subtracts, the ones of
        least weight first."""
        function = pointer(counter + COUNTER_READ)
        if function not in self.fields:
            values = [self.call(0, found, counter, COUNTER_READ, self.reports[0])]
            for place in range(len(FIELDS)):
                report = DELTAS(*self.reports[0])
                report[place] *= 2
                values.append(self.call(0, found, counter, COUNTER_READ, report))
            # Integers are modulo 2^64.
            steps = [(value - values[0] + (1 << 63)) % (1 << 64) - (1 << 63)
                     if isinstance(value, int) else value - values[0] for value in values[1:]]
            weights = [(step < 0, abs(step) / report, place) for place, (step, report) in
                       enumerate(zip(steps, self.reports[0]))]
            self.fields[function] = [FIELDS[place] for _, weight, place in sorted(weights)
                                     if weight and "[" in FIELDS[place]]
        return self.fields[function]

    def counters(self, uuid):
        """The counters of a set; those of all devices, in the order of the first one."""
        cases = []
        for case, sets in enumerate(self.found):
            found = sets[uuid]
            first = pointer(found + SET_COUNTERS)
            addresses = [first + COUNTER_BYTES * i for i in range(u32(found + SET_COUNTER_COUNT))]
            cases.append({text(address + COUNTER_NAME): (
                self.call(case, found, address, COUNTER_READ, self.reports[case]),
                self.call(case, found, address, COUNTER_MAXIMUM, self.reports[case]), address)
                for address in addresses})
        out = []
        for name, (_, _, address) in cases[0].items():
            values, maximum, _ = zip(*(case.get(name, (None,) * 3) for case in cases))
            out.append(match.Counter(name, values, [value is not None for value in values],
                                     None if maximum[0] is None else maximum,
                                     self.reads(self.found[0][uuid], address)))
        return out
