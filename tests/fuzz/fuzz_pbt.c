/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_pbt.c - libFuzzer target for the reader of traces.
 *
 * The first byte of an input selects the use of the rest. Odd: the file.
 * Even: a list of bodies that are wrapped in packets with right checksums, which
 * a fuzzer does not guess; each body begins with a byte of flags.
 * Each packet from the reader is unpacked as the message of its kind.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/trace/pbt.h"
#include "tests/pbt_packet.h"

#define FLAG_CODEC 0x07 /* codec, unchanged */
#define FLAG_ENCODE 0x08 /* the body passes through the encoder, which compresses it */
#define FLAG_WRONG_SIZE 0x10 /* body_size is the next two bytes */
#define FLAG_GARBAGE 0x20 /* bytes that are no packet */
#define FLAG_DAMAGE 0x40 /* damages the output so far: pairs of a place and bits to flip */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const ProtobufCMessageDescriptor *const messages[] = {
	NULL,
	&profbpf__segment__descriptor,
	&profbpf__clocks__descriptor,
	&profbpf__strings__descriptor,
	&profbpf__functions__descriptor,
	&profbpf__tasks__descriptor,
	&profbpf__calls__descriptor,
	&profbpf__ioctls__descriptor,
	&profbpf__switches__descriptor,
	&profbpf__wakes__descriptor,
	&profbpf__accounts__descriptor,
	&profbpf__cpu_stats__descriptor,
	&profbpf__devices__descriptor,
	&profbpf__device_tasks__descriptor,
	&profbpf__coverage__descriptor,
	&profbpf__statistics__descriptor,
	&profbpf__drivers__descriptor,
	[PROFBPF__PACKET__KIND__ENDS] = &profbpf__ends__descriptor,
	[PROFBPF__PACKET__KIND__SHED] = &profbpf__shed__descriptor,
};

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void put(struct pbt_buffer *out, const void *data, size_t size)
{
	if (!size)
		return;
	out->data = realloc(out->data, out->size + size);
	check(out->data);
	memcpy(out->data + out->size, data, size);
	out->size += size;
	out->capacity = out->size;
}

static void put_packet(struct pbt_buffer *out, uint32_t kind, uint32_t codec, uint32_t body_size,
		       const uint8_t *stored, size_t size)
{
	size_t length = 0;
	uint8_t *packet = pbt_packet_write(kind, codec, body_size, stored, size, &length);

	check(packet);
	put(out, packet, length);
	free(packet);
}

static void damage(struct pbt_buffer *out, const uint8_t *data, size_t size)
{
	for (; size >= 3 && out->size; data += 3, size -= 3)
		out->data[(data[0] | (size_t)data[1] << 8) % out->size] ^= data[2];
}

/* Each piece: flags, kind, length (2 bytes), that many bytes. Returns the number of packets that must be read. */
static uint64_t wrap(const uint8_t *data, size_t size, struct pbt_buffer *out)
{
	struct pbt_encoder *encoder = pbt_encoder_new();
	uint64_t good = 0;
	bool garbage = false;

	check(encoder);
	while (size >= 4) {
		uint8_t flags = data[0], kind = data[1];
		size_t length = data[2] | (size_t)data[3] << 8;

		data += 4;
		size -= 4;
		if (length > size)
			length = size;
		if (flags & FLAG_GARBAGE) {
			/* The garbage may look like a packet that contains the good ones. */
			garbage = true;
			put(out, data, length);
		} else if (flags & FLAG_DAMAGE) {
			garbage = true;
			damage(out, data, length);
		} else if (flags & FLAG_ENCODE) {
			check(!pbt_encode(encoder, kind, data, length, out));
			good++;
		} else {
			uint32_t body_size = (uint32_t)length;

			if (flags & FLAG_WRONG_SIZE && length >= 2)
				body_size = (uint32_t)(data[0] << 12 | data[1]);
			put_packet(out, kind, flags & FLAG_CODEC, body_size, data, length);
		}
		data += length;
		size -= length;
	}
	pbt_encoder_free(encoder);
	return garbage ? 0 : good;
}

static void read_all(const uint8_t *data, size_t size, uint64_t good)
{
	int fd = memfd_create("fuzz_pbt", MFD_CLOEXEC);
	uint64_t end = 0, used = 0;
	const struct pbt_damage *found;
	struct pbt_reader *reader;
	struct pbt_packet packet;
	char error[256] = "";
	int result;

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size && !lseek(fd, 0, SEEK_SET));
	reader = pbt_open_fd(fd, "fuzz", error, sizeof(error));
	close(fd);
	check(!reader == !!error[0]);
	if (!reader)
		return;
	while ((result = pbt_next(reader, &packet)) == 1) {
		uint32_t kind = (uint32_t)packet.kind;

		check(packet.offset >= end && packet.size <= PBT_BODY_MAX && packet.body);
		end = packet.offset + 1;
		used += crc32_z(0, packet.body, packet.size) & 1;
		if (kind < sizeof(messages) / sizeof(messages[0]) && messages[kind])
			protobuf_c_message_free_unpacked(
				protobuf_c_message_unpack(messages[kind], NULL, packet.size,
							  packet.body),
				NULL);
	}
	check(!result);
	found = pbt_damage(reader);
	check(!found->bytes_skipped == !found->first_reason[0]);
	check(found->bytes_skipped <= size && used <= found->packets_read);
	check(found->packets_read >= good);
	pbt_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pbt_buffer out = { 0 };
	uint64_t good;

	if (!size)
		return 0;
	if (data[0] & 1) {
		read_all(data + 1, size - 1, 0);
		return 0;
	}
	good = wrap(data + 1, size - 1, &out);
	read_all(out.data, out.size, good);
	pbt_buffer_free(&out);
	return 0;
}
