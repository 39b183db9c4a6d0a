-- Links by which anyone may look at one call, for a while. The secret in a link is kept as a hash.

CREATE TABLE shares (
    id         TEXT PRIMARY KEY,
    tenant_id  TEXT NOT NULL,
    call_id    TEXT NOT NULL REFERENCES invocations (id),
    hash       BLOB NOT NULL UNIQUE,
    made_by    TEXT NOT NULL,
    key_id     TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER,
    FOREIGN KEY (tenant_id, made_by) REFERENCES principals (tenant_id, id)
) WITHOUT ROWID, STRICT;

CREATE INDEX shares_call ON shares (tenant_id, call_id, id);

CREATE TRIGGER shares_made
    BEFORE UPDATE OF id, tenant_id, call_id, hash, made_by, key_id, created_at, expires_at ON shares
BEGIN
    SELECT RAISE(ABORT, 'what a link was made for is never changed');
END;
CREATE TRIGGER shares_end BEFORE UPDATE OF revoked_at ON shares
    WHEN OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS NOT OLD.revoked_at
BEGIN
    SELECT RAISE(ABORT, 'what was taken back stays taken back');
END;
