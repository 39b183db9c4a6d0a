//! The index: from a principal and a resource to the policies whose scope matches both, without looking at others.
//!
//! Each policy is filed under the exact text of its scope. A principal or resource matches a handful of scopes, which
//! it can list itself, so finding its policies costs the same however many there are.

use std::collections::HashMap;

use cedar_policy::pst::{self, ActionConstraint, EntityOrSlot, PrincipalConstraint, ResourceConstraint};

use super::facts::{Action, PrincipalFacts, ToolKind};

/// The namespace of our words.
pub(super) const NAMESPACE: &str = "Toolgate";

/// An entity as a policy names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Uid {
    pub(super) kind: String,
    pub(super) id: String,
}

impl Uid {
    /// One of our own entities.
    pub(super) fn ours(kind: &str, id: &str) -> Self {
        Self { kind: format!("{NAMESPACE}::{kind}"), id: id.to_owned() }
    }
}

impl From<&pst::EntityUID> for Uid {
    fn from(uid: &pst::EntityUID) -> Self {
        Self { kind: uid.ty.to_string(), id: uid.eid.to_string() }
    }
}

/// What a policy's scope asks of a principal or a resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Scope {
    Any,
    Is(String),
    Eq(Uid),
    In(Uid),
    IsIn(String, Uid),
}

/// An entity and what it is directly in.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) uid: Uid,
    pub(super) parents: Vec<Uid>,
}

impl Member {
    /// A principal in its roles.
    pub(super) fn principal(who: &PrincipalFacts) -> Self {
        let parents = who.roles.iter().map(|role| Uid::ours("Role", role)).collect();
        Self { uid: super::entity::principal_uid(&who.id), parents }
    }

    /// A tool in its toolsets.
    pub(super) fn tool(id: &str, kind: &ToolKind) -> Self {
        let parents = kind.toolsets.iter().map(|toolset| Uid::ours("Toolset", toolset)).collect();
        Self { uid: Uid::ours("Tool", id), parents }
    }

    /// Something that is in nothing.
    pub(super) fn alone(kind: &str, id: &str) -> Self {
        Self { uid: Uid::ours(kind, id), parents: Vec::new() }
    }

    /// Every scope this entity matches, and no other.
    fn scopes(&self) -> impl Iterator<Item = Scope> {
        let kind = &self.uid.kind;
        // Cedar's `in` also holds for the entity itself.
        let around = std::iter::once(&self.uid).chain(&self.parents);
        [Scope::Any, Scope::Is(kind.clone()), Scope::Eq(self.uid.clone())].into_iter().chain(
            around.flat_map(move |uid| [Scope::In(uid.clone()), Scope::IsIn(kind.clone(), uid.clone())]),
        )
    }
}

/// A scope's place in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ScopeId(u32);

/// A policy's place in the text.
pub(super) type PolicyIndex = u32;

/// Policies filed by action and scope.
#[derive(Debug, Default)]
pub(super) struct Index {
    principals: HashMap<Scope, ScopeId>,
    resources: HashMap<Scope, ScopeId>,
    policies: HashMap<(Action, ScopeId, ScopeId), Vec<PolicyIndex>>,
}

impl Index {
    /// Files a policy. Policies are filed in the order of the text.
    pub(super) fn add(&mut self, policy: PolicyIndex, body: &pst::Template) {
        let principal = number(&mut self.principals, principal_scope(&body.principal));
        let resource = number(&mut self.resources, resource_scope(&body.resource));
        for action in Action::ALL.into_iter().filter(|action| covers(&body.action, *action)) {
            self.policies.entry((action, principal, resource)).or_default().push(policy);
        }
    }

    /// The scopes in use that this principal matches.
    pub(super) fn of_principal(&self, principal: &Member) -> Vec<ScopeId> {
        matching(&self.principals, principal)
    }

    /// The scopes in use that this resource matches.
    pub(super) fn of_resource(&self, resource: &Member) -> Vec<ScopeId> {
        matching(&self.resources, resource)
    }

    /// Every policy whose scope matches, in the order of the text.
    pub(super) fn slice(
        &self,
        action: Action,
        principals: &[ScopeId],
        resources: &[ScopeId],
    ) -> Vec<PolicyIndex> {
        let mut found = Vec::new();
        for principal in principals {
            for resource in resources {
                found.extend(self.policies.get(&(action, *principal, *resource)).into_iter().flatten());
            }
        }
        found.sort_unstable();
        found
    }
}

fn number(scopes: &mut HashMap<Scope, ScopeId>, scope: Scope) -> ScopeId {
    // There are at most as many scopes as policies, and those are limited to thousands.
    let next = ScopeId(u32::try_from(scopes.len()).unwrap_or(u32::MAX));
    *scopes.entry(scope).or_insert(next)
}

fn matching(scopes: &HashMap<Scope, ScopeId>, member: &Member) -> Vec<ScopeId> {
    let mut found: Vec<ScopeId> = member.scopes().filter_map(|scope| scopes.get(&scope).copied()).collect();
    // A parent named twice must not count its policies twice.
    found.sort_unstable();
    found.dedup();
    found
}

fn covers(constraint: &ActionConstraint, action: Action) -> bool {
    let is = |uid: &pst::EntityUID| {
        uid.eid == action.as_str() && uid.ty.0.id.as_str() == "Action" && {
            let namespace = &uid.ty.0.namespace;
            namespace.len() == 1 && namespace[0].as_str() == NAMESPACE
        }
    };
    match constraint {
        ActionConstraint::Any => true,
        ActionConstraint::Eq(uid) => is(uid),
        ActionConstraint::In(uids) => uids.iter().any(is),
    }
}

fn principal_scope(constraint: &PrincipalConstraint) -> Scope {
    match constraint {
        PrincipalConstraint::Any => Scope::Any,
        PrincipalConstraint::Is(kind) => Scope::Is(kind.to_string()),
        PrincipalConstraint::Eq(entity) => Scope::Eq(uid_of(entity)),
        PrincipalConstraint::In(entity) => Scope::In(uid_of(entity)),
        PrincipalConstraint::IsIn(kind, entity) => Scope::IsIn(kind.to_string(), uid_of(entity)),
    }
}

fn resource_scope(constraint: &ResourceConstraint) -> Scope {
    match constraint {
        ResourceConstraint::Any => Scope::Any,
        ResourceConstraint::Is(kind) => Scope::Is(kind.to_string()),
        ResourceConstraint::Eq(entity) => Scope::Eq(uid_of(entity)),
        ResourceConstraint::In(entity) => Scope::In(uid_of(entity)),
        ResourceConstraint::IsIn(kind, entity) => Scope::IsIn(kind.to_string(), uid_of(entity)),
    }
}

fn uid_of(entity: &EntityOrSlot) -> Uid {
    match entity {
        EntityOrSlot::Entity(uid) => uid.into(),
        // Templates are refused when the text is parsed; an entity of no kind matches nothing.
        EntityOrSlot::Slot(slot) => Uid { kind: String::new(), id: slot.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(policies: &[&str]) -> Index {
        let mut index = Index::default();
        for (i, text) in policies.iter().enumerate() {
            let policy = cedar_policy::Policy::parse(None, text).unwrap();
            index.add(i as u32, policy.to_pst().unwrap().body());
        }
        index
    }

    fn check(policies: &[&str], who: &str, roles: &[&str], action: Action, tool: &str, expected: &[u32]) {
        let index = index(policies);
        let who = PrincipalFacts {
            id: who.parse().unwrap(),
            roles: roles.iter().map(|&role| role.to_owned()).collect(),
            rules: [].into(),
        };
        let mut tool_member = Member::alone("Tool", tool);
        tool_member.parents = vec![Uid::ours("Toolset", "desk"), Uid::ours("Toolset", "desk")];
        let found = index.slice(
            action,
            &index.of_principal(&Member::principal(&who)),
            &index.of_resource(&tool_member),
        );
        assert_eq!(found, expected);
    }

    #[test]
    fn every_form_of_scope_is_found_by_those_it_matches() {
        let policies = [
            "permit (principal, action, resource);",
            "permit (principal is Toolgate::User, action, resource is Toolgate::Tool);",
            "permit (principal == Toolgate::User::\"user:ada\", action, resource == Toolgate::Tool::\"a__b\");",
            "permit (principal in Toolgate::Role::\"r\", action, resource in Toolgate::Toolset::\"desk\");",
            "permit (principal is Toolgate::User in Toolgate::Role::\"r\", action, resource is Toolgate::Tool in Toolgate::Toolset::\"desk\");",
            "permit (principal in Toolgate::User::\"user:ada\", action, resource in Toolgate::Tool::\"a__b\");",
            "permit (principal == Toolgate::Role::\"r\", action, resource == Toolgate::Toolset::\"desk\");",
            "permit (principal is User, action, resource);",
        ];
        check(&policies, "user:ada", &["r", "r"], Action::See, "a__b", &[0, 1, 2, 3, 4, 5]);
        check(&policies, "user:bob", &[], Action::See, "a__b", &[0, 1]);
        check(&policies, "agent:ada", &["r"], Action::See, "a__c", &[0, 3]);
    }

    #[test]
    fn actions_are_ours_or_do_not_match() {
        let policies = [
            "permit (principal, action == Toolgate::Action::\"call\", resource);",
            "permit (principal, action in [Toolgate::Action::\"see\", Toolgate::Action::\"call\"], resource);",
            "permit (principal, action == Action::\"call\", resource);",
            "permit (principal, action == Other::Toolgate::Action::\"call\", resource);",
            "permit (principal, action in [], resource);",
        ];
        check(&policies, "user:a", &[], Action::Call, "a__b", &[0, 1]);
        check(&policies, "user:a", &[], Action::See, "a__b", &[1]);
        check(&policies, "user:a", &[], Action::Manage, "a__b", &[]);
    }
}
