-- Files that people and programs hand to tools, in parts: none is ever held whole in memory.

CREATE TABLE files (
    id         TEXT PRIMARY KEY,
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    -- Whose it is, and who sent it.
    owner      TEXT NOT NULL,
    sent_by    TEXT NOT NULL,
    name       TEXT NOT NULL,
    media_type TEXT NOT NULL,
    -- The kind of picture its first bytes show it to be.
    picture    TEXT,
    size       INTEGER NOT NULL DEFAULT 0 CHECK (size >= 0),
    -- Known when it is whole.
    sha256     TEXT,
    state      TEXT NOT NULL DEFAULT 'arriving' CHECK (state IN ('arriving', 'kept', 'removed')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    CHECK (state <> 'kept' OR sha256 IS NOT NULL)
) WITHOUT ROWID, STRICT;

CREATE INDEX files_tenant ON files (tenant_id, id) WHERE state = 'kept';
CREATE INDEX files_owner ON files (tenant_id, owner, id) WHERE state = 'kept';
CREATE INDEX files_ending ON files (expires_at, id) WHERE state <> 'removed';
CREATE INDEX files_removed ON files (id) WHERE state = 'removed';

-- Not WITHOUT ROWID: a part is far larger than what an index should carry.
CREATE TABLE file_parts (
    file_id TEXT NOT NULL REFERENCES files (id),
    part    INTEGER NOT NULL,
    bytes   BLOB NOT NULL,
    UNIQUE (file_id, part)
) STRICT;

-- What a tenant's files take, removed ones too until their parts are gone.
CREATE TABLE file_totals (
    tenant_id TEXT PRIMARY KEY REFERENCES tenants (id),
    bytes     INTEGER NOT NULL CHECK (bytes >= 0)
) WITHOUT ROWID, STRICT;
