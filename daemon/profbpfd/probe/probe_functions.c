/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/probe_functions.h"

#include <stdlib.h>

static void describe(const struct probed_file *file, size_t index, enum end_way way,
		     Profbpf__Function *m)
{
	const struct probed_function *f = &file->functions[index];

	profbpf__function__init(m);
	m->runtime = f->entry->catalog->runtime;
	m->family = f->entry->catalog->family;
	m->name = f->name;
	m->kind = f->entry->kind;
	m->layer = f->entry->layer;
	m->n_roles = REC_ARGS;
	m->roles = (Profbpf__Function__Role *)f->entry->roles;
	m->error = f->entry->error;
	m->operator_ = catalog_operator(f->entry, f->name) ?: (char *)protobuf_c_empty_string;
	m->build_id.data = (uint8_t *)file->build_id;
	m->build_id.len = file->build_id_size;
	m->offset = f->offset;
	m->instruction = (char *)instruction_class_name(f->choice.class);
	m->ends_by = (char *)end_way_name(way);
	m->ends_by_reason = (char *)end_way_reason(f, way);
}

static struct item *pack(const Profbpf__Functions *m)
{
	struct item *item = item_new(ITEM_BODY, profbpf__functions__get_packed_size(m));

	if (!item)
		return NULL;
	item->size = profbpf__functions__pack(m, item->data);
	item->body = PROFBPF__PACKET__KIND__FUNCTIONS;
	item->repeated = true;
	return item;
}

struct item *probe_functions_item(const struct probed_file *file, const struct file_places *places,
				  const char *path, const uint64_t *cookies)
{
	Profbpf__Functions m = PROFBPF__FUNCTIONS__INIT;
	Profbpf__Function *rows = calloc(file->count, sizeof(*rows));
	Profbpf__Function **pointers = calloc(file->count, sizeof(*pointers));
	struct item *item = NULL;

	for (size_t i = 0; rows && pointers && i < file->count; i++) {
		describe(file, i, places->ways[i], &rows[i]);
		rows[i].id = cookies[i];
		rows[i].file = (char *)path;
		pointers[i] = &rows[i];
	}
	if (rows && pointers) {
		m.n_function = file->count;
		m.function = pointers;
		item = pack(&m);
	}
	for (size_t i = 0; i < m.n_function; i++)
		if (rows[i].operator_ != protobuf_c_empty_string)
			free(rows[i].operator_);
	free(pointers);
	free(rows);
	return item;
}
