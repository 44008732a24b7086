-- Of each device on each machine the newest document: what counts. Needs `documents`, the rows of view.sql, or the Parquet files
-- that were made of them. Two of one second: the later measurement, then the class that comes first in the alphabet.
CREATE OR REPLACE TEMPORARY VIEW newest AS
SELECT * FROM (
    SELECT
        documents.*,
        row_number() OVER (
            PARTITION BY machine, coalesce(identity, concat('name ', name)), identity IS NULL
            ORDER BY collected DESC, measured_at DESC NULLS LAST, class, zero_bytes_per_second NULLS FIRST,
                write_bytes_per_second NULLS FIRST, ratio_thousandths NULLS FIRST, is_measured, is_stale, kind, vendor NULLS FIRST,
                model NULLS FIRST, firmware NULLS FIRST, hwdb_model NULLS FIRST, hwdb_revision NULLS FIRST, backend NULLS FIRST,
                command_path NULLS FIRST, transport NULLS FIRST, kernel NULLS FIRST, is_disturbed
        ) AS place
    FROM documents
) AS placed
WHERE place = 1;
