# SPDX-License-Identifier: Apache-2.0
"""sentences.py - words a holder as a sentence."""

# Causes of idle time, worded as in the report of one rank.
CAUSES = {
    "unknown": "what it waits for is not known", "user_code": "its host computes outside of runtime calls",
    "runtime": "its host is on a CPU in runtime calls", "driver": "its host is in the driver",
    "runnable": "its host's thread is ready to run, but has no CPU", "lock": "its host waits for another thread", "io": "its host waits for I/O",
    "page_fault": "its host is in page faults", "pipeline": "it waits for its data pipeline", "sleep": "its host sleeps until a time",
    "irq": "its host is interrupted", "throttled": "its host is held back by a CPU quota", "device_wait": "its host waits for the device",
    "no_work": "its host waits for work from outside",
}


def who_of(holder):
    if "communicator" in holder:
        return f"the links of communicator {holder['communicator']}"
    if "rank" in holder:
        return f"rank {holder['rank']}" + (f" on {holder['host']}" if "host" in holder else "")
    return f"host {holder['host']}"


def why_of(holder):
    if holder["why"] == "link":
        return "its transfers take longer"
    if holder["why"] == "compute":
        return "it computes longer" + (f", in {holder['operator']}" if "operator" in holder else "")
    if holder["why"] == "unknown":
        return "why is not known"
    return CAUSES.get(holder["cause"], holder["cause"])


def when_of(holder, result):
    if holder["steps"] == result["steps"]:
        return f"in all {result['steps']} steps"
    return f"in {holder['steps']} of {result['steps']} steps, {holder['first_step']} to {holder['last_step']}"


def sentence_of(result, doubled_steps=0):
    """The first sentence of the answer; doubled_steps: the number of steps that some rank has more than once, which
    have no holder."""
    if not result["steps"]:
        return "Nothing can be said: the lake has no steps of any rank."
    if result["ranks"] < 2:
        return "Nothing can be said of who holds the job back: the lake has one rank, which nothing can be compared with."
    if result["steps"] < 3:
        return f"Nothing can be said of who holds the job back: the lake has only {result['steps']} steps, which is too few to judge by."
    if not result["holders"] and 2 * doubled_steps > result["steps"]:
        return (f"Nothing can be said of who holds the job back: {doubled_steps} of {result['steps']} steps are there more than once, as of two jobs, or of two "
                "runs, in one lake.")
    if not result["holders"]:
        return (f"Nobody holds the job back: in {result['steps']} steps no rank of {result['ranks']} costs {result['named_from_ms']['rank']:.1f} ms more than "
                f"is usual in a step of {result['usual_step_ms']:.1f} ms, for any length of time.")
    first, others = result["holders"][0], len(result["holders"]) - 1
    who = who_of(first)
    sentence = (f"{who[0].upper()}{who[1:]} {'hold' if who.startswith('the links') else 'holds'} the job back by {first['held_ms_per_step']:.1f} ms of a step of "
                f"{result['usual_step_ms']:.1f} ms, {when_of(first, result)}: {why_of(first)}")
    return sentence + (f"; {others} more {'is' if others == 1 else 'are'} below." if others else ".")
