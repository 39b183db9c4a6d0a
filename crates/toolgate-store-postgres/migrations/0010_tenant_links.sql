-- Users of different tenants who are one person. Each tenant has its own half; a link holds while both do.

CREATE TABLE tenant_links (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    principal       TEXT COLLATE "C" NOT NULL,
    other_tenant    TEXT COLLATE "C" NOT NULL CHECK (other_tenant <> tenant_id),
    other_principal TEXT COLLATE "C" NOT NULL,
    proof           TEXT NOT NULL,
    made_at         BIGINT NOT NULL,
    -- Kept after its end: what was taken back once is not made again by itself.
    ended_at        BIGINT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, principal) REFERENCES principals (tenant_id, id),
    FOREIGN KEY (other_tenant, other_principal) REFERENCES principals (tenant_id, id)
);

CREATE UNIQUE INDEX tenant_links_pair ON tenant_links (tenant_id, principal, other_tenant, other_principal)
    WHERE ended_at IS NULL;
CREATE INDEX tenant_links_ever ON tenant_links (tenant_id, principal, other_tenant, other_principal);

-- Where someone proved who they are who then switched to another tenant, and by which link.
ALTER TABLE sign_ins ADD COLUMN from_tenant TEXT COLLATE "C";
ALTER TABLE sign_ins ADD COLUMN from_principal TEXT COLLATE "C";
ALTER TABLE sign_ins ADD COLUMN link_id TEXT COLLATE "C";

CREATE INDEX sign_ins_from ON sign_ins (from_tenant, from_principal) WHERE from_tenant IS NOT NULL;
CREATE INDEX identities_person ON identities (issuer, sub);
