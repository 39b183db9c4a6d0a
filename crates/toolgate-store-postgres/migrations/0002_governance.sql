-- Tenants, what their managers decide, and how people and programs prove who they are.
--
-- Lists (rules, roles, patterns, scopes, labels) and documents are JSON, kept as text. Secrets are kept as hashes.

CREATE TABLE tenants (
    id         TEXT COLLATE "C" PRIMARY KEY,
    title      TEXT NOT NULL,
    disabled   BOOLEAN NOT NULL,
    -- Goes up by one with every change of what the tenant's managers decide. Whoever makes one holds this row's lock.
    generation BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

INSERT INTO tenants (id, title, disabled, generation, created_at)
    VALUES ('default', 'Default', FALSE, 1, (extract(epoch FROM now()) * 1000000)::bigint);
INSERT INTO tenants (id, title, disabled, generation, created_at)
    SELECT DISTINCT tenant_id, tenant_id, FALSE, 1, (extract(epoch FROM now()) * 1000000)::bigint
    FROM principals WHERE tenant_id <> 'default';

CREATE TRIGGER tenants_generation BEFORE UPDATE ON tenants FOR EACH ROW
    WHEN (NEW.id <> OLD.id OR NEW.generation < OLD.generation)
    EXECUTE FUNCTION toolgate_refuse('a generation never goes down');

CREATE TRIGGER tenants_kept BEFORE DELETE OR TRUNCATE ON tenants FOR EACH STATEMENT
    EXECUTE FUNCTION toolgate_refuse('tenants are never removed');

ALTER TABLE principals
    ADD COLUMN title TEXT NOT NULL DEFAULT '',
    ADD COLUMN roles TEXT NOT NULL DEFAULT '[]',
    ADD COLUMN acts_for TEXT NOT NULL DEFAULT '[]',
    ADD COLUMN disabled BOOLEAN NOT NULL DEFAULT FALSE,
    ADD COLUMN created_at BIGINT NOT NULL DEFAULT 0;

-- Known before titles and times were: called by its name, and as old as its oldest key.
UPDATE principals SET title = substr(id, strpos(id, ':') + 1), created_at = coalesce(
    (SELECT min(k.created_at) FROM api_keys k WHERE k.tenant_id = principals.tenant_id AND k.principal = principals.id),
    (extract(epoch FROM now()) * 1000000)::bigint);

ALTER TABLE principals ADD CONSTRAINT principals_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (id);

ALTER TABLE api_keys
    ADD COLUMN subject TEXT COLLATE "C",
    ADD COLUMN scopes TEXT NOT NULL DEFAULT '[]',
    ADD COLUMN created_by TEXT COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN expires_at BIGINT,
    ADD COLUMN revoked_at BIGINT,
    ADD COLUMN last_used_at BIGINT;

UPDATE api_keys SET created_by = principal;
ALTER TABLE api_keys ALTER COLUMN created_by DROP DEFAULT;

ALTER TABLE api_keys ADD CONSTRAINT api_keys_subject
    FOREIGN KEY (tenant_id, subject) REFERENCES principals (tenant_id, id);

CREATE INDEX api_keys_tenant ON api_keys (tenant_id, id);
CREATE INDEX api_keys_principal ON api_keys (tenant_id, principal, id);

CREATE TRIGGER api_keys_made
    BEFORE UPDATE OF id, tenant_id, principal, subject, hash, scopes, created_by, created_at
    ON api_keys FOR EACH STATEMENT
    EXECUTE FUNCTION toolgate_refuse('what a key was made for is never changed');

CREATE TRIGGER api_keys_end BEFORE UPDATE OF expires_at, revoked_at ON api_keys FOR EACH ROW
    WHEN ((OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
          OR (OLD.expires_at IS NOT NULL AND (NEW.expires_at IS NULL OR NEW.expires_at > OLD.expires_at)))
    EXECUTE FUNCTION toolgate_refuse('a key never ends later than it would have');

CREATE TRIGGER api_keys_kept BEFORE DELETE OR TRUNCATE ON api_keys FOR EACH STATEMENT
    EXECUTE FUNCTION toolgate_refuse('keys are never removed');

CREATE TABLE passwords (
    tenant_id TEXT COLLATE "C" NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    hash      TEXT NOT NULL,
    set_at    BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, principal),
    FOREIGN KEY (tenant_id, principal) REFERENCES principals (tenant_id, id)
);

-- Who a person at an identity provider is here.
CREATE TABLE identities (
    tenant_id TEXT COLLATE "C" NOT NULL,
    issuer    TEXT COLLATE "C" NOT NULL,
    sub       TEXT COLLATE "C" NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    linked_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, issuer, sub),
    FOREIGN KEY (tenant_id, principal) REFERENCES principals (tenant_id, id)
);

CREATE TABLE documents (
    tenant_id  TEXT COLLATE "C" NOT NULL REFERENCES tenants (id),
    kind       TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    body       TEXT NOT NULL,
    revision   BIGINT NOT NULL,
    written_by TEXT COLLATE "C" NOT NULL,
    written_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, kind, name)
);

CREATE TABLE document_versions (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    revision   BIGINT NOT NULL,
    -- None when the document was removed.
    body       TEXT,
    written_by TEXT COLLATE "C" NOT NULL,
    written_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, kind, name, revision)
);

CREATE TRIGGER document_versions_fixed BEFORE UPDATE OR DELETE OR TRUNCATE ON document_versions FOR EACH STATEMENT
    EXECUTE FUNCTION toolgate_refuse('versions are never changed or removed');

CREATE TABLE sign_ins (
    id           TEXT COLLATE "C" PRIMARY KEY,
    hash         BYTEA NOT NULL UNIQUE,
    tenant_id    TEXT COLLATE "C" NOT NULL,
    principal    TEXT COLLATE "C" NOT NULL,
    method       TEXT NOT NULL,
    user_agent   TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    FOREIGN KEY (tenant_id, principal) REFERENCES principals (tenant_id, id)
);

CREATE INDEX sign_ins_principal ON sign_ins (tenant_id, principal, created_at, id);
CREATE INDEX sign_ins_expiry ON sign_ins (expires_at);

CREATE TABLE one_time_tokens (
    hash       BYTEA PRIMARY KEY,
    purpose    TEXT COLLATE "C" NOT NULL,
    tenant_id  TEXT COLLATE "C" NOT NULL,
    principal  TEXT COLLATE "C",
    data       TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX one_time_tokens_expiry ON one_time_tokens (expires_at);

ALTER TABLE sessions ADD COLUMN labels TEXT NOT NULL DEFAULT '[]';

CREATE TRIGGER sessions_labels BEFORE UPDATE OF labels ON sessions FOR EACH STATEMENT
    EXECUTE FUNCTION toolgate_refuse('a session''s labels are never changed');

-- What calls have cost is summed from this index alone.
CREATE INDEX invocations_spent ON invocations (tenant_id, created_at) INCLUDE (actor, tool_id, cost_micros)
    WHERE cost_micros IS NOT NULL;

-- Rates that all nodes measure together (GCRA): when the next call of a key is due. Losing it in a crash of the database
-- lets a few calls through early, so it is kept out of the log.
CREATE UNLOGGED TABLE rates (
    key TEXT COLLATE "C" PRIMARY KEY,
    tat BIGINT NOT NULL
);

CREATE INDEX rates_tat ON rates (tat);
