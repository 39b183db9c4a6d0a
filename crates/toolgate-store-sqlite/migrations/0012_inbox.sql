-- Calls that are durable and have yet to be written into their tables. A call costs a dozen entries in tables and indexes;
-- many calls together touch hardly more pages than one. So a call that nobody can have asked about yet is kept here first, as
-- the rows it will become, and moves on with others: before anyone reads, before anything else is written, or when there
-- are enough.
CREATE TABLE inbox (
    id      INTEGER PRIMARY KEY,
    -- The columns of a call's row when it was written, since a newer program may know more of them.
    columns TEXT NOT NULL,
    calls   BLOB NOT NULL
) STRICT;

-- What could not be moved on, and why. Empty unless something is broken; nothing is thrown away.
CREATE TABLE inbox_aside (
    id      INTEGER PRIMARY KEY,
    cause   TEXT NOT NULL,
    columns TEXT NOT NULL,
    call    BLOB NOT NULL
) STRICT;
