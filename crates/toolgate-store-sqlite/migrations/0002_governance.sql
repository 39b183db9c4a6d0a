-- Tenants, what their managers decide, and how people and programs prove who they are.
-- Lists (rules, roles, patterns, scopes, labels) and documents are JSON, kept as text. Secrets are kept as hashes.

CREATE TABLE tenants (
    id         TEXT PRIMARY KEY,
    title      TEXT NOT NULL,
    disabled   INTEGER NOT NULL,
    -- Goes up by one with every change of what the tenant's managers decide.
    generation INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

INSERT INTO tenants (id, title, disabled, generation, created_at)
    VALUES ('default', 'Default', 0, 1, unixepoch() * 1000000);
INSERT INTO tenants (id, title, disabled, generation, created_at)
    SELECT DISTINCT tenant_id, tenant_id, 0, 1, unixepoch() * 1000000 FROM principals WHERE tenant_id <> 'default';

CREATE TRIGGER tenants_generation BEFORE UPDATE ON tenants
    WHEN NEW.id <> OLD.id OR NEW.generation < OLD.generation
BEGIN
    SELECT RAISE(ABORT, 'a generation never goes down');
END;
CREATE TRIGGER tenants_kept BEFORE DELETE ON tenants
BEGIN
    SELECT RAISE(ABORT, 'tenants are never removed');
END;

ALTER TABLE principals ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE principals ADD COLUMN roles TEXT NOT NULL DEFAULT '[]';
ALTER TABLE principals ADD COLUMN acts_for TEXT NOT NULL DEFAULT '[]';
ALTER TABLE principals ADD COLUMN disabled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE principals ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;

-- Known before titles and times were: called by its name, and as old as its oldest key.
UPDATE principals SET title = substr(id, instr(id, ':') + 1), created_at = coalesce(
    (SELECT min(k.created_at) FROM api_keys k WHERE k.tenant_id = principals.tenant_id AND k.principal = principals.id),
    unixepoch() * 1000000);

ALTER TABLE api_keys ADD COLUMN subject TEXT;
ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT '[]';
ALTER TABLE api_keys ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;
ALTER TABLE api_keys ADD COLUMN revoked_at INTEGER;
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;

UPDATE api_keys SET created_by = principal;

CREATE INDEX api_keys_tenant ON api_keys (tenant_id, id);
CREATE INDEX api_keys_principal ON api_keys (tenant_id, principal, id);

CREATE TRIGGER api_keys_made
    BEFORE UPDATE OF id, tenant_id, principal, subject, hash, scopes, created_by, created_at ON api_keys
BEGIN
    SELECT RAISE(ABORT, 'what a key was made for is never changed');
END;
CREATE TRIGGER api_keys_end BEFORE UPDATE OF expires_at, revoked_at ON api_keys
    WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS NOT OLD.revoked_at)
      OR (OLD.expires_at IS NOT NULL AND (NEW.expires_at IS NULL OR NEW.expires_at > OLD.expires_at))
BEGIN
    SELECT RAISE(ABORT, 'a key never ends later than it would have');
END;
CREATE TRIGGER api_keys_kept BEFORE DELETE ON api_keys
BEGIN
    SELECT RAISE(ABORT, 'keys are never removed');
END;

CREATE TABLE passwords (
    tenant_id TEXT NOT NULL,
    principal TEXT NOT NULL,
    hash      TEXT NOT NULL,
    set_at    INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, principal),
    FOREIGN KEY (tenant_id, principal) REFERENCES principals (tenant_id, id)
) WITHOUT ROWID, STRICT;

-- Who a person at an identity provider is here.
CREATE TABLE identities (
    tenant_id TEXT NOT NULL,
    issuer    TEXT NOT NULL,
    sub       TEXT NOT NULL,
    principal TEXT NOT NULL,
    linked_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, issuer, sub),
    FOREIGN KEY (tenant_id, principal) REFERENCES principals (tenant_id, id)
) WITHOUT ROWID, STRICT;

CREATE TABLE documents (
    tenant_id  TEXT NOT NULL,
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,
    body       TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    written_by TEXT NOT NULL,
    written_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, kind, name)
) WITHOUT ROWID, STRICT;

CREATE TABLE document_versions (
    tenant_id  TEXT NOT NULL,
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    -- None when the document was removed.
    body       TEXT,
    written_by TEXT NOT NULL,
    written_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, kind, name, revision)
) WITHOUT ROWID, STRICT;

CREATE TRIGGER document_versions_no_update BEFORE UPDATE ON document_versions
BEGIN
    SELECT RAISE(ABORT, 'versions are never changed');
END;
CREATE TRIGGER document_versions_no_delete BEFORE DELETE ON document_versions
BEGIN
    SELECT RAISE(ABORT, 'versions are never removed');
END;

CREATE TABLE sign_ins (
    id           TEXT PRIMARY KEY,
    hash         BLOB NOT NULL UNIQUE,
    tenant_id    TEXT NOT NULL,
    principal    TEXT NOT NULL,
    method       TEXT NOT NULL,
    user_agent   TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    FOREIGN KEY (tenant_id, principal) REFERENCES principals (tenant_id, id)
) WITHOUT ROWID, STRICT;

CREATE INDEX sign_ins_principal ON sign_ins (tenant_id, principal, created_at, id);
CREATE INDEX sign_ins_expiry ON sign_ins (expires_at);

CREATE TABLE one_time_tokens (
    hash       BLOB PRIMARY KEY,
    purpose    TEXT NOT NULL,
    tenant_id  TEXT NOT NULL,
    principal  TEXT,
    data       TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE INDEX one_time_tokens_expiry ON one_time_tokens (expires_at);

ALTER TABLE sessions ADD COLUMN labels TEXT NOT NULL DEFAULT '[]';

CREATE TRIGGER sessions_labels BEFORE UPDATE OF labels ON sessions
BEGIN
    SELECT RAISE(ABORT, 'a session''s labels are never changed');
END;

-- What calls have cost is summed from this index alone.
CREATE INDEX invocations_spent ON invocations (tenant_id, created_at, actor, tool_id, cost_micros)
    WHERE cost_micros IS NOT NULL;
