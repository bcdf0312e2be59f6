/* SPDX-License-Identifier: Apache-2.0 */
/* plants.h - what kinds of planted faults are made of: queues, stages, other processes, and a main thread that feeds the device. */
#ifndef PROFBPF_BENCH_INSIGHT_PLANTS_H
#define PROFBPF_BENCH_INSIGHT_PLANTS_H

#include "bench/insight/plant.h"
#include "tests/truth/truth.h"

#define STAGES 4
#define POOL 4
#define QUEUE 3
#define BLOCK (64u << 10)
#define DISK_BYTES (64u << 20)
#define PIECE_NS 100000
#define NOTED -1

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled, room;
	int count;
};

/* Somebody who makes items, alone or of another's. */
struct stage {
	char name[16];
	struct queue out, asked;
	struct stage *from; /* NULL: makes them itself */
	void (*work)(uint64_t ns);
	int kind; /* enum plant_kind of its work */
};

struct plant {
	const char *name; /* NULL: the last one */
	void (*run)(void);
	bool one_cpu; /* the job may use one only */
};

extern const struct plant plants_of_waits[], plants_of_work[];

extern bool faulty;
extern uint64_t task_ns, item_ns; /* of a task, and of the work for an item */
extern int rounds; /* of the main thread */
extern const char *disk; /* a file of DISK_BYTES on a block device, or NULL */
extern pid_t children[POOL]; /* killed at the end */

_Noreturn void fail(const char *what);
void tell_root(void); /* the calling thread is one of those to blame */
void expect(const char *causes, int hops);

void init_queue(struct queue *queue);
void put(struct queue *queue);
void take(struct queue *queue);

/* start - a thread */
void start(void *(*run)(void *), void *argument);

/* do_work - an item's work of @stage, as a spell */
void do_work(struct stage *stage);

/* feed - the main thread: for each task of the device an item; @kind: of an item, or NOTED if its spells are noted elsewhere */
void feed(void (*item)(void *), void *argument, int kind, uint64_t cost_ns);
void take_item(void *queue);
void no_item(void *unused);
void read_item(void *fd);

/* A chain of @count stages, the last of which works; at their end a pool of @workers of them. */
void chain(int count, int workers, void (*work)(uint64_t ns), int kind, const char *causes);

/* lock_with - a thread that holds a lock for its work on each item, when the main thread wants it */
void lock_with(void (*work)(uint64_t ns), int kind, const char *causes);

/* A process that does @work for each item: writes a byte after it, or reads one. */
void serve_in_child(void (*work)(uint64_t ns), int kind, int fd, bool writes);

/* A block, for which a disk takes its time. */
void read_disk(uint64_t unused);

#endif /* PROFBPF_BENCH_INSIGHT_PLANTS_H */
