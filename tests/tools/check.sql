-- SPDX-License-Identifier: Apache-2.0
-- one row per problem; an empty result = the exported trace is clean
select 'stat' kind, name, idx, severity, value from stats where value != 0 and (severity in ('error','data_loss')
  or name glob 'packet_skipped*' or name glob 'interned_data_skipped*' or name glob 'compact_sched_*_skipped' or name in ('misplaced_end_event','slice_drop_overlapping_complete_event','mismatched_sched_switch_tids','task_state_invalid') or name glob 'clock_sync_failure*' or name glob 'flow_*' or name glob 'track_event_*error*')
union all select 'unfinished slice', name, id, null, ts from slice where dur = -1
union all select 'nameless slice', null, id, null, ts from slice where name is null
union all select 'flow end before start', null, f.id, null, a.ts - b.ts from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in where b.ts < a.ts
union all select 'overlapping sched', null, id, null, o from (select id, ts + dur - lead(ts) over (partition by ucpu order by ts) o from sched where dur > 0) where o > 0
-- a thread is described once; one that ended, and another that got its id, are two
union all select 'thread twice', min(name), tid, null, count(*) from thread where tid > 0 group by tid, upid having count(*) > 1 and max(end_ts) is null
