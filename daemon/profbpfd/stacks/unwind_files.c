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
	void *files; /* tsearch tree of struct file */
	size_t count;
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
	struct unwind_files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->store = store;
	f->vdso = copy_vdso();
	return f;
}

void unwind_files_free(struct unwind_files *f)
{
	if (!f)
		return;
	tdestroy(f->files, free);
	if (f->vdso >= 0)
		close(f->vdso);
	free(f);
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct key));
}

static struct file *find(struct unwind_files *f, const struct key *key)
{
	struct file **found = tfind(key, &f->files, compare);

	return found ? *found : NULL;
}

/* Without memory it is not kept, and made again. */
static void keep(struct unwind_files *f, const struct key *key, const struct file *made)
{
	struct file *file = f->count < FILES_MAX ? malloc(sizeof(*file)) : NULL;

	if (!file)
		return;
	*file = *made;
	file->key = *key;
	if (tsearch(file, &f->files, compare))
		f->count++;
	else
		free(file);
}

static struct file table_of(struct unwind_files *f, const struct elf_file *elf, const struct stat *st)
{
	const struct key by_stat = { .dev = st->st_dev,
				     .inode = st->st_ino,
				     .size = (uint64_t)st->st_size,
				     .owner = st->st_uid,
				     .mtime_ns = st->st_mtim.tv_sec * 1000000000ll + st->st_mtim.tv_nsec };
	struct key by_id = { .size = by_stat.size, .owner = by_stat.owner };
	const struct file *known = find(f, &by_stat);
	struct file file = { 0 };
	const uint8_t *id;
	size_t id_size;

	if (known)
		return *known;
	id_size = elf_file_build_id(elf, &id);
	if (id_size)
		memcpy(by_id.build_id, id, id_size);
	known = id_size ? find(f, &by_id) : NULL;
	if (known) {
		file = *known;
	} else {
		file.err = unwind_store_add(f->store, elf, &file.list);
		if (id_size)
			keep(f, &by_id, &file);
	}
	keep(f, &by_stat, &file);
	return file;
}

int unwind_files_map(struct unwind_files *f, pid_t pid, const struct process_map *map,
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
		file = table_of(f, elf, &st);
	elf_file_close(elf);
	if (fd >= 0 && !vdso)
		close(fd);
	mapping->pages = file.list.pages;
	mapping->list = file.list.list;
	mapping->base = bias + file.list.first;
	return file.err == -ENOSPC || file.err == -EFBIG ? -ENOSPC : 0;
}
