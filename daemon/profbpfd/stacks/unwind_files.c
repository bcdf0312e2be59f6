/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/unwind_files.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/profbpfd/stacks/file_keys.h"
#include "daemon/profbpfd/stacks/file_source.h"
#include "daemon/profbpfd/stacks/generated_code.h"
#include "daemon/profbpfd/stacks/vdso_copy.h"
#include "lib/base/process_owner.h"

#define FILES_MAX 65536
#define FRESH_S 2 /* a file that changed in the last seconds may change again with the same timestamp */

struct name {
	struct file_key key;
	struct unwind_file *file;
};

struct holder {
	uid_t payer;
	uint64_t times;
};

struct unwind_file {
	struct name by_stat, by_id; /* file is NULL: not in the tree under this name */
	uid_t owner, payer;
	bool fresh; /* not kept without holders */
	struct unwind_table table;
	uint64_t left; /* bytes of code that its unwind tables do not cover; 0: the table is complete */
	int err; /* result of unwind_store_add() */
	uint64_t given_back; /* value of unwind_files.given_back when room was refused */
	struct holder *holders; /* NULL: none */
	size_t holder_count;
	struct unwind_file *older, *newer; /* in the list of files without holders */
	uint64_t dropped_ns; /* time of the last holder's release */
};

struct unwind_files {
	struct unwind_store *store;
	void (*wait)(void);
	struct table_shares *shares; /* shares of all the room */
	struct table_shares *kept; /* shares of the room for files without holders */
	void *names; /* tsearch tree of struct name */
	struct unwind_file *oldest, *newest; /* list of files without holders */
	uint64_t waited_ns; /* no program uses tables that were dropped before this time */
	uint64_t gone_ns; /* time since which no program sees the files being dropped; 0 = now */
	uint64_t given_back; /* how many times room was freed */
	struct file_soon soon; /* of the table that is made */
	struct unwind_files_stats stats;
	int vdso; /* a memory file with a copy of the vdso; -1 = none */
};

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

struct unwind_files *unwind_files_new(struct unwind_store *store, void (*wait)(void))
{
	static const struct table_room ALL = { .words = UNWIND_WORDS, .rules = UNWIND_RULES, .files = FILES_MAX };
	static const struct table_room KEPT = { .words = UNWIND_KEPT_WORDS, .files = UNWIND_KEPT_FILES };
	struct unwind_files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->vdso = -1;
	f->shares = table_shares_new(&ALL);
	f->kept = table_shares_new(&KEPT);
	if (!f->shares || !f->kept) {
		unwind_files_free(f);
		return NULL;
	}
	f->store = store;
	f->wait = wait;
	f->vdso = vdso_copy();
	return f;
}

static int compare(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static struct unwind_file *find(struct unwind_files *f, const struct file_key *key)
{
	const struct name name = { .key = *key };
	struct name **found = tfind(&name, &f->names, compare);

	return found ? (*found)->file : NULL;
}

static struct table_room kept_room(const struct unwind_file *file)
{
	return (struct table_room){ .words = file->table.words, .files = 1 };
}

static void unlink_unused(struct unwind_files *f, struct unwind_file *file)
{
	const struct table_room room = kept_room(file);

	*(file->older ? &file->older->newer : &f->oldest) = file->newer;
	*(file->newer ? &file->newer->older : &f->newest) = file->older;
	file->older = file->newer = NULL;
	table_shares_give(f->kept, file->payer, &room);
	f->stats.kept--;
}

/* Frees a file that is in no list. */
static void forget(struct unwind_files *f, struct unwind_file *file)
{
	const struct table_room one = { .files = 1 };

	if (file->by_stat.file)
		tdelete(&file->by_stat, &f->names, compare);
	if (file->by_id.file)
		tdelete(&file->by_id, &f->names, compare);
	/* Programs that are running may have begun when it was still held. */
	if (file->table.pages && file->dropped_ns >= f->waited_ns) {
		uint64_t waited_ns = now();

		f->wait();
		f->waited_ns = waited_ns;
	}
	f->given_back += file->table.pages > 0;
	unwind_store_remove(f->store, f->shares, file->payer, &file->table);
	table_shares_give(f->shares, file->payer, &one);
	free(file->holders);
	free(file);
	f->stats.files--;
}

static void give_back(struct unwind_files *f, struct unwind_file *file)
{
	unlink_unused(f, file);
	forget(f, file);
}

/* Frees the files without holders that @payer pays for, for root all. Returns whether there was a table. */
static bool give_back_of(struct unwind_files *f, uid_t payer)
{
	bool any = false;

	for (struct unwind_file *file = f->oldest, *next; file; file = next) {
		next = file->newer;
		if (payer && file->payer != payer)
			continue;
		any |= file->table.pages > 0;
		give_back(f, file);
	}
	return any;
}

static void free_file(void *data)
{
	struct name *name = data;
	struct unwind_file *file = name->file;

	/* The file is in the tree under one name or two: the last one frees it. */
	name->file = NULL;
	if (file->by_stat.file || file->by_id.file)
		return;
	word_pieces_free(&file->table.pieces);
	free(file->table.rules);
	free(file->holders);
	free(file);
}

void unwind_files_free(struct unwind_files *f)
{
	if (!f)
		return;
	f->waited_ns = UINT64_MAX; /* no program runs any more */
	while (f->oldest)
		give_back(f, f->oldest);
	tdestroy(f->names, free_file);
	table_shares_free(f->shares);
	table_shares_free(f->kept);
	if (f->vdso >= 0)
		close(f->vdso);
	free(f);
}

/* Makes room for @file in its payer's share of kept files by freeing older ones. Returns false if that fails. */
static bool may_be_kept(struct unwind_files *f, const struct unwind_file *file)
{
	const struct table_room room = kept_room(file), none = { 0 };
	struct unwind_file *other = f->oldest, *next;

	if (file->fresh || table_shares_take(f->kept, file->payer, &none))
		return false;
	for (;; other = next) {
		struct table_room left = table_shares_left(f->kept, file->payer);

		if (left.words >= room.words && left.files >= room.files)
			return true;
		while (other && other->payer != file->payer)
			other = other->newer;
		if (!other)
			return false;
		next = other->newer;
		give_back(f, other);
	}
}

static void keep_unused(struct unwind_files *f, struct unwind_file *file)
{
	const struct table_room room = kept_room(file);

	file->dropped_ns = f->gone_ns ? f->gone_ns : now();
	if (!may_be_kept(f, file)) {
		forget(f, file);
		return;
	}
	table_shares_take(f->kept, file->payer, &room);
	file->older = f->newest;
	*(f->newest ? &f->newest->newer : &f->oldest) = file;
	f->newest = file;
	f->stats.kept++;
}

static struct holder *holder_of(struct unwind_file *file, uid_t payer)
{
	for (size_t i = 0; i < file->holder_count; i++)
		if (file->holders[i].payer == payer)
			return &file->holders[i];
	return NULL;
}

struct unwind_file *unwind_files_hold(struct unwind_file *file, uid_t user)
{
	struct holder *holder, *holders;
	uid_t payer;

	if (!file)
		return NULL;
	payer = table_payer(user, file->owner);
	holder = holder_of(file, payer);
	if (!holder) {
		holders = reallocarray(file->holders, file->holder_count + 1, sizeof(*holders));
		if (!holders)
			return NULL;
		file->holders = holders;
		holder = &holders[file->holder_count++];
		*holder = (struct holder){ .payer = payer };
	}
	holder->times++;
	return file;
}

/* Only holders pay: if the payer is no holder any more, the one who has held the file longest pays. */
static void settle(struct unwind_files *f, struct unwind_file *file)
{
	const struct table_room one = { .files = 1 };
	uid_t from = file->payer, to = file->holders[0].payer;

	if (holder_of(file, from) || table_shares_take(f->shares, to, &one))
		return;
	table_shares_give(f->shares, from, &one);
	unwind_store_move(f->store, f->shares, &file->table, from, to);
	file->payer = to;
}

void unwind_files_drop(struct unwind_files *f, struct unwind_file *file, uid_t user)
{
	struct holder *holder;

	if (!file)
		return;
	holder = holder_of(file, table_payer(user, file->owner));
	if (!holder || --holder->times)
		return;
	file->holder_count--;
	memmove(holder, holder + 1, (size_t)(&file->holders[file->holder_count] - holder) * sizeof(*holder));
	if (file->holder_count)
		settle(f, file);
	else
		keep_unused(f, file);
}

void unwind_files_drop_all(struct unwind_files *f, struct unwind_file *const *files, size_t count, uid_t user)
{
	f->gone_ns = now();
	for (size_t i = 0; i < count; i++)
		unwind_files_drop(f, files[i], user);
	f->gone_ns = 0;
}

uint64_t unwind_files_trim(struct unwind_files *f, uint64_t now_ns)
{
	while (f->oldest && f->oldest->dropped_ns + UNWIND_KEPT_NS <= now_ns)
		give_back(f, f->oldest);
	return f->oldest ? f->oldest->dropped_ns + UNWIND_KEPT_NS : 0;
}

void unwind_files_stats(const struct unwind_files *f, struct unwind_files_stats *stats)
{
	*stats = f->stats;
}

static struct file_keys keys_of(const struct elf_file *elf, const struct stat *st, enum unwind_rules rules)
{
	struct file_keys keys = file_keys_of(elf, st);

	keys.by_stat.derived = keys.by_id.derived = rules == UNWIND_DERIVED;
	return keys;
}

static void keep_name(struct unwind_files *f, struct name *name, const struct file_key *key, struct unwind_file *file)
{
	struct name **kept;

	*name = (struct name){ *key, file };
	kept = tsearch(name, &f->names, compare);
	if (!kept || *kept != name)
		name->file = NULL;
}

/* Also opens the payer's account. */
static struct unwind_file *new_file(struct unwind_files *f, const struct stat *st, uid_t payer)
{
	const struct table_room one = { .files = 1 };
	struct unwind_file *file = calloc(1, sizeof(*file));

	if (!file || table_shares_take(f->shares, payer, &one)) {
		free(file);
		return NULL;
	}
	file->owner = st->st_uid;
	file->payer = payer;
	file->fresh = time(NULL) - st->st_ctim.tv_sec < FRESH_S;
	f->stats.files++;
	return file;
}

static void make_table(struct unwind_files *f, const struct unwind_source *source, struct unwind_file *file)
{
	uint64_t began_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);

	f->stats.made++;
	file->err = unwind_store_add(f->store, source, f->shares, file->payer, &file->table);
	if (file->err == -ENOSPC && give_back_of(f, file->payer))
		file->err = unwind_store_add(f->store, source, f->shares, file->payer, &file->table);
	/* CPU time: delays by other load on the machine do not count. */
	table_shares_spend(f->shares, file->payer, read_clock(CLOCK_THREAD_CPUTIME_ID) - began_ns, now());
	file->given_back = f->given_back;
}

static void make_file_table(struct unwind_files *f, const struct elf_file *elf, enum unwind_rules rules,
			    struct unwind_file *file)
{
	struct file_source code = { elf, rules, &file->left, &f->soon };
	const struct unwind_source source = file_source(&code);

	make_table(f, &source, file);
}

/* Is there room and time for @payer? */
static bool has_room(struct unwind_files *f, uid_t payer)
{
	struct table_room room = table_shares_left(f->shares, payer);

	if (!room.files || !room.words)
		give_back_of(f, payer);
	room = table_shares_left(f->shares, payer);
	return room.files && room.words && table_shares_in_time(f->shares, payer, now());
}

/*
 * Makes a table. If room is missing, it is refused to @payer, and to no other, until some is freed. Returns NULL
 * without memory, or if @payer may have no more files; then no names remain either.
 */
static struct unwind_file *make(struct unwind_files *f, const struct elf_file *elf, const struct stat *st,
				struct file_keys *keys, uid_t payer)
{
	struct unwind_file *file = has_room(f, payer) ? new_file(f, st, payer) : NULL;

	if (!file)
		return NULL;
	make_file_table(f, elf, keys->by_stat.derived ? UNWIND_DERIVED : UNWIND_TOLD, file);
	if (file->err == -ENOMEM) {
		forget(f, file);
		return NULL;
	}
	if (file->err == -ENOSPC)
		keys->by_stat.refused = keys->by_id.refused = payer + 1ull;
	keep_name(f, &file->by_stat, &keys->by_stat, file);
	if (keys->has_id)
		keep_name(f, &file->by_id, &keys->by_id, file);
	return file;
}

static struct unwind_file *find_named(struct unwind_files *f, const struct file_keys *keys)
{
	struct unwind_file *file = find(f, &keys->by_stat);

	return file || !keys->has_id ? file : find(f, &keys->by_id);
}

static struct unwind_file *find_known(struct unwind_files *f, const struct file_keys *keys, uid_t payer)
{
	struct file_keys refused = *keys;
	struct unwind_file *file = find_named(f, keys);

	if (file)
		return file;
	refused.by_stat.refused = refused.by_id.refused = payer + 1ull;
	return find_named(f, &refused);
}

static void rename_accepted(struct unwind_files *f, struct name *name)
{
	struct unwind_file *file = name->file;
	struct file_key key = name->key;

	if (!file)
		return;
	tdelete(name, &f->names, compare);
	key.refused = 0;
	keep_name(f, name, &key, file);
}

/* Makes a refused table if there may be room now. */
static void try_again(struct unwind_files *f, const struct elf_file *elf, enum unwind_rules rules, struct unwind_file *file)
{
	if (file->given_back == f->given_back || !table_shares_in_time(f->shares, file->payer, now()))
		return;
	make_file_table(f, elf, rules, file);
	if (file->err)
		return;
	rename_accepted(f, &file->by_stat);
	rename_accepted(f, &file->by_id);
}

static struct unwind_file *hold_first(struct unwind_files *f, struct unwind_file *file, uid_t user)
{
	if (!unwind_files_hold(file, user)) {
		if (!file->holder_count)
			keep_unused(f, file);
		return NULL;
	}
	settle(f, file);
	return file;
}

/* Returns the file, held by @user, with or without a table; NULL if there is no room or no memory for that. */
static struct unwind_file *table_of(struct unwind_files *f, const struct elf_file *elf, const struct stat *st,
				    enum unwind_rules rules, uid_t user)
{
	struct file_keys keys = keys_of(elf, st, rules);
	uid_t payer = table_payer(user, st->st_uid);
	struct unwind_file *file = find_known(f, &keys, payer);

	if (file && !file->holder_count)
		unlink_unused(f, file);
	if (file && file->err == -ENOSPC)
		try_again(f, elf, rules, file);
	if (!file)
		file = make(f, elf, st, &keys, payer);
	return file ? hold_first(f, file, user) : NULL;
}

/* Does not keep a table that another table of the same file, with more rules, replaces. */
static void replace(struct unwind_files *f, const struct file_keys *keys)
{
	struct unwind_file *file = find_named(f, keys);

	if (file && !file->holder_count)
		give_back(f, file);
	else if (file)
		file->fresh = true;
}

/* A table with derived rules also serves callers that ask for UNWIND_TOLD, and replaces that table. */
static struct unwind_file *best_table_of(struct unwind_files *f, const struct elf_file *elf, const struct stat *st,
					 enum unwind_rules rules, uid_t user)
{
	const struct file_keys told = keys_of(elf, st, UNWIND_TOLD), derived = keys_of(elf, st, UNWIND_DERIVED);
	const struct unwind_file *best = find_named(f, &derived), *other = find_named(f, &told);
	struct unwind_file *file;

	if (best && !best->err)
		rules = UNWIND_DERIVED;
	/* Deriving would add no rules. */
	else if (other && !other->err && !other->left)
		rules = UNWIND_TOLD;
	file = table_of(f, elf, st, rules, user);
	if (rules == UNWIND_DERIVED && file && !file->err)
		replace(f, &told);
	return file;
}

/* Makes the table of code without a file, which changes and belongs to one process: it is not kept without holders. */
static int map_generated(struct unwind_files *f, pid_t pid, const struct process_map *map, uid_t user,
			 struct unwind_file **held)
{
	static const struct table_room none = { 0 };
	struct generated_code code;
	const struct unwind_source source = { .read = generated_code_read, .code = &code };
	struct unwind_file *file;
	struct stat st = { .st_uid = process_owner(pid) };
	uid_t payer = table_payer(user, st.st_uid);
	uint64_t began_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
	bool taken;

	if (st.st_uid == (uid_t)-1 || map->end - map->start > GENERATED_CODE_MAX)
		return 0;
	/* Copying takes time, too: the payer needs an account for it. */
	if (!has_room(f, payer) || table_shares_take(f->shares, payer, &none))
		return -ENOSPC;
	taken = generated_code_take(&code, pid, map);
	table_shares_spend(f->shares, payer, read_clock(CLOCK_THREAD_CPUTIME_ID) - began_ns, now());
	if (!taken)
		return 0;
	file = new_file(f, &st, payer);
	if (file) {
		file->fresh = true;
		make_table(f, &source, file);
		*held = hold_first(f, file, user);
	}
	generated_code_free(&code);
	return *held ? (*held)->err : -ENOSPC;
}

bool unwind_files_more(const struct unwind_file *file)
{
	return file && !file->err && file->left;
}

int unwind_files_map(struct unwind_files *f, pid_t pid, const struct process_map *map, enum unwind_rules rules,
		     uid_t user, const struct unwind_user *soon, struct unwind_mapping *mapping,
		     struct unwind_file **held)
{
	bool vdso = !map->inode && !strcmp(map->path, "[vdso]");
	uint64_t bias = 0;
	struct elf_file *elf = NULL;
	struct stat st;
	char error[256];
	int fd = -1, err = 0;

	*mapping = (struct unwind_mapping){ .start = map->start, .end = map->end };
	*held = NULL;
	if (vdso)
		fd = f->vdso;
	else if (map->inode)
		fd = process_map_open(pid, map);
	if (fd >= 0 && !fstat(fd, &st))
		elf = elf_file_open_fd(fd, map->path, error, sizeof(error));
	if (elf && !elf_file_bias(elf, map->start, map->end, map->offset, &bias)) {
		f->soon = (struct file_soon){ soon, *mapping, bias, f->wait };
		*held = best_table_of(f, elf, &st, rules, user);
		f->soon.user = NULL;
		err = *held ? (*held)->err : -ENOSPC;
	}
	/*
	 * "[vsyscall]", "[uprobes]" and the like are not generated code. If a file cannot be opened, as in a user's own
	 * file system (FUSE), its pages must not be read either: the server of the file system may never answer.
	 */
	if (!elf && (fd >= 0 || !map->inode) && (map->path[0] != '[' || !strncmp(map->path, "[anon", 5)))
		err = map_generated(f, pid, map, user, held);
	elf_file_close(elf);
	if (fd >= 0 && !vdso)
		close(fd);
	if (*held) {
		mapping->pages = (*held)->table.pages;
		mapping->list = (*held)->table.list;
		mapping->base = bias + (*held)->table.first;
	}
	return err == -ENOSPC || err == -EFBIG ? -ENOSPC : 0;
}
