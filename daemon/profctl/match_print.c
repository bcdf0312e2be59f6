/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/match_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <libsmartcols/libsmartcols.h>

#include "daemon/common/end_way.h"
#include "daemon/common/probe_price.h"
#include "daemon/profctl/message.h"

enum { FUNCTION, RUNTIME, KIND, LAYER, OFFSET, PROBE, PRICE, ENDS, PLAIN, NOTE, COLUMNS };

/* The measured cost, or an estimate from another class or another machine. */
static uint32_t price_of(const struct match_printer *printer, enum instruction_class class)
{
	const struct match_kernel *kernel = &printer->kernel;

	return kernel->price_ns[class] ? kernel->price_ns[class]
				       : probe_price(class, kernel->calibrated_ns);
}

static const char *const titles[COLUMNS] = { "FUNCTION", "RUNTIME", "KIND",    "LAYER", "OFFSET",
					     "PROBE",	 "NS/CALL", "ENDS BY", "PLAIN", "NOTE" };

static const bool right[COLUMNS] = { [LAYER] = true, [OFFSET] = true, [PRICE] = true };

static void set_number(struct libscols_line *line, size_t column, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	scols_line_set_data(line, column, text);
}

static void fill_common(struct libscols_line *line, const char *name,
			const struct catalog_function *entry, uint64_t offset)
{
	char text[4096];

	scols_line_set_data(line, FUNCTION, printable(name, text, sizeof(text)));
	scols_line_set_data(line, RUNTIME, entry->catalog->runtime);
	scols_line_set_data(line, KIND, catalog_kind_name(entry->kind));
	set_number(line, LAYER, entry->layer);
	scols_line_set_data(line, PLAIN, entry->plain_name);
	snprintf(text, sizeof(text), "0x%" PRIx64, offset);
	scols_line_set_data(line, OFFSET, text);
}

/* The way on this kernel; without an answer of a daemon, on a kernel with all features. */
static enum end_way way_of(const struct match_printer *printer, const struct probed_function *f)
{
	const char *method = printer->kernel.method;

	return end_way_of(f, !*method || !strcmp(method, "session"));
}

/* A return that the kernel steps over costs as much more as an entry does that it steps over. */
static uint32_t price_of_call(const struct match_printer *printer, const struct probed_function *f)
{
	uint32_t price = price_of(printer, f->choice.class);
	uint32_t stepped = price_of(printer, INSTRUCTION_STEPPED);
	uint32_t emulated = price_of(printer, INSTRUCTION_EMULATED);

	if (way_of(printer, f) != END_BY_EXITS || stepped < emulated)
		return price;
	for (size_t i = 0; i < f->exits.count; i++)
		if (f->exits.exits[i].stepped)
			return price + (stepped - emulated);
	return price;
}

static void fill_function(const struct match_printer *printer, struct libscols_line *line,
			  const struct probed_function *f)
{
	char text[64];

	fill_common(line, f->name, f->entry, f->offset - f->choice.delta);
	snprintf(text, sizeof(text), f->choice.delta ? "%s at +%u" : "%s",
		 instruction_class_name(f->choice.class), f->choice.delta);
	scols_line_set_data(line, PROBE, text);
	set_number(line, PRICE, price_of_call(printer, f));
	scols_line_set_data(line, ENDS, end_way_name(way_of(printer, f)));
	scols_line_set_data(line, NOTE,
			    f->exits.count ? instruction_reason_text(f->choice.reason)
					   : exit_doubt_text(f->exits.doubt));
}

static int print_table(const struct match_printer *printer, const struct probed_file *file)
{
	struct libscols_table *table = scols_new_table();
	int err = table ? 0 : -ENOMEM;

	for (size_t i = 0; i < COLUMNS && !err; i++)
		if (!scols_table_new_column(table, titles[i], 0, right[i] ? SCOLS_FL_RIGHT : 0))
			err = -ENOMEM;
	for (size_t i = 0; i < file->count + file->refused_count && !err; i++) {
		struct libscols_line *line = scols_table_new_line(table, NULL);
		const struct refused_function *refused;

		if (!line) {
			err = -ENOMEM;
		} else if (i < file->count) {
			fill_function(printer, line, &file->functions[i]);
		} else {
			refused = &file->refused[i - file->count];
			fill_common(line, refused->name, refused->entry, refused->offset);
			scols_line_set_data(line, PROBE, "none");
			scols_line_set_data(line, NOTE, probed_refusal_text(refused->why));
		}
	}
	if (!err)
		err = scols_print_table(table) ? -ENOMEM : 0;
	scols_unref_table(table);
	return err;
}

static const struct catalog_function *entry_of(const struct probed_file *file, size_t i)
{
	return i < file->count ? file->functions[i].entry : file->refused[i - file->count].entry;
}

/* Prints the meaning of each name in column PLAIN once. */
static void print_reasons(const struct probed_file *file)
{
	size_t count = file->count + file->refused_count;
	char safe[4096];

	for (size_t i = 0; i < count; i++) {
		const struct catalog_function *entry = entry_of(file, i);
		size_t first = 0;

		while (entry->plain && entry_of(file, first)->plain != entry->plain)
			first++;
		if (!entry->plain || first < i)
			continue;
		printf("plain by %s of %s: ", entry->plain_name, entry->catalog->runtime);
		puts(printable(entry->plain, safe, sizeof(safe)));
	}
}

static void hex(const uint8_t *bytes, size_t size, char *text)
{
	*text = '\0';
	for (size_t i = 0; i < size; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
}

static void json_entry(struct json *json, const char *name, const struct catalog_function *entry,
		       uint64_t offset)
{
	json_object(json, NULL);
	json_text(json, "function", name);
	json_text(json, "runtime", entry->catalog->runtime);
	json_text(json, "kind", catalog_kind_name(entry->kind));
	json_number(json, "layer", entry->layer);
	json_text(json, "catalog", entry->catalog->name);
	json_number(json, "line", entry->line);
	if (entry->plain) {
		json_text(json, "plain", entry->plain);
		json_text(json, "plain_name", entry->plain_name);
	}
	json_number(json, "offset", offset);
}

static void file_json(struct match_printer *printer, pid_t pid, const char *path,
		      const struct probed_file *file, const char *error)
{
	char id[2 * ELF_FILE_BUILD_ID_MAX + 1];
	struct json *json = &printer->json;

	json_object(json, NULL);
	json_text(json, "path", path);
	if (pid)
		json_number(json, "pid", (uint64_t)pid);
	hex(file->build_id, file->build_id_size, id);
	if (*id)
		json_text(json, "build_id", id);
	if (*error)
		json_text(json, "error", error);
	json_array(json, "functions");
	for (size_t i = 0; i < file->count; i++) {
		const struct probed_function *f = &file->functions[i];

		json_entry(json, f->name, f->entry, f->offset - f->choice.delta);
		json_text(json, "instruction", instruction_class_name(f->choice.class));
		json_number(json, "instruction_offset", f->offset);
		json_number(json, "expected_ns", price_of_call(printer, f));
		if (f->choice.reason)
			json_text(json, "reason", instruction_reason_text(f->choice.reason));
		json_text(json, "ends_by", end_way_name(way_of(printer, f)));
		json_text(json, "ends_by_reason", end_way_reason(f, way_of(printer, f)));
		json_close_object(json);
	}
	json_close_array(json);
	json_array(json, "not_probed");
	for (size_t i = 0; i < file->refused_count; i++) {
		const struct refused_function *f = &file->refused[i];

		json_entry(json, f->name, f->entry, f->offset);
		json_text(json, "reason", probed_refusal_text(f->why));
		json_close_object(json);
	}
	json_close_array(json);
	json_close_object(json);
}

int match_print_begin(struct match_printer *printer, bool as_json,
		      const struct match_kernel *kernel)
{
	memset(printer, 0, sizeof(*printer));
	printer->as_json = as_json;
	printer->kernel = *kernel;
	if (!as_json)
		return 0;
	if (json_begin(&printer->json))
		return -ENOMEM;
	json_object(&printer->json, NULL);
	json_text(&printer->json, "schema", "profbpf.match/1");
	json_object(&printer->json, "kernel");
	if (kernel->method[0]) {
		json_text(&printer->json, "method", kernel->method);
		json_bool(&printer->json, "optimized_nop", kernel->optimized_nop);
	}
	if (kernel->calibrated_ns)
		json_number(&printer->json, "probe_cost_ns", kernel->calibrated_ns);
	json_close_object(&printer->json);
	json_array(&printer->json, "files");
	return 0;
}

int match_print_file(struct match_printer *printer, pid_t pid, const char *path,
		     const struct probed_file *file, const char *error)
{
	struct match_totals *totals = &printer->totals;
	char safe[4096];
	int err;

	if (printer->as_json) {
		file_json(printer, pid, path, file, error);
	} else if (file->count + file->refused_count) {
		printf("%s%s\n", totals->files ? "\n" : "", printable(path, safe, sizeof(safe)));
		err = print_table(printer, file);
		if (err)
			return err;
		print_reasons(file);
	}
	if (!file->count && !file->refused_count)
		return 0;
	totals->files++;
	totals->refused += file->refused_count;
	for (size_t i = 0; i < file->count; i++)
		totals->functions[file->functions[i].choice.class]++;
	return 0;
}

static void json_totals(struct json *json, const struct match_totals *totals)
{
	json_close_array(json);
	json_object(json, "totals");
	json_number(json, "files", totals->files);
	for (int i = 0; i <= INSTRUCTION_STEPPED; i++)
		json_number(json, instruction_class_name(i), totals->functions[i]);
	json_number(json, "not_probed", totals->refused);
	json_close_object(json);
	json_close_object(json);
}

int match_print_end(struct match_printer *printer)
{
	const struct match_totals *totals = &printer->totals;
	const struct match_kernel *kernel = &printer->kernel;

	if (printer->as_json) {
		json_totals(&printer->json, totals);
		return json_end(&printer->json);
	}
	if (!totals->files)
		return 0;
	printf("\n%zu functions in %zu %s: ",
	       totals->functions[INSTRUCTION_NOP5] + totals->functions[INSTRUCTION_EMULATED] +
		       totals->functions[INSTRUCTION_STEPPED],
	       totals->files, totals->files == 1 ? "file" : "files");
	for (int i = 0; i <= INSTRUCTION_STEPPED; i++)
		printf("%zu %s%s", totals->functions[i], instruction_class_name(i),
		       i < INSTRUCTION_STEPPED ? ", " : "");
	if (totals->refused)
		printf("; %zu not probed", totals->refused);
	printf("\nns/call: what recording a call costs the thread that makes it; %s\n",
	       kernel->calibrated_ns
		       ? "as the last session measured on this machine"
		       : "as measured on a virtual machine (the first session measures this one)");
	if (!kernel->method[0])
		puts("the features of this kernel are unknown (no daemon, no privilege): the "
		     "instructions shown work on any kernel");
	return 0;
}
