-- Which hosts would gain: devices that nobody tested here although those of their model, firmware and command path that were tested
-- elsewhere are all fast, on enough machines to believe it (an entry of hwdb, or a test, would let them be used); and fast devices
-- whose knob is off (`zerocap tune apply`). Needs newest.sql. The numbers are those of `zerocap fleet summarize --hwdb`.
WITH believed AS (
    SELECT kind, vendor, model, firmware, command_path, backend
    FROM newest
    WHERE is_measured
    GROUP BY kind, vendor, model, firmware, command_path, backend
    HAVING count(DISTINCT class) = 1
        AND min(class) = 'fast'
        AND count(DISTINCT identity) >= 16
        AND count(DISTINCT machine) >= 16
        AND backend IS NULL
        AND min(ratio_thousandths) >= 3000
),
gains AS (
    SELECT
        newest.machine,
        count(CASE WHEN newest.class = 'unknown' AND believed.kind IS NOT NULL THEN 1 END) AS untested_of_a_fast_model,
        count(CASE WHEN newest.class = 'fast' AND is_knob_off THEN 1 END) AS fast_with_the_knob_off
    FROM newest
    LEFT JOIN believed ON
        newest.kind = believed.kind
        AND newest.vendor IS NOT DISTINCT FROM believed.vendor
        AND newest.model IS NOT DISTINCT FROM believed.model
        AND newest.firmware IS NOT DISTINCT FROM believed.firmware
        AND newest.command_path IS NOT DISTINCT FROM believed.command_path
        AND newest.backend IS NOT DISTINCT FROM believed.backend
    WHERE newest.machine IS NOT NULL
    GROUP BY newest.machine
)
SELECT machine, untested_of_a_fast_model, fast_with_the_knob_off
FROM gains
WHERE untested_of_a_fast_model + fast_with_the_knob_off > 0
ORDER BY untested_of_a_fast_model + fast_with_the_knob_off DESC, machine;
