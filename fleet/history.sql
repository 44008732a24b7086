-- The history of each device on each machine: a row where its class, what that rests on, its firmware or its command path changed.
-- Needs `documents`; for one device: WHERE identity = '...'.
WITH told AS (
    SELECT
        machine, coalesce(identity, concat('name ', name)) AS device, collected, class, is_measured, firmware, command_path, measured_at,
        lag(concat(class, '/', CASE WHEN is_measured THEN 'measured' ELSE 'not' END, '/', coalesce(firmware, ''), '/', coalesce(command_path, '')))
            OVER (PARTITION BY machine, coalesce(identity, concat('name ', name)) ORDER BY collected, measured_at NULLS FIRST, class DESC) AS before
    FROM documents
    WHERE machine IS NOT NULL
)
SELECT machine, device, collected, class, is_measured, firmware, command_path, measured_at
FROM told
WHERE before IS NULL
    OR before <> concat(class, '/', CASE WHEN is_measured THEN 'measured' ELSE 'not' END, '/', coalesce(firmware, ''), '/', coalesce(command_path, ''))
ORDER BY machine, device, collected, measured_at NULLS FIRST, class DESC;
