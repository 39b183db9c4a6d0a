-- Accounts at outside services, and what opens them: only ever sealed, under a key that is not in this database.

CREATE TABLE connections (
    id             TEXT PRIMARY KEY,
    tenant_id      TEXT NOT NULL REFERENCES tenants (id),
    service        TEXT NOT NULL,
    -- `shared`, or the person.
    owner          TEXT NOT NULL,
    kind           TEXT NOT NULL,
    place          TEXT NOT NULL,
    state          TEXT NOT NULL CHECK (state IN ('ok', 'expired', 'revoked', 'needs_login')),
    -- Until when one node has the right to renew it.
    renewing_until INTEGER,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    last_used_at   INTEGER,
    UNIQUE (tenant_id, service, owner)
) WITHOUT ROWID, STRICT;

CREATE INDEX connections_tenant ON connections (tenant_id, id);

CREATE TABLE connection_secrets (
    connection_id TEXT PRIMARY KEY REFERENCES connections (id) ON DELETE CASCADE,
    version       INTEGER NOT NULL,
    -- The master key that wraps the secret's own key.
    key_id        TEXT NOT NULL,
    wrapped       BLOB NOT NULL,
    sealed        BLOB NOT NULL
) WITHOUT ROWID, STRICT;

CREATE INDEX connection_secrets_key ON connection_secrets (key_id);

-- One row: what tells the master key of this store from another.
CREATE TABLE master_key (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    key_id   TEXT NOT NULL,
    value    TEXT NOT NULL
) STRICT;
