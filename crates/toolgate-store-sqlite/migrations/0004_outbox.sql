-- Messages to the outside, kept until they were taken there.

-- Events that people may have to be told of. The trigger notes them in the transaction that writes the event, so none is
-- lost and none needs a second round trip; whoever makes notifications of them takes them away in the same transaction.
CREATE TABLE outbox_news (
    event_id INTEGER PRIMARY KEY
) STRICT;

CREATE TRIGGER events_news AFTER INSERT ON events
    WHEN NEW.kind IN ('tool.needs_approval', 'tool.review_changed', 'tool.approved', 'tool.rejected', 'tool.expired',
                      'tool.waiting', 'tool.in_doubt')
BEGIN
    INSERT INTO outbox_news (event_id) VALUES (NEW.id);
END;

CREATE TABLE notifications (
    id           TEXT PRIMARY KEY,
    tenant_id    TEXT NOT NULL,
    channel      TEXT NOT NULL,
    kind         TEXT NOT NULL,
    call_id      TEXT,
    -- What the other side knows it by, however often it is sent.
    key          TEXT NOT NULL UNIQUE,
    payload      TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'dead')),
    -- How often it was claimed; also the fence against a sender that comes back late.
    attempts     INTEGER NOT NULL,
    -- When it is to be sent or, once claimed, when its claim ends.
    due_at       INTEGER,
    created_at   INTEGER NOT NULL,
    delivered_at INTEGER,
    last_error   TEXT,
    CHECK ((state = 'waiting') = (due_at IS NOT NULL)),
    CHECK ((state = 'delivered') = (delivered_at IS NOT NULL))
) WITHOUT ROWID, STRICT;

CREATE INDEX notifications_due ON notifications (tenant_id, channel, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX notifications_tenant ON notifications (tenant_id, id);
CREATE INDEX notifications_state ON notifications (tenant_id, state, id);
CREATE INDEX notifications_over ON notifications (created_at) WHERE due_at IS NULL;

CREATE TRIGGER notifications_fixed
    BEFORE UPDATE OF id, tenant_id, channel, kind, call_id, key, payload, created_at ON notifications
BEGIN
    SELECT RAISE(ABORT, 'what a notification says is never changed');
END;

-- What a person decided on or said yes to, by call.
CREATE INDEX events_decisions ON events (tenant_id, actor, invocation_id)
    WHERE kind IN ('tool.approved', 'tool.rejected') OR (kind = 'tool.review_changed' AND data = '{"step":"voted"}');

-- A waiting call's row says why it waits, as its first event does.
UPDATE invocations SET reason = (
    SELECT json_extract(e.data, '$.reason') FROM events e
    WHERE e.session_id = invocations.session_id AND e.seq = invocations.first_seq AND e.kind = 'tool.needs_approval')
WHERE status = 'pending' AND approval = 'pending' AND reason IS NULL;
