/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - makes files from a fuzzer's bytes.
 *
 * All functions end the program on a failure that does not depend on the input.
 */
#ifndef PROFBPF_TESTS_FUZZ_INPUT_H
#define PROFBPF_TESTS_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

/* The unused rest of an input. */
struct input {
	const uint8_t *data;
	size_t size;
};

void check(bool ok);

/* Checks a model that importers made. */
void check_model(const struct model *model);

/* Take the next bytes, as a number (little-endian) or unchanged; at the end 0, or fewer bytes. */
uint8_t input_byte(struct input *in);
uint64_t input_number(struct input *in, unsigned int bytes);
struct input input_take(struct input *in, size_t size);

/* Writes the bytes to a file; @packed: compressed by gzip. */
void input_write_file(const char *name, struct input bytes, bool packed);

/* Writes a database of rows (rows.h), and flips bits in it as the input demands. */
void input_write_database(const char *name, struct input *in);

#endif /* PROFBPF_TESTS_FUZZ_INPUT_H */
