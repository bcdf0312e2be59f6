/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/trigger_requests.h"

#include <stdio.h>

#include "daemon/profbpfd/control/trigger_files.h"
#include "daemon/profbpfd/session/triggers.h"
#include "lib/base/duration.h"

static void answer(const struct services *services, struct client *client, uint32_t id, const struct trigger *rows,
		   size_t count)
{
	Profbpf__Control__Response response = PROFBPF__CONTROL__RESPONSE__INIT;
	Profbpf__Control__Triggers message = PROFBPF__CONTROL__TRIGGERS__INIT;
	Profbpf__Control__Trigger trigger[TRIGGERS_MAX], *pointers[TRIGGERS_MAX];

	for (size_t i = 0; i < count; i++) {
		profbpf__control__trigger__init(&trigger[i]);
		trigger[i].trigger = rows[i].id;
		trigger[i].what = (char *)rows[i].what;
		trigger[i].every_ns = rows[i].every_ns;
		trigger[i].last_ns = rows[i].last_ns;
		trigger[i].happened = rows[i].happened;
		trigger[i].written = rows[i].written;
		pointers[i] = &trigger[i];
	}
	message.n_trigger = count;
	message.trigger = pointers;
	message.directory = (char *)trigger_files_directory(services->trigger_files);
	message.space_bytes = trigger_files_space(services->trigger_files);
	response.id = id;
	response.what_case = PROFBPF__CONTROL__RESPONSE__WHAT_TRIGGERS;
	response.triggers = &message;
	client_send(client, &response.base);
}

static void add(struct services *services, struct client *client, uint32_t id,
		const Profbpf__Control__AddTrigger *request)
{
	struct trigger trigger;
	char error[512];

	if (trigger_parse(request->what, &trigger, error, sizeof(error))) {
		client_refuse(client, id, error);
		return;
	}
	if (request->every_ns > DURATION_MAX_NS || request->last_ns > DURATION_MAX_NS) {
		client_refuse(client, id, "a duration is out of range");
		return;
	}
	trigger.every_ns = request->every_ns ? request->every_ns : TRIGGER_EVERY_NS;
	trigger.last_ns = request->last_ns;
	trigger.id = triggers_add(services->triggers, &trigger);
	if (trigger.id)
		answer(services, client, id, &trigger, 1);
	else
		client_refuse(client, id, "the maximum number of triggers is reached; profctl "
					  "trigger list shows them");
}

static void remove_one(struct services *services, struct client *client, uint32_t id, uint32_t number)
{
	char message[128];

	if (triggers_remove(services->triggers, number)) {
		answer(services, client, id, NULL, 0);
		return;
	}
	snprintf(message, sizeof(message), "no trigger %u; profctl trigger list shows them", number);
	client_refuse(client, id, message);
}

void trigger_request(struct services *services, struct client *client, const Profbpf__Control__Request *request)
{
	struct trigger rows[TRIGGERS_MAX];

	if (!client->peer.trusted) {
		client_refuse(client, request->id,
			      "only root and members of the group " ACCESS_GROUP " may use triggers");
		return;
	}
	if (!services->recorder) {
		client_refuse(client, request->id,
			      "triggers need the flight recorder: start profbpfd with --recorder 60s");
		return;
	}
	if (request->what_case == PROFBPF__CONTROL__REQUEST__WHAT_ADD_TRIGGER)
		add(services, client, request->id, request->add_trigger);
	else if (request->what_case == PROFBPF__CONTROL__REQUEST__WHAT_REMOVE_TRIGGER)
		remove_one(services, client, request->id, request->remove_trigger->trigger);
	else
		answer(services, client, request->id, rows, triggers_list(services->triggers, rows));
}
