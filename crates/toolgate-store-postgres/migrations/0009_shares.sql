-- Links by which anyone may look at one call, for a while. The secret in a link is kept as a hash.

CREATE TABLE shares (
    id         TEXT COLLATE "C" PRIMARY KEY,
    tenant_id  TEXT COLLATE "C" NOT NULL,
    call_id    TEXT COLLATE "C" NOT NULL REFERENCES invocations (id),
    hash       BYTEA NOT NULL UNIQUE,
    made_by    TEXT COLLATE "C" NOT NULL,
    key_id     TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    FOREIGN KEY (tenant_id, made_by) REFERENCES principals (tenant_id, id)
);

CREATE INDEX shares_call ON shares (tenant_id, call_id, id);

CREATE TRIGGER shares_made
    BEFORE UPDATE OF id, tenant_id, call_id, hash, made_by, key_id, created_at, expires_at ON shares FOR EACH STATEMENT
    EXECUTE FUNCTION toolgate_refuse('what a link was made for is never changed');
CREATE TRIGGER shares_end BEFORE UPDATE OF revoked_at ON shares FOR EACH ROW
    WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
    EXECUTE FUNCTION toolgate_refuse('what was taken back stays taken back');
