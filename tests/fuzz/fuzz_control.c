/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_control.c - libFuzzer target for messages of clients to root's daemon: packets on its socket, and
 * the requests in them, up to the begin of a session.
 *
 * An input is a list of packets: a byte of flags, a length of two bytes, and that many bytes. They pass through
 * a socket to request_handle(). Each request must be answered once, and no descriptor may stay open.
 * Sessions and all information about processes and the kernel are replaced by stubs.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/catalog/catalog_set.h"
#include "daemon/profbpfd/control/obstacles.h"
#include "daemon/profbpfd/control/reload.h"
#include "daemon/profbpfd/control/requests.h"
#include "daemon/profbpfd/control/snapshots.h"
#include "daemon/profbpfd/control/trigger_files.h"
#include "tests/fuzz/input.h"

#define FLAG_FDS 0x03 /* number of descriptors that come with the packet */
#define FLAG_ORDINARY 0x04 /* the client is not trusted */
#define FLAG_LIVE 0x08 /* after the packet, sessions go live */
#define FLAG_ENDED 0x10 /* ... or end */
#define FLAG_BUSY 0x20 /* too many requests are pending */
#define PACKETS_MAX 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct session {
	enum session_state state;
	bool live;
};

static int sockets[2] = { -1, -1 };
static int some_file = -1;
static bool busy;
static enum session_state next_state;

struct session *session_new(uint32_t id, struct session_request *request,
			    const struct catalogs *catalogs, int event_fd)
{
	struct session *session = calloc(1, sizeof(*session));

	check(session && id && catalogs && request->output >= 0);
	check(request->pid_count <= REQUEST_PIDS_MAX);
	check(request->system_wide == !request->pid_count);
	for (size_t i = 0; i < request->pid_count; i++)
		held_let_go(&request->held[i]);
	for (size_t i = 0; i < request->file_count; i++)
		close(request->files[i]);
	close(request->output);
	free(request->pids);
	free(request->held);
	free(request->files);
	return session;
}

void session_stop(struct session *session, const char *reason)
{
	check(reason[0]);
	session->state = SESSION_RELEASED;
}

void session_info(struct session *session, struct session_info *info)
{
	memset(info, 0, sizeof(*info));
	if (session->state < next_state)
		session->state = next_state;
	session->live |= session->state == SESSION_LIVE;
	info->state = session->state;
	info->start_ns = session->live;
	info->method = "session";
	strcpy(info->reason, "stopped");
}

uint64_t session_memory(uint64_t buffer_bytes, bool by_steps)
{
	return buffer_bytes + by_steps;
}

void session_free(struct session *session)
{
	free(session);
}

/* The flight recorder, without any content: it has found no process. */
struct flight_recorder {
	int nothing;
};

uint64_t flight_recorder_window(const struct flight_recorder *recorder)
{
	check(recorder);
	return 1;
}

uint64_t flight_recorder_memory(const struct flight_recorder *recorder)
{
	check(recorder);
	return 1;
}

struct flight_choice flight_choice_of(const struct peer *peer)
{
	return (struct flight_choice){ .all = peer->trusted, .owner = peer->uid, .group = peer->gid };
}

size_t flight_recorder_parts(const struct flight_recorder *recorder, const struct flight_choice *choice)
{
	check(recorder && choice);
	return 0;
}

void flight_recorder_ask(struct flight_recorder *recorder, const struct flight_choice *choice,
			 const struct flight_ask *asks)
{
	check(!recorder || !choice || !asks);
}

const struct flight_window_facts *flight_window_facts(const struct flight_window *window)
{
	check(!window);
	return NULL;
}

int flight_window_write(const struct flight_window *window, struct output *output, const char *reason)
{
	check(!window || !output || !reason);
	return -EINVAL;
}

void flight_window_free(struct flight_window *window)
{
	check(!window);
}

/* The real function reads files of the administrator. */
void reload_request(struct services *services, struct client *client, uint32_t id)
{
	client_refuse(client, id, "not here");
}

struct catalogs *__wrap_catalog_set_load(const char *const *directories, size_t directory_count,
					 struct words *problems);
int __wrap_process_facts_read(pid_t pid, struct process_facts *facts);
int __wrap_process_hold(pid_t pid);
bool __wrap_process_gone(int held);
bool __wrap_process_runs(pid_t pid, uint64_t started);
void __wrap_obstacles_look(struct obstacle_facts *facts, const struct features *features);
void __wrap_obstacles_text(const struct features *features, char *text, size_t size);
void __wrap_descriptors_drop(struct control_fds *fds, const struct peer *peer);

/* Not the catalogs of profbpf itself: reading them takes longer than all else, and they are trusted. */
struct catalogs *__wrap_catalog_set_load(const char *const *directories, size_t directory_count,
					 struct words *problems)
{
	return catalogs_new();
}

int __wrap_process_facts_read(pid_t pid, struct process_facts *facts)
{
	*facts = (struct process_facts){ .pid = pid, .tgid = pid, .state = 'S', .name = "x" };
	switch (pid & 7) {
	case 0: return -ESRCH;
	case 1: facts->tgid = pid - 1; break;
	case 2: facts->state = 'Z'; break;
	case 3: facts->narrow = true; break;
	case 4: facts->real = facts->effective = facts->saved = facts->owner = 1000; break;
	default: break;
	}
	return 0;
}

int __wrap_process_hold(pid_t pid)
{
	return fcntl(some_file, F_DUPFD_CLOEXEC, 0);
}

bool __wrap_process_gone(int held)
{
	return false;
}

bool __wrap_process_runs(pid_t pid, uint64_t started)
{
	return true;
}

void __wrap_obstacles_look(struct obstacle_facts *facts, const struct features *features)
{
	*facts = (struct obstacle_facts){ .features = *features };
}

void __wrap_obstacles_text(const struct features *features, char *text, size_t size)
{
	text[0] = '\0';
}

/* Without a thread, so that all descriptors are closed when they are counted. */
void __wrap_descriptors_drop(struct control_fds *fds, const struct peer *peer)
{
	control_fds_close(fds);
}

/* Runs jobs at once. */
int job_queue_add(struct job_queue *queue, struct job *job)
{
	if (busy)
		return -EBUSY;
	job->work(job);
	return 0;
}

static void open_sockets(void)
{
	if (some_file >= 0)
		return;
	/* Keeps the memory of packets in the program; else it would be returned to the kernel each time. */
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_MMAP_THRESHOLD, 1 << 26);
	some_file = open("/dev/null", O_RDWR | O_CLOEXEC);
	check(some_file >= 0);
	check(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sockets));
}

static void send_packet(const uint8_t *data, size_t size, unsigned int fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * FLAG_FDS)];
	} control = { 0 };
	struct iovec iov = { (void *)data, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fds) {
		struct cmsghdr *cmsg = &control.align;

		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * fds);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * fds);
		for (unsigned int i = 0; i < fds; i++)
			memcpy(CMSG_DATA(cmsg) + sizeof(int) * i, &some_file, sizeof(int));
	}
	check(sendmsg(sockets[0], &msg, 0) == (ssize_t)size);
}

/* Returns the number of responses; each must be valid. */
static unsigned int take_responses(void)
{
	static uint8_t packet[CONTROL_MESSAGE_MAX];
	unsigned int count = 0;
	ssize_t size;

	while ((size = recv(sockets[0], packet, sizeof(packet), 0)) > 0) {
		Profbpf__Control__Response *response =
			profbpf__control__response__unpack(NULL, (size_t)size, packet);

		check(response && response->what_case);
		if (response->what_case == PROFBPF__CONTROL__RESPONSE__WHAT_ERROR)
			check(response->error->message[0]);
		profbpf__control__response__free_unpacked(response, NULL);
		count++;
	}
	return count;
}

static bool waits(const struct roster *roster, uint32_t id)
{
	for (const struct roster_entry *e = roster->first; e; e = e->next) {
		if (e->start_request == id && !e->announced)
			return true;
		for (size_t i = 0; i < e->waiter_count; i++)
			if (e->waiters[i].request == id)
				return true;
	}
	return false;
}

static void answer(struct services *services, struct client *client,
		   Profbpf__Control__Request *request, struct control_fds *fds)
{
	bool stops_all = request->what_case == PROFBPF__CONTROL__REQUEST__WHAT_STOP &&
			 !request->stop->session;
	uint32_t id = request->id;
	unsigned int answers;

	request_handle(services, client, &request, fds);
	if (client->job) {
		check(!request && !fds->count);
		check(request_finish(&client->job->job) == client && !client->job);
	}
	answers = take_responses();
	check(answers == 1 || (!answers && (stops_all || waits(&services->roster, id))));
	if (request)
		profbpf__control__request__free_unpacked(request, NULL);
}

static void handle(struct services *services, struct client *client, uint8_t flags)
{
	ProtobufCMessage *message;
	struct control_fds fds;
	int err = control_receive(client->socket, &profbpf__control__request__descriptor, &message,
				  &fds);

	check(!err == !!message);
	if (message)
		answer(services, client, (void *)message, &fds);
	control_fds_close(&fds);
	if (flags & (FLAG_LIVE | FLAG_ENDED)) {
		next_state = flags & FLAG_ENDED ? SESSION_RELEASED : SESSION_LIVE;
		roster_update(&services->roster);
		next_state = SESSION_STARTING;
		take_responses();
	}
}

static int next_descriptor(void)
{
	int fd = fcntl(some_file, F_DUPFD_CLOEXEC, 0);

	close(fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct services services = { .features.method = PROBE_METHOD_SESSION,
				     .quotas = QUOTAS_DEFAULT };
	static struct flight_recorder recorder;
	struct input in = { data, size };
	int first;

	open_sockets();
	first = next_descriptor();
	check(!roster_init(&services.roster, true));
	services.snapshots = snapshots_new();
	services.triggers = triggers_new();
	services.trigger_files = trigger_files_new("/nowhere", 1);
	services.recorder = &recorder;
	check(services.snapshots && services.triggers && services.trigger_files);
	for (int i = 0; i < PACKETS_MAX && in.size; i++) {
		uint8_t flags = input_byte(&in);
		struct input packet = input_take(&in, input_number(&in, 2));
		struct client client = { .socket = sockets[1] };

		client.peer.trusted = !(flags & FLAG_ORDINARY);
		client.peer.uid = client.peer.trusted ? 0 : 1000;
		busy = flags & FLAG_BUSY;
		if (!packet.size)
			continue;
		send_packet(packet.data, packet.size, flags & FLAG_FDS);
		handle(&services, &client, flags);
		roster_forget(&services.roster, &client);
		snapshots_forget(services.snapshots, &client);
	}
	roster_free(&services.roster);
	check(snapshots_free(services.snapshots));
	triggers_free(services.triggers);
	trigger_files_free(services.trigger_files);
	check(next_descriptor() == first);
	return 0;
}
