-- What is known of each model, firmware and command path: the rows of `zerocap fleet summarize`. Needs newest.sql.
--
-- A quantile is the exact one, cut to three digits, so that it is the very number that zerocap counts (at most 1 % low).
WITH rated AS (
    SELECT kind, vendor, model, firmware, command_path, hwdb_model, hwdb_revision, backend, 'zero' AS what, zero_bytes_per_second AS value
    FROM newest WHERE is_measured AND class <> 'broken' AND zero_bytes_per_second IS NOT NULL
    UNION ALL
    SELECT kind, vendor, model, firmware, command_path, hwdb_model, hwdb_revision, backend, 'write' AS what, write_bytes_per_second AS value
    FROM newest WHERE is_measured AND class <> 'broken' AND write_bytes_per_second IS NOT NULL
    UNION ALL
    SELECT kind, vendor, model, firmware, command_path, hwdb_model, hwdb_revision, backend, 'ratio' AS what, ratio_thousandths AS value
    FROM newest WHERE is_measured AND class <> 'broken' AND ratio_thousandths IS NOT NULL
),
ranked AS (
    SELECT
        rated.*,
        value - value % CAST(power(10, greatest(length(CAST(value AS STRING)) - 3, 0)) AS BIGINT) AS cut,
        row_number() OVER (PARTITION BY kind, vendor, model, firmware, command_path, hwdb_model, hwdb_revision, backend, what ORDER BY value) AS place,
        count(*) OVER (PARTITION BY kind, vendor, model, firmware, command_path, hwdb_model, hwdb_revision, backend, what) AS total
    FROM rated
),
quantiles AS (
    SELECT
        kind, vendor, model, firmware, command_path, hwdb_model, hwdb_revision, backend,
        min(CASE WHEN what = 'zero' AND place * 10 >= total THEN cut END) AS zero_p10,
        min(CASE WHEN what = 'zero' AND place * 10 >= total * 5 THEN cut END) AS zero_p50,
        min(CASE WHEN what = 'zero' AND place * 10 >= total * 9 THEN cut END) AS zero_p90,
        min(CASE WHEN what = 'write' AND place * 10 >= total THEN cut END) AS write_p10,
        min(CASE WHEN what = 'write' AND place * 10 >= total * 5 THEN cut END) AS write_p50,
        min(CASE WHEN what = 'write' AND place * 10 >= total * 9 THEN cut END) AS write_p90,
        min(CASE WHEN what = 'ratio' AND place * 10 >= total THEN cut END) AS ratio_p10,
        min(CASE WHEN what = 'ratio' AND place * 10 >= total * 5 THEN cut END) AS ratio_p50,
        min(CASE WHEN what = 'ratio' AND place * 10 >= total * 9 THEN cut END) AS ratio_p90
    FROM ranked
    GROUP BY kind, vendor, model, firmware, command_path, hwdb_model, hwdb_revision, backend
),
latest AS (
    SELECT max(collected_on) AS day FROM newest
),
counted AS (
    SELECT
        kind, vendor, model, firmware, command_path, hwdb_model, hwdb_revision, backend,
        count(DISTINCT machine) AS machines,
        count(DISTINCT identity) AS devices,
        count(*) AS answers,
        count(CASE WHEN class = 'fast' THEN 1 END) AS fast,
        count(CASE WHEN class = 'slow' THEN 1 END) AS slow,
        count(CASE WHEN class = 'none' THEN 1 END) AS no_offload,
        count(CASE WHEN class = 'unknown' THEN 1 END) AS unknown,
        count(CASE WHEN class = 'broken' THEN 1 END) AS broken,
        count(DISTINCT CASE WHEN is_measured THEN machine END) AS measured_machines,
        count(DISTINCT CASE WHEN is_measured THEN identity END) AS measured_devices,
        count(CASE WHEN is_measured THEN 1 END) AS measured_answers,
        CASE WHEN count(DISTINCT CASE WHEN is_measured THEN class END) = 1 THEN min(CASE WHEN is_measured THEN class END) END AS agreed,
        count(CASE WHEN collected_on + INTERVAL 30 DAYS < latest.day THEN 1 END) AS silent,
        count(CASE WHEN is_stale THEN 1 END) AS stale,
        min(CASE WHEN is_measured THEN measured_at END) AS measured_first,
        max(CASE WHEN is_measured THEN measured_at END) AS measured_last,
        max(collected) AS collected_last
    FROM newest CROSS JOIN latest
    GROUP BY kind, vendor, model, firmware, command_path, hwdb_model, hwdb_revision, backend
)
SELECT
    counted.*,
    zero_p10, zero_p50, zero_p90, write_p10, write_p50, write_p90, ratio_p10, ratio_p50, ratio_p90
FROM counted
LEFT JOIN quantiles ON
    counted.kind = quantiles.kind
    AND counted.vendor IS NOT DISTINCT FROM quantiles.vendor
    AND counted.model IS NOT DISTINCT FROM quantiles.model
    AND counted.firmware IS NOT DISTINCT FROM quantiles.firmware
    AND counted.command_path IS NOT DISTINCT FROM quantiles.command_path
    AND counted.hwdb_model IS NOT DISTINCT FROM quantiles.hwdb_model
    AND counted.hwdb_revision IS NOT DISTINCT FROM quantiles.hwdb_revision
    AND counted.backend IS NOT DISTINCT FROM quantiles.backend
ORDER BY
    counted.kind, counted.vendor NULLS FIRST, counted.model NULLS FIRST, counted.firmware NULLS FIRST,
    counted.command_path NULLS FIRST, counted.hwdb_model NULLS FIRST, counted.hwdb_revision NULLS FIRST, counted.backend NULLS FIRST;
