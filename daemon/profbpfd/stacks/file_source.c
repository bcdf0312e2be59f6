/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/file_source.h"

#include "lib/elf/frame_rules.h"

static int read_file(const void *code, frame_rule_taker *take, void *context)
{
	const struct file_source *file = code;

	*file->left = 0;
	if (file->rules == UNWIND_DERIVED)
		return frame_rules_read(file->elf, take, context);
	return frame_rules_read_told(file->elf, take, context, file->left);
}

static void publish_begun(void *context, const struct unwind_table *table)
{
	const struct file_soon *soon = context;
	struct unwind_mapping mapping = soon->mapping;

	mapping.pages = table->pages;
	mapping.list = table->list;
	mapping.base = soon->bias + table->first;
	soon->user->publish(soon->user->context, &mapping);
}

static void take_back(void *context)
{
	const struct file_soon *soon = context;

	soon->user->publish(soon->user->context, &soon->mapping);
	soon->wait();
}

struct unwind_source file_source(struct file_source *file)
{
	return (struct unwind_source){ .read = read_file,
				       .code = file,
				       .end = file->soon->user ? elf_file_code_end(file->elf) : 0,
				       .begun = publish_begun,
				       .failed = take_back,
				       .context = file->soon };
}
