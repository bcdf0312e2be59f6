-- SPDX-License-Identifier: Apache-2.0
-- The ranks of each communicator, the number of steps of each rank in it, and whether the communicator carries messages
-- from one rank to another.
SELECT communicator, rank, count(*) AS steps,
       max(CASE WHEN lower(op) LIKE '%send%' OR lower(op) LIKE '%recv%' OR lower(op) LIKE '%receive%' THEN 1 ELSE 0 END) AS sends
FROM collectives
WHERE sequence = 0
GROUP BY communicator, rank
