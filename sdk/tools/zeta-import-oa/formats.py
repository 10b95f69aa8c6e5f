"""Report formats: which banks of counters a set may read, and the layout of our files for them."""


class Format:
    """A layout of our files: its name, the size of each bank, the unit that writes such reports.

    clocks: reports carry the GPU clock. Media reports have their counters in the bank PEC, which
    equations also call A.
    """

    def __init__(self, layout, banks, unit, domain, clocks=True):
        self.layout = layout
        self.banks = banks
        self.unit = unit
        self.domain = domain
        self.clocks = clocks

    def bank_of(self, name):
        if name == "A" and "A" not in self.banks and "PEC" in self.banks:
            return "PEC"
        return name


HASWELL = Format("hsw-a45-b8-c8", {"A": 45, "B": 8, "C": 8}, "oa", 0, clocks=False)
A32 = Format("a32u40-a4u32-b8-c8", {"A": 36, "B": 8, "C": 8}, "oa", 0)
A24 = Format("a24u40-a14u32-b8-c8", {"A": 38, "B": 8, "C": 8}, "oa", 0)
MPEC32 = Format("mpec8u32-b8-c8", {"PEC": 8, "B": 8, "C": 8}, "oam0", 1)
MPEC64 = Format("mpec8u64-b8-c8", {"PEC": 8, "B": 8, "C": 8}, "oam0", 1)
PEC64 = Format("pec64u64", {"PEC": 64}, "oa", 0)
PEC64_BC = Format("pec64u64-b8-c8", {"PEC": 64, "B": 8, "C": 8}, "oa", 0)

# What the layouts say rates of counters with.
RATE_SYMBOLS = ("ClockRateLimit", "EuRateLimit", "MediaRateLimit", "SubsliceRateLimit")

# By the attribute oa_format of a set.
BY_NAME = {
    "256B_GENERIC_NOA16": A24,
    "128B_MPEC8_NOA16": MPEC32,
    "192B_MPEC8LL_NOA16": MPEC64,
    "576B_PEC64LL": PEC64,
    "640B_PEC64LL_NOA16": PEC64_BC,
}

BY_LAYOUT = {f.layout: f for f in (HASWELL, A32, A24, MPEC32, MPEC64, PEC64, PEC64_BC)}

# From Xe2 on each media unit has a block of 64 bytes of registers that select its events.
BLOCK_BYTES = 0x40
MEDIA_UNITS = {0x394200: ("oam0", 1), 0x394a00: ("oam1", 2), 0x393200: ("oam-sag", 3)}


def unit_of_program(report_format, addresses):
    """Unit and domain of a set of that format that writes these registers.

    A program that writes the block of one media unit alone would select nothing on another.
    """
    blocks = {address - address % BLOCK_BYTES for address in addresses}
    if report_format.unit == "oam0" and len(blocks) == 1:
        return MEDIA_UNITS.get(blocks.pop(), (report_format.unit, report_format.domain))
    return report_format.unit, report_format.domain


def default_format(chipset):
    """The format of a set that names none, by the chipset of the set."""
    chipset = chipset.upper()
    if chipset.startswith("HSW"):
        return HASWELL
    if chipset.startswith(("ACM", "PVC", "MTL", "ARL", "DG2")):
        return A24
    return A32
