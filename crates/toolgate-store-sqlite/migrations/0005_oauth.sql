-- What people let applications do, the tokens that stand for it, and applications that named themselves.
-- Lists and documents are JSON, kept as text. Tokens are kept as hashes.

CREATE TABLE oauth_grants (
    id           TEXT PRIMARY KEY,
    tenant_id    TEXT NOT NULL,
    principal    TEXT NOT NULL,
    client_id    TEXT NOT NULL,
    client_name  TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    resource     TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    expires_at   INTEGER NOT NULL,
    revoked_at   INTEGER,
    FOREIGN KEY (tenant_id, principal) REFERENCES principals (tenant_id, id)
) WITHOUT ROWID, STRICT;

CREATE INDEX oauth_grants_tenant ON oauth_grants (tenant_id, id);
CREATE INDEX oauth_grants_principal ON oauth_grants (tenant_id, principal, id);
CREATE INDEX oauth_grants_client ON oauth_grants (tenant_id, client_id);
CREATE INDEX oauth_grants_expiry ON oauth_grants (expires_at);
CREATE INDEX oauth_grants_revoked ON oauth_grants (revoked_at) WHERE revoked_at IS NOT NULL;

CREATE TRIGGER oauth_grants_made
    BEFORE UPDATE OF id, tenant_id, principal, client_id, client_name, scopes, resource, created_at ON oauth_grants
BEGIN
    SELECT RAISE(ABORT, 'what a person allowed is never changed');
END;
CREATE TRIGGER oauth_grants_end BEFORE UPDATE OF revoked_at ON oauth_grants
    WHEN OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS NOT OLD.revoked_at
BEGIN
    SELECT RAISE(ABORT, 'what was taken back stays taken back');
END;

CREATE TABLE oauth_tokens (
    hash       BLOB PRIMARY KEY,
    grant_id   TEXT NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL CHECK (kind IN ('code', 'access', 'refresh')),
    scopes     TEXT NOT NULL,
    -- What a code is bound to.
    data       TEXT,
    expires_at INTEGER NOT NULL,
    used_at    INTEGER
) WITHOUT ROWID, STRICT;

CREATE INDEX oauth_tokens_grant ON oauth_tokens (grant_id);
CREATE INDEX oauth_tokens_expiry ON oauth_tokens (expires_at);

CREATE TRIGGER oauth_tokens_used BEFORE UPDATE ON oauth_tokens
    WHEN OLD.used_at IS NOT NULL OR NEW.hash IS NOT OLD.hash OR NEW.grant_id IS NOT OLD.grant_id
      OR NEW.kind IS NOT OLD.kind OR NEW.scopes IS NOT OLD.scopes OR NEW.expires_at IS NOT OLD.expires_at
BEGIN
    SELECT RAISE(ABORT, 'a token is used once and never changed');
END;

CREATE TABLE oauth_registrations (
    client_id    TEXT PRIMARY KEY,
    client       TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    -- When it was made or last let in, for forgetting.
    seen_at      INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE INDEX oauth_registrations_seen ON oauth_registrations (seen_at);
