-- SPDX-License-Identifier: Apache-2.0
-- Who is in which communicator, and in how many steps; and whether it is for messages from one rank to another.
SELECT communicator, rank, count(*) AS steps,
       max(CASE WHEN lower(op) LIKE '%send%' OR lower(op) LIKE '%recv%' OR lower(op) LIKE '%receive%' THEN 1 ELSE 0 END) AS sends
FROM collectives
WHERE sequence = 0
GROUP BY communicator, rank
