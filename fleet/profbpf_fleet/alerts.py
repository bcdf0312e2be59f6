# SPDX-License-Identifier: Apache-2.0
"""alerts.py - reports findings as they begin, change and end, once each: as lines, to a webhook, as metrics.

Reported findings are kept in the state, which watch.py writes after the report: if it is killed between the two, the
next watch reports them again.
"""

import datetime
import http.client
import json
import sys
import threading
import time
import urllib.error
import urllib.request

from profbpf_fleet.exposition import Exposition
from profbpf_fleet.sentences import begin_of, why_of

SCHEMA = "profbpf.watch/1"
GONE_AFTER = 2  # judgements in a row without the finding
OF_HOLDERS = ("rank", "host", "communicator", "why", "cause", "operator", "who", "held_ms_per_step")
WEBHOOK_TRIES, WEBHOOK_TIMEOUT_S = 6, 10


def key_of(finding):
    who = [f"{name}={finding[name]}" for name in ("rank", "host", "communicator") if name in finding]
    # The ranks that hang and the hosts that are silent may be found later than the hang or the silence itself.
    return " ".join([finding["kind"]] + (who if finding["kind"] == "holder" else []))


def reason_of(finding):
    return [finding.get(name) for name in ("why", "cause", "rank", "hosts")]


def findings_of_holders(result, block):
    """The holders of the last block of steps that was judged: they hold the job back now."""
    for holder in result["holders"]:
        if holder["last_step"] > result["to_step"] - block:
            named = {name: value for name, value in holder.items() if name in OF_HOLDERS}
            yield {"kind": "holder", **named, "usual_step_ms": result["usual_step_ms"], "since_step": holder["first_step"], "to_step": result["to_step"]}


def worded(finding):
    """The finding with its sentence; a finding without one is a holder, whose sentence is made here."""
    if "sentence" in finding:
        return finding
    return finding | {"sentence": f"{begin_of(finding)} since step {finding['since_step']}: {why_of(finding)}."}


class Alerts:
    """The active findings. update() takes all findings of a kind; outputs are functions that take a finding."""

    def __init__(self, state, outputs):
        self.active, self.count, self.outputs = state.setdefault("active", {}), state.setdefault("alerts", {}), outputs

    def tell(self, finding, what):
        told = {"schema": SCHEMA, "state": what, "at": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")} | worded(finding)
        if what == "ends":
            told["sentence"] = f"Over: {told['sentence']}"
        if what == "begins":
            self.count[finding["kind"]] = self.count.get(finding["kind"], 0) + 1
        for output in self.outputs:
            output(told)

    def update(self, kind, findings):
        """Returns whether anything was reported."""
        told, present = False, {}
        for finding in findings:
            present.setdefault(key_of(finding), finding)
        for key, finding in present.items():
            known = self.active.get(key)
            if known is None:
                self.tell(finding, "begins")
            elif reason_of(known) != reason_of(finding):
                since = [of["since_step"] for of in (known, finding) if "since_step" in of]
                finding |= {"since_step": min(since)} if since else {}
                self.tell(finding, "changes")
            else:
                finding |= {name: known[name] for name in ("since_step",) if name in known}
            told |= known is None or reason_of(known) != reason_of(finding)
            self.active[key] = finding | {"missed": 0}
        for key, known in list(self.active.items()):
            if known["kind"] != kind or key in present:
                continue
            known["missed"] += 1
            if known["missed"] >= (GONE_AFTER if kind == "holder" else 1):
                del self.active[key]
                self.tell({name: value for name, value in known.items() if name != "missed"}, "ends")
                told = True
        return told


def printer(form, out=sys.stdout):
    def line(finding):
        out.write((json.dumps(finding) if form == "json" else f"{finding['at']}  {finding['state']:7}  {finding['sentence']}") + "\n")
        out.flush()
    return line


class Webhook:
    """POSTs findings as JSON from a thread of its own, each until it is accepted or was tried WEBHOOK_TRIES times."""

    def __init__(self, url, state, say):
        self.url, self.pending, self.say = url, state.setdefault("webhook", []), say
        self.change = threading.Condition()
        threading.Thread(target=self.run, daemon=True).start()

    def __call__(self, finding):
        with self.change:
            self.pending.append(finding)
            self.change.notify()

    def post(self, finding):
        request = urllib.request.Request(self.url, json.dumps(finding).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=WEBHOOK_TIMEOUT_S):  # the scheme was checked with the options
            pass

    def run(self):
        tries = 0
        while True:
            with self.change:
                self.change.wait_for(lambda: self.pending)
                finding = self.pending[0]
            try:
                self.post(finding)
                tries = 0
            except (OSError, urllib.error.URLError, http.client.HTTPException, ValueError) as error:
                tries += 1
                if tries < WEBHOOK_TRIES:
                    time.sleep(min(2 ** tries, 30))
                    continue
                self.say(f"webhook {self.url}: {str(error) or type(error).__name__}; given up: {finding['sentence']}")
                tries = 0
            with self.change:
                self.pending.pop(0)
                self.change.notify_all()

    def finish(self, timeout_s):
        """Wait until all findings are posted or given up. The others stay in the state."""
        with self.change:
            self.change.wait_for(lambda: not self.pending, timeout_s)


def metrics_of(window, result, alerts, messages):
    """The metrics in the text format of Prometheus, for the textfile collector of its node exporter."""
    out = Exposition("profbpf_fleet_")
    metric = out.metric
    active = list(alerts.active.values())
    labels = ("rank", "host", "communicator", "why", "cause")
    metric("ranks", "gauge", "Ranks whose steps were judged.", [({}, result["ranks"] if result else 0)])
    metric("hosts", "gauge", "Hosts that sent messages.", [({}, len(window.heard))])
    if result:
        metric("last_step", "gauge", "Last step that was judged.", [({}, result["to_step"])])
        metric("usual_step_seconds", "gauge", "Length of the usual step.", [({}, result["usual_step_ms"] / 1e3)] if "usual_step_ms" in result else [])
    metric("held_seconds", "gauge", "Time that a rank, a host or a communicator costs the job in each step now.",
           [({name: found.get(name, "") for name in labels}, found["held_ms_per_step"] / 1e3) for found in active if found["kind"] == "holder"])
    metric("hang", "gauge", "1 while the steps of ranks make no progress.", [({}, int(any(found["kind"] == "hang" for found in active)))])
    metric("silent_hosts", "gauge", "Hosts that send no messages.", [({}, sum(len(found["hosts"]) for found in active if found["kind"] == "silent"))])
    metric("files_total", "counter", "Files of the lake that were read.", [({}, messages)])
    metric("alerts_total", "counter", "Findings that began.", [({"kind": kind}, alerts.count.get(kind, 0)) for kind in ("holder", "hang", "silent")])
    return out
