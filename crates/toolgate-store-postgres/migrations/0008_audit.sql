-- The record as a list: newest first, of one tenant; and what is rare in it by who and what.

CREATE INDEX events_time ON events (tenant_id, at, id);
-- Most events are of the two kinds left out: they are many and found without these, and a call need not pay for them.
CREATE INDEX events_actor ON events (tenant_id, actor, at, id) WHERE kind NOT IN ('tool.started', 'tool.completed');
CREATE INDEX events_kind ON events (tenant_id, kind, at, id) WHERE kind NOT IN ('tool.started', 'tool.completed');
