/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process maps, of this process and its children: odd names, deleted and replaced files, memory files, ended
 * processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/elf/process_maps.h"

#define SIZE 8192

/* A file mapped as executable, like a library. */
struct mapped {
	char path[256];
	char content[16];
	struct stat st;
	void *at;
};

static char directory[] = "/tmp/test_process_maps.XXXXXX";

static int make_directory(void **state)
{
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	return rmdir(directory);
}

static int make_file(const char *path, const char *content)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	assert_int_equal(ftruncate(fd, SIZE), 0);
	return fd;
}

static void map_fd(struct mapped *mapped, int fd)
{
	assert_int_equal(fstat(fd, &mapped->st), 0);
	assert_true(pread(fd, mapped->content, sizeof(mapped->content) - 1, 0) > 0);
	mapped->at = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(mapped->at != MAP_FAILED);
	close(fd);
}

static void map_file(struct mapped *mapped, const char *name)
{
	memset(mapped, 0, sizeof(*mapped));
	snprintf(mapped->path, sizeof(mapped->path), "%s/%s", directory, name);
	map_fd(mapped, make_file(mapped->path, name));
}

static const struct process_map *find(const struct process_maps *maps, const struct mapped *mapped)
{
	for (size_t i = 0; i < maps->count; i++) {
		if (maps->map[i].start == (uintptr_t)mapped->at)
			return &maps->map[i];
	}
	return NULL;
}

/* Checks that the path and the descriptor that process_maps gives lead to the mapped file. */
static void expect_opens(const struct process_map *map, const struct mapped *mapped,
			 const char *path_prefix)
{
	char path[PATH_MAX], content[16] = "";
	int fd;

	assert_int_equal(process_map_path(getpid(), map, path, sizeof(path)), 0);
	assert_memory_equal(path, path_prefix, strlen(path_prefix));
	fd = process_map_open(getpid(), map);
	assert_true(fd >= 0);
	assert_true(read(fd, content, sizeof(content) - 1) > 0);
	assert_string_equal(content, mapped->content);
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_true(read(fd, content, sizeof(content) - 1) > 0);
	assert_string_equal(content, mapped->content);
	close(fd);
}

/* map_files takes a privilege; these tests do not depend on having it. */
static bool map_files_work(const struct process_map *map)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", map->start, map->end);
	return stat(path, &st) == 0;
}

static void expect_mapped(const struct mapped *mapped, bool deleted, bool by_root)
{
	char root[64], files[64], path[8];
	const struct process_map *map;
	struct process_maps maps;

	snprintf(root, sizeof(root), "/proc/%d/root/", getpid());
	snprintf(files, sizeof(files), "/proc/%d/map_files/", getpid());
	assert_int_equal(process_maps_read(getpid(), &maps), 0);
	map = find(&maps, mapped);
	assert_non_null(map);
	assert_int_equal(map->end - map->start, SIZE);
	assert_int_equal(map->offset, 0);
	assert_int_equal(map->inode, mapped->st.st_ino);
	assert_int_equal(map->deleted, deleted);
	assert_string_equal(map->path, mapped->path);
	assert_ptr_equal(process_maps_find(&maps, map->dev, map->inode), map);
	assert_null(process_maps_find(&maps, map->dev + 1, map->inode));
	assert_int_equal(process_map_path(getpid(), map, path, sizeof(path)),
			 by_root || map_files_work(map) ? -ENAMETOOLONG : -ENOENT);
	if (by_root)
		expect_opens(map, mapped, root);
	else if (map_files_work(map))
		expect_opens(map, mapped, files);
	else
		assert_int_equal(process_map_open(getpid(), map), -ENOENT);
	process_maps_free(&maps);
}

static void unmap(struct mapped *mapped)
{
	munmap(mapped->at, SIZE);
	unlink(mapped->path);
}

static void finds_libraries(void **state)
{
	const struct process_map *map;
	struct process_maps maps;
	struct mapped mapped;
	size_t same = 0;

	map_file(&mapped, "plain.so");
	/* A second mapping of the same file, like the loader's for data, adds no second entry. */
	assert_true(mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			 open(mapped.path, O_RDONLY | O_CLOEXEC), 0) != MAP_FAILED);
	assert_int_equal(process_maps_read(getpid(), &maps), 0);
	assert_true(maps.count >= 3); /* this program, the loader, the C library */
	for (size_t i = 0; i < maps.count; i++) {
		same += maps.map[i].inode == mapped.st.st_ino;
		assert_int_equal(maps.map[i].path[0], '/');
		assert_true(maps.map[i].start < maps.map[i].end);
	}
	assert_int_equal(same, 1);
	map = &maps.map[0];
	for (size_t i = 0; i < maps.count; i++) {
		if (maps.map[i].inode == mapped.st.st_ino)
			map = &maps.map[i];
	}
	assert_string_equal(map->path, mapped.path);
	process_maps_free(&maps);
	unmap(&mapped);
}

static void data_is_left_out(void **state)
{
	struct process_maps maps;
	struct mapped mapped;
	void *data;
	int fd;

	memset(&mapped, 0, sizeof(mapped));
	snprintf(mapped.path, sizeof(mapped.path), "%s/data", directory);
	fd = make_file(mapped.path, "data");
	data = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(data != MAP_FAILED);
	mapped.at = data;
	assert_int_equal(process_maps_read(getpid(), &maps), 0);
	assert_null(find(&maps, &mapped));
	process_maps_free(&maps);
	close(fd);
	unmap(&mapped);
}

static void odd_names(void **state)
{
	static const char *const names[] = {
		"plain.so",	  "two words.so",   " leading and trailing ",
		"line\nbreak.so", "back\\slash.so", "tab\there",
	};
	struct mapped mapped;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		map_file(&mapped, names[i]);
		expect_mapped(&mapped, false, true);
		unmap(&mapped);
	}
}

static void deleted_file(void **state)
{
	struct mapped mapped;

	map_file(&mapped, "gone.so");
	unlink(mapped.path);
	expect_mapped(&mapped, true, false);
	unmap(&mapped);
}

/* An upgrade replaces a file that stays mapped. */
static void replaced_file(void **state)
{
	struct mapped mapped;

	map_file(&mapped, "upgraded.so");
	unlink(mapped.path);
	close(make_file(mapped.path, "new"));
	expect_mapped(&mapped, true, false);
	unmap(&mapped);
}

/* A name that looks like that of a deleted file, and one that looks like an escape sequence. */
static void misleading_names(void **state)
{
	static const char *const names[] = { "x.so (deleted)", "a\\012b" };
	static const char *const understood[] = { "x.so", "a\nb" };
	struct mapped mapped;

	for (int i = 0; i < 2; i++) {
		char real[256];

		map_file(&mapped, names[i]);
		strcpy(real, mapped.path);
		snprintf(mapped.path, sizeof(mapped.path), "%s/%s", directory, understood[i]);
		expect_mapped(&mapped, i == 0, false);
		munmap(mapped.at, SIZE);
		unlink(real);
	}
}

static void memory_file(void **state)
{
	int fd = memfd_create("jit code", MFD_CLOEXEC);
	struct mapped mapped = { .path = "/memfd:jit code" };

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	assert_int_equal(pwrite(fd, "jit", 3, 0), 3);
	map_fd(&mapped, fd);
	expect_mapped(&mapped, true, false);
	munmap(mapped.at, SIZE);
}

/* The device number in maps may differ from stat's; then the inode decides. */
static void other_device_number(void **state)
{
	char path[PATH_MAX], prefix[64];
	struct process_maps maps;
	struct process_map map;
	struct mapped mapped;

	map_file(&mapped, "btrfs.so");
	assert_int_equal(process_maps_read(getpid(), &maps), 0);
	map = *find(&maps, &mapped);
	map.dev ^= 5;
	assert_int_equal(process_map_path(getpid(), &map, path, sizeof(path)), 0);
	snprintf(prefix, sizeof(prefix), "/proc/%d/%s", getpid(),
		 map_files_work(&map) ? "map_files" : "root");
	assert_memory_equal(path, prefix, strlen(prefix));
	map.inode ^= 5;
	assert_int_equal(process_map_path(getpid(), &map, path, sizeof(path)), -ENOENT);
	assert_int_equal(process_map_open(getpid(), &map), -ENOENT);
	process_maps_free(&maps);
	unmap(&mapped);
}

static void kernel_device_numbers(void **state)
{
	struct process_maps maps;
	struct mapped mapped;
	char line[512];
	unsigned int major = 0, minor = 0;
	FILE *file = fopen("/proc/self/maps", "re");

	map_file(&mapped, "dev.so");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (strstr(line, mapped.path))
			assert_int_equal(sscanf(line, "%*s %*s %*s %x:%x", &major, &minor), 2);
	}
	fclose(file);
	assert_int_equal(process_maps_read(getpid(), &maps), 0);
	assert_int_equal(find(&maps, &mapped)->dev, major << 20 | minor);
	process_maps_free(&maps);
	unmap(&mapped);
}

static void vanished_processes(void **state)
{
	struct process_maps maps;
	struct process_map map = { .path = (char *)"/bin/true", .inode = 1 };
	siginfo_t info;
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_maps_read(child, &maps), -ESRCH); /* a zombie */
	assert_int_equal(maps.count, 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(process_maps_read(child, &maps), -ESRCH);
	assert_null(maps.map);
	assert_int_equal(process_map_open(child, &map), -ENOENT);
	assert_int_equal(process_maps_read(INT_MAX, &maps), -ESRCH);
}

static void kernel_thread(void **state)
{
	struct process_maps maps;
	char name[32] = "";
	FILE *file = fopen("/proc/2/comm", "re");

	if (!file || !fgets(name, sizeof(name), file) || strcmp(name, "kthreadd\n") != 0 ||
	    geteuid() != 0) {
		if (file)
			fclose(file);
		skip();
	}
	fclose(file);
	assert_int_equal(process_maps_read(2, &maps), 0);
	assert_int_equal(maps.count, 0);
	process_maps_free(&maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_libraries),
		cmocka_unit_test(data_is_left_out),
		cmocka_unit_test(odd_names),
		cmocka_unit_test(deleted_file),
		cmocka_unit_test(replaced_file),
		cmocka_unit_test(misleading_names),
		cmocka_unit_test(memory_file),
		cmocka_unit_test(other_device_number),
		cmocka_unit_test(kernel_device_numbers),
		cmocka_unit_test(vanished_processes),
		cmocka_unit_test(kernel_thread),
	};

	return cmocka_run_group_tests_name("process_maps", tests, make_directory, remove_directory);
}
