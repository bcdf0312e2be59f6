/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/unwind_files.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 65536
#define VDSO_BYTES_MAX (64u << 10)

/*
 * A file by what tells it from others, or by its build id: then the device, the inode and the instant are 0. Anybody can
 * write down another file's build id, so only files of one owner share a table by that.
 */
struct key {
	uint64_t dev, inode, size, owner;
	uint64_t refused; /* 0, or one more than the user to whom it was refused: another one may have room for it */
	int64_t mtime_ns;
	uint8_t build_id[ELF_FILE_BUILD_ID_MAX];
};

struct file {
	struct key key;
	struct unwind_list list;
	int err; /* of unwind_store_add() */
};

struct unwind_files {
	struct unwind_store *store;
	struct table_shares *shares;
	void *files; /* tsearch tree of struct file */
	int vdso; /* a memory file with what the kernel maps into each process; -1 = there is none */
};

/* The daemon has the same as every other process of its kind. */
static int copy_vdso(void)
{
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	int fd = image ? memfd_create("vdso", MFD_CLOEXEC) : -1;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	/* Page by page: how many there are is not told. What lies behind is no part of it. */
	for (size_t at = 0; fd >= 0 && at < VDSO_BYTES_MAX; at += page)
		if (write(fd, image + at, page) != (ssize_t)page)
			break;
	return fd;
}

struct unwind_files *unwind_files_new(struct unwind_store *store)
{
	static const struct table_room ALL = { .words = UNWIND_WORDS, .rules = UNWIND_RULES, .files = FILES_MAX };
	struct unwind_files *f = calloc(1, sizeof(*f));

	if (f)
		f->shares = table_shares_new(&ALL);
	if (!f || !f->shares) {
		free(f);
		return NULL;
	}
	f->store = store;
	f->vdso = copy_vdso();
	return f;
}

void unwind_files_free(struct unwind_files *f)
{
	if (!f)
		return;
	tdestroy(f->files, free);
	table_shares_free(f->shares);
	if (f->vdso >= 0)
		close(f->vdso);
	free(f);
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct key));
}

static const struct file *find(struct unwind_files *f, const struct key *key)
{
	struct file **found = tfind(key, &f->files, compare);

	return found ? *found : NULL;
}

/* Without memory it is not kept, and made again. */
static void keep(struct unwind_files *f, const struct key *key, const struct file *made)
{
	struct file *file = malloc(sizeof(*file)), **kept;

	if (!file)
		return;
	*file = *made;
	file->key = *key;
	kept = tsearch(file, &f->files, compare);
	if (!kept || *kept != file)
		free(file);
}

/* The names of one file. */
struct names {
	struct key by_stat, by_id;
	bool has_id;
};

static struct names names_of(const struct elf_file *elf, const struct stat *st)
{
	struct names names = { .by_stat = { .dev = st->st_dev,
					    .inode = st->st_ino,
					    .size = (uint64_t)st->st_size,
					    .owner = st->st_uid,
					    .mtime_ns = st->st_mtim.tv_sec * 1000000000ll + st->st_mtim.tv_nsec } };
	const uint8_t *id;
	size_t id_size = elf_file_build_id(elf, &id);

	names.by_id = (struct key){ .size = names.by_stat.size, .owner = names.by_stat.owner };
	names.has_id = id_size;
	if (id_size)
		memcpy(names.by_id.build_id, id, id_size);
	return names;
}

static void keep_names(struct unwind_files *f, const struct names *names, const struct file *made)
{
	if (names->has_id)
		keep(f, &names->by_id, made);
	keep(f, &names->by_stat, made);
}

/* A table that could be had with more room is refused to @payer, and to nobody else. */
static struct file make(struct unwind_files *f, const struct elf_file *elf, const struct names *names, uid_t payer)
{
	struct table_room room = table_shares_left(f->shares, payer);
	struct names refused = *names;
	struct file file = { .err = -ENOSPC };
	bool any = room.files && room.words;

	if (any)
		file.err = unwind_store_add(f->store, elf, &file.list, &room);
	if (any)
		table_shares_take(f->shares, payer, &room);
	refused.by_stat.refused = refused.by_id.refused = payer + 1ull;
	/* Who may have no more files leaves no names of them behind, either. */
	if (any && file.err != -ENOMEM)
		keep_names(f, file.err == -ENOSPC ? &refused : names, &file);
	return file;
}

static struct file table_of(struct unwind_files *f, const struct elf_file *elf, const struct stat *st, uid_t user)
{
	struct names names = names_of(elf, st), refused = names;
	uid_t payer = table_payer(user, st->st_uid);
	const struct file *known = find(f, &names.by_stat);

	if (known)
		return *known;
	known = names.has_id ? find(f, &names.by_id) : NULL;
	refused.by_stat.refused = refused.by_id.refused = payer + 1ull;
	if (!known)
		known = find(f, &refused.by_stat);
	if (!known && names.has_id)
		known = find(f, &refused.by_id);
	return known ? *known : make(f, elf, &names, payer);
}

int unwind_files_map(struct unwind_files *f, pid_t pid, const struct process_map *map, uid_t user,
		     struct unwind_mapping *mapping)
{
	bool vdso = !map->inode && !strcmp(map->path, "[vdso]");
	uint64_t bias = 0;
	struct elf_file *elf = NULL;
	struct file file = { 0 };
	struct stat st;
	char error[256];
	int fd = -1;

	*mapping = (struct unwind_mapping){ .start = map->start, .end = map->end };
	if (vdso)
		fd = f->vdso;
	else if (map->inode)
		fd = process_map_open(pid, map);
	if (fd >= 0 && !fstat(fd, &st))
		elf = elf_file_open_fd(fd, map->path, error, sizeof(error));
	if (elf && !elf_file_bias(elf, map->start, map->end, map->offset, &bias))
		file = table_of(f, elf, &st, user);
	elf_file_close(elf);
	if (fd >= 0 && !vdso)
		close(fd);
	mapping->pages = file.list.pages;
	mapping->list = file.list.list;
	mapping->base = bias + file.list.first;
	return file.err == -ENOSPC || file.err == -EFBIG ? -ENOSPC : 0;
}
