/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/unknown_file.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/import/readers/input_file.h"
#include "analyzer/import/readers/sqlite_file.h"

#define TAR_MAGIC_AT 257 /* "ustar", in the header of the first file */
#define HEAD 65536 /* bytes that are read of the file */
#define PART 4096 /* of a text whose brackets are counted */
#define COLUMNS_SHOWN 120 /* bytes of a table's header in the message */
#define REPLACED "\xef\xbf\xbd" /* U+FFFD */
#define REPLACED_MIN 4

#define NSYS "a report of Nsight Systems: give what `nsys export --type sqlite` makes of it"
#define NEURON                                                                                     \
	"a file of AWS Neuron's profiler: give the *.pftrace that `neuron-explorer view -d FOLDER "  \
	"--output-format perfetto` makes of its folder"
#define UNITRACE                                                                                   \
	"the text of Intel's unitrace: give the *.json that unitrace --chrome-kernel-logging "        \
	"--chrome-call-logging writes"
#define XPROF                                                                                      \
	"a page of TensorBoard's profiler (XProf): give the *.xplane.pb or trace.json.gz of its run, " \
	"in plugins/profile"
#define TORCH_NPU                                                                                  \
	"raw data of torch_npu: run torch_npu.profiler.profiler.analyse(FOLDER), where FOLDER holds "  \
	"*_ascend_pt, and give FOLDER"
#define NCU                                                                                        \
	"Nsight Compute's, which runs each kernel alone, several times: a job's times are in reports "  \
	"of Nsight Systems (nsys profile, then nsys export --type sqlite)"

/* A binary file that was saved as text: control characters, and many U+FFFD in place of bytes that were not UTF-8. */
static bool was_saved_as_text(const char *head, size_t size)
{
	unsigned int replaced = 0, control = 0;

	for (size_t i = 0; i < size; i++) {
		control += (unsigned char)head[i] < '\t';
		replaced += size - i >= 3 && memcmp(head + i, REPLACED, 3) == 0;
	}
	return control && replaced >= REPLACED_MIN;
}

#define BEGINS(head, magic) (memcmp(head, magic, sizeof(magic) - 1) == 0)

/* What the decompressed begin says. The head is followed by zeros. */
static const char *by_magic(const char *head, size_t size)
{
	if (BEGINS(head + TAR_MAGIC_AT, "ustar") || BEGINS(head, "PK\003\004"))
		return "an archive: unpack it, and give the folder";
	if (BEGINS(head, "\xfd" "7zXZ"))
		return "compressed by xz: unpack it (unxz), and give that file";
	if (BEGINS(head, "BZh"))
		return "compressed by bzip2: unpack it (bunzip2), and give that file";
	if (BEGINS(head, "\x04\x22\x4d\x18"))
		return "compressed by lz4: unpack it (unlz4), and give that file";
	if (BEGINS(head, "\x1f\x8b") || BEGINS(head, "\x28\xb5\x2f\xfd"))
		return "compressed twice: unpack it once (gunzip or unzstd), and give that file";
	if (BEGINS(head, "PAR1") || BEGINS(head, "ARROW1") || BEGINS(head, "\x89HDF"))
		return "a table as Parquet, Arrow or HDF5: of Nsight Systems give SQLite (nsys export --type "
		       "sqlite), of AWS Neuron the *.pftrace of neuron-explorer";
	if (head[0] == '\x80' && head[1] >= 2 && head[1] <= 5)
		return "a pickle of Python, as PyTorch's snapshots of memory are: give a trace of "
		       "torch.profiler";
	if (BEGINS(head, "PERFILE2"))
		return "a recording of perf, which has nothing of a device: give its profiler's file";
	if (BEGINS(head, "SQLite format 3"))
		return "a compressed SQLite database: unpack it (gunzip or unzstd), and give that file";
	return was_saved_as_text(head, size)
		       ? "saved as text, which replaced its bytes that were no UTF-8 (EF BF BD stand "
			 "there now): copy it anew, as a binary file"
		       : NULL;
}

/* A first line of words between @separator. */
static bool is_table(const char *head, char separator)
{
	size_t length = strcspn(head, "\r\n"), separators = 0, letters = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)head[i];

		separators += head[i] == separator;
		letters += isalpha(c) != 0 || c >= 0x80;
		if (c < ' ' && c != '\t')
			return false;
	}
	return separators >= 2 && letters > separators && !strchr("{[<", head[0]);
}

/* Texts of tools, by words that the beginning of each has. */
static const struct {
	const char *words[3];
	const char *why;
} TEXTS[] = {
	{ { "\"ID\",\"Process ID\",\"Process Name\"" }, "a table of " NCU }, /* lines of messages may precede it */
	{ { "\"traceEvents\"", "\"Finalization Time (ns)\"" },
	  "a trace of Triton's proton of warps inside of kernels, in cycles: give what proton.start() writes without "
	  "backend=\"instrumentation\"" },
	{ { "tensor_engine_active_time" }, NEURON },
	{ { "\"nc_idx\"", "\"event_type\"" }, NEURON },
	{ { "=== Device Timing Summary ===" }, UNITRACE },
	{ { "=== API Timing Summary ===" }, UNITRACE },
	{ { "== L0 Backend ==" }, UNITRACE },
	{ { "\"cols\":", "\"rows\":", "\"p\":" }, XPROF },
	{ { "\"byCategory\"", "\"deviceType\"" }, XPROF },
	{ { "\"memoryProfilePerAllocator\"" }, XPROF },
	{ { "\"Layers\"", "\"Bindings\"" },
	  "TensorRT's layers without their times: give what trtexec --exportProfile or --exportTimes writes" },
	{ { "\"nodes\"", "\"ctrl_deps\"" },
	  "an execution trace of PyTorch, which has no times of devices: give the trace of torch.profiler" },
};

static const char *by_words(const char *head)
{
	for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
		size_t k = 0;

		while (k < 3 && TEXTS[i].words[k] && strstr(head, TEXTS[i].words[k]))
			k++;
		if (k == 3 || !TEXTS[i].words[k])
			return TEXTS[i].why;
	}
	return NULL;
}

static bool by_columns(const char *head, char *why, size_t why_size)
{
	size_t line = strcspn(head, "\r\n");

	line = line < COLUMNS_SHOWN ? line : COLUMNS_SHOWN;
	while (line && ((unsigned char)head[line] & 0xc0) == 0x80)
		line--;
	if (is_table(head, ',')) {
		snprintf(why, why_size, "a table whose columns are those of no format known here: %.*s",
			 (int)line, head);
		return true;
	}
	if (!is_table(head, ';') && !is_table(head, '\t'))
		return false;
	snprintf(why, why_size,
		 "a table with %s between its columns, as spreadsheets save it: give the file as its "
		 "profiler wrote it, with commas",
		 is_table(head, ';') ? "semicolons" : "tabs");
	return true;
}

/* Reads the decompressed begin; the rest of @head becomes zeros. Returns the number of bytes. */
static size_t read_head(const char *path, char *head)
{
	struct input_file file;
	char ignored[256];
	int length;

	memset(head, 0, HEAD + 1);
	if (input_file_open(&file, path, ignored, sizeof(ignored)) != 0)
		return 0;
	length = input_file_read(&file, head, HEAD, ignored, sizeof(ignored));
	input_file_close(&file);
	return length > 0 ? (size_t)length : 0;
}

/* Says why by the content of a regular file. */
static bool by_content(const char *path, char *why, size_t why_size)
{
	char head[HEAD + 1];
	size_t size = read_head(path, head);
	const char *words = by_words(head);

	if (!words)
		words = by_magic(head, size);

	if (words)
		snprintf(why, why_size, "%s", words);
	return words || by_columns(head, why, why_size);
}

/* Brackets that are open after a part of a text. */
struct brackets {
	size_t open;
	bool quoted;
	bool escaped;
	bool other; /* the text does not begin with a bracket */
};

static void count_brackets(struct brackets *of, const char *text, size_t size)
{
	for (size_t i = 0; i < size && !of->other; i++) {
		char c = text[i];

		if (of->quoted) {
			of->quoted = c != '"' || of->escaped;
			of->escaped = c == '\\' && !of->escaped;
		} else if (c == '"') {
			of->quoted = true;
			of->escaped = false;
		} else if (c == '{' || c == '[') {
			of->open++;
		} else if ((c == '}' || c == ']') && of->open) {
			of->open--;
		}
		of->other = !of->open && !isspace((unsigned char)c) && c != '}' && c != ']';
	}
}

bool unknown_file_is_torn(const char *path)
{
	struct brackets brackets = { 0 };
	struct input_file file;
	struct stat status;
	char part[PART], ignored[256];
	int length;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	if (status.st_size == 0)
		return true;
	if (input_file_open(&file, path, ignored, sizeof(ignored)) != 0)
		return false;
	do {
		length = input_file_read(&file, part, sizeof(part), ignored, sizeof(ignored));
		if (length > 0)
			count_brackets(&brackets, part, (size_t)length);
	} while (length > 0 && !brackets.other);
	input_file_close(&file);
	return !brackets.other && (brackets.open || length < 0);
}

/* Files that only their own tools read, and what they made of others, by the ends of their names. */
static const struct {
	const char *name, *why;
} ENDINGS[] = {
	{ ".nsys-rep", NSYS },
	{ ".qdrep", NSYS },
	{ ".ncu-rep", "a report of " NCU },
	{ ".ntff", NEURON },
	{ ".neff", NEURON },
	{ ".hltv", "a profile of Intel Gaudi's own profiler: give a trace of torch.profiler (ProfilerActivity.HPU)" },
	{ ".hatchet_msgpack", "a tree of Triton's proton as MessagePack: give it as JSON (output_format=\"hatchet\")" },
	{ "torch.op_range", TORCH_NPU },
	{ "torch.op_mark", TORCH_NPU },
	{ ".op_stats.pb", XPROF },
	{ ".overview_page.pb", XPROF },
	{ ".input_pipeline.pb", XPROF },
	{ ".kernel_stats.pb", XPROF },
	{ ".tensorflow_stats.pb", XPROF },
};

static bool ends_with(const char *path, const char *end)
{
	size_t length = strlen(path), part = strlen(end);

	return length >= part && strcmp(path + length - part, end) == 0;
}

bool unknown_file_why(const char *path, char *why, size_t why_size)
{
	struct stat status;

	for (size_t i = 0; i < sizeof(ENDINGS) / sizeof(*ENDINGS); i++) {
		if (!ends_with(path, ENDINGS[i].name))
			continue;
		snprintf(why, why_size, "%s", ENDINGS[i].why);
		return true;
	}
	/* A device, such as a terminal, has already been read. */
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	if (status.st_size == 0) {
		snprintf(why, why_size, "an empty file");
		return true;
	}
	return sqlite_file_why_unknown(path, why, why_size) || by_content(path, why, why_size);
}
