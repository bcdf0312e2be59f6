/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/capture/kernel_types.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

const char *kernel_types_given(void)
{
	const char *path = getenv(KERNEL_TYPES_ENV);

	return path && *path ? path : NULL;
}

/* Replaces libbpf's function, see above. */
struct btf *btf__load_vmlinux_btf(void)
{
	const char *given = kernel_types_given();
	struct btf *(*own)(void);

	if (given)
		return btf__parse(given, NULL);
	/* C does not convert pointers to data to pointers to functions; POSIX allows this. */
	*(void **)&own = dlsym(RTLD_NEXT, "btf__load_vmlinux_btf");
	if (own)
		return own();
	errno = ENOENT;
	return NULL;
}

static bool has_function(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

static bool has_member(const struct btf *btf, const char *type, const char *member)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), member))
			return true;
	return false;
}

#if defined(__x86_64__)
#define OWN_REGISTER "orig_ax"
#else
#define OWN_REGISTER "syscallno"
#endif

/* The running kernel's types, from its file or by id (Linux 5.11 and later); NULL if neither is accessible. */
static struct btf *own_types(void)
{
	struct btf *btf = btf__parse(KERNEL_TYPES, NULL);
	uint32_t id = 0;

	while (!btf && !bpf_btf_get_next_id(id, &id)) {
		char name[16] = "";
		struct bpf_btf_info info = { .name = (uintptr_t)name, .name_len = sizeof(name) };
		uint32_t size = sizeof(info);
		int fd = bpf_btf_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_btf_get_info_by_fd(fd, &info, &size) && info.kernel_btf &&
		    !strcmp(name, "vmlinux"))
			btf = btf__load_from_kernel_by_id(id);
		close(fd);
	}
	return btf;
}

static bool same(const struct btf *one, const struct btf *other)
{
	uint32_t size, other_size;
	const void *data = btf__raw_data(one, &size),
		   *other_data = btf__raw_data(other, &other_size);

	return data && other_data && size == other_size && !memcmp(data, other_data, size);
}

/* Does the tracepoint's type id fit the kernel? Returns 0, or a negative errno, which may have other causes. */
static int try_tracepoint(const struct btf *btf, const char *name)
{
	const struct bpf_insn return_0[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_RAW_TP);
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF), fd;

	if (id <= 0)
		return -ENOENT;
	options.attach_btf_id = id;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, NULL, "GPL", return_0, 2, &options);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Was the kernel built with type information, accessible or not? Returns true in doubt. */
static bool kernel_has_types(void)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512];
	bool has = false, any = false;

	while (f && !has && fgets(line, sizeof(line), f)) {
		any = true;
		has = strstr(line, " __start_BTF\n") != NULL;
	}
	if (f)
		fclose(f);
	return has || !any;
}

static int fits_kernel(const struct btf *btf, const char *path, char *error, size_t size)
{
	static const char *const tracepoints[] = { "btf_trace_sched_switch",
						   "btf_trace_sched_process_exit",
						   "btf_trace_task_rename" };
	struct btf *own = own_types();
	bool shown = own != NULL, fits = own && same(btf, own);
	int err = 0;

	if (!shown) {
		for (size_t i = 0; i < sizeof(tracepoints) / sizeof(tracepoints[0]) && !err; i++)
			err = try_tracepoint(btf, tracepoints[i]);
		/* -EPERM, no right to load programs, is reported elsewhere. */
		fits = !err || err == -EPERM;
	}
	btf__free(own);
	if (fits)
		return 0;
	if (!shown && !kernel_has_types())
		snprintf(error, size,
			 "--btf %s: this kernel is built without CONFIG_DEBUG_INFO_BTF and loads "
			 "no programs for its tracepoints, even with a file; run a kernel with it",
			 path);
	else
		snprintf(error, size,
			 "--btf %s: the file describes another kernel; use the BTF of exactly the "
			 "running release and build (from its vmlinux: pahole "
			 "--btf_encode_detached FILE vmlinux)",
			 path);
	return -EINVAL;
}

int kernel_types_check(const char *path, char *error, size_t size)
{
	struct btf *btf;
	int err = 0;

	error[0] = '\0';
	if (access(path, R_OK)) {
		err = -errno;
		snprintf(error, size, "--btf %s: %s", path, strerror(-err));
		return err;
	}
	btf = btf__parse(path, NULL);
	if (!btf) {
		err = -errno;
		snprintf(error, size,
			 "--btf %s: no complete BTF in the file: neither raw, as bpftool and "
			 "pahole write it, nor in the section .BTF of an ELF file; files of BTFHub "
			 "must be unpacked first (tar xf)",
			 path);
		return err;
	}
	if (!has_function(btf, "schedule") || !has_member(btf, "task_struct", "pid"))
		snprintf(error, size,
			 "--btf %s: the file does not describe a kernel: it has no function schedule()", path);
	else if (!has_member(btf, "pt_regs", OWN_REGISTER))
		snprintf(error, size, "--btf %s: the file describes a kernel for another CPU architecture",
			 path);
	else
		err = fits_kernel(btf, path, error, size);
	if (!err && error[0])
		err = -EINVAL;
	btf__free(btf);
	return err;
}
