-- What people let applications do, the tokens that stand for it, and applications that named themselves.
-- Lists and documents are JSON, kept as text. Tokens are kept as hashes.

CREATE TABLE oauth_grants (
    id           TEXT COLLATE "C" PRIMARY KEY,
    tenant_id    TEXT COLLATE "C" NOT NULL,
    principal    TEXT COLLATE "C" NOT NULL,
    client_id    TEXT COLLATE "C" NOT NULL,
    client_name  TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    resource     TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT,
    expires_at   BIGINT NOT NULL,
    revoked_at   BIGINT,
    FOREIGN KEY (tenant_id, principal) REFERENCES principals (tenant_id, id)
);

CREATE INDEX oauth_grants_tenant ON oauth_grants (tenant_id, id);
CREATE INDEX oauth_grants_principal ON oauth_grants (tenant_id, principal, id);
CREATE INDEX oauth_grants_client ON oauth_grants (tenant_id, client_id);
CREATE INDEX oauth_grants_expiry ON oauth_grants (expires_at);
CREATE INDEX oauth_grants_revoked ON oauth_grants (revoked_at) WHERE revoked_at IS NOT NULL;

CREATE TRIGGER oauth_grants_made
    BEFORE UPDATE OF id, tenant_id, principal, client_id, client_name, scopes, resource, created_at ON oauth_grants
    FOR EACH STATEMENT EXECUTE FUNCTION toolgate_refuse('what a person allowed is never changed');
CREATE TRIGGER oauth_grants_end BEFORE UPDATE OF revoked_at ON oauth_grants FOR EACH ROW
    WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
    EXECUTE FUNCTION toolgate_refuse('what was taken back stays taken back');

CREATE TABLE oauth_tokens (
    hash       BYTEA PRIMARY KEY,
    grant_id   TEXT COLLATE "C" NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL CHECK (kind IN ('code', 'access', 'refresh')),
    scopes     TEXT NOT NULL,
    -- What a code is bound to.
    data       TEXT,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT
);

CREATE INDEX oauth_tokens_grant ON oauth_tokens (grant_id);
CREATE INDEX oauth_tokens_expiry ON oauth_tokens (expires_at);

CREATE TRIGGER oauth_tokens_used BEFORE UPDATE ON oauth_tokens FOR EACH ROW
    WHEN (OLD.used_at IS NOT NULL OR NEW.hash IS DISTINCT FROM OLD.hash
        OR NEW.grant_id IS DISTINCT FROM OLD.grant_id OR NEW.kind IS DISTINCT FROM OLD.kind
        OR NEW.scopes IS DISTINCT FROM OLD.scopes OR NEW.expires_at IS DISTINCT FROM OLD.expires_at)
    EXECUTE FUNCTION toolgate_refuse('a token is used once and never changed');

CREATE TABLE oauth_registrations (
    client_id    TEXT COLLATE "C" PRIMARY KEY,
    client       TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT,
    -- When it was made or last let in, for forgetting.
    seen_at      BIGINT NOT NULL
);

CREATE INDEX oauth_registrations_seen ON oauth_registrations (seen_at);
