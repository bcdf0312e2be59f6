/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mentioned_types.h - the subset of the kernel's types that our programs mention.
 *
 * When programs are loaded, libbpf searches all of the kernel's types, a hundred thousand, for each type that they
 * mention: a third of a session's start. So these types are extracted once per daemon.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_MENTIONED_TYPES_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_MENTIONED_TYPES_H

#include <stdint.h>

struct btf;

/* Zeroed: empty, and libbpf searches the kernel's types itself. */
struct mentioned_types {
	int fd; /* a sealed memory file of BTF; 0 = none */
	/* The kernel's own ids of types; 0 = there is none of that name. */
	uint32_t file, fdtable, list_head, socket;
};

/*
 * mentioned_types_pick - the types of @kernel whose names occur in @programs, and the types that these contain
 *
 * The part of a name from "___" on is ignored, as by libbpf. Pointers become pointers to void.
 * The order is that of @kernel. The caller frees the result (btf__free()); NULL without memory, or if @kernel
 * has unknown kinds of types.
 */
struct btf *mentioned_types_pick(const struct btf *kernel, const struct btf *programs);

/*
 * mentioned_types_take - makes the copy, and finds the ids
 *
 * Returns 0, then the caller frees @types, or a negative errno with @types zeroed.
 */
int mentioned_types_take(struct mentioned_types *types, const struct btf *kernel,
			 const struct btf *programs);

/* mentioned_types_free - @types may be zeroed */
void mentioned_types_free(struct mentioned_types *types);

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_MENTIONED_TYPES_H */
