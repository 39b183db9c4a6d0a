-- SQLite makes a table of its own for every list of more than two after IN, each time a row is written. Written as
-- comparisons, the same rules cost next to nothing. Nothing else about the tables changes, so only their text does;
-- see "Making Other Kinds Of Table Schema Changes" in SQLite's manual for why that is enough.
--
-- Events are never removed, so their numbers need no memory beside the largest one there is.

PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql =
    replace(replace(replace(replace(replace(replace(sql,
        'effect IN (''read'', ''mutate'', ''destructive'')',
        'effect = ''read'' OR effect = ''mutate'' OR effect = ''destructive'''),
        'egress IN (''none'', ''read_only'', ''write'')',
        'egress = ''none'' OR egress = ''read_only'' OR egress = ''write'''),
        'status IN (''pending'', ''running'', ''waiting'', ''completed'', ''failed'',
                                                      ''rejected'', ''cancelled'', ''expired'', ''in_doubt'')',
        'status = ''completed'' OR status = ''pending'' OR status = ''running'' OR status = ''waiting''
                                               OR status = ''failed'' OR status = ''rejected'' OR status = ''cancelled''
                                               OR status = ''expired'' OR status = ''in_doubt'''),
        'approval IN (''not_required'', ''pending'', ''approved'', ''rejected'')',
        'approval = ''not_required'' OR approval = ''pending'' OR approval = ''approved'' OR approval = ''rejected'''),
        'status NOT IN (''running'', ''waiting'', ''completed'') OR approval IN (''not_required'', ''approved'')',
        'approval = ''not_required'' OR approval = ''approved''
           OR (status <> ''running'' AND status <> ''waiting'' AND status <> ''completed'')'),
        'approval <> ''not_required'' OR status NOT IN (''running'', ''waiting'', ''completed'')',
        'approval <> ''not_required''
           OR (status <> ''running'' AND status <> ''waiting'' AND status <> ''completed'')')
WHERE type = 'table' AND name = 'invocations';

UPDATE sqlite_schema SET sql = replace(sql, 'INTEGER PRIMARY KEY AUTOINCREMENT', 'INTEGER PRIMARY KEY')
WHERE type = 'table' AND name = 'events';

PRAGMA writable_schema = RESET;

DROP TRIGGER events_news;
CREATE TRIGGER events_news AFTER INSERT ON events
    WHEN NEW.kind = 'tool.needs_approval' OR NEW.kind = 'tool.review_changed' OR NEW.kind = 'tool.approved'
      OR NEW.kind = 'tool.rejected' OR NEW.kind = 'tool.expired' OR NEW.kind = 'tool.waiting'
      OR NEW.kind = 'tool.in_doubt'
BEGIN
    INSERT INTO outbox_news (event_id) VALUES (NEW.id);
END;
