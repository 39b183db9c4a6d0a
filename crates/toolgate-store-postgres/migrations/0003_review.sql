-- What a person is, or was, asked to decide on: digest, preview, votes, remarks, a changed input. JSON, as the events
-- have it.
ALTER TABLE invocations ADD COLUMN review TEXT;

-- The key a call was made with, so that what a leaked key asked for can be found and is not run after its end.
ALTER TABLE invocations ADD COLUMN key_id TEXT COLLATE "C";

-- An agent works for one person at a time: what it did for one is not what it did for another.
DROP INDEX invocations_key;
CREATE UNIQUE INDEX invocations_key
    ON invocations (tenant_id, actor, (coalesce(subject, '')), tool_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
ALTER TABLE sessions ADD COLUMN subject TEXT COLLATE "C";

-- The key that was rotated to make this one. A key is rotated once, so keys come in lines.
ALTER TABLE api_keys ADD COLUMN replaces TEXT COLLATE "C" REFERENCES api_keys (id);
CREATE UNIQUE INDEX api_keys_replaces ON api_keys (replaces);
CREATE TRIGGER api_keys_line BEFORE UPDATE OF replaces ON api_keys FOR EACH STATEMENT
    EXECUTE FUNCTION toolgate_refuse('what a key was made for is never changed');
