//! The same tries as in `it`, on Postgres.
#![allow(clippy::unwrap_used, reason = "test code")]

#[path = "it/access.rs"]
mod access;
#[path = "it/approval.rs"]
mod approval;
#[path = "it/approved.rs"]
mod approved;
#[path = "it/browser.rs"]
mod browser;
#[path = "it/connection/mod.rs"]
mod connection;
#[path = "it/entity.rs"]
mod entity;
#[path = "it/event_list.rs"]
mod event_list;
#[path = "it/file/mod.rs"]
mod file;
#[path = "it/gate.rs"]
mod gate;
#[path = "it/governance/mod.rs"]
mod governance;
#[path = "it/guarding.rs"]
mod guarding;
#[path = "it/handed_on.rs"]
mod handed_on;
#[path = "it/input_request.rs"]
mod input_request;
#[path = "it/losing.rs"]
mod losing;
#[path = "it/many.rs"]
mod many;
#[path = "it/mcp/mod.rs"]
mod mcp;
#[path = "it/oauth/mod.rs"]
mod oauth;
#[path = "it/oidc.rs"]
mod oidc;
#[path = "it/outbox.rs"]
mod outbox;
#[path = "it/outside.rs"]
mod outside;
#[path = "it/pipeline.rs"]
mod pipeline;
#[path = "it/policy.rs"]
mod policy;
#[path = "it/share.rs"]
mod share;
#[path = "it/sign_in/mod.rs"]
mod sign_in;
#[path = "it/stream.rs"]
mod stream;
#[path = "it/tenant_link/mod.rs"]
mod tenant_link;

const ENGINE: gate::Engine = gate::Engine::Postgres;
