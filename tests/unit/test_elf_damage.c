/* SPDX-License-Identifier: Apache-2.0 */
/* The ELF reader on thousands of damaged files: it returns a message, or the parts that are still readable. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/elf_sample.h"
#include "tests/unit/pbt_stream.h"

/* Opens and searches the file in @fd; every result must be consistent. */
static void survive(int fd)
{
	struct elf_asked asked = { "", 0 };
	struct elf_symbols found;
	const uint8_t *id;
	char error[256] = "";
	struct elf_file *file = elf_file_open_fd(fd, "damaged", error, sizeof(error));
	struct stat st;
	int err;

	if (!file) {
		assert_int_not_equal(error[0], 0);
		return;
	}
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(elf_file_build_id(file, &id) <= ELF_FILE_BUILD_ID_MAX);
	err = elf_file_find(file, elf_by_prefix, &asked, &found);
	assert_true(err == 0 || err == -ENOEXEC);
	assert_true((err == 0) == (elf_file_error(file)[0] == 0));
	elf_symbols_free(&found);
	elf_file_close(file);
}

static void survives_truncation(void **state)
{
	struct elf_sample sample;
	int fd;

	elf_sample_make(&sample);
	fd = elf_sample_file(sample.bytes, sample.size);
	for (size_t size = sample.size; size-- > 0;) {
		assert_int_equal(ftruncate(fd, size), 0);
		survive(fd);
	}
	close(fd);
}

/* One to four changed bytes or 64-bit words anywhere: every byte of the sample belongs to a structure. */
static void survives_changed_bytes(void **state)
{
	uint64_t random = 0x9e3779b97f4a7c15;
	static const uint64_t words[] = { 0, 1, UINT64_MAX, INT64_MAX, 1ull << 40, 4096 };
	struct elf_sample sample, damaged;
	int fd;

	elf_sample_make(&sample);
	fd = elf_sample_file(sample.bytes, sample.size);
	for (int i = 0; i < 20000; i++) {
		damaged = sample;
		for (uint64_t n = pbt_stream_random(&random) % 4 + 1; n; n--) {
			size_t at = pbt_stream_random(&random) % (sample.size - 8);
			uint64_t word = words[pbt_stream_random(&random) % 6];

			if (pbt_stream_random(&random) % 2)
				damaged.bytes[at] = pbt_stream_random(&random);
			else
				memcpy(damaged.bytes + (at & ~7ul), &word, 8);
		}
		assert_int_equal(pwrite(fd, damaged.bytes, sample.size, 0), sample.size);
		survive(fd);
	}
	close(fd);
}

/* The same with a real program: this one. */
static void survives_damage_to_a_program(void **state)
{
	int exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd;
	uint64_t random = 0x2545f4914f6cdd1d;
	const uint8_t *bytes;
	struct stat st;

	assert_int_equal(fstat(exe, &st), 0);
	bytes = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, exe, 0);
	assert_true(bytes != MAP_FAILED);
	fd = elf_sample_file(bytes, st.st_size);
	for (int i = 0; i < 200; i++) {
		const Elf64_Ehdr *header = (const void *)bytes;
		bool early = pbt_stream_random(&random) % 2;
		size_t at = early ? pbt_stream_random(&random) % 1024
				  : header->e_shoff + pbt_stream_random(&random) % (header->e_shnum *
									      sizeof(Elf64_Shdr));
		uint8_t flipped = bytes[at] ^ 1 << pbt_stream_random(&random) % 8;

		assert_int_equal(pwrite(fd, &flipped, 1, at), 1);
		survive(fd);
		assert_int_equal(pwrite(fd, bytes + at, 1, at), 1);
	}
	for (off_t size = st.st_size; size; size -= size / 8 + 1) {
		assert_int_equal(ftruncate(fd, size), 0);
		survive(fd);
	}
	munmap((void *)bytes, st.st_size);
	close(fd);
	close(exe);
}

/* A file that shrinks while it is open, which its owner can cause. */
static void survives_shrinking(void **state)
{
	struct elf_asked asked = { "", 0 };
	struct elf_symbols found;
	struct elf_file *file;
	struct elf_sample sample;
	int fd;

	elf_sample_make(&sample);
	fd = elf_sample_file(sample.bytes, sample.size);
	file = elf_file_open_fd(fd, "shrinking", NULL, 0);
	assert_non_null(file);
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(elf_file_find(file, elf_by_prefix, &asked, &found), -ENOEXEC);
	assert_string_equal(elf_file_error(file),
			    "shrinking: .dynsym cannot be read; its functions "
			    "are not known");
	assert_int_equal(found.count, 0);
	elf_symbols_free(&found);
	elf_file_close(file);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survives_truncation),
		cmocka_unit_test(survives_changed_bytes),
		cmocka_unit_test(survives_damage_to_a_program),
		cmocka_unit_test(survives_shrinking),
	};

	return cmocka_run_group_tests_name("ELF damage", tests, NULL, NULL);
}
