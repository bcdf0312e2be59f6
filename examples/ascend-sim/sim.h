/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h - internals of the simulated Ascend, shared by its libraries. Implemented in libascend_hal.so.
 *
 * The device computes its own times: a task starts when it was sent, its stream's last task has
 * ended and the event or data that it waits for is there, and ends exactly its set time later; a thread
 * for each stream sleeps until then and reports the end. So task times do not depend on the load of
 * the host, while every wait of the host is a real wait.
 *
 * All instants are CLOCK_MONOTONIC ns, except ticks, which are of the device's counter.
 */
#ifndef ASCEND_SIM_H
#define ASCEND_SIM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_EXPORT __attribute__((visibility("default")))

#define SIM_STREAMS_MAX 64
#define SIM_QUEUE_DEPTH 1024 /* tasks that a stream takes before sending fails */
#define SIM_TICK_NS 10 /* the device's counter runs at nominally 100 MHz */
#define SIM_FIRST_STREAM 3 /* lower numbers are streams of the runtime */
#define SIM_BLOCK_NS 10000 /* default time of one block (numBlocks of a launch) */
#define SIM_JUMPS_MAX 32

enum sim_kind {
	SIM_KERNEL,
	SIM_AICPU,
	SIM_COPY,
	SIM_COLLECTIVE, /* a part of a collective */
	SIM_RECORD,
	SIM_WAIT,
	SIM_TRACE, /* a mark for the step trace */
};

struct sim_event {
	uint64_t recorded; /* number of recordings that the host asked for */
	uint64_t happened; /* number of recordings that the device did */
	uint64_t happened_ns; /* time of the last one */
};

struct sim_channel;

struct sim_task {
	enum sim_kind kind;
	char name[64];
	char type[32]; /* type of the operator */
	const char *core; /* name in profiles: AI_CORE */
	uint64_t set_ns; /* duration */
	uint64_t bytes;
	uint32_t direction; /* SIM_COPY: rtMemcpyKind_t, 0 = host to host */
	uint32_t blocks;
	uint32_t tag; /* SIM_TRACE */
	struct sim_event *event;
	uint64_t round; /* number of the awaited recording of the event */
	struct sim_channel *channel; /* the task first takes an element from it; NULL = none */
	uint64_t connection; /* number of the launching call in the profile */
	const char *call; /* name of the call; the calling thread */
	uint32_t tid;

	uint16_t stream, number;
	uint64_t sent_ns, start_ns, end_ns;
	uint64_t start_ticks, end_ticks;
	uint32_t parts; /* SIM_COLLECTIVE: number of tasks of the collective */
	bool done;
	bool told; /* reported by MSPTI */
	struct sim_task *next_in_stream, *next;
};

/* The 64 bytes that halSqTaskSend() takes: the header as in the real driver, the rest is the simulator's. */
struct sim_sqe {
	uint8_t type;
	uint8_t flags;
	uint16_t block_dim;
	uint16_t rt_stream_id;
	uint16_t task_id;
	struct sim_task *task;
	uint8_t rest[48];
};

struct halTaskSendInfo {
	uint32_t type;
	uint32_t tsId;
	uint32_t sqId;
	int32_t timeout;
	uint8_t *sqe_addr;
	uint32_t sqe_num;
	uint32_t pos;
	uint32_t res[8];
};

struct sim_stream {
	uint16_t id; /* also the id of its queue */
	uint16_t next_number;
	pthread_mutex_t send_lock; /* held from numbering a task until it is sent; taken before the device's lock */
	pthread_t thread;
	pthread_cond_t wake; /* wakes its thread: a task was sent, or no more will come */
	struct sim_task *first, *last; /* tasks that have not ended */
	uint32_t waiting;
	uint64_t sent, done;
	uint64_t awaited; /* number of done tasks that a thread waits for; UINT64_MAX = no thread waits */
	uint64_t free_ns; /* end of the last task */
	bool stop;
};

/* A call of the host, as recorded by the profiler. */
struct sim_call {
	const char *level; /* "AscendCL" */
	const char *name;
	uint32_t tid;
	uint64_t connection; /* 0 = none */
	uint64_t start_ns, end_ns;
	uint64_t start_raw_ns; /* CLOCK_MONOTONIC_RAW, the clock of the profiler */
	struct sim_call *next;
};

/* The result of a query of a channel's size. */
struct sim_query {
	uint64_t ns;
	size_t size;
	struct sim_query *next;
};

/* A jump of the counter, and its time. */
struct sim_jump {
	uint64_t at_ns;
	int64_t by_ns;
};

/* The device's counter, and its single comparison with the host's clocks. */
struct sim_counter {
	uint64_t begin_ns; /* when the profile began */
	uint64_t begin_raw_ns; /* the same moment by CLOCK_MONOTONIC_RAW */
	uint64_t begin_real_ns; /* and by the wall clock */
	uint64_t begin_ticks; /* the counter at that moment, as the driver read it */
	int64_t offset_ns; /* error of that reading */
	double ppm; /* excess of its real rate over its nominal rate */
	struct sim_jump jumps[SIM_JUMPS_MAX]; /* the first jumps_done have happened */
	uint32_t jumps_planned, jumps_done;
	uint64_t jump_every, sent; /* tasks */
};

struct sim_device {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* signalled for waiters: a stream is done, an event or a channel changed */
	struct sim_stream *streams[SIM_STREAMS_MAX];
	uint32_t stream_count;
	struct sim_task *tasks, **tasks_end; /* all tasks ever sent */
	struct sim_call *calls, **calls_end;
	struct sim_query *queries, **queries_end;
	uint64_t connections;
	struct sim_counter counter;
	uint64_t block_ns; /* duration of a block of a kernel */
	uint16_t first_number;
	uint64_t allocated, peak, allocations, frees;
	uint64_t failed_sends;
	bool sink; /* takes elements from channels at once */
	bool open;
};

extern struct sim_device sim_device;

uint32_t sim_tid(void);
/* Returns an environment variable as a number; @otherwise if it is not set. */
double sim_setting(const char *name, double otherwise);

/* counter.c. The caller holds the device's lock if other threads may be running. */
uint64_t sim_clock_ns(int clock);
uint64_t sim_now(void);
void sim_counter_begin(struct sim_counter *counter);
/* A task was sent: the counter may jump now. */
void sim_counter_sent(struct sim_counter *counter, uint64_t sent_ns);
/*
 * Sets start and end of an ended task by the counter. A jump during the task changes neither, because the
 * device knows the right duration.
 */
void sim_counter_stamp(const struct sim_counter *counter, struct sim_task *task);

/* device.c: from aclInit() or the first use to aclFinalize() or the end of the process. */
void sim_begin(void);
void sim_finish(void); /* writes the profile, once */
struct sim_stream *sim_stream_create(void);
void sim_stream_destroy(struct sim_stream *stream);
/* Waits until all sent tasks are done. Returns 0, or -1 after @timeout_ms (negative: no limit). */
int sim_stream_wait(struct sim_stream *stream, int32_t timeout_ms);
int sim_event_wait(struct sim_event *event);
void *sim_allocate(size_t bytes);
void sim_release(void *memory);

/* Returns a copy of @task to send. */
struct sim_task *sim_task_new(const struct sim_task *task);

/* Record a call for the profiler. sim_call_begin() returns the call, with the next connection number if @connected. */
struct sim_call *sim_call_begin(const char *level, const char *name, bool connected);
void sim_call_end(struct sim_call *call);

/* tdt.c: queues of data between host and device. */
struct sim_channel {
	char name[64];
	size_t capacity, size;
	uint64_t pushed, popped;
	uint64_t pushed_ns; /* time of the last push */
	bool stopped;
	struct sim_channel *next;
};
extern struct sim_channel *sim_channels;

/* profile.c: writes PROF_* and the truth to ASCEND_SIM_OUT. */
void sim_profile_write(void);

#endif /* ASCEND_SIM_H */
