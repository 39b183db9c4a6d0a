-- Sessions, calls, their events, anchors, tools, principals and keys.
--
-- Ids are TEXT: UUIDv7 with a prefix, so that ordering by id is ordering by time; COLLATE "C" makes that true on every
-- server. Times are microseconds. JSON is kept as text, byte for byte: hashes are taken over it.

CREATE TABLE sessions (
    id          TEXT COLLATE "C" PRIMARY KEY,
    tenant_id   TEXT COLLATE "C" NOT NULL,
    owner       TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL
);

CREATE TABLE invocations (
    id                TEXT COLLATE "C" PRIMARY KEY,
    tenant_id         TEXT COLLATE "C" NOT NULL,
    session_id        TEXT COLLATE "C" NOT NULL,
    parent_id         TEXT COLLATE "C",
    tool_id           TEXT COLLATE "C" NOT NULL,
    tool_version      TEXT COLLATE "C",
    effect            TEXT COLLATE "C" NOT NULL CHECK (effect IN ('read', 'mutate', 'destructive')),
    egress            TEXT COLLATE "C" NOT NULL CHECK (egress IN ('none', 'read_only', 'write')),
    idempotent        BOOLEAN NOT NULL,
    actor             TEXT COLLATE "C" NOT NULL,
    subject           TEXT COLLATE "C",
    source            TEXT COLLATE "C" NOT NULL,
    input             TEXT NOT NULL,
    idempotency_key   TEXT COLLATE "C",
    request_digest    TEXT COLLATE "C" NOT NULL,
    rule              TEXT,
    approval_required BOOLEAN NOT NULL,
    created_at        BIGINT NOT NULL,
    status            TEXT COLLATE "C" NOT NULL
        CHECK (status IN ('pending', 'running', 'waiting', 'completed', 'failed', 'rejected', 'cancelled', 'expired',
                          'in_doubt')),
    approval          TEXT COLLATE "C" NOT NULL CHECK (approval IN ('not_required', 'pending', 'approved', 'rejected')),
    decided_by        TEXT COLLATE "C",
    reason            TEXT,
    output            TEXT,
    error             TEXT,
    cost_micros       BIGINT,
    attempt           BIGINT NOT NULL,
    worker            TEXT COLLATE "C",
    cancel_requested  BOOLEAN NOT NULL,
    revision          BIGINT NOT NULL,
    first_seq         BIGINT NOT NULL,
    last_seq          BIGINT NOT NULL,
    started_at        BIGINT,
    completed_at      BIGINT,
    due_at            BIGINT,
    -- What needs a person never runs without one, whatever the code above says.
    CONSTRAINT invocations_asked CHECK (NOT approval_required OR approval <> 'not_required'),
    CONSTRAINT invocations_decided CHECK (
        status NOT IN ('running', 'waiting', 'completed', 'in_doubt') OR approval IN ('not_required', 'approved')),
    -- What writes outside always asks a person.
    CONSTRAINT invocations_egress CHECK (
        egress <> 'write' OR approval <> 'not_required'
        OR status NOT IN ('running', 'waiting', 'completed', 'in_doubt'))
);

CREATE INDEX invocations_tenant ON invocations (tenant_id, id);
CREATE INDEX invocations_tool ON invocations (tenant_id, tool_id, id);
CREATE INDEX invocations_actor ON invocations (tenant_id, actor, id);
CREATE INDEX invocations_status ON invocations (tenant_id, status, id);
CREATE INDEX invocations_session ON invocations (session_id, id);
CREATE INDEX invocations_subject ON invocations (tenant_id, subject, id) WHERE subject IS NOT NULL;
CREATE INDEX invocations_due ON invocations (due_at) WHERE due_at IS NOT NULL;
CREATE UNIQUE INDEX invocations_key ON invocations (tenant_id, actor, tool_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

-- Says no, with the trigger's own argument as the reason.
CREATE FUNCTION toolgate_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END
$$;

-- A late result moves revision and last_seq of a settled call, and nothing else.
CREATE TRIGGER invocations_terminal BEFORE UPDATE ON invocations FOR EACH ROW
    WHEN (OLD.status IN ('completed', 'failed', 'rejected', 'cancelled', 'expired')
          AND (NEW.status, NEW.approval, NEW.decided_by, NEW.reason, NEW.output, NEW.error, NEW.completed_at)
              IS DISTINCT FROM
              (OLD.status, OLD.approval, OLD.decided_by, OLD.reason, OLD.output, OLD.error, OLD.completed_at))
    EXECUTE FUNCTION toolgate_refuse('a settled call is never overwritten');

-- Costs an ordinary update nothing: it names none of these columns.
CREATE TRIGGER invocations_opened
    BEFORE UPDATE OF id, tenant_id, session_id, parent_id, tool_id, tool_version, effect, egress, idempotent, actor,
        subject, source, input, idempotency_key, request_digest, rule, approval_required, created_at, first_seq
    ON invocations FOR EACH STATEMENT
    EXECUTE FUNCTION toolgate_refuse('what a call was asked for is never changed');

CREATE TRIGGER invocations_kept BEFORE DELETE OR TRUNCATE ON invocations FOR EACH STATEMENT
    EXECUTE FUNCTION toolgate_refuse('calls are never removed');

-- The record. One chain per session: UNIQUE (session_id, seq) is what keeps two writers from forking it, and it is why
-- this table is not partitioned by time: a unique constraint across partitions would have to contain the time.
CREATE TABLE events (
    id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session_id    TEXT COLLATE "C" NOT NULL,
    seq           BIGINT NOT NULL,
    tenant_id     TEXT COLLATE "C" NOT NULL,
    invocation_id TEXT COLLATE "C" NOT NULL,
    kind          TEXT COLLATE "C" NOT NULL,
    actor         TEXT COLLATE "C" NOT NULL,
    at            BIGINT NOT NULL,
    data          TEXT NOT NULL,
    prev_hash     BYTEA NOT NULL CHECK (length(prev_hash) = 32),
    hash          BYTEA NOT NULL CHECK (length(hash) = 32),
    -- The transaction that wrote it: tells an anchor which events can no longer be followed by earlier ones.
    xid           xid8 NOT NULL DEFAULT pg_current_xact_id(),
    CONSTRAINT events_place UNIQUE (session_id, seq)
);

CREATE INDEX events_xid ON events (xid);

CREATE TRIGGER events_fixed BEFORE UPDATE OR DELETE OR TRUNCATE ON events FOR EACH STATEMENT
    EXECUTE FUNCTION toolgate_refuse('events are never changed or removed');

CREATE TABLE anchors (
    seq               BIGINT PRIMARY KEY,
    at                BIGINT NOT NULL,
    heads             BYTEA NOT NULL,
    prev_hash         BYTEA NOT NULL CHECK (length(prev_hash) = 32),
    hash              BYTEA NOT NULL CHECK (length(hash) = 32),
    -- Everything before (watermark, watermark_session), by transaction and then session, is covered.
    watermark         xid8 NOT NULL,
    watermark_session TEXT COLLATE "C" NOT NULL
);

CREATE TRIGGER anchors_fixed BEFORE UPDATE OR DELETE OR TRUNCATE ON anchors FOR EACH STATEMENT
    EXECUTE FUNCTION toolgate_refuse('anchors are never changed or removed');

CREATE TABLE tools (
    tenant_id         TEXT COLLATE "C" NOT NULL,
    id                TEXT COLLATE "C" NOT NULL,
    version           TEXT COLLATE "C" NOT NULL,
    effect            TEXT COLLATE "C" NOT NULL CHECK (effect IN ('read', 'mutate', 'destructive')),
    egress            TEXT COLLATE "C" NOT NULL CHECK (egress IN ('none', 'read_only', 'write')),
    requires_approval BOOLEAN NOT NULL,
    contract          TEXT NOT NULL,
    updated_at        BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE FUNCTION toolgate_ask_for_writes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.requires_approval := TRUE;
    RETURN NEW;
END
$$;

-- What writes outside always asks a person; nobody can switch it off.
CREATE TRIGGER tools_egress BEFORE INSERT OR UPDATE ON tools FOR EACH ROW
    WHEN (NEW.egress = 'write' AND NOT NEW.requires_approval)
    EXECUTE FUNCTION toolgate_ask_for_writes();

CREATE TABLE tool_versions (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    tool_id    TEXT COLLATE "C" NOT NULL,
    version    TEXT COLLATE "C" NOT NULL,
    contract   TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, tool_id, version)
);

CREATE TABLE principals (
    tenant_id TEXT COLLATE "C" NOT NULL,
    id        TEXT COLLATE "C" NOT NULL,
    rules     TEXT NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE api_keys (
    id         TEXT COLLATE "C" PRIMARY KEY,
    tenant_id  TEXT COLLATE "C" NOT NULL,
    principal  TEXT COLLATE "C" NOT NULL,
    hash       BYTEA NOT NULL UNIQUE,
    label      TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    FOREIGN KEY (tenant_id, principal) REFERENCES principals (tenant_id, id)
);
