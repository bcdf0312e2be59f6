/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roots.c [DISK] - a device that is idle because of a thread at the end of a chain of waits.
 *
 * Each scene has its own main thread, which takes items from other threads and submits each to its own device: a
 * device stream with synthetic tasks. Between two tasks the device is idle. Each thread of the chain
 * reports its real activity in that time, by its CPU clock, the time of its sleeps, and the kernel's account of
 * its waits for a CPU. DISK is a block device that the scene "disk" reads with direct I/O.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "device/stream_writer.h"
#include "tests/truth/truth.h"

#define ROUNDS 40
#define WORK_NS 5000000ull
#define TASK_NS 300000
#define SLICE_NS 1000000
#define LINE 6 /* threads of the scene "line" */
#define BLOCK (1u << 20)

/* A counter that passes requests or answers along a chain. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	int given;
};

enum work { BURN, SLEEP, DISK };

/* A thread of a chain: it gets a request, and passes it to the next thread, or works itself if it is the last. */
struct stage {
	char name[16];
	struct gate ask, answer;
	struct stage *next; /* NULL = it is the root */
	enum work work;
	int pipes[2]; /* answers by a pipe if [0] is set */
	bool slices; /* the thread that waits for the answer uses timed waits */
	bool criers; /* another thread makes spurious broadcasts on the gate of its answers */
	bool stop;
	pthread_t thread;
	uint64_t worked_ns;
};

static struct stream_writer *writer;
static const char *disk;

static void fail(const char *what)
{
	printf("failed=%s: %s\n", what, strerror(errno));
	fflush(stdout);
	exit(1);
}

static void init_gate(struct gate *gate)
{
	pthread_mutex_init(&gate->lock, NULL);
	pthread_cond_init(&gate->cond, NULL);
}

static void give(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->given++;
	pthread_cond_broadcast(&gate->cond);
	pthread_mutex_unlock(&gate->lock);
}

static void take(struct gate *gate, bool slices)
{
	pthread_mutex_lock(&gate->lock);
	while (!gate->given) {
		struct timespec until;
		uint64_t end = clock_ns(CLOCK_REALTIME) + SLICE_NS;

		if (!slices) {
			pthread_cond_wait(&gate->cond, &gate->lock);
			continue;
		}
		until = (struct timespec){ end / 1000000000, end % 1000000000 };
		pthread_cond_timedwait(&gate->cond, &gate->lock, &until);
	}
	gate->given--;
	pthread_mutex_unlock(&gate->lock);
}

/* Returns the time of this thread's waits for a CPU, from the kernel. */
static uint64_t ready_ns(void)
{
	unsigned long long ran, ready = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "r");

	if (!file || fscanf(file, "%llu %llu", &ran, &ready) != 2)
		fail("schedstat");
	fclose(file);
	return ready;
}

static void read_disk(uint64_t end)
{
	static _Alignas(4096) char buffer[BLOCK];
	int fd = open(disk, O_RDONLY | O_DIRECT | O_CLOEXEC);

	if (fd < 0)
		fail(disk);
	for (off_t at = 0; clock_ns(CLOCK_MONOTONIC) < end; at += BLOCK) {
		ssize_t got = pread(fd, buffer, BLOCK, at);

		if (got < 0)
			fail("pread");
		if (got < BLOCK)
			at = -(off_t)BLOCK;
	}
	close(fd);
}

/* Works for some milliseconds; returns the real CPU time, or time asleep. */
static uint64_t do_work(enum work work)
{
	uint64_t ready, cpu, start;

	if (work == BURN) {
		burn(WORK_NS);
		return WORK_NS;
	}
	ready = ready_ns();
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	start = clock_ns(CLOCK_MONOTONIC);
	if (work == SLEEP)
		sleep_ns(WORK_NS);
	else
		read_disk(start + WORK_NS);
	start = clock_ns(CLOCK_MONOTONIC) - start;
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	ready = ready_ns() - ready;
	return start > cpu + ready ? start - cpu - ready : 0;
}

static void ask(struct stage *stage)
{
	char byte;

	give(&stage->ask);
	if (!stage->pipes[0])
		take(&stage->answer, stage->slices);
	else if (read(stage->pipes[0], &byte, 1) != 1)
		fail("read");
}

static void *run_stage(void *argument)
{
	struct stage *stage = argument;

	pthread_setname_np(pthread_self(), stage->name);
	if (!stage->next)
		printf("%s.tid=%d\n", stage->name, own_tid());
	for (;;) {
		take(&stage->ask, false);
		if (stage->stop)
			return NULL;
		if (stage->next)
			ask(stage->next);
		else
			stage->worked_ns += do_work(stage->work);
		if (!stage->pipes[1])
			give(&stage->answer);
		else if (write(stage->pipes[1], "x", 1) != 1)
			fail("write");
	}
}

/* Makes spurious wake-ups of the threads that wait for a stage's answer. */
static void *cry(void *argument)
{
	struct stage *stage = argument;

	pthread_setname_np(pthread_self(), "crier");
	while (!__atomic_load_n(&stage->stop, __ATOMIC_ACQUIRE)) {
		sleep_ns(SLICE_NS);
		pthread_cond_broadcast(&stage->answer.cond);
	}
	return NULL;
}

static void start(struct stage *stage)
{
	init_gate(&stage->ask);
	init_gate(&stage->answer);
	if (pthread_create(&stage->thread, NULL, run_stage, stage))
		fail("pthread_create");
}

static void stop(struct stage *stage)
{
	__atomic_store_n(&stage->stop, true, __ATOMIC_RELEASE);
	give(&stage->ask);
	pthread_join(stage->thread, NULL);
}

/* Runs a task that begins now, and waits for its end. Returns its start. */
static uint64_t run_task(int device)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct stream_task task = { .queued_ns = now,
				    .submit_ns = now,
				    .start_ns = now,
				    .end_ns = now + TASK_NS,
				    .enqueue_ns = now,
				    .enqueue_dur_ns = 1,
				    .stream = 1,
				    .tid = own_tid(),
				    .device = device,
				    .kind = STREAM_KERNEL };

	task.correlation = stream_writer_begin(writer);
	while (clock_ns(CLOCK_MONOTONIC) < task.end_ns)
		;
	stream_writer_put(writer, &task);
	return now;
}

struct scene {
	const char *name;
	int device;
	struct stage *first; /* NULL: @item makes an item */
	uint64_t (*item)(void);
};

static void *run_scene(void *argument)
{
	struct scene *scene = argument;
	uint64_t idle_ns = 0, worked_ns = 0, end_ns = 0, ready = ready_ns();
	char name[16];

	snprintf(name, sizeof(name), "%s_main", scene->name);
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i <= ROUNDS; i++) {
		uint64_t now;

		if (i > 0 && scene->first)
			ask(scene->first);
		else if (i > 0)
			worked_ns += scene->item();
		now = run_task(scene->device);
		if (end_ns)
			idle_ns += now - end_ns;
		end_ns = now + TASK_NS;
	}
	printf("%s.main=%d\n%s.idle_ns=%llu\n%s.ready_ns=%llu\n", scene->name, own_tid(),
	       scene->name, (unsigned long long)idle_ns, scene->name,
	       (unsigned long long)(ready_ns() - ready));
	if (!scene->first)
		printf("%s.ns=%llu\n", scene->name, (unsigned long long)worked_ns);
	return NULL;
}

static void play(struct scene *scene)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_scene, scene))
		fail("pthread_create");
	pthread_join(thread, NULL);
}

/* Plays a chain of @count stages, of which the last works; the stage @piped answers by a pipe. */
static void play_chain(const char *name, int device, uint32_t count, enum work work, int piped,
		       bool slices, bool criers)
{
	struct stage stages[LINE] = { 0 };
	struct scene scene = { .name = name, .device = device, .first = &stages[0] };
	pthread_t crier;

	for (uint32_t i = 0; i < count; i++) {
		if (i + 1 < count)
			snprintf(stages[i].name, sizeof(stages[i].name), "%s_%u", name, i);
		else
			snprintf(stages[i].name, sizeof(stages[i].name), "%s", name);
		stages[i].next = i + 1 < count ? &stages[i + 1] : NULL;
		stages[i].work = work;
		if ((int)i == piped && pipe(stages[i].pipes))
			fail("pipe");
	}
	stages[0].slices = slices;
	for (uint32_t i = 0; i < count; i++)
		start(&stages[i]);
	if (criers && pthread_create(&crier, NULL, cry, &stages[0]))
		fail("pthread_create");
	play(&scene);
	for (uint32_t i = 0; i < count; i++)
		stop(&stages[i]);
	if (criers)
		pthread_join(crier, NULL);
	printf("%s.ns=%llu\n", name, (unsigned long long)stages[count - 1].worked_ns);
}

/* Starts a process for each item and waits for its end; the processes count as one root, with the id of the first. */
static uint64_t child_item(void)
{
	static bool told;
	uint64_t worked = 0;
	int pipes[2];
	pid_t pid;

	if (pipe(pipes))
		fail("pipe");
	pid = fork();
	if (pid == 0) {
		worked = do_work(SLEEP);
		_exit(write(pipes[1], &worked, sizeof(worked)) != sizeof(worked));
	}
	if (!told)
		printf("child.tid=%d\n", pid);
	told = true;
	if (pid < 0 || waitpid(pid, NULL, 0) != pid ||
	    read(pipes[0], &worked, sizeof(worked)) != sizeof(worked))
		fail("child");
	close(pipes[0]);
	close(pipes[1]);
	return worked;
}

static int requests[2], answers[2];

/* Starts a process that burns CPU time for each item and answers by a pipe. */
static pid_t start_server(void)
{
	char byte;
	pid_t pid;

	if (pipe(requests) || pipe(answers))
		fail("pipe");
	pid = fork();
	if (pid)
		return pid;
	close(requests[1]);
	while (read(requests[0], &byte, 1) == 1) {
		burn(WORK_NS);
		if (write(answers[1], &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static uint64_t server_item(void)
{
	char byte = 0;

	if (write(requests[1], &byte, 1) != 1 || read(answers[0], &byte, 1) != 1)
		fail("server");
	return WORK_NS;
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_t signalled;
static struct gate wanted, locked;

static void *hold(void *unused)
{
	pthread_setname_np(pthread_self(), "mutex");
	printf("mutex.tid=%d\n", own_tid());
	for (int i = 0; i < ROUNDS; i++) {
		take(&wanted, false);
		pthread_mutex_lock(&held);
		give(&locked);
		burn(WORK_NS);
		pthread_mutex_unlock(&held);
	}
	return NULL;
}

static uint64_t mutex_item(void)
{
	give(&wanted);
	take(&locked, false);
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	return WORK_NS;
}

static void *send_signals(void *unused)
{
	pthread_setname_np(pthread_self(), "signal");
	printf("signal.tid=%d\n", own_tid());
	for (int i = 0; i < ROUNDS; i++) {
		take(&wanted, false);
		burn(WORK_NS);
		pthread_kill(signalled, SIGUSR1);
	}
	return NULL;
}

static uint64_t signal_item(void)
{
	sigset_t set;
	int number;

	signalled = pthread_self();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	give(&wanted);
	if (sigwait(&set, &number))
		fail("sigwait");
	return WORK_NS;
}

static void play_with(const char *name, int device, uint64_t (*item)(void), void *(*helper)(void *))
{
	struct scene scene = { .name = name, .device = device, .item = item };
	pthread_t thread;

	if (helper && pthread_create(&thread, NULL, helper, NULL))
		fail("pthread_create");
	play(&scene);
	if (helper)
		pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	int device[16];
	pid_t server;
	sigset_t set;

	setvbuf(stdout, NULL, _IOLBF, 0);
	disk = argc > 1 ? argv[1] : NULL;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	init_gate(&wanted);
	init_gate(&locked);
	writer = stream_writer_create("truth", 4096);
	if (!writer)
		fail("stream_writer_create");
	for (int i = 0; i < 16; i++) {
		char name[16];

		snprintf(name, sizeof(name), "device %d", i);
		device[i] = stream_writer_add_device(writer, name, "accelerator");
		stream_writer_declare_clock(writer, device[i], STREAM_CLOCK_MONOTONIC);
	}
	server = start_server();
	truth_ready();
	printf("server.tid=%d\n", server);
	play_chain("burn2", device[0], 1, BURN, -1, false, false);
	play_chain("sleep2", device[1], 1, SLEEP, -1, false, false);
	play_chain("burn3", device[2], 2, BURN, -1, false, false);
	play_chain("pipe3", device[3], 2, SLEEP, 1, false, false);
	play_chain("line", device[4], LINE, SLEEP, 2, false, false);
	play_chain("slices", device[5], 1, BURN, -1, true, false);
	play_chain("crowd", device[6], 1, BURN, -1, false, true);
	play_with("child", device[7], child_item, NULL);
	play_with("server", device[8], server_item, NULL);
	play_with("mutex", device[9], mutex_item, hold);
	play_with("signal", device[10], signal_item, send_signals);
	if (disk)
		play_chain("disk", device[11], 2, DISK, -1, false, false);
	close(requests[1]);
	waitpid(server, NULL, 0);
	truth_done();
	stream_writer_destroy(writer);
	return 0;
}
