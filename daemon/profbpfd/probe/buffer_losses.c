/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/buffer_losses.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/perf_event.h>

#define FORMAT_LOST (1u << 4) /* PERF_FORMAT_LOST, which headers before Linux 6.0 lack */
#define RECORD_MAX 8192 /* bytes of the largest record: a mapping, with a path of up to 4,096 */

/* What read() of a perf event returns in this format. */
struct reading {
	uint64_t value, lost;
};

int buffer_losses_open(struct buffer_losses *losses, int map, size_t pages, struct perf_event_attr *attr,
		       perf_buffer_event_fn on_event, void *context)
{
	int err;

	*losses = (struct buffer_losses){ 0 };
	attr->read_format = FORMAT_LOST;
	losses->buffer = perf_buffer__new_raw(map, pages, attr, on_event, context, NULL);
	if (losses->buffer) {
		losses->counts = calloc(perf_buffer__buffer_cnt(losses->buffer), sizeof(*losses->counts));
		return 0;
	}
	attr->read_format = 0;
	if (errno == EINVAL)
		losses->buffer = perf_buffer__new_raw(map, pages, attr, on_event, context, NULL);
	err = errno;
	return losses->buffer ? 0 : -err;
}

/* The kernel writes only what fits between its head and our tail. */
static bool was_nearly_full(const struct perf_event_mmap_page *page, size_t size, uint64_t tail)
{
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

	return head - tail + RECORD_MAX > size;
}

static bool has_lost_more(struct buffer_losses *losses, size_t number)
{
	int fd = perf_buffer__buffer_fd(losses->buffer, number);
	struct reading now;
	bool more;

	if (read(fd, &now, sizeof(now)) != (ssize_t)sizeof(now))
		return losses->told;
	more = now.lost != losses->counts[number];
	losses->counts[number] = now.lost;
	return more;
}

/* Between the read and the advance of the tail the buffer may become full, too. */
static bool read_one(struct buffer_losses *losses, size_t number)
{
	const struct perf_event_mmap_page *page;
	size_t size;
	void *memory;
	uint64_t tail;

	if (perf_buffer__buffer(losses->buffer, (int)number, &memory, &size))
		return false;
	page = memory;
	tail = page->data_tail;
	losses->told = false;
	perf_buffer__consume_buffer(losses->buffer, number);
	if (losses->counts && (losses->told || was_nearly_full(page, size, tail)))
		return has_lost_more(losses, number);
	return losses->told;
}

bool buffer_losses_read(struct buffer_losses *losses)
{
	size_t count = perf_buffer__buffer_cnt(losses->buffer);
	bool lost = false;

	for (size_t i = 0; i < count; i++)
		lost |= read_one(losses, i);
	return lost;
}

void buffer_losses_close(struct buffer_losses *losses)
{
	perf_buffer__free(losses->buffer);
	free(losses->counts);
	*losses = (struct buffer_losses){ 0 };
}
