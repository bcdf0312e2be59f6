/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binaries.c - libraries that are mapped in unusual ways.
 *
 * Each argument is HOW:PATH:FUNCTION[@VERSION]:CALLS. HOW is the way to load PATH:
 * open     by dlopen
 * again    by dlmopen, into a new symbol namespace: one more copy
 * memory   from a memory file with the same contents
 * deleted  by dlopen; then the file is deleted
 * replaced by dlopen; then an empty file of that name replaces it
 * FUNCTION is then called CALLS times.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tests/truth/truth.h"

#define LOADS_MAX 32

struct load {
	char how[16], path[512], function[64], version[16];
	int calls;
	int (*call)(int);
};

static void *open_memory(const char *path)
{
	int in = open(path, O_RDONLY | O_CLOEXEC), out = memfd_create("binary", 0);
	char bytes[65536], name[64];
	ssize_t n;

	if (in < 0 || out < 0)
		return NULL;
	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		if (write(out, bytes, n) != n)
			return NULL;
	close(in);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", out);
	return dlopen(name, RTLD_NOW);
}

static void replace(const char *path)
{
	unlink(path);
	close(open(path, O_WRONLY | O_CREAT, 0644));
}

static void load(struct load *l)
{
	void *handle;

	if (!strcmp(l->how, "again"))
		handle = dlmopen(LM_ID_NEWLM, l->path, RTLD_NOW);
	else if (!strcmp(l->how, "memory"))
		handle = open_memory(l->path);
	else
		handle = dlopen(l->path, RTLD_NOW);
	if (handle && l->version[0])
		l->call = (int (*)(int))dlvsym(handle, l->function, l->version);
	else if (handle)
		l->call = (int (*)(int))dlsym(handle, l->function);
	if (!l->call) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	if (!strcmp(l->how, "deleted"))
		unlink(l->path);
	if (!strcmp(l->how, "replaced"))
		replace(l->path);
}

static void parse(struct load *l, const char *text)
{
	char *at;

	memset(l, 0, sizeof(*l));
	if (sscanf(text, "%15[^:]:%511[^:]:%63[^:]:%d", l->how, l->path, l->function, &l->calls) !=
	    4) {
		fprintf(stderr, "%s: not HOW:PATH:FUNCTION:CALLS\n", text);
		exit(2);
	}
	at = strchr(l->function, '@');
	if (at) {
		snprintf(l->version, sizeof(l->version), "%s", at + 1);
		*at = '\0';
	}
}

int main(int argc, char **argv)
{
	static struct load loads[LOADS_MAX];
	int count = argc - 1 < LOADS_MAX ? argc - 1 : LOADS_MAX;

	for (int i = 0; i < count; i++) {
		parse(&loads[i], argv[i + 1]);
		load(&loads[i]);
	}
	truth_ready();
	for (int i = 0; i < count; i++)
		for (int k = 0; k < loads[i].calls; k++)
			loads[i].call(k);
	truth_done();
	return 0;
}
