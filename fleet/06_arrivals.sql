-- SPDX-License-Identifier: Apache-2.0
-- One row for each collective, on the clock of the lowest rank: when its last rank arrived, and when it ended.
SELECT c.communicator, c.step, c.sequence, count(*) AS ranks, max(coalesce(c.bytes, 0)) AS bytes,
       max((CAST(c.start_ns - o.t0 AS DOUBLE) - k.shift) / k.rate) AS last_start,
       min((CAST(c.end_ns - o.t0 AS DOUBLE) - k.shift) / k.rate) AS first_end
FROM collectives c
JOIN clocks k ON k.rank = c.rank AND c.step >= k.from_step AND c.step < k.to_step
CROSS JOIN origin o
WHERE c.communicator <> ''
GROUP BY c.communicator, c.step, c.sequence
