#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perfetto_packets.py - copies a Perfetto trace from standard input to standard output with compressed packets
unpacked."""
import sys
import zlib

PACKET, COMPRESSED_PACKETS = 1, 50


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def bytes_field(data, at):
    """Number, content and end of the field at @at, which must have the type bytes."""
    key, at = varint(data, at)
    if key & 7 != 2:
        sys.exit("perfetto_packets.py: a field that is not of bytes, where a packet should be")
    length, at = varint(data, at)
    return key >> 3, data[at:at + length], at + length


def main():
    trace, at = sys.stdin.buffer.read(), 0
    while at < len(trace):
        begin = at
        number, packet, at = bytes_field(trace, at)
        key = varint(packet, 0)[0] if packet else 0
        if number == PACKET and key == COMPRESSED_PACKETS << 3 | 2:
            sys.stdout.buffer.write(zlib.decompress(bytes_field(packet, 0)[1]))
        else:
            sys.stdout.buffer.write(trace[begin:at])


main()
