/* SPDX-License-Identifier: Apache-2.0 */
/* Page faults and block requests: from records to the model, to the sleeps that they cause, to their sums. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/analyse/host/block_io.h"
#include "analyzer/analyse/host/faults.h"
#include "analyzer/analyse/host/sleep_reason.h"
#include "analyzer/analyse/host/sleeps.h"
#include "analyzer/join/thread/sleep_causes.h"
#include "analyzer/join/thread/timelines.h"
#include "bpf/events.h"
#include "daemon/profbpfd/capture/sleep_objects.h"
#include "daemon/profbpfd/encode/encode.h"
#include "daemon/profbpfd/host/mapped_files.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/small_model.h"

#define START 1000000
#define DISK (254u << 20 | RDEV_BLOCK)

#define SYS_READ 0 /* x86-64 */

struct encoding {
	struct encode *encode;
	struct string_table *strings;
	struct texts *texts;
	struct trace_builder *builder;
};

static void begin(struct encoding *e)
{
	e->encode = encode_new();
	e->strings = string_table_new();
	e->texts = texts_new();
	e->builder = trace_builder_new();
	trace_segment(e->builder, &(struct trace_segment){ .start_ns = START });
	trace_target(e->builder, START, 10, 10, "a");
	trace_driver(e->builder, DISK, "virtblk", "/dev/vda");
}

static void put(struct encoding *e, enum rec_type type, const void *record, size_t size)
{
	struct item *item = item_new(ITEM_RECORDS, 64);
	struct encoded out;

	item->type = type;
	assert_int_equal(item_append(item, record, size), 0);
	assert_int_equal(encode_item(e->encode, item, e->strings, e->texts, &out), 0);
	trace_packet(e->builder, out.kind, out.data, out.size);
	item_free(item);
}

static struct model *end(struct encoding *e)
{
	struct model *model = load_trace(e->builder);

	assert_int_equal(model->damage.packets_skipped, 0);
	encode_free(e->encode);
	string_table_free(e->strings);
	texts_free(e->texts);
	return model;
}

static void records_come_back(void **state)
{
	struct rec_fault fault = { .header = { .type = REC_FAULT, .ts_ns = START + 10 },
				   .dur_ns = 90,
				   .tgid = 10,
				   .tid = 10,
				   .address = 0x123456 };
	struct rec_block block = { .header = { .type = REC_BLOCK,
					       .flags = BLOCK_ISSUED | BLOCK_SYNC | BLOCK_FAILED,
					       .ts_ns = START + 200 },
				   .dur_ns = 100,
				   .wait_ns = 30,
				   .sector = 1ull << 40,
				   .bytes = 8192,
				   .tgid = 10,
				   .tid = 10,
				   .rdev = DISK,
				   .operation = BLOCK_WRITE };
	const struct major_fault *f;
	const struct block_request *r;
	struct encoding e;
	struct model *model;

	begin(&e);
	put(&e, REC_FAULT, &fault, sizeof(fault));
	put(&e, REC_BLOCK, &block, sizeof(block));
	model = end(&e);
	assert_int_equal(model->bad_rows, 0);
	assert_int_equal(model->faults.count, 1);
	f = &model->faults.row[0];
	assert_int_equal(f->end_ns, START + 100);
	assert_int_equal(f->dur_ns, 90);
	assert_int_equal(f->address, 0x123456);
	assert_int_equal(model->threads.row[f->thread].tid, 10);
	assert_int_equal(model->block_requests.count, 1);
	r = &model->block_requests.row[0];
	assert_int_equal(r->end_ns, START + 300);
	assert_int_equal(r->dur_ns, 100);
	assert_int_equal(r->wait_ns, 30);
	assert_true(r->sector == 1ull << 40);
	assert_int_equal(r->bytes, 8192);
	assert_int_equal(r->operation, PROFBPF__BLOCK_REQUESTS__OPERATION__WRITE);
	assert_int_equal(r->flags, PROFBPF__BLOCK_REQUESTS__FLAG__ISSUED |
					   PROFBPF__BLOCK_REQUESTS__FLAG__SYNC |
					   PROFBPF__BLOCK_REQUESTS__FLAG__FAILED);
	assert_string_equal(model_text(model, model->drivers.row[r->driver].device), "/dev/vda");
	model_free(model);
}

/* Rows with impossible times are dropped. */
static void hostile_records(void **state)
{
	struct rec_fault fault = { .header = { .type = REC_FAULT, .ts_ns = -50ull },
				   .dur_ns = 60,
				   .tid = 10 };
	struct rec_block block = { .header = { .type = REC_BLOCK, .ts_ns = START },
				   .dur_ns = 10,
				   .wait_ns = 11,
				   .tid = 10,
				   .rdev = DISK,
				   .operation = 77 };
	struct encoding e;
	struct model *model;

	begin(&e);
	put(&e, REC_FAULT, &fault, sizeof(fault));
	put(&e, REC_BLOCK, &block, sizeof(block));
	block.wait_ns = 10;
	put(&e, REC_BLOCK, &block, sizeof(block));
	model = end(&e);
	assert_int_equal(model->bad_rows, 2);
	assert_int_equal(model->faults.count, 0);
	assert_int_equal(model->block_requests.count, 1);
	assert_int_equal(model->block_requests.row[0].operation,
			 PROFBPF__BLOCK_REQUESTS__OPERATION__OTHER);
	model_free(model);
}

static void add_request(struct model *model, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
			uint8_t operation)
{
	struct block_request row = { .end_ns = end_ns,
				     .dur_ns = end_ns - start_ns,
				     .wait_ns = 5,
				     .bytes = 4096,
				     .thread = thread,
				     .operation = operation,
				     .flags = PROFBPF__BLOCK_REQUESTS__FLAG__ISSUED };

	assert_true(MODEL_PUSH(&model->block_requests, row));
}

static struct span *asleep(struct model *model, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
			   uint8_t flags)
{
	struct span *span = small_span(model, thread, start_ns, end_ns, STATE_DISK);

	span->object = INDEX_NONE;
	span->flags = flags;
	return span;
}

/* Two processes with a thread each, one disk. */
static struct model *two_threads(uint32_t *a, uint32_t *b)
{
	struct model *model = small_model(0, 100000000);
	struct driver driver = { .rdev = DISK, .device = model_string(model, "/dev/vda") };

	*a = small_thread(model, small_process(model, 10, "a", true), 10, "a");
	*b = small_thread(model, small_process(model, 20, "b", true), 20, "b");
	assert_true(MODEL_PUSH(&model->drivers, driver));
	return model;
}

static void sleeps_for_a_disk(void **state)
{
	struct analysis_window window = { 0, 100000000 };
	struct syscall_table *syscalls = syscall_table_new("x86_64");
	struct sleep_sums sums = { 0 };
	uint32_t a, b;
	struct model *model = two_threads(&a, &b);

	add_request(model, a, 900, 2000, PROFBPF__BLOCK_REQUESTS__OPERATION__READ);
	add_request(model, a, 910, 2900, PROFBPF__BLOCK_REQUESTS__OPERATION__READ);
	add_request(model, a, 5000, 5500,
		    PROFBPF__BLOCK_REQUESTS__OPERATION__WRITE); /* while the thread ran */
	add_request(
		model, a, 8000, 8500,
		PROFBPF__BLOCK_REQUESTS__OPERATION__READ); /* long before the end of the sleep */
	add_request(model, b, 1000, 19900,
		    PROFBPF__BLOCK_REQUESTS__OPERATION__READ); /* of another thread */
	asleep(model, a, 1000, 3000, SPAN_IOWAIT)->syscall = SYS_READ;
	small_span(model, a, 3000, 6000, STATE_RUNNING);
	asleep(model, a, 6000, 7000, SPAN_IOWAIT)->syscall = SYS_READ;
	small_span(model, a, 7000, 8000, STATE_RUNNING);
	asleep(model, a, 8000, 20000000, SPAN_IOWAIT)->syscall = SYS_READ;
	small_span(model, b, 1000, 20000, STATE_SLEEP); /* a sleep for another reason */
	small_index(model);

	assert_int_equal(sleep_causes_find(model), 0);
	assert_int_equal(model->io_waits.count, 1);
	assert_ptr_equal(sleep_request(model, &model->spans.row[0]), &model->block_requests.row[1]);
	assert_null(sleep_request(model, &model->spans.row[2]));
	assert_null(sleep_request(model, &model->spans.row[4]));
	assert_int_equal(sleep_reason(model, syscalls, &model->spans.row[0]), REASON_BLOCK_IO);
	assert_int_equal(sleep_reason(model, syscalls, &model->spans.row[2]), REASON_FILE);
	assert_true(sleeps_sum(model, &window, a, &sums));
	assert_int_equal(sums.count, 2);
	assert_int_equal(sums.row[0].disk, INDEX_NONE);
	assert_int_equal(sums.row[1].disk, 0);
	assert_int_equal(sums.row[1].disk_ns, 2900 - 910 - 5);
	free(sums.row);
	syscall_table_free(syscalls);
	model_free(model);
}

static void add_fault(struct model *model, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
		      uint32_t file)
{
	struct major_fault row = { .end_ns = end_ns,
				   .dur_ns = end_ns - start_ns,
				   .thread = thread,
				   .file = file };

	assert_true(MODEL_PUSH(&model->faults, row));
}

static void sleeps_in_faults(void **state)
{
	struct syscall_table *syscalls = syscall_table_new("x86_64");
	const struct sleep_object *object;
	uint32_t a, b, file;
	struct model *model = two_threads(&a, &b);

	file = model_string(model, "/data");
	add_fault(model, a, 1000, 5000, file);
	add_fault(model, a, 7000, 7000, file); /* without a sleep */
	add_fault(model, b, 1000, 5000, 0);
	asleep(model, a, 1000, 2000, SPAN_FAULT); /* two sleeps in one fault */
	small_span(model, a, 2000, 3000, STATE_RUNNING);
	asleep(model, a, 3000, 4900, SPAN_FAULT);
	small_span(model, a, 4900, 6000, STATE_RUNNING);
	asleep(model, a, 6000, 6500, SPAN_FAULT); /* a minor fault */
	small_span(model, a, 6500, 8000, STATE_RUNNING);
	asleep(model, a, 8000, 8100, SPAN_FAULT | SPAN_IOWAIT); /* the record is lost */
	asleep(model, b, 1000, 4000, SPAN_FAULT);
	small_index(model);

	assert_int_equal(sleep_causes_find(model), 0);
	assert_int_equal(sleep_reason(model, syscalls, &model->spans.row[0]), REASON_MAJOR_FAULT);
	assert_int_equal(sleep_reason(model, syscalls, &model->spans.row[2]), REASON_MAJOR_FAULT);
	assert_int_equal(sleep_reason(model, syscalls, &model->spans.row[4]), REASON_PAGE_FAULT);
	assert_int_equal(sleep_reason(model, syscalls, &model->spans.row[6]), REASON_MAJOR_FAULT);
	assert_int_equal(sleep_reason(model, syscalls, &model->spans.row[7]), REASON_MAJOR_FAULT);
	object = sleep_object(model, &model->spans.row[2]);
	assert_non_null(object);
	assert_string_equal(model_text(model, object->name), "/data");
	assert_null(sleep_object(model, &model->spans.row[4]));
	assert_null(sleep_object(model, &model->spans.row[7]));
	assert_int_equal(model->sleep_objects.count, 1);
	syscall_table_free(syscalls);
	model_free(model);
}

static void sums(void **state)
{
	struct analysis_options options = { .from_ns = 100, .to_ns = 50000 };
	struct block_results block = { 0 };
	struct fault_results faults = { 0 };
	uint32_t a, b, file;
	struct model *model = two_threads(&a, &b);

	file = model_string(model, "/data");
	add_request(model, a, 10, 200,
		    PROFBPF__BLOCK_REQUESTS__OPERATION__READ); /* before the window */
	for (uint64_t i = 1; i <= 4; i++)
		add_request(model, a, 1000 * i, 1000 * i + 100 * i,
			    PROFBPF__BLOCK_REQUESTS__OPERATION__READ);
	add_request(model, a, 9000, 9100, PROFBPF__BLOCK_REQUESTS__OPERATION__FLUSH);
	add_request(model, b, 9000, 19100, PROFBPF__BLOCK_REQUESTS__OPERATION__READ);
	add_fault(model, a, 1000, 1400, file);
	add_fault(model, a, 2000, 2000, file);
	add_fault(model, b, 2000, 2100, 0);
	add_fault(model, b, 49000, 50000, 0); /* after the window */
	asleep(model, a, 1000, 1105, SPAN_IOWAIT);
	small_index(model);
	assert_int_equal(sleep_causes_find(model), 0);

	assert_int_equal(block_analyse(model, &options, &block), 0);
	assert_int_equal(block.row_count, 3);
	assert_int_equal(block.rows[0].latency.total_ns, 10095);
	assert_int_equal(block.rows[1].operation, PROFBPF__BLOCK_REQUESTS__OPERATION__READ);
	assert_int_equal(block.rows[1].latency.count, 4);
	assert_int_equal(block.rows[1].bytes, 4 * 4096);
	assert_int_equal(block.rows[1].latency.max_ns, 395);
	assert_int_equal(block.rows[1].latency.min_ns, 95);
	assert_int_equal(block.rows[1].wait_ns, 20);
	assert_int_equal(block.rows[1].sleeps, 1);
	assert_int_equal(block.rows[1].slept_ns, 105);
	assert_int_equal(block.rows[2].operation, PROFBPF__BLOCK_REQUESTS__OPERATION__FLUSH);
	block_free(&block);

	assert_int_equal(faults_analyse(model, &options, &faults), 0);
	assert_int_equal(faults.row_count, 2);
	assert_int_equal(faults.rows[0].count, 2);
	assert_int_equal(faults.rows[0].slept, 1);
	assert_int_equal(faults.rows[0].total_ns, 400);
	assert_int_equal(faults.rows[1].count, 1);
	faults_free(&faults);
	model_free(model);
}

/* For a thread that an interrupt woke the interrupt's name is shown; a thread with that number is not responsible. */
static void names_of_interrupts(void **state)
{
	struct rec_wake wake = { .header = { .type = REC_WAKE,
					     .flags = WAKE_SOFTIRQ,
					     .ts_ns = START + 10 },
				 .tid = 10,
				 .source = 1 + 3 };
	struct encoding e;
	struct model *model;
	struct span span = { .state = STATE_SLEEP, .flags = SPAN_WOKEN_SOFTIRQ };

	begin(&e);
	put(&e, REC_WAKE, &wake, sizeof(wake));
	assert_string_equal(string_table_get(e.strings, 1), "NET_RX");
	model = end(&e);
	span.other = model_string(model, "NET_RX");
	assert_string_equal(sleep_interrupt(model, &span), "NET_RX");
	span.flags = SPAN_WOKEN_TIMER | SPAN_WOKEN_HARDIRQ;
	assert_string_equal(sleep_interrupt(model, &span), "timer");
	span.flags = 0;
	assert_null(sleep_interrupt(model, &span));
	span.flags = SPAN_WOKEN_HARDIRQ;
	span.other = INDEX_NONE;
	assert_null(sleep_interrupt(model, &span));
	model_free(model);
}

/* The same, preceded by the strings that the record refers to by number. */
static void put_named(struct encoding *e, enum rec_type type, const void *record, size_t size)
{
	struct item *item = item_new(ITEM_RECORDS, 64);
	struct encoded out, objects;
	uint8_t *copy;

	item->type = type;
	assert_int_equal(item_append(item, record, size), 0);
	assert_int_equal(encode_item(e->encode, item, e->strings, e->texts, &out), 0);
	copy = malloc(out.size);
	assert_non_null(copy);
	memcpy(copy, out.data, out.size);
	if (encode_objects(e->encode, &objects))
		trace_packet(e->builder, objects.kind, objects.data, objects.size);
	trace_packet(e->builder, out.kind, copy, out.size);
	free(copy);
	item_free(item);
}

#define SYS_EPOLL_WAIT 232 /* x86-64 */

/* A thread that sleeps for many files waited for the file that was ready at its wake-up; without one, for epoll. */
static void ready_in_epoll(void **state)
{
	struct rec_switch to = { .header = { .type = REC_SWITCH,
					     .flags = SWITCH_NEXT_TARGET,
					     .ts_ns = START + 10 },
				 .next_tid = 10,
				 .syscall = REC_SYSCALL_NONE,
				 .fd = -1 };
	struct rec_switch from = { .header = { .type = REC_SWITCH,
					       .flags = SWITCH_PREV_TARGET |
							SLEEP_EPOLL << SWITCH_KIND_SHIFT },
				   .prev_tid = 10,
				   .syscall = SYS_EPOLL_WAIT,
				   .state = SWITCH_SLEEP,
				   .object = 77,
				   .fd = 5 };
	struct rec_wake wake = { .header = { .type = REC_WAKE }, .tid = 10, .fd = -1 };
	const uint8_t kinds[] = { PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET,
				  PROFBPF__SLEEP_OBJECTS__KIND__EPOLL };
	uint32_t sleeps = 0;
	struct encoding e;
	struct model *model;

	begin(&e);
	put_named(&e, REC_SWITCH, &to, sizeof(to));
	for (uint64_t round = 0; round < 2; round++) {
		from.header.ts_ns = START + 100 + 100 * round;
		wake.header.ts_ns = from.header.ts_ns + 50;
		wake.header.flags = round ? 0 : SLEEP_INET << SWITCH_KIND_SHIFT;
		wake.object = round ? 0 : 4711;
		to.header.ts_ns = wake.header.ts_ns + 10;
		put_named(&e, REC_SWITCH, &from, sizeof(from));
		put_named(&e, REC_WAKE, &wake, sizeof(wake));
		put_named(&e, REC_SWITCH, &to, sizeof(to));
	}
	model = end(&e);
	assert_int_equal(timelines_build(model), 0);
	for (uint32_t i = 0; i < model->spans.count; i++) {
		const struct span *span = &model->spans.row[i];
		const struct sleep_object *object = sleep_object(model, span);

		if (span->state != STATE_SLEEP)
			continue;
		assert_true(sleeps < 2);
		assert_non_null(object);
		assert_int_equal(object->kind, kinds[sleeps]);
		if (object->kind == PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET)
			assert_int_equal(object->object, 4711);
		sleeps++;
	}
	assert_int_equal(sleeps, 2);
	model_free(model);
}

static uint64_t inode_of(int fd)
{
	struct stat facts;

	assert_int_equal(fstat(fd, &facts), 0);
	return facts.st_ino;
}

/* A thread that waits for several sockets waited for the other end of the socket through which its waker sent. */
static void other_ends(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct string_table *strings = string_table_new();
	struct sleep_objects *objects = sleep_objects_new();
	int listener = socket(AF_INET, SOCK_STREAM, 0), sender = socket(AF_INET, SOCK_STREAM, 0);
	struct rec_wake wake = { .header = { .type = REC_WAKE,
					     .flags = WAKE_SOFTIRQ | WAKE_SENT |
						      SLEEP_INET << SWITCH_KIND_SHIFT },
				 .waker_tid = (uint32_t)gettid(),
				 .tid = (uint32_t)gettid(),
				 .fd = -1 };
	socklen_t size = sizeof(address);
	Profbpf__SleepObjects message;
	int receiver;

	assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(connect(sender, (struct sockaddr *)&address, size), 0);
	receiver = accept(listener, NULL, NULL);
	assert_true(receiver >= 0);
	wake.object = inode_of(sender);
	assert_int_equal(sleep_objects_add_ready(objects, &wake, strings), 1);
	assert_true(sleep_objects_take(objects, &message));
	assert_true(message.object[0] == inode_of(receiver));
	assert_int_equal(message.peer[0], getpid());
	/* No object is added if the woken thread is not at the other end, or if the socket is not connected. */
	wake.tid = 1;
	assert_int_equal(sleep_objects_add_ready(objects, &wake, strings), 0);
	wake.tid = wake.waker_tid;
	wake.object = inode_of(listener);
	assert_int_equal(sleep_objects_add_ready(objects, &wake, strings), 0);
	close(listener);
	close(sender);
	close(receiver);
	sleep_objects_free(objects);
	string_table_free(strings);
}

static void files_at_addresses(void **state)
{
	struct mapped_files *files = mapped_files_new();
	char path[] = "/tmp/test_waits.XXXXXX";
	long page = sysconf(_SC_PAGESIZE);
	int fd = mkstemp(path);
	uint64_t offset;
	char *at;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4 * page), 0);
	at = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, page);
	assert_true(at != MAP_FAILED);
	for (int again = 0; again < 2; again++) {
		assert_string_equal(mapped_files_find(files, getpid(), (uintptr_t)at + page + 3,
						      &offset), path);
		assert_int_equal(offset, 2 * page + 3);
	}
	assert_string_equal(mapped_files_find(files, getpid(), 3, &offset), "");
	assert_int_equal(offset, 0);
	assert_string_equal(mapped_files_find(files, -1, (uintptr_t)at, &offset), "");
	munmap(at, 2 * page);
	close(fd);
	unlink(path);
	mapped_files_free(files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_back),   cmocka_unit_test(hostile_records),
		cmocka_unit_test(sleeps_for_a_disk),   cmocka_unit_test(sleeps_in_faults),
		cmocka_unit_test(sums),		       cmocka_unit_test(names_of_interrupts),
		cmocka_unit_test(files_at_addresses),  cmocka_unit_test(ready_in_epoll),
		cmocka_unit_test(other_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
