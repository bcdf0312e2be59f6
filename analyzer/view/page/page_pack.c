/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/page/page_pack.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#define CHUNK (3 << 14) /* bytes written at once; a multiple of 3, so that base64 pads only the last chunk */
#define GZIP (15 + 16) /* zlib's windowBits for a gzip header without name and time */

static int put_base64(FILE *out, const unsigned char *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		size_t have = size - i < 3 ? size - i : 3;
		uint32_t bits = (uint32_t)bytes[i] << 16;

		if (have > 1)
			bits |= (uint32_t)bytes[i + 1] << 8;
		if (have > 2)
			bits |= bytes[i + 2];
		fputc(digits[bits >> 18], out);
		fputc(digits[bits >> 12 & 63], out);
		fputc(have > 1 ? digits[bits >> 6 & 63] : '=', out);
		fputc(have > 2 ? digits[bits & 63] : '=', out);
	}
	return ferror(out) ? -EIO : 0;
}

int page_pack(FILE *out, const char *text, size_t size)
{
	unsigned char packed[CHUNK];
	z_stream stream = { .next_out = packed, .avail_out = CHUNK };
	int state = Z_OK, err = 0;

	if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, 9, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	stream.next_in = (unsigned char *)(uintptr_t)text;
	while (state != Z_STREAM_END && !err) {
		size_t take = size < UINT_MAX ? size : UINT_MAX;

		stream.avail_in = (unsigned int)take;
		state = deflate(&stream, take == size ? Z_FINISH : Z_NO_FLUSH);
		size -= take - stream.avail_in;
		if (state == Z_STREAM_ERROR)
			err = -EIO;
		else if (stream.avail_out == 0 || state == Z_STREAM_END)
			err = put_base64(out, packed, CHUNK - stream.avail_out);
		if (stream.avail_out == 0) {
			stream.next_out = packed;
			stream.avail_out = CHUNK;
		}
	}
	deflateEnd(&stream);
	return err;
}
