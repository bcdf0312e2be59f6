/* SPDX-License-Identifier: Apache-2.0 */
/* file_source.h - a file as the source of an unwind table (unwind_store.h), which programs may use while it is made */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_FILE_SOURCE_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_FILE_SOURCE_H

#include <stdint.h>

#include "bpf/unwind.h"
#include "daemon/profbpfd/stacks/unwind_store.h"
#include "lib/elf/elf_file.h"

/* The sources of a file's rules. */
enum unwind_rules {
	UNWIND_TOLD, /* its unwind tables */
	UNWIND_DERIVED, /* also the instructions of code that these do not cover, which can take a second more */
};

/* A caller whose programs use the tables of large files while they are made. */
struct unwind_user {
	/* Passes @mapping to the programs. If the table could not be made after all, it is called again, without pages. */
	void (*publish)(void *context, const struct unwind_mapping *mapping);
	void *context;
};

/* Who uses the table while it is made. */
struct file_soon {
	const struct unwind_user *user; /* NULL: nobody */
	struct unwind_mapping mapping; /* without the table */
	uint64_t bias;
	void (*wait)(void); /* returns when running programs have ended */
};

struct file_source {
	const struct elf_file *elf;
	enum unwind_rules rules;
	uint64_t *left; /* unwind_files.c */
	struct file_soon *soon;
};

/* file_source - @file must outlive the result */
struct unwind_source file_source(struct file_source *file);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_FILE_SOURCE_H */
