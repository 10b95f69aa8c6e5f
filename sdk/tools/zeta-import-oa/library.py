"""Programs out of libi915_perf of intel-gpu-tools: what the XML of Alchemist would say, which is
in no file that is small enough to hand on."""

import ctypes
import struct

from findings import Refused

LIBRARY = "libi915_perf.so.1.5"
PREFIX = "libi915_perf:"
# Offsets in the structures of release 1.27 on 64-bit machines; tests/oa/oa_oracle.c has more of them.
DEVICE_SETS, LINK_NEXT, SET_LINK, SET_NAME, SET_UUID = 16, 8, 128, 8, 16
# Pointers to pairs of address and value, and their number behind it: mux, boolean, flexible.
SET_LISTS = (96, 80, 112)
MAX_WRITES = 8192


def u32(address):
    return ctypes.c_uint32.from_address(address).value


def pointer(address):
    return ctypes.c_uint64.from_address(address).value


def text(address):
    return ctypes.string_at(pointer(address)).decode()


def programs(name):
    """The programs of libi915_perf:PCIID, in the library's order: a list of (uuid, parts)."""
    try:
        device = int(name[len(PREFIX):], 16)
    except ValueError:
        raise Refused(name, 0, "there is no PCI id in it, as in libi915_perf:56a0") from None
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        raise Refused(LIBRARY, 0, "it is not installed (Debian: intel-gpu-tools)") from None
    library.intel_perf_for_devinfo.restype = ctypes.c_void_p
    # One slice with six subslices of 16 EUs; programs do not depend on it.
    topology = struct.pack("<8H", 0, 1, 6, 16, 1, 1, 2, 2) + b"\x01\x3f" + b"\xff" * 12
    found = library.intel_perf_for_devinfo(
        ctypes.c_uint32(device), ctypes.c_uint32(0), ctypes.c_uint64(19200000),
        ctypes.c_uint64(300000000), ctypes.c_uint64(1300000000), topology)
    if not found:
        raise Refused(LIBRARY, 0, f"it does not know the device {device:#06x}")
    out = []
    head = found + DEVICE_SETS
    link = pointer(head + LINK_NEXT)
    while link != head:
        writes = []
        for offset in SET_LISTS:
            pairs = pointer(link - SET_LINK + offset)
            count = u32(link - SET_LINK + offset + 8)
            if count > MAX_WRITES:
                raise Refused(LIBRARY, 0, "it is not laid out as in release 1.27")
            writes += [(u32(pairs + 8 * i), u32(pairs + 8 * i + 4)) for i in range(count)]
        out.append((text(link - SET_LINK + SET_UUID), [(None, writes)]))
        link = pointer(link + LINK_NEXT)
    return out
