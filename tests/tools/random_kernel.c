/* SPDX-License-Identifier: Apache-2.0 */
/* random_kernel.c - interrupts, faults and disk requests of a random job. */
#include "tests/tools/random.h"

static uint32_t add_row(struct world *w, struct rows *rows, uint64_t ts_ns, uint32_t who)
{
	uint32_t i = rows->count++;

	rows->ts_ns[i] = (int64_t)(ts_ns - rows->last_ns);
	rows->last_ns = ts_ns;
	rows->tid[i] = WHO[who].tid;
	rows->tgid[i] = WHO[who].tgid;
	rows->dur_ns[i] = UNIT * up_to(w, 8);
	rows->number[i] = 4096ull * up_to(w, 50);
	return i;
}

static void put_interrupts(struct world *w)
{
	Profbpf__Interrupts m = PROFBPF__INTERRUPTS__INIT;
	struct rows *rows = &w->interrupts;

	m.n_ts_ns = m.n_dur_ns = m.n_tid = m.n_flags = rows->count;
	m.ts_ns = rows->ts_ns;
	m.dur_ns = rows->dur_ns;
	m.tid = rows->tid;
	m.flags = rows->flags;
	every_put(w->b, PROFBPF__PACKET__KIND__INTERRUPTS, &m.base);
	*rows = (struct rows){ 0 };
}

static void put_faults(struct world *w)
{
	Profbpf__Faults m = PROFBPF__FAULTS__INIT;
	struct rows *rows = &w->faults;

	m.n_end_ns = m.n_dur_ns = m.n_tid = m.n_tgid = m.n_address = rows->count;
	m.end_ns = rows->ts_ns;
	m.dur_ns = rows->dur_ns;
	m.tid = rows->tid;
	m.tgid = rows->tgid;
	m.address = rows->number;
	every_put(w->b, PROFBPF__PACKET__KIND__FAULTS, &m.base);
	*rows = (struct rows){ 0 };
}

static void put_requests(struct world *w)
{
	Profbpf__BlockRequests m = PROFBPF__BLOCK_REQUESTS__INIT;
	Profbpf__BlockRequests__Operation operations[ROWS];
	struct rows *rows = &w->requests;
	uint64_t wait_ns[ROWS];

	for (uint32_t i = 0; i < rows->count; i++) {
		operations[i] = rows->number[i] / 4096 % 5;
		wait_ns[i] = rows->flags[i] & 1 ? rows->dur_ns[i] / 4 : 0;
	}
	m.n_end_ns = m.n_dur_ns = m.n_wait_ns = m.n_tid = m.n_tgid = m.n_rdev = rows->count;
	m.n_operation = m.n_bytes = m.n_flags = rows->count;
	m.end_ns = rows->ts_ns;
	m.dur_ns = rows->dur_ns;
	m.wait_ns = wait_ns;
	m.tid = rows->tid;
	m.tgid = rows->tgid;
	m.rdev = rows->rdev;
	m.operation = operations;
	m.bytes = rows->bytes;
	m.flags = rows->flags;
	every_put(w->b, PROFBPF__PACKET__KIND__BLOCK_REQUESTS, &m.base);
	*rows = (struct rows){ 0 };
}

void random_kernel(struct world *w, uint32_t who)
{
	uint32_t i;

	switch (up_to(w, 3)) {
	case 0:
		i = add_row(w, &w->interrupts, w->now_ns, who);
		w->interrupts.dur_ns[i] /= 16;
		w->interrupts.flags[i] = 2u << up_to(w, 3);
		break;
	case 1:
		add_row(w, &w->faults, w->now_ns, who);
		w->produced[4]++;
		break;
	default:
		i = add_row(w, &w->requests, w->now_ns, who);
		w->requests.bytes[i] = 4096u << up_to(w, 4);
		w->requests.flags[i] = up_to(w, 128);
		w->requests.rdev[i] = DISK + 16 * up_to(w, 2);
		w->produced[5]++;
	}
	if (w->interrupts.count == ROWS)
		put_interrupts(w);
	if (w->faults.count == ROWS)
		put_faults(w);
	if (w->requests.count == ROWS)
		put_requests(w);
}

void random_kernel_end(struct world *w)
{
	put_interrupts(w);
	put_faults(w);
	put_requests(w);
}
