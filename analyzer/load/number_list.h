/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_list.h - a long list of numbers, in as many bytes as each of them needs.
 *
 * Seven bits a byte, the lowest first; all bytes but a number's last one have their top bit set. Instants are stored
 * as differences, which may be negative: 3 bytes for steps of up to a millisecond.
 *
 *	struct number_list list = { 0 };
 *
 *	if (!number_list_put(&list, 5))
 *		return -ENOMEM;
 *	struct number_reader reader = number_list_read(&list);
 *
 *	number_reader_next(&reader) is 5
 */
#ifndef PROFBPF_ANALYZER_LOAD_NUMBER_LIST_H
#define PROFBPF_ANALYZER_LOAD_NUMBER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_MAX 10 /* bytes of a number */

/* All zeros: no numbers. */
struct number_list {
	uint8_t *data;
	size_t size; /* bytes in use */
	size_t capacity;
};

struct number_reader {
	const uint8_t *at;
	const uint8_t *end;
};

/* number_list_grow - makes room for one more number; used by number_list_put(). Returns false without memory. */
bool number_list_grow(struct number_list *list);

/* number_list_put - appends a number. Returns false, and changes nothing, without memory. */
static inline bool number_list_put(struct number_list *list, uint64_t value)
{
	uint8_t *to;

	if (list->capacity - list->size < NUMBER_MAX && !number_list_grow(list))
		return false;
	to = list->data + list->size;
	for (; value >= 0x80; value >>= 7)
		*to++ = (uint8_t)(value | 0x80);
	*to++ = (uint8_t)value;
	list->size = (size_t)(to - list->data);
	return true;
}

/* number_list_put_difference - appends @value as its difference to @before */
static inline bool number_list_put_difference(struct number_list *list, uint64_t before, uint64_t value)
{
	uint64_t difference = value - before;

	return number_list_put(list, difference << 1 ^ (0 - (difference >> 63)));
}

/* number_list_read - a reader at the first number; valid until the list is changed */
static inline struct number_reader number_list_read(const struct number_list *list)
{
	return (struct number_reader){ list->data, list->data + list->size };
}

/* number_reader_next - the next number; 0 behind the last one */
static inline uint64_t number_reader_next(struct number_reader *reader)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	for (; reader->at < reader->end; shift += 7) {
		uint8_t byte = *reader->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	return value;
}

/* number_reader_next_difference - the number that was put with the same @before */
static inline uint64_t number_reader_next_difference(struct number_reader *reader, uint64_t before)
{
	uint64_t coded = number_reader_next(reader);

	return before + (coded >> 1 ^ (0 - (coded & 1)));
}

/* number_list_free - the list is empty afterwards, and may be used again */
void number_list_free(struct number_list *list);

#endif /* PROFBPF_ANALYZER_LOAD_NUMBER_LIST_H */
