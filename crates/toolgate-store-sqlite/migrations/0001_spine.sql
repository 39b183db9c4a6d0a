-- Sessions, calls, their events, anchors, tools, principals and keys.
-- Ids are UUIDv7 with a prefix, so ordering by id is ordering by time. Times are microseconds. JSON is kept as text,
-- byte for byte, because hashes are taken over it.

CREATE TABLE sessions (
    id          TEXT PRIMARY KEY,
    tenant_id   TEXT NOT NULL,
    owner       TEXT NOT NULL,
    created_at  INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE invocations (
    id                TEXT NOT NULL PRIMARY KEY,
    tenant_id         TEXT NOT NULL,
    session_id        TEXT NOT NULL,
    parent_id         TEXT,
    tool_id           TEXT NOT NULL,
    tool_version      TEXT,
    effect            TEXT NOT NULL CHECK (effect IN ('read', 'mutate', 'destructive')),
    egress            TEXT NOT NULL CHECK (egress IN ('none', 'read_only', 'write')),
    idempotent        INTEGER NOT NULL,
    actor             TEXT NOT NULL,
    subject           TEXT,
    source            TEXT NOT NULL,
    input             TEXT NOT NULL,
    idempotency_key   TEXT,
    request_digest    TEXT NOT NULL,
    rule              TEXT,
    approval_required INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    status            TEXT NOT NULL CHECK (status IN ('pending', 'running', 'waiting', 'completed', 'failed',
                                                      'rejected', 'cancelled', 'expired', 'in_doubt')),
    approval          TEXT NOT NULL CHECK (approval IN ('not_required', 'pending', 'approved', 'rejected')),
    decided_by        TEXT,
    reason            TEXT,
    output            TEXT,
    error             TEXT,
    cost_micros       INTEGER,
    attempt           INTEGER NOT NULL,
    worker            TEXT,
    cancel_requested  INTEGER NOT NULL,
    revision          INTEGER NOT NULL,
    first_seq         INTEGER NOT NULL,
    last_seq          INTEGER NOT NULL,
    started_at        INTEGER,
    completed_at      INTEGER,
    due_at            INTEGER,
    -- What needs a person never runs without one, whatever the code above says.
    CHECK (approval_required = 0 OR approval <> 'not_required'),
    CHECK (status NOT IN ('running', 'waiting', 'completed') OR approval IN ('not_required', 'approved')),
    CHECK (egress <> 'write' OR approval <> 'not_required' OR status NOT IN ('running', 'waiting', 'completed'))
) STRICT;

CREATE INDEX invocations_tenant ON invocations (tenant_id, id);
CREATE INDEX invocations_tool ON invocations (tenant_id, tool_id, id);
CREATE INDEX invocations_actor ON invocations (tenant_id, actor, id);
CREATE INDEX invocations_status ON invocations (tenant_id, status, id);
CREATE INDEX invocations_session ON invocations (session_id, id);
CREATE INDEX invocations_subject ON invocations (tenant_id, subject, id) WHERE subject IS NOT NULL;
CREATE INDEX invocations_due ON invocations (due_at) WHERE due_at IS NOT NULL;
CREATE UNIQUE INDEX invocations_key ON invocations (tenant_id, actor, tool_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

CREATE TRIGGER invocations_terminal BEFORE UPDATE ON invocations
    WHEN OLD.status IN ('completed', 'failed', 'rejected', 'cancelled', 'expired')
     AND (NEW.status <> OLD.status OR NEW.output IS NOT OLD.output OR NEW.error IS NOT OLD.error)
BEGIN
    SELECT RAISE(ABORT, 'a settled call is never overwritten');
END;

CREATE TRIGGER invocations_opened
    BEFORE UPDATE OF id, tenant_id, session_id, parent_id, tool_id, tool_version, effect, egress, idempotent, actor,
        subject, source, input, idempotency_key, request_digest, rule, approval_required, created_at, first_seq
    ON invocations
BEGIN
    SELECT RAISE(ABORT, 'what a call was asked for is never changed');
END;
CREATE TRIGGER invocations_no_delete BEFORE DELETE ON invocations
BEGIN
    SELECT RAISE(ABORT, 'calls are never removed');
END;

CREATE TABLE events (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id    TEXT NOT NULL,
    seq           INTEGER NOT NULL,
    tenant_id     TEXT NOT NULL,
    invocation_id TEXT NOT NULL,
    kind          TEXT NOT NULL,
    actor         TEXT NOT NULL,
    at            INTEGER NOT NULL,
    data          TEXT NOT NULL,
    prev_hash     BLOB NOT NULL,
    hash          BLOB NOT NULL,
    UNIQUE (session_id, seq)
) STRICT;

CREATE TRIGGER events_no_update BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'events are never changed');
END;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'events are never removed');
END;

CREATE TABLE anchors (
    seq       INTEGER PRIMARY KEY,
    at        INTEGER NOT NULL,
    heads     BLOB NOT NULL,
    prev_hash BLOB NOT NULL,
    hash      BLOB NOT NULL,
    -- The last event this anchor covers; the next one goes on from here.
    watermark INTEGER NOT NULL
) STRICT;

CREATE TRIGGER anchors_no_update BEFORE UPDATE ON anchors
BEGIN
    SELECT RAISE(ABORT, 'anchors are never changed');
END;
CREATE TRIGGER anchors_no_delete BEFORE DELETE ON anchors
BEGIN
    SELECT RAISE(ABORT, 'anchors are never removed');
END;

CREATE TABLE tools (
    tenant_id         TEXT NOT NULL,
    id                TEXT NOT NULL,
    version           TEXT NOT NULL,
    effect            TEXT NOT NULL CHECK (effect IN ('read', 'mutate', 'destructive')),
    egress            TEXT NOT NULL CHECK (egress IN ('none', 'read_only', 'write')),
    requires_approval INTEGER NOT NULL,
    contract          TEXT NOT NULL,
    updated_at        INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID, STRICT;

-- What writes outside always asks a person; nobody can switch it off.
CREATE TRIGGER tools_egress_insert AFTER INSERT ON tools
    WHEN NEW.egress = 'write' AND NEW.requires_approval = 0
BEGIN
    UPDATE tools SET requires_approval = 1 WHERE tenant_id = NEW.tenant_id AND id = NEW.id;
END;
CREATE TRIGGER tools_egress_update AFTER UPDATE ON tools
    WHEN NEW.egress = 'write' AND NEW.requires_approval = 0
BEGIN
    UPDATE tools SET requires_approval = 1 WHERE tenant_id = NEW.tenant_id AND id = NEW.id;
END;

CREATE TABLE tool_versions (
    tenant_id  TEXT NOT NULL,
    tool_id    TEXT NOT NULL,
    version    TEXT NOT NULL,
    contract   TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, tool_id, version)
) WITHOUT ROWID, STRICT;

CREATE TABLE principals (
    tenant_id TEXT NOT NULL,
    id        TEXT NOT NULL,
    rules     TEXT NOT NULL,
    PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID, STRICT;

CREATE TABLE api_keys (
    id         TEXT PRIMARY KEY,
    tenant_id  TEXT NOT NULL,
    principal  TEXT NOT NULL,
    hash       BLOB NOT NULL UNIQUE,
    label      TEXT NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID, STRICT;
