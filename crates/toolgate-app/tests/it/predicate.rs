//! One predicate: for random documents, policies and callers, what is listed is what can be called, and adding a forbid
//! never allows more.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};
use toolgate_app::{App, Connections, Limits, Records, Snapshots, source_of};
use toolgate_core::actor::{Credential, Subject};
use toolgate_core::document::{Document, DocumentKind};
use toolgate_core::id::{ApiKeyId, SignInId, TenantId};
use toolgate_core::port::capability::{Capabilities, SystemClock};
use toolgate_core::port::executor::{Executor, ToolFailure};
use toolgate_core::port::store::Store;
use toolgate_core::runner::{CallInput, Parts, Settings};
use toolgate_core::scope::Scopes;
use toolgate_core::{
    AccessRules, Actor, BoundTool, Call, ClearedCall, ErrorCode, JsonText, Runner, Source, Status, Timestamp,
    ToolOutput,
};
use toolgate_policy::{AccessAuthorizer, GrantedConnections};
use toolgate_testkit::Forgetful;

struct Nothing;

#[async_trait]
impl Executor for Nothing {
    async fn execute(&self, _: ClearedCall) -> Result<ToolOutput, ToolFailure> {
        Ok(json!({}).into())
    }
}

fn tools() -> Vec<Arc<BoundTool>> {
    [
        json!({ "id": "a__read", "effect": "read" }),
        json!({ "id": "a__other", "effect": "read", "permissions": ["a.thing.read"] }),
        json!({ "id": "a__change", "effect": "mutate" }),
        json!({ "id": "b__destroy", "effect": "destructive" }),
        json!({ "id": "b__send", "effect": "mutate", "egress": "write" }),
        json!({ "id": "b__inside", "effect": "read", "audience": "internal" }),
        json!({ "id": "b__paid", "effect": "read", "opt_in": true }),
        json!({ "id": "b__foreign", "effect": "read", "tenants": ["elsewhere"] }),
        json!({ "id": "b__asks", "effect": "read", "approval": "always_ask" }),
    ]
    .into_iter()
    .map(|own| {
        let mut contract = json!({
            "title": "t", "description": "d", "category": "c", "icon": "i",
            "input_schema": { "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] },
            "output_schema": { "type": "object" }, "redaction": { "allow": ["*"] },
            "execution": { "kind": "native", "plugin": "a" }
        });
        contract.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        let contract = serde_json::from_value(contract).unwrap();
        Arc::new(toolgate_schema::register(contract, Vec::new(), Arc::new(Nothing)).unwrap())
    })
    .collect()
}

/// All of these can be satisfied at once by `n == 5`, so that what is listed has arguments it can be called with.
const POLICIES: [&str; 16] = [
    r#"permit (principal, action in [Toolgate::Action::"see", Toolgate::Action::"call"], resource);"#,
    r#"permit (principal, action == Toolgate::Action::"see", resource);"#,
    r#"permit (principal in Toolgate::Role::"team", action == Toolgate::Action::"call", resource);"#,
    r#"permit (principal is Toolgate::Agent, action == Toolgate::Action::"call", resource in Toolgate::Toolset::"set");"#,
    r#"permit (principal == Toolgate::User::"user:ada", action, resource);"#,
    r#"permit (principal, action == Toolgate::Action::"call_unattended", resource) when { resource.effect == "read" };"#,
    r#"permit (principal, action == Toolgate::Action::"call", resource == Toolgate::Tool::"a__read") when { context.input.n < 10 };"#,
    r#"permit (principal, action == Toolgate::Action::"call", resource == Toolgate::Tool::"a__change")
       when { context.input.n < 10 && principal in Toolgate::Role::"team" };"#,
    r#"permit (principal, action == Toolgate::Action::"call", resource == Toolgate::Tool::"b__destroy") unless { context.input.n > 10 };"#,
    r#"forbid (principal, action == Toolgate::Action::"call", resource == Toolgate::Tool::"a__read") when { context.input.n > 100 };"#,
    r#"forbid (principal, action == Toolgate::Action::"call", resource == Toolgate::Tool::"a__other")
       unless { context.input.n < 100 || principal is Toolgate::Service };"#,
    r#"forbid (principal is Toolgate::Agent, action == Toolgate::Action::"see", resource) when { resource.egress == "write" };"#,
    r#"forbid (principal, action == Toolgate::Action::"call", resource in Toolgate::Toolset::"set") when { context has subject };"#,
    r#"forbid (principal, action == Toolgate::Action::"call", resource) when { context.source == "web" && resource.namespace == "b" };"#,
    r#"forbid (principal in Toolgate::Role::"outcast", action, resource);"#,
    r#"forbid (principal, action == Toolgate::Action::"call_unattended", resource) when { resource.namespace == "a" };"#,
];

fn document(kind: DocumentKind, name: &str, body: Value) -> Document {
    Document {
        kind,
        name: name.to_owned(),
        body: JsonText::from_value(&body),
        revision: 1,
        by: "user:admin".parse().unwrap(),
        at: Timestamp::from_micros(0),
    }
}

/// Everything managers may decide but policies, at random.
fn documents() -> impl Strategy<Value = Vec<Document>> {
    let all = vec![
        document(DocumentKind::Tool, "b__paid", json!({ "enabled": true })),
        document(DocumentKind::Tool, "a__other", json!({ "enabled": false })),
        document(DocumentKind::Tool, "a__read", json!({ "approval": "always_ask" })),
        document(DocumentKind::Tool, "b__foreign", json!({ "enabled": true })),
        document(
            DocumentKind::Toolset,
            "set",
            json!({ "tools": ["a__*", "b__destroy"], "exclude": ["a__other"] }),
        ),
        document(DocumentKind::Toolset, "all", json!({ "tools": ["*"] })),
        document(DocumentKind::Profile, "strict", json!({ "approval": "always_ask" })),
        document(
            DocumentKind::Profile,
            "bounded",
            json!({ "arguments": { "type": "object", "properties": { "n": { "maximum": 50 } } } }),
        ),
        document(
            DocumentKind::Assignment,
            "1",
            json!({ "agent": "agent:bot", "target": { "toolset": "all" } }),
        ),
        document(
            DocumentKind::Assignment,
            "2",
            json!({ "agent": "agent:bot", "target": { "toolset": "set" }, "profile": "strict" }),
        ),
        document(
            DocumentKind::Assignment,
            "3",
            json!({ "agent": "agent:bot", "target": { "tool": "a__read" }, "profile": "bounded" }),
        ),
        document(
            DocumentKind::Assignment,
            "4",
            json!({ "agent": "agent:bot", "target": { "tool": "b__destroy" }, "profile": "gone" }),
        ),
        document(DocumentKind::Kill, "1", json!({ "kind": "tool", "target": "a__change", "reason": "r" })),
        document(
            DocumentKind::Kill,
            "2",
            json!({ "kind": "principal", "target": "user:ada", "reason": "r" }),
        ),
    ];
    let count = all.len();
    subsequence(all, 0..=count)
}

fn actor() -> impl Strategy<Value = Actor> {
    (
        select(vec!["user:ada", "user:bob", "agent:bot", "service:ci"]),
        any::<bool>(),
        subsequence(vec!["team", "outcast"], 0..=2),
        select(vec![vec![], vec!["a.thing.read"], vec!["*"]]),
        subsequence(
            vec!["tool:a__*", "tool:b__destroy", "effect:read", "approve", "rule:a.thing.read"],
            0..=2,
        ),
        any::<bool>(),
    )
        .prop_map(|(principal, delegated, roles, rules, scopes, by_key)| {
            let scopes = Scopes::new(scopes.iter().map(|scope| scope.parse().unwrap()));
            let held: Vec<String> = rules.iter().map(|&rule| rule.to_owned()).collect();
            let subject = (delegated && !principal.starts_with("user:")).then(|| Subject {
                principal: "user:ada".parse().unwrap(),
                rules: AccessRules::new(["a.thing.read".to_owned()]),
                roles: ["team".to_owned()].into(),
            });
            Actor {
                tenant: TenantId::default_tenant(),
                principal: principal.parse().unwrap(),
                subject,
                rules: AccessRules::new(scopes.narrow_rules(&held)),
                roles: roles.iter().map(|&role| role.to_owned()).collect(),
                scopes: Arc::new(scopes),
                credential: if by_key {
                    Credential::Key(ApiKeyId::generate())
                } else {
                    Credential::SignIn(SignInId::generate())
                },
            }
        })
}

/// How a call came out, from the loosest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Ran,
    Asked,
    Refused,
}

struct World {
    runtime: tokio::runtime::Runtime,
    app: App,
}

impl World {
    fn new(policies: &[&str], documents: &[Document]) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut text = String::new();
        for (number, policy) in policies.iter().enumerate() {
            text.push_str(&format!("@id(\"p{number}\")\n{policy}\n"));
        }
        let store: Arc<dyn Store> = Arc::new(Forgetful { documents: documents.to_vec() });
        let snapshots =
            Arc::new(Snapshots::new(Arc::clone(&store), tools(), "2026-01-01".into(), text).unwrap());
        runtime.block_on(snapshots.load(&TenantId::default_tenant())).unwrap();
        let clock = Arc::new(SystemClock);
        let runner = Runner::new(Parts {
            tools: Arc::clone(&snapshots) as _,
            policy: Arc::clone(&snapshots) as _,
            authorizer: Arc::new(AccessAuthorizer),
            connections: Arc::new(Connections::new(GrantedConnections::default(), Arc::clone(&snapshots))),
            limiter: Arc::new(Limits::new(Arc::clone(&store), Arc::clone(&snapshots), None)),
            directory: Arc::new(Records::new(Arc::clone(&store), Arc::clone(&snapshots))),
            capabilities: Capabilities { clock: Some(Arc::clone(&clock) as _), ..Capabilities::default() },
            store,
            clock,
            settings: Settings::default(),
        });
        Self { app: App::new(runner, snapshots), runtime }
    }

    fn listed(&self, actor: &Actor) -> Vec<String> {
        let tools = self.app.list_tools(actor, source_of(actor), "", usize::MAX);
        tools.iter().map(|tool| tool.contract.id.to_string()).collect()
    }

    fn call(&self, actor: &Actor, tool: &str, n: i64) -> Outcome {
        let call = Call {
            actor: actor.clone(),
            tool: tool.parse().unwrap(),
            input: CallInput::Value(json!({ "n": n })),
            session: None,
            parent: None,
            idempotency_key: None,
            connection: None,
            key: None,
            source: match actor.credential {
                Credential::Key(_) => Source::Api,
                _ => Source::Web,
            },
            wait: Duration::from_secs(5),
            watch: None,
        };
        match self.runtime.block_on(self.app.runner().execute(call)) {
            Ok(result) if result.status == Status::Pending => Outcome::Asked,
            Ok(result) => match result.error.map(|error| error.code) {
                None => Outcome::Ran,
                Some(ErrorCode::Unavailable | ErrorCode::PolicyDenied | ErrorCode::AuthzDenied) => {
                    Outcome::Refused
                }
                Some(other) => panic!("{tool} stopped with {other}"),
            },
            // A write has begun, and this store forgets it before its end can be written.
            Err(_) => Outcome::Ran,
        }
    }

    /// Every tool with the loosest outcome over the arguments tried.
    fn outcomes(&self, actor: &Actor) -> BTreeMap<String, Outcome> {
        tools()
            .iter()
            .map(|tool| {
                let id = tool.contract.id.to_string();
                let best = [-1, 5, 20, 60, 500].map(|n| self.call(actor, &id, n)).into_iter().min();
                (id, best.unwrap())
            })
            .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn what_is_listed_is_what_can_be_called(
        policies in subsequence(POLICIES.to_vec(), 0..=POLICIES.len()),
        documents in documents(),
        actor in actor(),
    ) {
        let world = World::new(&policies, &documents);
        let callable: Vec<String> = world
            .outcomes(&actor)
            .into_iter()
            .filter(|(_, outcome)| *outcome != Outcome::Refused)
            .map(|(id, _)| id)
            .collect();
        prop_assert_eq!(world.listed(&actor), callable);
        for tool in tools() {
            let id = &tool.contract.id;
            let described = world.app.read_tool(&actor, source_of(&actor), id).is_ok();
            prop_assert_eq!(described, world.listed(&actor).contains(&id.to_string()), "{}", id);
        }
    }

    #[test]
    fn adding_a_forbid_never_allows_more(
        policies in subsequence(POLICIES.to_vec(), 0..=POLICIES.len()),
        forbid in select(POLICIES.iter().filter(|p| p.starts_with("forbid")).copied().collect::<Vec<_>>()),
        documents in documents(),
        actor in actor(),
    ) {
        let before = World::new(&policies, &documents);
        let more: Vec<&str> = policies.iter().copied().chain([forbid]).collect();
        let after = World::new(&more, &documents);
        for tool in tools() {
            let id = tool.contract.id.as_str();
            for n in [5, 60, 500] {
                let (was, is) = (before.call(&actor, id, n), after.call(&actor, id, n));
                prop_assert!(is >= was, "{} with {}: {:?} became {:?}", id, n, was, is);
            }
        }
    }

    #[test]
    fn nothing_guarded_runs_unattended_by_a_machine(
        policies in subsequence(POLICIES.to_vec(), 0..=POLICIES.len()),
        documents in documents(),
        actor in actor(),
    ) {
        let world = World::new(
            &policies.iter().copied().chain(["permit (principal, action, resource);"]).collect::<Vec<_>>(),
            &documents,
        );
        if !actor.principal.as_str().starts_with("user:") {
            prop_assert_ne!(world.call(&actor, "b__destroy", 5), Outcome::Ran);
        }
        prop_assert_ne!(world.call(&actor, "b__send", 5), Outcome::Ran, "nobody writes outside unattended");
        if !actor.stands_inside() {
            prop_assert_eq!(world.call(&actor, "b__inside", 5), Outcome::Refused);
        }
        prop_assert_eq!(world.call(&actor, "b__foreign", 5), Outcome::Refused, "tenant walls");
    }
}
