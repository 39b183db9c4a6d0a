-- Messages to the outside, kept until they were taken there.

-- Events that people may have to be told of. The trigger notes them in the statement that writes the event, so none is
-- lost and none needs a second round trip; whoever makes notifications of them takes them away in the same transaction.
CREATE TABLE outbox_news (
    event_id BIGINT PRIMARY KEY
);

CREATE FUNCTION toolgate_note_news() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outbox_news (event_id) VALUES (NEW.id);
    RETURN NULL;
END
$$;

-- An ordinary call's events cost one comparison: the function is called for these kinds only.
CREATE TRIGGER events_news AFTER INSERT ON events FOR EACH ROW
    WHEN (NEW.kind IN ('tool.needs_approval', 'tool.review_changed', 'tool.approved', 'tool.rejected', 'tool.expired',
                       'tool.waiting', 'tool.in_doubt'))
    EXECUTE FUNCTION toolgate_note_news();

CREATE TABLE notifications (
    id           TEXT COLLATE "C" PRIMARY KEY,
    tenant_id    TEXT COLLATE "C" NOT NULL,
    channel      TEXT COLLATE "C" NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL,
    call_id      TEXT COLLATE "C",
    -- What the other side knows it by, however often it is sent.
    key          TEXT COLLATE "C" NOT NULL UNIQUE,
    payload      TEXT NOT NULL,
    state        TEXT COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'delivered', 'dead')),
    -- How often it was claimed; also the fence against a sender that comes back late.
    attempts     BIGINT NOT NULL,
    -- When it is to be sent or, once claimed, when its claim ends.
    due_at       BIGINT,
    created_at   BIGINT NOT NULL,
    delivered_at BIGINT,
    last_error   TEXT,
    CONSTRAINT notifications_open CHECK ((state = 'waiting') = (due_at IS NOT NULL)),
    CONSTRAINT notifications_taken CHECK ((state = 'delivered') = (delivered_at IS NOT NULL))
);

CREATE INDEX notifications_due ON notifications (tenant_id, channel, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX notifications_tenant ON notifications (tenant_id, id);
CREATE INDEX notifications_state ON notifications (tenant_id, state, id);
CREATE INDEX notifications_over ON notifications (created_at) WHERE due_at IS NULL;

CREATE TRIGGER notifications_fixed
    BEFORE UPDATE OF id, tenant_id, channel, kind, call_id, key, payload, created_at ON notifications FOR EACH STATEMENT
    EXECUTE FUNCTION toolgate_refuse('what a notification says is never changed');

-- What a person decided on or said yes to, by call.
CREATE INDEX events_decisions ON events (tenant_id, actor, invocation_id)
    WHERE kind IN ('tool.approved', 'tool.rejected') OR (kind = 'tool.review_changed' AND data = '{"step":"voted"}');

-- A waiting call's row says why it waits, as its first event does. One by one: an event with an escaped NUL in it can't be
-- read as JSON here, and is no reason to stop.
DO $$
DECLARE
    waiting record;
BEGIN
    FOR waiting IN
        SELECT i.id, e.data FROM invocations i JOIN events e ON e.session_id = i.session_id AND e.seq = i.first_seq
        WHERE i.status = 'pending' AND i.approval = 'pending' AND i.reason IS NULL AND e.kind = 'tool.needs_approval'
    LOOP
        BEGIN
            UPDATE invocations SET reason = waiting.data::json ->> 'reason' WHERE id = waiting.id;
        EXCEPTION WHEN OTHERS THEN
            NULL;
        END;
    END LOOP;
END
$$;
