-- Accounts at outside services, and what opens them: only ever sealed, under a key that is not in this database.

CREATE TABLE connections (
    id             TEXT COLLATE "C" PRIMARY KEY,
    tenant_id      TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    service        TEXT NOT NULL,
    -- `shared`, or the person.
    owner          TEXT NOT NULL,
    kind           TEXT NOT NULL,
    place          TEXT NOT NULL,
    state          TEXT NOT NULL CHECK (state IN ('ok', 'expired', 'revoked', 'needs_login')),
    -- Until when one node has the right to renew it.
    renewing_until BIGINT,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    last_used_at   BIGINT,
    UNIQUE (tenant_id, service, owner)
);

CREATE INDEX connections_tenant ON connections (tenant_id, id);

CREATE TABLE connection_secrets (
    connection_id TEXT COLLATE "C" PRIMARY KEY REFERENCES connections (id) ON DELETE CASCADE,
    version       BIGINT NOT NULL,
    -- The master key that wraps the secret's own key.
    key_id        TEXT NOT NULL,
    wrapped       BYTEA NOT NULL,
    sealed        BYTEA NOT NULL
);

CREATE INDEX connection_secrets_key ON connection_secrets (key_id);

-- One row: what tells the master key of this store from another.
CREATE TABLE master_key (
    only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
    key_id   TEXT NOT NULL,
    value    TEXT NOT NULL
);
