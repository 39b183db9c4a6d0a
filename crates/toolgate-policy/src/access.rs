//! Access rules and connections.

use std::collections::HashSet;

use toolgate_core::error::{CallError, ErrorCode};
use toolgate_core::id::{ConnectionId, PrincipalKind};
use toolgate_core::port::gate::Authorizer;
use toolgate_core::{Actor, ToolContract};

/// Every access rule the contract names must be held, by the caller and by the person it works for.
#[derive(Debug, Clone, Copy, Default)]
pub struct AccessAuthorizer;

impl Authorizer for AccessAuthorizer {
    fn authorize(&self, actor: &Actor, tool: &ToolContract) -> Result<(), CallError> {
        // Only an agent or a service can work for someone else, and only for a person.
        if let Some(subject) = actor.subject_id()
            && (actor.principal.kind() == PrincipalKind::User || subject.kind() != PrincipalKind::User)
        {
            return Err(CallError::new(ErrorCode::AuthzDenied, "this caller may not act for the subject"));
        }
        let subject = actor.subject.iter().map(|subject| (&subject.principal, &subject.rules));
        for (principal, rules) in std::iter::once((&actor.principal, &actor.rules)).chain(subject) {
            if let Some(missing) = tool.permissions.iter().find(|rule| !rules.hold(rule)) {
                return Err(CallError::new(
                    ErrorCode::AuthzDenied,
                    format!("`{principal}` does not hold the access rule `{missing}`"),
                )
                .hint(format!("someone who manages the tenant can grant `{missing}`"))
                .details(serde_json::json!({ "missing": missing, "principal": principal })));
            }
        }
        Ok(())
    }
}

/// The connections granted so far: the asked-for one must be among them.
#[derive(Debug, Clone, Default)]
pub struct GrantedConnections(HashSet<ConnectionId>);

impl GrantedConnections {
    /// Grants these connections and no others.
    #[must_use]
    pub fn new(granted: impl IntoIterator<Item = ConnectionId>) -> Self {
        Self(granted.into_iter().collect())
    }

    /// The connection asked for, where the tool needs one and this is granted.
    ///
    /// # Errors
    /// Why not, as `policy_denied`.
    pub fn check(
        &self,
        tool: &ToolContract,
        asked_for: Option<ConnectionId>,
    ) -> Result<Option<ConnectionId>, CallError> {
        match (&tool.connection, asked_for) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err(CallError::new(ErrorCode::PolicyDenied, "this tool takes no connection")),
            (Some(need), None) => Err(CallError::new(
                ErrorCode::PolicyDenied,
                format!("this tool needs a connection to `{}`", need.provider),
            )),
            (Some(_), Some(id)) if self.0.contains(&id) => Ok(Some(id)),
            (Some(_), Some(_)) => {
                Err(CallError::new(ErrorCode::PolicyDenied, "this connection is not granted for the call"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolgate_core::id::TenantId;
    use toolgate_core::{AccessRules, Credential, Subject};

    fn tool(extra: serde_json::Value) -> ToolContract {
        let mut contract = json!({
            "id": "core__x", "title": "t", "description": "d", "category": "c", "icon": "i",
            "input_schema": {"type": "object"}, "output_schema": {"type": "object"},
            "effect": "read", "redaction": {"allow": ["*"]}, "execution": {"kind": "native", "plugin": "core"}
        });
        contract.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        serde_json::from_value(contract).unwrap()
    }

    fn actor(principal: &str, rules: &[&str]) -> Actor {
        Actor {
            tenant: TenantId::default_tenant(),
            principal: principal.parse().unwrap(),
            subject: None,
            rules: rules_of(rules),
            roles: [].into(),
            scopes: std::sync::Arc::default(),
            credential: Credential::Internal,
        }
    }

    fn rules_of(rules: &[&str]) -> AccessRules {
        AccessRules::new(rules.iter().map(|&rule| rule.to_owned()))
    }

    fn working_for(principal: &str, subject: &str, rules: &[&str]) -> Actor {
        let subject =
            Subject { principal: subject.parse().unwrap(), rules: rules_of(rules), roles: [].into() };
        Actor { subject: Some(subject), ..actor(principal, &["a.b.read"]) }
    }

    #[test]
    fn every_rule_must_be_held() {
        let needs_two = tool(json!({"permissions": ["a.b.read", "a.b.write"]}));
        let check = |rules: &[&str]| AccessAuthorizer.authorize(&actor("user:u", rules), &needs_two);
        assert!(check(&["a.b.read", "a.b.write"]).is_ok());
        assert!(check(&["*"]).is_ok());
        let denied = check(&["a.b.read"]).unwrap_err();
        assert_eq!(denied.code, ErrorCode::AuthzDenied);
        assert!(denied.message.contains("a.b.write"));
    }

    #[test]
    fn only_agents_and_services_act_for_people() {
        let plain = tool(json!({}));
        for (principal, subject, fine) in
            [("agent:a", "user:u", true), ("user:a", "user:u", false), ("agent:a", "agent:b", false)]
        {
            let caller = working_for(principal, subject, &[]);
            assert_eq!(
                AccessAuthorizer.authorize(&caller, &plain).is_ok(),
                fine,
                "{principal} for {subject}"
            );
        }
    }

    #[test]
    fn an_agent_has_no_rule_that_its_person_lacks() {
        let needs_one = tool(json!({"permissions": ["a.b.read"]}));
        let check =
            |rules: &[&str]| AccessAuthorizer.authorize(&working_for("agent:a", "user:u", rules), &needs_one);
        assert!(check(&["a.b.read"]).is_ok());
        assert!(check(&[]).unwrap_err().message.contains("user:u"));
    }

    #[test]
    fn a_connection_must_be_needed_asked_for_and_granted() {
        let needs = tool(json!({"connection": {"provider": "github"}}));
        let (granted, other) = (ConnectionId::generate(), ConnectionId::generate());
        let gate = GrantedConnections::new([granted]);
        assert_eq!(gate.check(&needs, Some(granted)), Ok(Some(granted)));
        assert!(gate.check(&needs, Some(other)).is_err());
        assert!(gate.check(&needs, None).is_err());
        assert!(gate.check(&tool(json!({})), Some(granted)).is_err());
    }
}
