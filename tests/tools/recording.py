"""Writes recordings chunk by chunk, and reads those of zeta record: sdk/doc/formats.md."""
import struct

META, DEVICE, SET, STREAM, DATA, CLOCK, TRACE = 2, 3, 4, 5, 6, 7, 8
_END = 1
_HEADER = "<4sIIIQI"


def _crc_table():
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
        yield value


_TABLE = list(_crc_table())


def _crc(data, crc=0):
    crc ^= 0xffffffff
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xffffffff


class Writer:
    def __init__(self):
        head = struct.pack("<8sHHIII36s", b"\x89ZETA\r\n\x1a", 1, 0, 64, 2, 32, bytes(36))
        self._out = head + struct.pack("<I", _crc(head))
        self._sum, self._count = 0, 0

    def chunk(self, kind, number, payload):
        header = struct.pack(_HEADER, b"CHNK", kind, number, 0, len(payload), _crc(payload))
        header += struct.pack("<I", _crc(header))
        if kind != _END:
            self._sum, self._count = _crc(header, self._sum), self._count + 1
        self._out += header + payload + bytes(-len(payload) % 8)

    def save(self, path):
        self.chunk(_END, 0, struct.pack("<QQII", self._count, len(self._out), self._sum, 0))
        with open(path, "wb") as file:
            file.write(self._out)


def read(path):
    """Type, number and payload of each chunk but the last one."""
    with open(path, "rb") as file:
        data = file.read()
    at = 64
    while at < len(data):
        _, kind, number, _, size, _ = struct.unpack_from(_HEADER, data, at)
        if kind != _END:
            yield kind, number, data[at + 32:at + 32 + size]
        at += 32 + (size + 7) // 8 * 8
