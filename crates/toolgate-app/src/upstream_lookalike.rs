//! Names of servers' tools that could be taken for others: the same but for case, separators, a prefix or letters of
//! another script. One and the same name at two servers is none: the server stands in a tool's id.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use toolgate_core::Actor;
use toolgate_core::document::Document;
use toolgate_core::id::{Slug, ToolName};
use toolgate_core::port::upstream::Upstreams;
use toolgate_core::upstream::{ToolState, UpstreamTool, is_tool_id};

use crate::App;

/// What else is called how, by the look of it.
pub(crate) struct Names<'a> {
    pool: &'a dyn Upstreams,
    looks: HashMap<String, Vec<Called>>,
}

/// What of a tool's document says how it is called. There may be thousands, each with its schemas, and these are not
/// looked at.
#[derive(Deserialize)]
struct Named<'a> {
    upstream: Slug,
    id: ToolName,
    #[serde(borrow)]
    offer: Option<NamedOffer<'a>>,
    accepted: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct NamedOffer<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

/// One way in which a tool is called.
struct Called {
    tool: ToolName,
    /// Whose it is; none when it is our own.
    server: Option<Slug>,
    /// Whether only its own server's tools stand beside it: nobody accepted it.
    offered_only: bool,
    /// The name, if it is all there is to it. With a prefix it is nobody else's to have.
    bare: Option<String>,
}

impl App {
    /// The names of our own tools and of everything that servers have here.
    pub(crate) fn names<'a>(&'a self, actor: &Actor, all: &[Document]) -> Option<Names<'a>> {
        let mut names = Names { pool: self.upstreams()?.as_ref(), looks: HashMap::new() };
        for document in all {
            let Ok(tool) = serde_json::from_str::<Named>(document.body.as_str()) else { continue };
            let Some(name) = tool.offer.map(|offer| offer.name) else { continue };
            let (name, offered_only) = (name.as_ref(), tool.accepted.is_none());
            let called = |bare| Called {
                tool: tool.id.clone(),
                server: Some(tool.upstream.clone()),
                offered_only,
                bare,
            };
            names.add(name, called(Some(name.to_owned())));
            names.add(&format!("{}__{name}", tool.upstream), called(None));
            names.add(tool.id.as_str(), called(None));
        }
        let snapshot = self.snapshots.get(&actor.tenant);
        for entry in snapshot.iter().flat_map(|snapshot| snapshot.registry()) {
            let id = &entry.tool.contract.id;
            if is_tool_id(id) {
                continue;
            }
            let called = |bare| Called { tool: id.clone(), server: None, offered_only: false, bare };
            names.add(id.as_str(), called(None));
            if let Some((_, name)) = id.as_str().split_once("__") {
                names.add(name, called(Some(name.to_owned())));
            }
        }
        Some(names)
    }
}

impl Names<'_> {
    fn add(&mut self, name: &str, called: Called) {
        self.looks.entry(self.pool.glance(name)).or_default().push(called);
    }

    /// Adds to what a reviewer has to note of a tool that waits.
    pub(crate) fn note(&self, tool: &mut UpstreamTool) {
        if tool.state() == ToolState::Accepted {
            return;
        }
        let Some(name) = tool.offer.as_ref().map(|offer| &offer.name) else { return };
        let others = self.looks.get(&self.pool.glance(name)).map_or(&[][..], Vec::as_slice);
        let mut alike: Vec<&Called> = others.iter().filter(|other| other.is_like(tool, name)).collect();
        alike.sort_by(|a, b| a.tool.cmp(&b.tool));
        alike.dedup_by(|a, b| a.tool == b.tool);
        let notes = alike.iter().take(MOST).map(|other| match &other.server {
            None => format!("its name looks like that of our own `{}`", other.tool),
            Some(server) if *server == tool.upstream => {
                format!("its name looks like that of `{}` of the same server", other.tool)
            }
            Some(_) => format!("its name looks like that of `{}`, which was accepted", other.tool),
        });
        tool.warnings.extend(notes.collect::<Vec<_>>());
    }
}

/// A server with many such names needs no long list for each.
const MOST: usize = 3;

impl Called {
    /// Whether this name could be taken for that of the tool.
    fn is_like(&self, tool: &UpstreamTool, name: &str) -> bool {
        let own = self.server.as_ref() == Some(&tool.upstream);
        // Its own prefix is every tool's own to have, and what nobody accepted is nobody's to be taken for elsewhere.
        let counts = if own { self.bare.is_some() } else { !self.offered_only };
        counts && self.tool != tool.id && self.bare.as_deref() != Some(name)
    }
}
