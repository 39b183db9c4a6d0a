//! A tenant's tools, gathered by what policies can tell apart.
//!
//! Cedar cannot look inside a name. Two tools that no policy names and that declare the same get the same answers,
//! so they share one place in the memo and are evaluated once.

use std::collections::HashMap;
use std::sync::Arc;

use cedar_policy::Entity;
use toolgate_core::id::ToolName;

use super::entity::{self, Unaskable};
use super::facts::{ToolFacts, ToolKind};
use super::input::InputType;
use super::policies::Policies;
use super::scope::{Member, ScopeId};

/// The tools of a tenant.
#[derive(Debug)]
pub(super) struct Tools {
    places: HashMap<ToolName, Place>,
    pub(super) classes: Vec<Class>,
}

/// Where a tool stands.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) class: usize,
    pub(super) input: Arc<InputType>,
}

/// Tools that policies cannot tell apart, shown by one of them.
#[derive(Debug)]
pub(super) struct Class {
    /// The scopes of the index they match.
    pub(super) scopes: Vec<ScopeId>,
    pub(super) entity: Result<Entity, Unaskable>,
}

impl Tools {
    pub(super) fn new(policies: &Policies, tools: Vec<ToolFacts>) -> Self {
        let mut places = HashMap::with_capacity(tools.len());
        let mut classes = Vec::new();
        let mut known: HashMap<(ToolKind, Option<ToolName>), usize> = HashMap::new();
        for ToolFacts { id, kind, input } in tools {
            let named = policies.named_tools.contains(id.as_str()).then(|| id.clone());
            let class = *known.entry((kind, named)).or_insert_with_key(|(kind, _)| {
                let member = Member::tool(id.as_str(), kind);
                let scopes = policies.index.of_resource(&member);
                classes.push(Class { scopes, entity: entity::tool(&member, kind) });
                classes.len() - 1
            });
            places.insert(id, Place { class, input });
        }
        Self { places, classes }
    }

    pub(super) fn place(&self, tool: &ToolName) -> Option<&Place> {
        self.places.get(tool)
    }
}
