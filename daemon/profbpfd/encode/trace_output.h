/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_output.h - writes complete packets to a descriptor that a client passed.
 *
 * A regular file never ends in a torn packet: the part that a failing write left is
 * cut off again. A pipe or socket whose reader stops reading does not block the
 * writer for ever: output_give_up() ends the waiting.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_TRACE_OUTPUT_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_TRACE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output {
	int fd;
	bool regular;
	uint64_t written;	/* bytes of whole packets */
	int64_t start;		/* file offset of the first byte, regular files */
	bool give_up;		/* set from another thread */
	unsigned int patience_ms; /* the time that a reader may read nothing; 0: until give_up */
};

/* output_init - the caller keeps @fd, whose flags are not changed */
void output_init(struct output *output, int fd);

/* output_write - writes all of @data or nothing; 0 or a negative errno (-ETIMEDOUT: given up) */
int output_write(struct output *output, const void *data, size_t size);

/*
 * output_cut - cuts a regular file off behind @written bytes (struct output)
 *
 * For packets that were written in parts, of which one failed. Does nothing to pipes and sockets.
 */
void output_cut(struct output *output, uint64_t written);

/* output_give_up - stops waiting for a reader that does not read; may be called by any thread */
void output_give_up(struct output *output);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_TRACE_OUTPUT_H */
