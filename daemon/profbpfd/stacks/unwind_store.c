/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/unwind_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/elf/frame_rules.h"

#define PAGE_BYTES (1ull << UNWIND_PAGE_SHIFT)
#define PAGES_MAX (UNWIND_SHARD_WORDS / 2) /* of a file */
#define RULE_PLACES (2 * UNWIND_RULES) /* a power of two */

struct unwind_store {
	int shards_fd, rules_fd;
	uint32_t *shard[UNWIND_SHARDS]; /* as the programs see them */
	uint32_t shard_count;
	uint32_t next; /* number of the first word that is free; 0 is not used */
	uint64_t words_end, rules_end; /* what the table that is being made may go up to */
	struct unwind_rule *rules; /* as the programs see them */
	uint32_t rule_count;
	uint16_t rule_places[RULE_PLACES]; /* numbers of rules, by their bytes; 0 = none */
};

static void *map_memory(int fd, size_t size)
{
	void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int make_array(const char *name, uint32_t value_size, uint32_t count)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t), value_size, count, &options);
}

/* What is in the outer map tells the kernel what may be; a shard's descriptor is not needed after that. */
static int make_shard(struct unwind_store *s)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);
	uint32_t number = s->shard_count;
	int fd, err;

	if (number == UNWIND_SHARDS)
		return -ENOSPC;
	fd = make_array("unwind_shard", sizeof(struct unwind_shard), 1);
	if (fd < 0)
		return -ENOSPC;
	if (s->shards_fd < 0) {
		options.inner_map_fd = (uint32_t)fd;
		s->shards_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "unwind_shards", sizeof(uint32_t),
					      sizeof(uint32_t), UNWIND_SHARDS, &options);
	}
	s->shard[number] = map_memory(fd, sizeof(struct unwind_shard));
	err = s->shards_fd < 0 || !s->shard[number] || bpf_map_update_elem(s->shards_fd, &number, &fd, BPF_ANY)
		      ? -errno
		      : 0;
	close(fd);
	if (err && s->shard[number])
		munmap(s->shard[number], sizeof(struct unwind_shard));
	if (!err)
		s->shard_count++;
	return err;
}

struct unwind_store *unwind_store_new(void)
{
	struct unwind_store *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return NULL;
	s->shards_fd = -1;
	s->next = 1;
	s->rule_count = 1; /* the first is UNWIND_POINTERS */
	s->rules_fd = make_array("unwind_rules", sizeof(struct unwind_rule), UNWIND_RULES);
	s->rules = map_memory(s->rules_fd, UNWIND_RULES * sizeof(struct unwind_rule));
	err = s->rules ? make_shard(s) : -errno;
	if (!err)
		return s;
	unwind_store_free(s);
	errno = -err;
	return NULL;
}

void unwind_store_free(struct unwind_store *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->shard_count; i++)
		munmap(s->shard[i], sizeof(struct unwind_shard));
	if (s->rules)
		munmap(s->rules, UNWIND_RULES * sizeof(struct unwind_rule));
	if (s->rules_fd >= 0)
		close(s->rules_fd);
	if (s->shards_fd >= 0)
		close(s->shards_fd);
	free(s);
}

int unwind_store_shards(const struct unwind_store *s)
{
	return s->shards_fd;
}

int unwind_store_rules(const struct unwind_store *s)
{
	return s->rules_fd;
}

/* Room for @words in one shard; 0: there is none */
static uint32_t reserve(struct unwind_store *s, uint32_t words)
{
	uint32_t left = UNWIND_SHARD_WORDS - s->next % UNWIND_SHARD_WORDS, first;

	if (words > left)
		s->next += left;
	if (s->next + words > s->words_end)
		return 0;
	while (s->shard_count <= (s->next + words - 1) / UNWIND_SHARD_WORDS)
		if (make_shard(s))
			return 0;
	first = s->next;
	s->next += words;
	return first;
}

static uint32_t *words_at(const struct unwind_store *s, uint32_t word)
{
	return s->shard[word / UNWIND_SHARD_WORDS] + word % UNWIND_SHARD_WORDS;
}

/* FNV-1a */
static uint32_t hash_of(const struct unwind_rule *rule)
{
	const uint8_t *byte = (const uint8_t *)rule;
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < sizeof(*rule); i++)
		hash = (hash ^ byte[i]) * 16777619u;
	return hash;
}

/* 0: there is no room for another one. */
static uint32_t number_of(struct unwind_store *s, const struct unwind_rule *rule)
{
	uint32_t place = hash_of(rule);

	for (;; place++) {
		uint16_t number = s->rule_places[place % RULE_PLACES];

		if (number && !memcmp(&s->rules[number], rule, sizeof(*rule)))
			return number;
		if (!number)
			break;
	}
	if (s->rule_count >= s->rules_end)
		return 0;
	s->rules[s->rule_count] = *rule;
	s->rule_places[place % RULE_PLACES] = (uint16_t)s->rule_count;
	return s->rule_count++;
}

static uint8_t kind_of(uint8_t kind)
{
	static const uint8_t kinds[] = {
		[FRAME_RULE_NONE] = UNWIND_POINTERS,	      [FRAME_RULE_STACK] = UNWIND_STACK,
		[FRAME_RULE_FRAME] = UNWIND_FRAME,	      [FRAME_RULE_FRAME_WORD] = UNWIND_FRAME_WORD,
		[FRAME_RULE_PLT] = UNWIND_PLT,		      [FRAME_RULE_SIGNAL] = UNWIND_SIGNAL,
		[FRAME_RULE_FIRST] = UNWIND_FIRST,
	};

	return kinds[kind];
}

static uint8_t pointer_of(uint8_t kind)
{
	static const uint8_t kinds[] = { [FRAME_POINTER_SAME] = UNWIND_POINTER_SAME,
					 [FRAME_POINTER_AT_CFA] = UNWIND_POINTER_AT_CFA,
					 [FRAME_POINTER_AT_FRAME] = UNWIND_POINTER_AT_FRAME };

	return kinds[kind];
}

/* A table that is being made. */
struct making {
	struct unwind_store *store;
	struct unwind_list list;
	struct unwind_page *pages; /* those that are done */
	uint32_t page; /* the one that is not */
	uint32_t rows[UNWIND_PAGE_ROWS_MAX]; /* its */
	uint32_t row_count;
	uint32_t rule; /* which holds so far */
	bool any;
};

static int end_page(struct making *m)
{
	uint32_t first = reserve(m->store, m->row_count);

	if (!first)
		return -ENOSPC;
	memcpy(words_at(m->store, first), m->rows, m->row_count * sizeof(m->rows[0]));
	m->pages[m->page++] = (struct unwind_page){ first, m->row_count };
	m->rows[0] = UNWIND_ROW(0, m->rule);
	m->row_count = 1;
	return m->page == PAGES_MAX ? -ENOSPC : 0;
}

static void put_row(struct making *m, uint64_t address, uint32_t rule)
{
	uint32_t *last = &m->rows[m->row_count - 1];

	m->rule = rule;
	if (UNWIND_ROW_ADDRESS(*last) == (address & 0xffff))
		*last = UNWIND_ROW(address, rule);
	else if (UNWIND_ROW_RULE(*last) != rule && m->row_count < UNWIND_PAGE_ROWS_MAX)
		m->rows[m->row_count++] = UNWIND_ROW(address, rule);
}

static int take_rule(void *context, uint64_t address, const struct frame_rule *r)
{
	const struct unwind_rule rule = { .kind = kind_of(r->kind),
					  .pointer_kind = pointer_of(r->pointer_kind),
					  .pointer = r->pointer,
					  .back = r->back,
					  .cfa = r->cfa };
	struct making *m = context;
	uint32_t number = 0;
	int err = 0;

	if (!m->any)
		m->list.first = address & ~(PAGE_BYTES - 1);
	m->any = true;
	/* Nothing but gaps can be that long. */
	if ((address - m->list.first) / PAGE_BYTES >= PAGES_MAX)
		return -ENOSPC;
	while (!err && (address - m->list.first) / PAGE_BYTES > m->page)
		err = end_page(m);
	if (err)
		return err;
	if (rule.kind != UNWIND_POINTERS)
		number = number_of(m->store, &rule);
	/* Where nobody may have more of them nothing is known. Where this owner may not, others get a whole table. */
	if (!number && rule.kind != UNWIND_POINTERS && m->store->rule_count < UNWIND_RULES)
		return -ENOSPC;
	put_row(m, address, number);
	return 0;
}

static int put_list(struct making *m)
{
	uint32_t first = reserve(m->store, 2 * m->page);

	if (!first)
		return -ENOSPC;
	memcpy(words_at(m->store, first), m->pages, m->page * sizeof(*m->pages));
	m->list.list = first;
	m->list.pages = m->page;
	return 0;
}

static int make_table(struct making *m, const struct elf_file *file)
{
	int err = frame_rules_read(file, take_rule, m);

	if (!err)
		err = m->any ? end_page(m) : -ENOENT;
	return err ? err : put_list(m);
}

static uint64_t end_of_room(uint64_t used, uint64_t room, uint64_t all)
{
	return room < all - used ? used + room : all;
}

int unwind_store_add(struct unwind_store *s, const struct elf_file *file, struct unwind_list *list,
		     struct table_room *room)
{
	struct making *m = calloc(1, sizeof(*m));
	uint32_t words = s->next, rules = s->rule_count;
	int err;

	if (m)
		m->pages = calloc(PAGES_MAX, sizeof(*m->pages));
	if (!m || !m->pages) {
		free(m);
		*room = (struct table_room){ 0 };
		return -ENOMEM;
	}
	m->store = s;
	m->row_count = 1; /* of rule 0 */
	s->words_end = end_of_room(words, room->words, UNWIND_WORDS);
	s->rules_end = end_of_room(rules, room->rules, UNWIND_RULES);
	err = make_table(m, file);
	if (err)
		s->next = words;
	else
		*list = m->list;
	*room = (struct table_room){ .words = s->next - words, .rules = s->rule_count - rules, .files = 1 };
	free(m->pages);
	free(m);
	return err;
}
