/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h - inside of the simulated Ascend: what its libraries share. Lives in libascend_hal.so.
 *
 * The device keeps time of its own: a task starts when it was sent, its stream's last task has
 * ended and what it waits for has happened, and ends exactly its set time later; a thread
 * per stream sleeps until then before anybody is told. So task times do not depend on how loaded
 * the host is, while every wait of the host is a real one.
 *
 * All instants here are CLOCK_MONOTONIC ns unless a name says ticks: of the device's counter.
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
#define SIM_TICK_NS 10 /* the device's counter runs at 100 MHz, by its own idea of a second */
#define SIM_FIRST_STREAM 3 /* the runtime has some of its own */
#define SIM_BLOCK_NS 10000 /* what one block (numBlocks of a launch) costs, if nothing else is set */
#define SIM_JUMPS_MAX 32

enum sim_kind {
	SIM_KERNEL,
	SIM_AICPU,
	SIM_COPY,
	SIM_COLLECTIVE, /* a part of one */
	SIM_RECORD,
	SIM_WAIT,
	SIM_TRACE, /* a mark for the step trace */
};

struct sim_event {
	uint64_t recorded; /* how often it was recorded, as the host asked for it */
	uint64_t happened; /* as the device did it */
	uint64_t happened_ns; /* the last time */
};

struct sim_channel;

struct sim_task {
	enum sim_kind kind;
	char name[64];
	char type[32]; /* the operator's */
	const char *core; /* as profiles name it: AI_CORE */
	uint64_t set_ns; /* how long it takes */
	uint64_t bytes;
	uint32_t direction; /* SIM_COPY: rtMemcpyKind_t, 0 = host to host */
	uint32_t blocks;
	uint32_t tag; /* SIM_TRACE */
	struct sim_event *event;
	uint64_t round; /* of the event */
	struct sim_channel *channel; /* takes an element of it first; NULL = none */
	uint64_t connection; /* the launching call's number in the profile */
	const char *call; /* its name, and who called */
	uint32_t tid;

	uint16_t stream, number;
	uint64_t sent_ns, start_ns, end_ns;
	uint64_t start_ticks, end_ticks;
	uint32_t parts; /* SIM_COLLECTIVE: tasks that it is made of */
	bool done;
	bool told; /* by MSPTI */
	struct sim_task *next_in_stream, *next;
};

/* The 64 bytes that halSqTaskSend() takes: the head as the real one, the rest is ours. */
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
	uint16_t id; /* also of its queue */
	uint16_t next_number;
	pthread_mutex_t send_lock; /* its numbers, until what has them is sent; taken before the device's */
	pthread_t thread;
	pthread_cond_t wake; /* its thread: something was sent, or nothing will be any more */
	struct sim_task *first, *last; /* not yet ended */
	uint32_t waiting;
	uint64_t sent, done;
	uint64_t awaited; /* as many done tasks as somebody waits for; UINT64_MAX = nobody */
	uint64_t free_ns; /* end of the last task */
	bool stop;
};

/* A call of the host's, as the profiler notes it. */
struct sim_call {
	const char *level; /* "AscendCL" */
	const char *name;
	uint32_t tid;
	uint64_t connection; /* 0 = none */
	uint64_t start_ns, end_ns;
	uint64_t start_raw_ns; /* CLOCK_MONOTONIC_RAW, which is what the profiler reads */
	struct sim_call *next;
};

/* What a query of a channel's size was told. */
struct sim_query {
	uint64_t ns;
	size_t size;
	struct sim_query *next;
};

/* A jump of the counter, and when it was. */
struct sim_jump {
	uint64_t at_ns;
	int64_t by_ns;
};

/* The device's counter, and its one reading against the host's clocks. */
struct sim_counter {
	uint64_t begin_ns; /* when the profile began */
	uint64_t begin_raw_ns; /* the same moment by CLOCK_MONOTONIC_RAW */
	uint64_t begin_real_ns; /* and by the wall clock */
	uint64_t begin_ticks; /* the counter then, as the driver read it */
	int64_t offset_ns; /* how wrong that reading is */
	double ppm; /* how much faster it runs than it says */
	struct sim_jump jumps[SIM_JUMPS_MAX]; /* the first jumps_done have been */
	uint32_t jumps_planned, jumps_done;
	uint64_t jump_every, sent; /* tasks */
};

struct sim_device {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* what waiters wait for: streams that are done, events, channels */
	struct sim_stream *streams[SIM_STREAMS_MAX];
	uint32_t stream_count;
	struct sim_task *tasks, **tasks_end; /* all ever sent */
	struct sim_call *calls, **calls_end;
	struct sim_query *queries, **queries_end;
	uint64_t connections;
	struct sim_counter counter;
	uint64_t block_ns; /* of a kernel */
	uint16_t first_number;
	uint64_t allocated, peak, allocations, frees;
	uint64_t failed_sends;
	bool sink; /* takes what channels hold at once */
	bool open;
};

extern struct sim_device sim_device;

uint32_t sim_tid(void);
/* A variable of the environment as a number. */
double sim_setting(const char *name, double otherwise);

/* counter.c. Its functions want the device's lock, if there may be others. */
uint64_t sim_clock_ns(int clock);
uint64_t sim_now(void);
void sim_counter_begin(struct sim_counter *counter);
/* A task was sent: the counter may jump now. */
void sim_counter_sent(struct sim_counter *counter, uint64_t sent_ns);
/*
 * Start and end of an ended task by the counter. A jump meanwhile shows in neither, as the device has the
 * right duration.
 */
void sim_counter_stamp(const struct sim_counter *counter, struct sim_task *task);

/* device.c: from aclInit() or the first use to aclFinalize() or the end of the process. */
void sim_begin(void);
void sim_finish(void); /* writes the profile, once */
struct sim_stream *sim_stream_create(void);
void sim_stream_destroy(struct sim_stream *stream);
/* Wait until all that was sent is done. 0, or -1 after @timeout_ms (negative: no limit). */
int sim_stream_wait(struct sim_stream *stream, int32_t timeout_ms);
int sim_event_wait(struct sim_event *event);
void *sim_allocate(size_t bytes);
void sim_release(void *memory);

/* A copy of @task, to be sent. */
struct sim_task *sim_task_new(const struct sim_task *task);

/* The profiler's notes: begin returns the call, whose connection is the next one if @connected. */
struct sim_call *sim_call_begin(const char *level, const char *name, bool connected);
void sim_call_end(struct sim_call *call);

/* tdt.c: queues of data between host and device. */
struct sim_channel {
	char name[64];
	size_t capacity, size;
	uint64_t pushed, popped;
	uint64_t pushed_ns; /* of the last push */
	bool stopped;
	struct sim_channel *next;
};
extern struct sim_channel *sim_channels;

/* profile.c: PROF_* and the truth, into ASCEND_SIM_OUT. */
void sim_profile_write(void);

#endif /* ASCEND_SIM_H */
