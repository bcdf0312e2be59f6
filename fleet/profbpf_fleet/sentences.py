# SPDX-License-Identifier: Apache-2.0
"""sentences.py - words a holder as a sentence."""

# Causes of idle time, worded as in the report of one rank.
CAUSES = {
    "unknown": "it is not known what it waits for", "user_code": "its host computes outside of runtime calls",
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
        return "their transfers take longer"
    if holder["why"] == "compute":
        return "it computes longer" + (f", in {holder['operator']}" if "operator" in holder else "")
    if holder["why"] == "unknown":
        return "the reason is not known"
    return CAUSES.get(holder["cause"], holder["cause"])


def when_of(holder, result):
    if holder["steps"] == result["steps"]:
        return f"in all {result['steps']} steps"
    return f"in {holder['steps']} of {result['steps']} steps, {holder['first_step']} to {holder['last_step']}"


def doubt_of(result, judgement):
    """Why nothing can be said of who holds the job back; None if something can."""
    steps = f"{result['steps']} step{'' if result['steps'] == 1 else 's'}"
    if result["ranks"] < 2:
        return "the lake has one rank, which cannot be compared with others"
    if result["steps"] < 3:
        return f"{steps} are too few to judge by" if result["steps"] > 1 else f"{steps} is too little to judge by"
    if judgement.compared_steps < 3:
        return f"only {judgement.compared_steps} of {steps} {'is a step' if judgement.compared_steps == 1 else 'are steps'} of more than one rank"
    if judgement.jobs:
        return f"the lake has {len(judgement.jobs)} jobs"
    if not result["holders"] and 2 * judgement.doubled_steps > result["steps"]:
        return f"{judgement.doubled_steps} of {steps} are in the lake more than once, because it has two jobs, or two runs of one job"
    return None


def begin_of(finding, together=True):
    """"Rank 3 on host000 holds the job back by 16.0 ms of a step of 246.4 ms". together: collectives show that the ranks
    wait for each other."""
    who = who_of(finding)
    several = who.startswith("the links")
    does = f"{'hold' if several else 'holds'} the job back by" if together else f"{'are' if several else 'is'} slower than usual by"
    return f"{who[0].upper()}{who[1:]} {does} {finding['held_ms_per_step']:.1f} ms of a step of {finding['usual_step_ms']:.1f} ms"


def sentence_of(result, judgement):
    """The first sentence of the answer."""
    if not result["steps"] and judgement.range["first"] is not None:
        return f"Nothing can be said: the lake has no such steps; it has steps {judgement.range['first']} to {judgement.range['last']}."
    if not result["steps"]:
        return "Nothing can be said: the lake has no steps of any rank."
    doubt = doubt_of(result, judgement)
    if doubt:
        return f"Nothing can be said of who holds the job back: {doubt}."
    together = "collectives" not in judgement.lacking
    if not result["holders"]:
        return (f"{'Nobody holds the job back' if together else 'No rank is slower than the others'}: in {result['steps']} steps none of {result['ranks']} ranks costs "
                f"{result['named_from_ms']['rank']:.1f} ms more than is usual in a step of {result['usual_step_ms']:.1f} ms, for any length of time.")
    first, others = result["holders"][0], len(result["holders"]) - 1
    sentence = f"{begin_of(result | first, together)}, {when_of(first, result)}: {why_of(first)}"
    return sentence + (f"; {others} more {'is' if others == 1 else 'are'} below." if others else ".")
