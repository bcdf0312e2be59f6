/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/unwind_store.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "daemon/profbpfd/stacks/rule_numbers.h"

#define PAGE_BYTES (1ull << UNWIND_PAGE_SHIFT)
#define PAGES_MAX (UNWIND_SHARD_WORDS / 2) /* pages of a file */

struct unwind_store {
	pthread_mutex_t lock; /* against the removal of shards while unwind_store_rule() reads them */
	int shards_fd, rules_fd;
	uint32_t *shard[UNWIND_SHARDS]; /* shared with the programs; NULL: the shard does not exist */
	uint32_t used[UNWIND_SHARDS]; /* used words of each shard */
	struct word_pieces unused; /* free words; word 0 is never used */
	struct unwind_rule *rules; /* shared with the programs */
	struct rule_numbers *numbers;
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

/* The first shard also serves as the template of the outer map. A shard in that map needs no descriptor. */
static int make_shard(struct unwind_store *s, uint32_t number)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);
	int fd = make_array("unwind_shard", sizeof(struct unwind_shard), 1), err;

	if (fd < 0)
		return -errno;
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
	if (err)
		s->shard[number] = NULL;
	return err;
}

static void free_shard(struct unwind_store *s, uint32_t number)
{
	if (!s->shard[number])
		return;
	pthread_mutex_lock(&s->lock);
	munmap(s->shard[number], sizeof(struct unwind_shard));
	s->shard[number] = NULL;
	pthread_mutex_unlock(&s->lock);
	bpf_map_delete_elem(s->shards_fd, &number);
}

struct unwind_store *unwind_store_new(void)
{
	struct unwind_store *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	s->shards_fd = -1;
	s->rules_fd = make_array("unwind_rules", sizeof(struct unwind_rule), UNWIND_RULES);
	s->rules = map_memory(s->rules_fd, UNWIND_RULES * sizeof(struct unwind_rule));
	err = s->rules ? word_room_init(&s->unused, UNWIND_WORDS) : -errno;
	if (!err)
		s->numbers = rule_numbers_new(s->rules);
	if (!err && !s->numbers)
		err = -ENOMEM;
	if (!err)
		err = make_shard(s, 0);
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
	for (uint32_t i = 0; i < UNWIND_SHARDS; i++)
		if (s->shard[i])
			munmap(s->shard[i], sizeof(struct unwind_shard));
	if (s->rules)
		munmap(s->rules, UNWIND_RULES * sizeof(struct unwind_rule));
	if (s->rules_fd >= 0)
		close(s->rules_fd);
	if (s->shards_fd >= 0)
		close(s->shards_fd);
	rule_numbers_free(s->numbers);
	word_pieces_free(&s->unused);
	pthread_mutex_destroy(&s->lock);
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

static uint32_t *words_at(const struct unwind_store *s, uint32_t word)
{
	return s->shard[word / UNWIND_SHARD_WORDS] + word % UNWIND_SHARD_WORDS;
}

/* Returns the @count words from number @first on; NULL if they are not in one existing shard. */
static const uint32_t *known_words(const struct unwind_store *s, uint32_t first, uint32_t count)
{
	if (first / UNWIND_SHARD_WORDS >= UNWIND_SHARDS || first % UNWIND_SHARD_WORDS + count > UNWIND_SHARD_WORDS ||
	    !s->shard[first / UNWIND_SHARD_WORDS])
		return NULL;
	return words_at(s, first);
}

/* The same search as unwind_rule() of unwind.bpf.h. The caller holds the lock. */
static bool look_up(const struct unwind_store *s, const struct unwind_mapping *mapping, uint64_t address,
		    struct unwind_rule *rule)
{
	uint64_t offset = address - mapping->base, page = offset >> UNWIND_PAGE_SHIFT;
	uint32_t first, low = 0, high;
	const uint32_t *list, *rows;

	if (address < mapping->start || address >= mapping->end || page >= mapping->pages)
		return false;
	list = known_words(s, mapping->list + 2 * (uint32_t)page, 2);
	if (!list)
		return false;
	/* Read once: another thread may write another table there; the checked values must be the used ones. */
	first = __atomic_load_n(&list[0], __ATOMIC_RELAXED);
	high = __atomic_load_n(&list[1], __ATOMIC_RELAXED);
	rows = first && high && high <= UNWIND_PAGE_ROWS_MAX ? known_words(s, first, high) : NULL;
	if (!rows)
		return false;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (UNWIND_ROW_ADDRESS(rows[middle]) <= (offset & 0xffff))
			low = middle;
		else
			high = middle;
	}
	*rule = s->rules[UNWIND_ROW_RULE(rows[low]) % UNWIND_RULES];
	return true;
}

bool unwind_store_rule(struct unwind_store *s, const struct unwind_mapping *mapping, uint64_t address,
		       struct unwind_rule *rule)
{
	bool found;

	pthread_mutex_lock(&s->lock);
	found = look_up(s, mapping, address, rule);
	pthread_mutex_unlock(&s->lock);
	return found;
}

static uint8_t kind_of(uint8_t kind)
{
	static const uint8_t kinds[] = {
		[FRAME_RULE_NONE] = UNWIND_POINTERS,	      [FRAME_RULE_STACK] = UNWIND_STACK,
		[FRAME_RULE_FRAME] = UNWIND_FRAME,	      [FRAME_RULE_FRAME_WORD] = UNWIND_FRAME_WORD,
		[FRAME_RULE_STACK_WORD] = UNWIND_STACK_WORD,  [FRAME_RULE_REGISTER] = UNWIND_REGISTER,
		[FRAME_RULE_PLT] = UNWIND_PLT,		      [FRAME_RULE_SIGNAL] = UNWIND_SIGNAL,
		[FRAME_RULE_FIRST] = UNWIND_FIRST,
	};

	return kinds[kind];
}

/* Returns the index of a register in struct pt_regs, in words (arch/x86/include/asm/ptrace.h). */
static int16_t place_of(int16_t number)
{
	static const uint8_t places[16] = { 10, 11, 12, 5, 19, 4, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0 };

	return places[number & 15];
}

static uint8_t pointer_of(uint8_t kind)
{
	static const uint8_t kinds[] = { [FRAME_POINTER_SAME] = UNWIND_POINTER_SAME,
					 [FRAME_POINTER_AT_CFA] = UNWIND_POINTER_AT_CFA,
					 [FRAME_POINTER_AT_FRAME] = UNWIND_POINTER_AT_FRAME };

	return kinds[kind];
}

static void give_words(struct unwind_store *s, struct word_piece piece)
{
	/* If the words cannot be noted as free, they stay used, and so does their shard. */
	if (word_room_give(&s->unused, piece))
		return;
	while (piece.count) {
		uint32_t shard = piece.first / UNWIND_SHARD_WORDS;
		uint32_t room = UNWIND_SHARD_WORDS - piece.first % UNWIND_SHARD_WORDS;
		uint32_t words = piece.count < room ? piece.count : room;

		s->used[shard] -= words;
		if (!s->used[shard])
			free_shard(s, shard);
		piece.first += words;
		piece.count -= words;
	}
}

/* Frees everything in the table except the list of its rules. */
static void take_apart(struct unwind_store *s, struct table_shares *shares, uid_t payer, struct unwind_table *table)
{
	const struct table_room words = { .words = table->words }, rule = { .rules = 1 };
	uid_t payer_of_rule;

	for (size_t i = 0; i < table->pieces.count; i++)
		give_words(s, table->pieces.piece[i]);
	word_pieces_free(&table->pieces);
	table_shares_give(shares, payer, &words);
	for (uint32_t i = 0; i < table->rule_count; i++)
		if (rule_numbers_drop(s->numbers, table->rules[i], &payer_of_rule))
			table_shares_give(shares, payer_of_rule, &rule);
}

/* A table under construction. */
struct making {
	struct unwind_store *store;
	struct table_shares *shares;
	uid_t payer;
	struct table_room left; /* room that the payer may still take */
	struct unwind_table table;
	const struct unwind_source *source;
	struct unwind_page *pages; /* the complete pages */
	uint32_t page; /* index of the current page */
	uint32_t rows[UNWIND_PAGE_ROWS_MAX]; /* rows of the current page */
	uint32_t row_count;
	uint32_t rule; /* the rule of the last row */
	bool any;
	bool has_rule[UNWIND_RULES];
	uint16_t rules[UNWIND_RULES]; /* the table's rules */
};

/* Reserves @words in one shard and returns the first; 0 if there is no room. */
static uint32_t reserve(struct making *m, uint32_t words)
{
	struct unwind_store *s = m->store;
	struct table_room room = { .words = words };
	uint32_t first = words <= m->left.words ? word_room_find(&s->unused, words, UNWIND_SHARD_WORDS) : 0;
	uint32_t shard = first / UNWIND_SHARD_WORDS;

	if (!first || (!s->shard[shard] && make_shard(s, shard)) ||
	    word_room_take(&s->unused, first, words, &m->table.pieces))
		return 0;
	s->used[shard] += words;
	m->table.words += words;
	m->left.words -= words;
	table_shares_take(m->shares, m->payer, &room);
	return first;
}

/* Returns the rule's number, which it adds if necessary; 0 if there is no room for another rule. */
static uint32_t number_of(struct making *m, const struct unwind_rule *rule)
{
	const struct table_room room = { .rules = 1 };
	struct rule_numbers *numbers = m->store->numbers;
	uint16_t number = rule_numbers_find(numbers, rule);

	if (number && m->has_rule[number])
		return number;
	if (!number) {
		number = m->left.rules ? rule_numbers_add(numbers, rule, m->payer) : 0;
		if (!number)
			return 0;
		m->left.rules--;
		table_shares_take(m->shares, m->payer, &room);
	}
	rule_numbers_have(numbers, number);
	m->has_rule[number] = true;
	m->rules[m->table.rule_count++] = number;
	return number;
}

/* The number of the first row is written last: programs read the page as soon as it is there. */
static void add_to_list(struct making *m, uint32_t first)
{
	uint32_t *entry = words_at(m->store, m->table.list + 2 * m->page);

	__atomic_store_n(&entry[1], m->row_count, __ATOMIC_RELAXED);
	__atomic_store_n(&entry[0], first, __ATOMIC_RELEASE);
}

static int end_page(struct making *m)
{
	bool listed = m->table.pages, outside = listed && m->page >= m->table.pages;
	uint32_t first = outside ? 0 : reserve(m, m->row_count);

	if (!first && !outside)
		return -ENOSPC;
	if (!outside)
		memcpy(words_at(m->store, first), m->rows, m->row_count * sizeof(m->rows[0]));
	if (listed && !outside)
		add_to_list(m, first);
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

/* Makes the list of a large file's pages before the pages, so that programs find each as soon as it is made. */
static void begin_list(struct making *m)
{
	const struct unwind_source *source = m->source;
	uint64_t pages = source->end > m->table.first ? (source->end - m->table.first) / PAGE_BYTES + 1 : 0;
	uint32_t first = 0;

	if (pages >= UNWIND_SOON_PAGES && pages <= PAGES_MAX)
		first = reserve(m, 2 * (uint32_t)pages);
	if (!first)
		return;
	memset(words_at(m->store, first), 0, pages * sizeof(*m->pages));
	m->table.list = first;
	m->table.pages = (uint32_t)pages;
	source->begun(source->context, &m->table);
}

static int take_rule(void *context, uint64_t address, const struct frame_rule *r)
{
	const struct unwind_rule rule = { .kind = kind_of(r->kind),
					  .pointer_kind = pointer_of(r->pointer_kind),
					  .pointer = r->pointer,
					  .back = r->back,
					  .derived = r->derived,
					  .cfa = r->cfa,
					  .add = r->kind == FRAME_RULE_REGISTER ? place_of(r->add) : r->add };
	struct making *m = context;
	uint32_t number = 0;
	int err = 0;

	if (!m->any) {
		m->any = true;
		m->table.first = address & ~(PAGE_BYTES - 1);
		begin_list(m);
	}
	/* Only gaps can be that long. */
	if ((address - m->table.first) / PAGE_BYTES >= PAGES_MAX)
		return -ENOSPC;
	while (!err && (address - m->table.first) / PAGE_BYTES > m->page)
		err = end_page(m);
	if (err)
		return err;
	if (rule.kind != UNWIND_POINTERS)
		number = number_of(m, &rule);
	/* If all numbers are used, the code gets rule 0. If only this payer's are, others get the whole table. */
	if (!number && rule.kind != UNWIND_POINTERS && !rule_numbers_full(m->store->numbers))
		return -ENOSPC;
	put_row(m, address, number);
	return 0;
}

static int put_list(struct making *m)
{
	uint32_t first = reserve(m, 2 * m->page);

	if (!first)
		return -ENOSPC;
	memcpy(words_at(m->store, first), m->pages, m->page * sizeof(*m->pages));
	m->table.list = first;
	m->table.pages = m->page;
	return 0;
}

static int make_table(struct making *m, const struct unwind_source *source)
{
	int err = source->read(source->code, take_rule, m);

	if (!err)
		err = m->any ? end_page(m) : -ENOENT;
	return err || m->table.pages ? err : put_list(m);
}

static int keep_rules(struct making *m)
{
	size_t size = m->table.rule_count * sizeof(m->rules[0]);

	m->table.rules = malloc(size + 1);
	if (!m->table.rules)
		return -ENOMEM;
	memcpy(m->table.rules, m->rules, size);
	return 0;
}

int unwind_store_add(struct unwind_store *s, const struct unwind_source *source, struct table_shares *shares,
		     uid_t payer, struct unwind_table *table)
{
	struct making *m = calloc(1, sizeof(*m));
	int err = -ENOMEM;

	if (m)
		m->pages = calloc(PAGES_MAX, sizeof(*m->pages));
	if (m && m->pages) {
		m->store = s;
		m->shares = shares;
		m->payer = payer;
		m->left = table_shares_left(shares, payer);
		m->source = source;
		m->row_count = 1; /* a row with rule 0 */
		err = make_table(m, source);
		if (!err)
			err = keep_rules(m);
		if (err && m->table.pages)
			source->failed(source->context);
		if (err)
			m->table.rules = m->rules;
		if (err)
			take_apart(s, shares, payer, &m->table);
		else
			*table = m->table;
		free(m->pages);
	}
	free(m);
	return err;
}

void unwind_store_remove(struct unwind_store *s, struct table_shares *shares, uid_t payer, struct unwind_table *table)
{
	take_apart(s, shares, payer, table);
	free(table->rules);
	*table = (struct unwind_table){ 0 };
}

void unwind_store_move(struct unwind_store *s, struct table_shares *shares, const struct unwind_table *table, uid_t from,
		       uid_t to)
{
	struct table_room room = { .words = table->words };

	for (uint32_t i = 0; i < table->rule_count; i++)
		room.rules += rule_numbers_move(s->numbers, table->rules[i], from, to);
	table_shares_give(shares, from, &room);
	table_shares_take(shares, to, &room);
}
