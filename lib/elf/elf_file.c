/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/elf_private.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bounds on what a hostile file can make us do; real files stay far below. */
#define MAX_NOTES_SIZE (1u << 20)
#define MAX_NOTE_SEGMENTS 16

int elf_fail(char *error, size_t size, const char *format, ...)
{
	va_list args;

	if (size) {
		va_start(args, format);
		vsnprintf(error, size, format, args);
		va_end(args);
	}
	return -ENOEXEC;
}

ssize_t elf_file_read(const struct elf_file *file, uint64_t offset, void *buffer, size_t size)
{
	size_t done = 0;

	if (offset > INT64_MAX || size > INT64_MAX - offset)
		return -EINVAL;
	while (done < size) {
		ssize_t n = pread(file->fd, (char *)buffer + done, size - done, offset + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += n;
	}
	return done;
}

bool elf_inside_file(const struct elf_file *file, const struct elf_extent *extent)
{
	uint64_t size = file->stat.st_size;

	return extent->offset <= size && extent->size <= size - extent->offset;
}

static int check_identity(struct elf_file *file, const Elf64_Ehdr *header, char *error,
			  size_t error_size)
{
	const unsigned char *ident = header->e_ident;

	if (memcmp(ident, ELFMAG, SELFMAG) != 0)
		return elf_fail(error, error_size, "%s: not an ELF file", file->name);
	if (ident[EI_CLASS] == ELFCLASS32)
		return elf_fail(error, error_size,
				"%s: a 32-bit ELF file; only 64-bit programs can be traced",
				file->name);
	if (ident[EI_CLASS] != ELFCLASS64)
		return elf_fail(error, error_size,
				"%s: damaged ELF file: class %u is neither 32- nor "
				"64-bit",
				file->name, ident[EI_CLASS]);
	if (ident[EI_DATA] != ELFDATA2LSB)
		return elf_fail(error, error_size, "%s: not a little-endian ELF file", file->name);
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return elf_fail(error, error_size,
				"%s: neither an executable nor a shared library (ELF type %u)",
				file->name, header->e_type);
	/*
	 * Extended numbering puts a count of up to 2^64 where libelf would
	 * believe it; only object files with over 65,000 sections need it.
	 */
	if ((header->e_shoff && !header->e_shnum) || header->e_phnum == PN_XNUM)
		return elf_fail(error, error_size,
				"%s: damaged ELF file: implausible header counts", file->name);
	return 0;
}

static int read_header(struct elf_file *file, char *error, size_t error_size)
{
	Elf64_Ehdr header;
	ssize_t n = elf_file_read(file, 0, &header, sizeof(header));
	int err;

	if (n < 0) {
		elf_fail(error, error_size, "%s: cannot read: %s", file->name, strerror(-n));
		return n;
	}
	if (n == 0)
		return elf_fail(error, error_size, "%s: an empty file, not an ELF file",
				file->name);
	if ((size_t)n < sizeof(header)) {
		memset((char *)&header + n, 0, sizeof(header) - n);
		if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
			return elf_fail(error, error_size, "%s: not an ELF file", file->name);
		return elf_fail(error, error_size,
				"%s: ELF file cut off within its header (%zd bytes)", file->name,
				n);
	}
	err = check_identity(file, &header, error, error_size);
	if (err)
		return err;
	file->machine = header.e_machine == EM_X86_64	 ? ELF_FILE_X86_64
			: header.e_machine == EM_AARCH64 ? ELF_FILE_AARCH64
							 : ELF_FILE_OTHER;
	return 0;
}

#define NT_GO_BUILD_ID 4 /* of name "Go"; cmd/link/internal/ld/elf.go */

static void read_note(struct elf_file *file, const GElf_Nhdr *note, const char *name,
		      const char *contents)
{
	if (note->n_descsz == 0)
		return;
	if (note->n_type == NT_GO_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "Go", 3))
		file->go = true;
	/* The first build id is the file's. */
	if (file->build_id_size || note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4 ||
	    memcmp(name, "GNU", 4) != 0)
		return;
	file->build_id_size = note->n_descsz < ELF_FILE_BUILD_ID_MAX ? note->n_descsz
								     : ELF_FILE_BUILD_ID_MAX;
	memcpy(file->build_id, contents, file->build_id_size);
}

static void read_notes(struct elf_file *file, Elf *elf, const GElf_Phdr *segment)
{
	Elf_Type type = segment->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
	size_t offset = 0, name_offset, desc_offset;
	Elf_Data *data;
	GElf_Nhdr note;

	if (segment->p_filesz > MAX_NOTES_SIZE || segment->p_offset > INT64_MAX)
		return;
	data = elf_getdata_rawchunk(elf, segment->p_offset, segment->p_filesz, type);
	while (data && (offset = gelf_getnote(data, offset, &note, &name_offset, &desc_offset)))
		read_note(file, &note, (const char *)data->d_buf + name_offset,
			  (const char *)data->d_buf + desc_offset);
}

static struct elf_segment segment_of(const GElf_Phdr *segment)
{
	return (struct elf_segment){ segment->p_vaddr, segment->p_offset, segment->p_filesz };
}

static void read_segments(struct elf_file *file, Elf *elf)
{
	size_t count = 0, notes = 0;
	GElf_Phdr segment;

	if (elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		if (!gelf_getphdr(elf, i, &segment))
			return;
		if (segment.p_type == PT_NOTE && notes++ < MAX_NOTE_SEGMENTS)
			read_notes(file, elf, &segment);
		if (segment.p_offset > INT64_MAX || segment.p_filesz > INT64_MAX ||
		    segment.p_vaddr > UINT64_MAX - segment.p_filesz)
			continue;
		if (segment.p_type == PT_INTERP)
			file->interpreted = true;
		if (segment.p_type == PT_GNU_EH_FRAME)
			file->frame_table = segment_of(&segment);
		else if (segment.p_type == PT_LOAD && segment.p_flags & PF_X &&
			 file->segment_count < ELF_MAX_SEGMENTS)
			file->segments[file->segment_count++] = segment_of(&segment);
	}
}

static bool section_strings(Elf *elf, const GElf_Shdr *section, struct elf_extent *strings)
{
	Elf_Scn *scn = elf_getscn(elf, section->sh_link);
	GElf_Shdr header;

	if (!section->sh_link || !scn || !gelf_getshdr(scn, &header) ||
	    header.sh_type != SHT_STRTAB)
		return false;
	*strings = (struct elf_extent){ header.sh_offset, header.sh_size };
	return true;
}

static void note_table(Elf *elf, const GElf_Shdr *section, const char *name,
		       struct elf_table *table)
{
	if (table->present)
		return;
	table->present = true;
	table->name = name;
	table->symbols = (struct elf_extent){ section->sh_offset, section->sh_size };
	table->entry_size = section->sh_entsize;
	table->bad_link = !section_strings(elf, section, &table->strings);
}

/* A name, NUL, zeros up to a multiple of four, and the checksum. */
static void read_debug_link(struct elf_file *file, const GElf_Shdr *section)
{
	char text[ELF_MAX_NAME];
	size_t length;

	if (file->debug_link || section->sh_size > sizeof(text) ||
	    elf_file_read(file, section->sh_offset, text, section->sh_size) !=
		    (ssize_t)section->sh_size)
		return;
	length = strnlen(text, section->sh_size);
	if (!length || (length + 4) / 4 * 4 + sizeof(file->debug_crc) > section->sh_size)
		return;
	memcpy(&file->debug_crc, text + (length + 4) / 4 * 4, sizeof(file->debug_crc));
	file->debug_link = strdup(text);
}

static bool is_named(Elf *elf, const GElf_Shdr *section, const char *name)
{
	const char *own;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	own = elf_strptr(elf, names, section->sh_name);
	return own && !strcmp(own, name);
}

static void read_sections(struct elf_file *file, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr section;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &section))
			continue;
		if (section.sh_type == SHT_DYNSYM) {
			note_table(elf, &section, ".dynsym", &file->dynsym);
		} else if (section.sh_type == SHT_SYMTAB) {
			note_table(elf, &section, ".symtab", &file->symtab);
		} else if (section.sh_type == SHT_RELA && section.sh_flags & SHF_ALLOC &&
			   is_named(elf, &section, ".rela.dyn")) {
			file->relocations = (struct elf_extent){ section.sh_offset, section.sh_size };
		} else if (section.sh_type == SHT_PROGBITS && !(section.sh_flags & SHF_ALLOC) &&
			   is_named(elf, &section, ".gnu_debuglink")) {
			read_debug_link(file, &section);
		}
	}
}

static int load(struct elf_file *file, char *error, size_t error_size)
{
	Elf *elf;
	int err;

	if (fstat(file->fd, &file->stat)) {
		err = -errno;
		elf_fail(error, error_size, "%s: cannot stat: %s", file->name, strerror(-err));
		return err;
	}
	if (!S_ISREG(file->stat.st_mode))
		return elf_fail(error, error_size, "%s: not a regular file", file->name);
	err = read_header(file, error, error_size);
	if (err)
		return err;
	elf_version(EV_CURRENT);
	elf = elf_begin(file->fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		err = elf_fail(error, error_size, "%s: damaged ELF file: %s", file->name,
			       elf ? "no ELF header" : elf_errmsg(-1));
		elf_end(elf);
		return err;
	}
	read_segments(file, elf);
	read_sections(file, elf);
	elf_end(elf);
	return 0;
}

/* Takes over @fd. */
static struct elf_file *open_owned(int fd, const char *name, char *error, size_t error_size)
{
	struct elf_file *file = calloc(1, sizeof(*file));
	int err = -ENOMEM;

	if (!file || !(file->name = strdup(name))) {
		elf_fail(error, error_size, "%s: out of memory", name);
		free(file);
		close(fd);
		errno = ENOMEM;
		return NULL;
	}
	file->fd = fd;
	err = load(file, error, error_size);
	if (err) {
		elf_file_close(file);
		errno = -err;
		return NULL;
	}
	return file;
}

struct elf_file *elf_file_open(const char *path, char *error, size_t error_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0) {
		int err = errno;

		elf_fail(error, error_size, "%s: cannot open: %s", path, strerror(err));
		errno = err;
		return NULL;
	}
	return open_owned(fd, path, error, error_size);
}

struct elf_file *elf_file_open_fd(int fd, const char *name, char *error, size_t error_size)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0) {
		int err = errno;

		elf_fail(error, error_size, "%s: cannot duplicate its descriptor: %s", name,
			 strerror(err));
		errno = err;
		return NULL;
	}
	return open_owned(copy, name, error, error_size);
}

void elf_file_close(struct elf_file *file)
{
	if (!file)
		return;
	close(file->fd);
	elf_file_close(file->debug);
	free(file->debug_link);
	free(file->name);
	free(file);
}

enum elf_file_machine elf_file_machine(const struct elf_file *file)
{
	return file->machine;
}

bool elf_file_is_go(const struct elf_file *file)
{
	return file->go;
}

bool elf_file_has_linker(const struct elf_file *file)
{
	return file->interpreted;
}

uint64_t elf_file_code_end(const struct elf_file *file)
{
	uint64_t end = 0;

	for (size_t i = 0; i < file->segment_count; i++)
		if (file->segments[i].address + file->segments[i].size > end)
			end = file->segments[i].address + file->segments[i].size;
	return end;
}

size_t elf_file_build_id(const struct elf_file *file, const uint8_t **id)
{
	*id = file->build_id;
	return file->build_id_size;
}

bool elf_file_has_symbols(const struct elf_file *file)
{
	return file->dynsym.present || file->symtab.present || file->debug;
}
