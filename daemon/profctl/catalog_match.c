/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/catalog_match.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/ifunc.h"
#include "daemon/common/process_check.h"
#include "daemon/profctl/daemon_client.h"
#include "daemon/profctl/message.h"
#include "lib/elf/process_maps.h"

void match_kernel_ask(struct match_kernel *kernel, const char *socket)
{
	Profbpf__Control__Request request = PROFBPF__CONTROL__REQUEST__INIT;
	Profbpf__Control__Status what = PROFBPF__CONTROL__STATUS__INIT;
	Profbpf__Control__Response *response;
	struct client client;

	memset(kernel, 0, sizeof(*kernel));
	if (client_connect(&client, socket) && client_spawn(&client))
		return;
	request.what_case = PROFBPF__CONTROL__REQUEST__WHAT_STATUS;
	request.status = &what;
	response = client_ask(&client, &request, PROFBPF__CONTROL__RESPONSE__WHAT_STATUS);
	if (response) {
		const Profbpf__Control__DaemonStatus *s = response->status;

		snprintf(kernel->method, sizeof(kernel->method), "%s", s->probe_method);
		kernel->optimized_nop = s->optimized_nop;
		kernel->calibrated_ns = s->probe_cost_ns;
		for (size_t i = 0; i < s->n_probe_prices; i++)
			for (int class = 0; class < INSTRUCTION_CLASSES; class++)
				if (!strcmp(s->probe_prices[i]->instruction,
					    instruction_class_name(class)))
					kernel->price_ns[class] = s->probe_prices[i]->whole_ns;
	}
	profbpf__control__response__free_unpacked(response, NULL);
	client_close(&client);
}

static int match_map(struct match_printer *printer, const struct catalogs *catalogs, pid_t pid,
		     const struct process_maps *maps, const struct process_map *map, size_t *count)
{
	struct probed_file file;
	char error[512], safe[4096];
	int fd = process_map_open(pid, map), err;

	if (fd < 0) {
		message("%s: %s", printable(map->path, safe, sizeof(safe)), strerror(-fd));
		return 0;
	}
	err = probed_file_read(&file, fd, map->path, catalogs, printer->kernel.optimized_nop, error,
			       sizeof(error));
	if (!err) {
		err = ifunc_resolve(&file, fd, pid, maps, map, printer->kernel.optimized_nop);
		if (err)
			probed_file_free(&file);
		else
			probed_file_exit_early(&file);
	}
	close(fd);
	if (err)
		return err;
	/* Mapped files that are no ELF (fonts, data) are of no interest. */
	if (file.count + file.refused_count) {
		*count += file.count;
		if (*error)
			message("%s", printable(error, safe, sizeof(safe)));
		err = match_print_file(printer, pid, map->path, &file, error);
	}
	probed_file_free(&file);
	return err;
}

int catalog_match_process(struct match_printer *printer, const struct catalogs *catalogs, pid_t pid)
{
	struct process_facts facts;
	struct process_maps maps;
	size_t count = 0;
	char error[512];
	int err = process_check(pid, process_facts_read(pid, &facts), &facts, error, sizeof(error));

	if (err) {
		message("%s", error);
		return err;
	}
	if (facts.narrow) {
		message("process %d (%s) is a 32-bit program, whose API calls cannot be traced",
			(int)pid, facts.name);
		return 0;
	}
	err = process_maps_read(pid, &maps);
	if (err) {
		message("cannot read the mapped files of process %d (%s): %s%s", (int)pid, facts.name,
			strerror(-err), err == -EACCES ? "; only root and the owner of the process "
							 "may read them" : "");
		return err;
	}
	for (size_t i = 0; i < maps.count && !err; i++)
		err = match_map(printer, catalogs, pid, &maps, &maps.map[i], &count);
	process_maps_free(&maps);
	if (err)
		message("out of memory");
	else if (!count)
		message("process %d (%s) has mapped no file with a function of the catalogs; "
			"libraries that it loads later are traced too",
			(int)pid, facts.name);
	return err;
}

int catalog_match_file(struct match_printer *printer, const struct catalogs *catalogs,
		       const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct probed_file file;
	char error[512];
	int err;

	if (fd < 0) {
		err = -errno;
		message("%s: cannot open: %s", path, strerror(-err));
		return err;
	}
	err = probed_file_read(&file, fd, path, catalogs, printer->kernel.optimized_nop, error,
			       sizeof(error));
	close(fd);
	if (err) {
		message("out of memory");
		return err;
	}
	probed_file_exit_early(&file);
	if (*error)
		message("%s", error);
	else if (!file.count && !file.refused_count)
		message("%s: %s", path,
			file.has_symbols ? "no function of the catalogs"
					 : "the file has no symbol table, so no function can be found");
	err = match_print_file(printer, 0, path, &file, error);
	probed_file_free(&file);
	return err ? err : *error ? -ENOEXEC : 0;
}
