/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large blocks in files keep their contents while pages are dropped and blocks grow; small blocks come from malloc().
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/cli/output_file.h"
#include "analyzer/cli/spill.h"

#define LARGE (512u << 20)

static const char *const FOLDERS[] = { "", "/nonexistent", "/dev/shm", "/var/tmp", "/tmp", NULL };

/* Results of the file system, in place of the C library's functions. */
static bool cannot_reserve; /* as ZFS and older NFS */
static uint64_t free_bytes; /* 0 = the real value */

int fallocate(int fd, int mode, off_t offset, off_t size)
{
	if (cannot_reserve) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_fallocate, fd, mode, offset, size);
}

int fstatvfs(int fd, struct statvfs *info)
{
	(void)fd;
	*info = (struct statvfs){ .f_frsize = 1, .f_blocks = 1ul << 40, .f_bavail = 1ul << 40 };
	if (free_bytes)
		info->f_bavail = free_bytes;
	return 0;
}

/* Returns the upper limit of the bytes of files' pages in this process. */
static size_t in_use(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long shared = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*u %*u %lu", &shared), 1);
	fclose(file);
	return shared * 4096;
}

static void before(void **state)
{
	(void)state;
	assert_null(spill_new(SPILL_FROM));
	assert_false(spill_free(NULL));
}

static void keeps(void **state)
{
	char *block, *grown;

	(void)state;
	spill_into(FOLDERS, 0);
	assert_null(spill_new(SPILL_FROM - 1));
	assert_null(spill_new(SIZE_MAX));
	block = spill_new(SPILL_FROM + 1);
	if (!block)
		skip();
	assert_true(spill_size(block) > SPILL_FROM);
	assert_int_equal(spill_size(block + 4096), 0);
	for (size_t i = 0; i <= SPILL_FROM; i++)
		assert_int_equal(block[i], 0);
	memset(block, 7, SPILL_FROM + 1);
	assert_ptr_equal(spill_grow(block, 1), block);
	grown = spill_grow(block, 4u * SPILL_FROM);
	assert_non_null(grown);
	assert_int_equal(spill_size(grown), 4u * SPILL_FROM);
	assert_int_equal(grown[SPILL_FROM], 7);
	assert_int_equal(grown[4u * SPILL_FROM - 1], 0);
	assert_true(spill_free(grown));
	assert_false(spill_free(grown));
}

/* A block's contents are kept when it grows, with zeros after them. */
static void taken_over(void **state)
{
	const size_t held = SPILL_FROM / 2 + 3;
	char *from = malloc(held), *block;

	(void)state;
	assert_non_null(from);
	for (size_t i = 0; i < held; i++)
		from[i] = (char)(i * 7 + i / 4096);
	spill_into(FOLDERS, 0);
	assert_null(spill_new_of(SPILL_FROM - 1, from, held));
	block = spill_new_of(SPILL_FROM + 1, from, held);
	if (!block)
		skip();
	assert_memory_equal(block, from, held);
	for (size_t i = held; i <= SPILL_FROM; i++)
		assert_int_equal(block[i], 0);
	assert_true(spill_free(block));
	block = spill_new_of(SPILL_FROM, NULL, 0);
	assert_non_null(block);
	assert_int_equal(block[0], 0);
	assert_true(spill_free(block));
	free(from);
}

/* Far more is written and read than may be in memory. */
static void bounded(void **state)
{
	uint64_t *block, most = 0;
	const size_t count = LARGE / sizeof(*block);

	(void)state;
	spill_into(FOLDERS, 0);
	block = spill_new(LARGE);
	if (!block)
		skip();
	for (size_t i = 0; i < count; i++) {
		block[i] = i * 3;
		if (i % (1u << 20) == 0 && in_use() > most)
			most = in_use();
	}
	for (size_t i = 0; i < count; i++)
		if (block[i] != i * 3)
			fail_msg("number %zu is %lu", i, (unsigned long)block[i]);
	assert_true(most < LARGE * 3ull / 4);
	assert_true(spill_free(block));
}

/* The first blocks come from malloc(), until enough of them are in use. */
static void kept(void **state)
{
	void *block;

	(void)state;
	spill_into(FOLDERS, 2 * SPILL_FROM);
	assert_null(spill_new(SPILL_FROM));
	spill_note(SPILL_FROM, 0);
	spill_note(SPILL_FROM - 1, 0);
	assert_null(spill_new(SPILL_FROM));
	spill_note(SPILL_FROM, 0);
	block = spill_new(SPILL_FROM);
	if (!block)
		skip();
	assert_true(spill_free(block));
	spill_note(0, SPILL_FROM);
	assert_null(spill_new(SPILL_FROM));
	spill_note(0, SPILL_FROM);
}

/* Zeros are written if room cannot be reserved. */
static void unreserved(void **state)
{
	char *block, *grown;

	(void)state;
	spill_into(FOLDERS, 0);
	cannot_reserve = true;
	block = spill_new(SPILL_FROM);
	if (!block)
		skip();
	memset(block, 7, SPILL_FROM);
	grown = spill_grow(block, 3u * SPILL_FROM);
	assert_non_null(grown);
	assert_int_equal(grown[SPILL_FROM - 1], 7);
	assert_int_equal(grown[SPILL_FROM], 0);
	assert_int_equal(grown[3u * SPILL_FROM - 1], 0);
	memset(grown, 8, 3u * SPILL_FROM);
	assert_true(spill_free(grown));
	cannot_reserve = false;
}

/* Some room is left for other programs. */
static void nearly_full(void **state)
{
	char *block;

	(void)state;
	spill_into(FOLDERS, 0);
	free_bytes = SPILL_LEFT + 2u * SPILL_FROM;
	assert_true(spill_has_room(2u * SPILL_FROM));
	assert_false(spill_has_room(2u * SPILL_FROM + 1));
	assert_null(spill_new(3u * SPILL_FROM));
	block = spill_new(2u * SPILL_FROM);
	if (!block)
		skip();
	assert_ptr_equal(spill_grow(block, 2u * SPILL_FROM), block);
	assert_null(spill_grow(block, 5u * SPILL_FROM));
	assert_true(spill_free(block));
	free_bytes = 0;
	assert_true(spill_has_room(5u * SPILL_FROM));
}

/*
 * A large block of malloc() is a mapping of its own even after larger ones were freed. The C library puts later blocks
 * into its heap otherwise, of which nothing is given back while a later block is in use.
 */
static void mapped(void **state)
{
	char *volatile block;
	size_t mappings;

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip(); /* its malloc() is another one */
#endif
	spill_into(FOLDERS, LARGE);
	block = malloc(3u * SPILL_FROM);
	free(block);
	mappings = mallinfo2().hblks;
	block = malloc(2u * SPILL_FROM);
	assert_int_equal(mallinfo2().hblks, mappings + 1);
	free(block);
	spill_into(FOLDERS, 0);
}

/* Is @fd one of this process's files without a name, which no other process sees? */
static bool is_unnamed(int fd)
{
	char path[64], name[256];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	size = readlink(path, name, sizeof(name) - 1);
	name[size > 0 ? size : 0] = '\0';
	return strstr(name, "tmp/") && strstr(name, " (deleted)");
}

/* Returns the exit status of a program that touches a page beyond its file's end; 0 if there is no such file. */
static int touch_missing_page(int errors, const char *path)
{
	struct output output;
	char error[256], *block;
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		dup2(errors, STDERR_FILENO);
		block = output_begin(&output, path, error, sizeof(error)) ? NULL : spill_new(SPILL_FROM);
		for (int fd = 3; block && fd < 64; fd++)
			if (is_unnamed(fd) && ftruncate(fd, 0) == 0)
				block[SPILL_FROM / 2] = 1;
		output_end(&output);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/*
 * A disk that is full after all ends the program with a message, even if stderr cannot be written, and leaves no
 * partial output: simulated by a page beyond the file's end. The test runs before any other that allocates a block:
 * cmocka replaces the signal handlers that the first block sets up.
 */
static void full(void **state)
{
	char folder[] = "/tmp/test_spill.XXXXXX", path[64], text[256] = "";
	int ends[2], status, deaf = open("/dev/null", O_RDONLY);

	(void)state;
	spill_into(FOLDERS, 0);
	assert_true(deaf >= 0);
	assert_int_equal(pipe(ends), 0);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/output", folder);
	status = touch_missing_page(ends[1], path);
	close(ends[1]);
	assert_true(read(ends[0], text, sizeof(text) - 1) >= 0);
	close(ends[0]);
	if (status) {
		assert_int_equal(status, EXIT_FAILURE);
		assert_non_null(strstr(text, "no space left on the disk"));
		assert_int_equal(touch_missing_page(deaf, path), EXIT_FAILURE);
	}
	close(deaf);
	/* The folder is empty. */
	assert_int_equal(rmdir(folder), 0);
	if (!status)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(before), cmocka_unit_test(full),
					    cmocka_unit_test(keeps), cmocka_unit_test(taken_over), cmocka_unit_test(bounded),
					    cmocka_unit_test(kept), cmocka_unit_test(unreserved),
					    cmocka_unit_test(nearly_full), cmocka_unit_test(mapped) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
