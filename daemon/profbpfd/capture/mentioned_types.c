/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/capture/mentioned_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/btf.h>

struct names {
	char **name; /* sorted */
	size_t count;
};

struct picking {
	const struct btf *kernel;
	struct btf *picked;
	uint32_t *number; /* index: the kernel's type id; the id of its copy, 0 = not copied */
	uint32_t count; /* number of the kernel's types */
};

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The part of a name that libbpf compares: up to the last "___" that is not at the start. */
static size_t essential_length(const char *name)
{
	size_t length = strlen(name);

	if (!strstr(name, "___"))
		return length;
	for (size_t i = length; i-- > 1;)
		if (length - i > 3 && !strncmp(name + i, "___", 3) && name[i - 1] != '_' &&
		    name[i + 3] != '_')
			return i;
	return length;
}

static bool has_name(const struct btf_type *type)
{
	switch (btf_kind(type)) {
	case BTF_KIND_INT:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF: return type->name_off != 0;
	default: return false;
	}
}

static void names_free(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->name[i]);
	free(names->name);
}

static int names_of(const struct btf *programs, struct names *names)
{
	uint32_t count = btf__type_cnt(programs);

	names->name = calloc(count, sizeof(*names->name));
	if (!names->name)
		return -ENOMEM;
	for (uint32_t id = 1; id < count; id++) {
		const struct btf_type *type = btf__type_by_id(programs, id);
		const char *name;

		if (!has_name(type))
			continue;
		name = btf__name_by_offset(programs, type->name_off);
		names->name[names->count] = strndup(name, essential_length(name));
		if (!names->name[names->count++])
			return -ENOMEM;
	}
	qsort(names->name, names->count, sizeof(*names->name), compare);
	return 0;
}

static bool is_wanted(const struct names *names, const struct btf *kernel,
		      const struct btf_type *type)
{
	char text[128];
	const char *name, *key = text;
	size_t length;

	if (!has_name(type))
		return false;
	name = btf__name_by_offset(kernel, type->name_off);
	length = essential_length(name);
	if (length >= sizeof(text))
		return false;
	memcpy(text, name, length);
	text[length] = '\0';
	return bsearch(&key, names->name, names->count, sizeof(*names->name), compare) != NULL;
}

static int pick(struct picking *p, uint32_t id);

/* Picks the parts of a type, which must be copied before it. Pointers are not followed. */
static int pick_parts(struct picking *p, const struct btf_type *type)
{
	const struct btf_member *members = btf_members(type);
	int err = 0;

	switch (btf_kind(type)) {
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG: return pick(p, type->type);
	case BTF_KIND_ARRAY:
		err = pick(p, btf_array(type)->type);
		return err ? err : pick(p, btf_array(type)->index_type);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (uint32_t i = 0; i < btf_vlen(type) && !err; i++)
			err = pick(p, members[i].type);
		return err;
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_FWD:
	case BTF_KIND_PTR:
	case BTF_KIND_FUNC_PROTO: return 0;
	default: return -EOPNOTSUPP;
	}
}

/* Replaces type ids of the kernel by the ids of the copies. */
static void renumber(const struct picking *p, struct btf_type *type)
{
	struct btf_member *members = btf_members(type);

	switch (btf_kind(type)) {
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG: type->type = p->number[type->type]; break;
	case BTF_KIND_PTR: type->type = 0; break;
	case BTF_KIND_ARRAY:
		btf_array(type)->type = p->number[btf_array(type)->type];
		btf_array(type)->index_type = p->number[btf_array(type)->index_type];
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (uint32_t i = 0; i < btf_vlen(type); i++)
			members[i].type = p->number[members[i].type];
		break;
	default: break;
	}
}

/* The recursion ends, because types contain each other only by pointers, which are not followed. */
static int pick(struct picking *p, uint32_t id)
{
	const struct btf_type *type;
	int err, number;

	if (!id || id >= p->count || p->number[id])
		return id >= p->count ? -EINVAL : 0;
	type = btf__type_by_id(p->kernel, id);
	/* Types of functions are only reached by pointers. */
	if (btf_kind(type) == BTF_KIND_FUNC_PROTO)
		return 0;
	err = pick_parts(p, type);
	if (err)
		return err;
	number = btf__add_type(p->picked, p->kernel, type);
	if (number < 0)
		return number;
	renumber(p, (struct btf_type *)btf__type_by_id(p->picked, number));
	p->number[id] = number;
	return 0;
}

struct btf *mentioned_types_pick(const struct btf *kernel, const struct btf *programs)
{
	struct picking p = { .kernel = kernel, .count = btf__type_cnt(kernel) };
	struct names names = { 0 };
	int err;

	p.picked = btf__new_empty();
	p.number = calloc(p.count, sizeof(*p.number));
	err = p.picked && p.number ? names_of(programs, &names) : -ENOMEM;
	for (uint32_t id = 1; id < p.count && !err; id++)
		if (is_wanted(&names, kernel, btf__type_by_id(kernel, id)))
			err = pick(&p, id);
	names_free(&names);
	free(p.number);
	if (!err)
		return p.picked;
	btf__free(p.picked);
	return NULL;
}

static int keep(const struct btf *picked)
{
	uint32_t size = 0;
	const char *data = btf__raw_data(picked, &size);
	int fd = data ? memfd_create("profbpf-types", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;

	if (fd < 0)
		return -ENOMEM;
	for (uint32_t done = 0; done < size;) {
		ssize_t n = write(fd, data + done, size - done);

		if (n <= 0) {
			close(fd);
			return -EIO;
		}
		done += (uint32_t)n;
	}
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
	return fd;
}

static uint32_t number_of(const struct btf *kernel, const char *name)
{
	int id = btf__find_by_name_kind(kernel, name, BTF_KIND_STRUCT);

	return id > 0 ? (uint32_t)id : 0;
}

int mentioned_types_take(struct mentioned_types *types, const struct btf *kernel,
			 const struct btf *programs)
{
	struct btf *picked = mentioned_types_pick(kernel, programs);
	int fd = picked ? keep(picked) : -ENOMEM;

	btf__free(picked);
	*types = (struct mentioned_types){ 0 };
	if (fd < 0)
		return fd;
	*types = (struct mentioned_types){
		.fd = fd,
		.file = number_of(kernel, "file"),
		.fdtable = number_of(kernel, "fdtable"),
		.list_head = number_of(kernel, "list_head"),
		.socket = number_of(kernel, "socket"),
	};
	return 0;
}

void mentioned_types_free(struct mentioned_types *types)
{
	if (types->fd)
		close(types->fd);
	*types = (struct mentioned_types){ 0 };
}
