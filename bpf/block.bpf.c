// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * block.bpf.c - requests of the targets to block devices.
 *
 * The owner of a request is the thread that makes it; a kernel thread may issue the request to the device
 * later. Since 6.5 a tracepoint fires when a request is made; before, the only tracepoint there fires when
 * a request is allocated for a struct bio.
 */
#include "task.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

#define BLOCK_PENDING_MAX 16384

struct block_request {
	__u64 made_ns;
	__u64 issued_ns; /* 0 = not yet */
	__u64 sector;
	__u32 bytes;
	__u32 tgid;
	__u32 tid;
	__u32 reserved;
};

/* Key: the address of the request, or of its first bio. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BLOCK_PENDING_MAX);
	__type(key, __u64);
	__type(value, struct block_request);
} block_pending SEC(".maps");

static __always_inline int request_made(__u64 request)
{
	struct task_struct *task = current_task();
	struct thread_state *state = thread_state(task);
	struct block_request new = {};

	/* The kernel reuses requests, and some are never completed: remove an old entry. */
	if (!field_of(task, pid) || !is_target_task(task, state)) {
		bpf_map_delete_elem(&block_pending, &request);
		return 0;
	}
	announce(task, state);
	new.made_ns = bpf_ktime_get_ns();
	new.tgid = field_of(task, tgid);
	new.tid = field_of(task, pid);
	if (bpf_map_update_elem(&block_pending, &request, &new, BPF_ANY))
		count_lost(SOURCE_BLOCK, LOSS_NO_MEMORY, 1);
	return 0;
}

SEC("tp_btf/block_io_start")
int BPF_PROG(block_made, struct request *request)
{
	return request_made((__u64)request);
}

/* Before 6.5: a request is allocated for @bio, which is then the first bio of the request. */
SEC("tp_btf/block_getrq")
int BPF_PROG(block_made_before_6_5, struct bio *bio)
{
	return request_made((__u64)bio);
}

/* Before 5.11 all block tracepoints except the one of completion have the queue as their first argument. */
SEC("tp_btf/block_getrq")
int BPF_PROG(block_made_before_5_11, struct request_queue *queue, struct bio *bio)
{
	return request_made((__u64)bio);
}

/* The entry of @request: under the request's own address, or still under that of its first bio. */
static __always_inline struct block_request *find_request(struct request *request, __u64 *key)
{
	struct block_request *r;

	*key = (__u64)request;
	r = bpf_map_lookup_elem(&block_pending, key);
	if (r || !settings.block_by_bio)
		return r;
	*key = (__u64)request->bio;
	return bpf_map_lookup_elem(&block_pending, key);
}

static __always_inline int request_issued(struct request *request)
{
	__u64 own = (__u64)request, key;
	struct block_request *r = find_request(request, &key);
	struct block_request moved;

	if (!r || r->issued_ns)
		return 0;
	r->issued_ns = bpf_ktime_get_ns();
	/* Both change while the request is completed in parts; until now other requests may have been merged into it. */
	r->bytes = request->__data_len;
	r->sector = request->__sector;
	/* The bios go away one by one as the request is completed: from now on its own address is the key. */
	if (settings.block_by_bio && key != own) {
		moved = *r;
		bpf_map_update_elem(&block_pending, &own, &moved, BPF_ANY);
		bpf_map_delete_elem(&block_pending, &key);
	}
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_issued, struct request *request)
{
	return request_issued(request);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_issued_before_5_11, struct request_queue *queue, struct request *request)
{
	return request_issued(request);
}

/* The request became a part of another one. */
static __always_inline int request_merged(struct request *request)
{
	__u64 key;

	if (find_request(request, &key))
		bpf_map_delete_elem(&block_pending, &key);
	return 0;
}

SEC("tp_btf/block_rq_merge")
int BPF_PROG(block_merged, struct request *request)
{
	return request_merged(request);
}

SEC("tp_btf/block_rq_merge")
int BPF_PROG(block_merged_before_5_11, struct request_queue *queue, struct request *request)
{
	return request_merged(request);
}

/* Operations of requests, include/linux/blk_types.h: the same since 4.10. */
#define OPERATION_MASK 0xff

static __always_inline __u32 operation_of(__u32 command, bool has_data)
{
	switch (command & OPERATION_MASK) {
	case 0: return BLOCK_READ;
	/* A flush is made as an empty write. */
	case 1: return has_data ? BLOCK_WRITE : BLOCK_CACHE_FLUSH;
	case 2: return BLOCK_CACHE_FLUSH;
	case 3:
	case 5: return BLOCK_DISCARD;
	default: return BLOCK_OTHER;
	}
}

static __always_inline bool has_flag(__u32 command, __u64 bit)
{
	return command >> bit & 1;
}

#define HAS(command, bit) has_flag(command, bpf_core_enum_value(enum req_flag_bits, bit))

static __always_inline __u16 flags_of(__u32 command)
{
	return (HAS(command, __REQ_SYNC) ? BLOCK_SYNC : 0) |
	       (HAS(command, __REQ_META) ? BLOCK_META : 0) |
	       (HAS(command, __REQ_FUA) ? BLOCK_FUA : 0) |
	       (HAS(command, __REQ_PREFLUSH) ? BLOCK_FLUSH : 0) |
	       (HAS(command, __REQ_RAHEAD) ? BLOCK_AHEAD : 0);
}

struct request___before_5_17 {
	struct gendisk *rq_disk;
} __attribute__((preserve_access_index));

static __always_inline __u32 disk_of(struct request *request)
{
	struct request___before_5_17 *old = (void *)request;
	struct gendisk *disk = bpf_core_field_exists(old->rq_disk) ? old->rq_disk : request->q->disk;

	return disk ? (__u32)disk->major << 20 | (__u32)disk->first_minor | RDEV_BLOCK : RDEV_BLOCK;
}

static __always_inline void emit_block(struct request *request, const struct block_request *from,
				       bool failed)
{
	__u32 command = request->cmd_flags;
	struct rec_block *r;
	struct emit e;

	r = emit_begin(&e, SOURCE_BLOCK, sizeof(*r));
	if (!r)
		return;
	header_fill(&r->header, REC_BLOCK,
		    flags_of(command) | (from->issued_ns ? BLOCK_ISSUED : 0) |
			    (failed ? BLOCK_FAILED : 0),
		    from->made_ns);
	r->dur_ns = bpf_ktime_get_ns() - from->made_ns;
	r->wait_ns = from->issued_ns ? from->issued_ns - from->made_ns : 0;
	r->sector = from->sector;
	r->bytes = from->bytes;
	r->tgid = from->tgid;
	r->tid = from->tid;
	r->rdev = disk_of(request);
	r->operation = operation_of(command, from->bytes != 0);
	r->reserved = 0;
	emit_end(&e, false);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_completed, struct request *request, int error, unsigned int bytes)
{
	__u64 key;
	struct block_request *r = find_request(request, &key);

	/* A request may be completed in parts: the last part ends it. */
	if (!r || (!(error & 0xff) && bytes < request->__data_len))
		return 0;
	if (!capture_stopped)
		emit_block(request, r, error & 0xff);
	bpf_map_delete_elem(&block_pending, &key);
	return 0;
}
