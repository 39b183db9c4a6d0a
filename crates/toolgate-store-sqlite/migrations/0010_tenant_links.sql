-- Users of different tenants who are one person. Each tenant has its own half; a link holds while both do.

CREATE TABLE tenant_links (
    tenant_id       TEXT NOT NULL,
    id              TEXT NOT NULL,
    principal       TEXT NOT NULL,
    other_tenant    TEXT NOT NULL CHECK (other_tenant <> tenant_id),
    other_principal TEXT NOT NULL,
    proof           TEXT NOT NULL,
    made_at         INTEGER NOT NULL,
    -- Kept after its end: what was taken back once is not made again by itself.
    ended_at        INTEGER,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, principal) REFERENCES principals (tenant_id, id),
    FOREIGN KEY (other_tenant, other_principal) REFERENCES principals (tenant_id, id)
) WITHOUT ROWID, STRICT;

CREATE UNIQUE INDEX tenant_links_pair ON tenant_links (tenant_id, principal, other_tenant, other_principal)
    WHERE ended_at IS NULL;
CREATE INDEX tenant_links_ever ON tenant_links (tenant_id, principal, other_tenant, other_principal);

-- Where someone proved who they are who then switched to another tenant, and by which link.
ALTER TABLE sign_ins ADD COLUMN from_tenant TEXT;
ALTER TABLE sign_ins ADD COLUMN from_principal TEXT;
ALTER TABLE sign_ins ADD COLUMN link_id TEXT;

CREATE INDEX sign_ins_from ON sign_ins (from_tenant, from_principal) WHERE from_tenant IS NOT NULL;
CREATE INDEX identities_person ON identities (issuer, sub);
