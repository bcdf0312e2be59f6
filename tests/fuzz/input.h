/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - files made of a fuzzer's bytes.
 *
 * All of these end the program where something fails that has nothing to do with the input.
 */
#ifndef PROFBPF_TESTS_FUZZ_INPUT_H
#define PROFBPF_TESTS_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

/* Bytes that were not used yet. */
struct input {
	const uint8_t *data;
	size_t size;
};

void check(bool ok);

/* What the importers made. */
void check_model(const struct model *model);

/* The next bytes, as a number (little-endian) or as they are; 0, and fewer, at the end. */
uint8_t input_byte(struct input *in);
uint64_t input_number(struct input *in, unsigned int bytes);
struct input input_take(struct input *in, size_t size);

/* The bytes as a file, or the same through gzip. */
void input_write_file(const char *name, struct input bytes, bool packed);

/* A database of rows (rows.h), and then bits to flip in it. */
void input_write_database(const char *name, struct input *in);

#endif /* PROFBPF_TESTS_FUZZ_INPUT_H */
