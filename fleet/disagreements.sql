-- The models whose measured devices are of different classes, and what tells these apart: the first thing that leaves at most a
-- tenth of those unexplained that the majority leaves. Needs newest.sql.
--
-- A misfit is an answer that is not of the most frequent class of those that share something; one that shares it with no other is
-- a misfit too. For a machine without a number nobody knows what it shares.
WITH tested AS (
    SELECT newest.* FROM newest WHERE is_measured
),
things AS (
    SELECT kind, vendor, model, class, 'all' AS thing, '' AS value, FALSE AS lost FROM tested
    UNION ALL
    SELECT kind, vendor, model, class, 'firmware' AS thing, firmware AS value, FALSE AS lost FROM tested
    UNION ALL
    SELECT kind, vendor, model, class, 'transport' AS thing, transport AS value, FALSE AS lost FROM tested
    UNION ALL
    SELECT kind, vendor, model, class, 'kernel' AS thing, kernel AS value, FALSE AS lost FROM tested
    UNION ALL
    SELECT kind, vendor, model, class, 'command-path' AS thing, command_path AS value, FALSE AS lost FROM tested
    UNION ALL
    SELECT kind, vendor, model, class, 'disturbed' AS thing, CASE WHEN is_disturbed THEN 'yes' ELSE 'no' END AS value, FALSE AS lost FROM tested
    UNION ALL
    SELECT kind, vendor, model, class, 'machine' AS thing, machine AS value, machine IS NULL AS lost FROM tested
),
of_class AS (
    SELECT kind, vendor, model, thing, value, lost, class, count(*) AS answers
    FROM things
    GROUP BY kind, vendor, model, thing, value, lost, class
),
of_value AS (
    SELECT
        kind, vendor, model, thing, value,
        CASE WHEN lost THEN sum(answers) WHEN sum(answers) = 1 THEN 1 ELSE sum(answers) - max(answers) END AS misfits
    FROM of_class
    GROUP BY kind, vendor, model, thing, value, lost
),
of_model AS (
    SELECT
        kind, vendor, model,
        sum(CASE WHEN thing = 'all' THEN misfits ELSE 0 END) AS without,
        sum(CASE WHEN thing = 'firmware' THEN misfits ELSE 0 END) AS firmware,
        sum(CASE WHEN thing = 'transport' THEN misfits ELSE 0 END) AS transport,
        sum(CASE WHEN thing = 'kernel' THEN misfits ELSE 0 END) AS kernel,
        sum(CASE WHEN thing = 'command-path' THEN misfits ELSE 0 END) AS command_path,
        sum(CASE WHEN thing = 'disturbed' THEN misfits ELSE 0 END) AS disturbed,
        sum(CASE WHEN thing = 'machine' THEN misfits ELSE 0 END) AS machine
    FROM of_value
    GROUP BY kind, vendor, model
),
classes AS (
    SELECT
        kind, vendor, model,
        count(CASE WHEN class = 'fast' THEN 1 END) AS fast,
        count(CASE WHEN class = 'slow' THEN 1 END) AS slow,
        count(CASE WHEN class = 'none' THEN 1 END) AS no_offload,
        count(CASE WHEN class = 'unknown' THEN 1 END) AS unknown,
        count(CASE WHEN class = 'broken' THEN 1 END) AS broken
    FROM tested
    GROUP BY kind, vendor, model
    HAVING count(DISTINCT class) > 1
)
SELECT
    classes.*,
    CASE
        WHEN firmware * 10 <= without THEN 'firmware'
        WHEN transport * 10 <= without THEN 'transport'
        WHEN kernel * 10 <= without THEN 'kernel'
        WHEN command_path * 10 <= without THEN 'command-path'
        WHEN least(disturbed, machine) * 10 <= without THEN 'surroundings'
        ELSE 'unexplained'
    END AS cause
FROM classes
JOIN of_model ON
    classes.kind = of_model.kind
    AND classes.vendor IS NOT DISTINCT FROM of_model.vendor
    AND classes.model IS NOT DISTINCT FROM of_model.model
ORDER BY classes.kind, classes.vendor NULLS FIRST, classes.model NULLS FIRST;
