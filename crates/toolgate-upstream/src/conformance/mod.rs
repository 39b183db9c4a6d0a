//! Drives the connector against the protocol's own test suite, which starts a server and names a scenario. The same
//! code that serves a gate answers; only the questions a person would answer are answered here.

mod answers;
mod oauth;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use toolgate_core::error::CallError;
use toolgate_core::port::connection::Presented;
use toolgate_core::upstream::{Offer, Questions, Transport};
use toolgate_egress::{EgressClient, EgressPolicy};

use crate::child::Stderr;
use crate::connection::{CallFault, Connection, Order};
use crate::interaction::Interaction;
use crate::keys::{Keys, Refusal};
use crate::opening::Dial;
use crate::settings::Settings;

/// What the suite asks for.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The server it started.
    pub url: String,
    /// What it wants to see.
    pub name: String,
    /// What it gives along: client ids, calls to make.
    pub context: Value,
}

const WITHIN: Duration = Duration::from_secs(60);

/// Plays one scenario: connects, lists, and calls what the context names, or each tool once.
///
/// # Errors
/// Why the scenario could not be played, in a sentence.
pub async fn play(scenario: &Scenario) -> Result<(), String> {
    tokio::time::timeout(WITHIN, played(scenario)).await.map_err(|_| "it took too long".to_owned())?
}

async fn played(scenario: &Scenario) -> Result<(), String> {
    let connection =
        Connection::open(dial(scenario)?).await.map_err(|fault| fault.into_error("suite").message)?;
    let listing = connection.list().await.map_err(|fault| fault.into_error("suite").message)?;
    // The suite takes any stream that opens during a call for the one that continues it, and asks its questions on the
    // one that is open, if any is.
    connection.heard().await;
    let mut failed = None;
    for (tool, arguments) in calls(&listing.tools, &scenario.context) {
        let asks = questions(scenario) == Questions::Ask;
        let order = Order {
            tool: &tool,
            arguments: &arguments,
            context: None,
            cancelled: CancellationToken::new(),
            interaction: asks.then(|| Arc::new(answers::Defaults) as Arc<dyn Interaction>),
        };
        if let Err(fault) = connection.call(order).await {
            failed = Some(match fault {
                CallFault::Fault(fault) => fault.into_error("suite").message,
                CallFault::Failure(failure) => format!("{failure:?}"),
            });
        }
    }
    // A tool that fails is an answer; a server that let nobody in is none.
    match failed {
        Some(why) if scenario.name.starts_with("auth/") => Err(why),
        _ => Ok(()),
    }
}

fn dial(scenario: &Scenario) -> Result<Dial, String> {
    let allow = ["localhost", "127.0.0.1", "::1"].iter().filter_map(|host| host.parse().ok()).collect();
    let policy = EgressPolicy { allow, plain_http: true, ..EgressPolicy::default() };
    let egress = EgressClient::new(policy).map_err(|error| error.to_string())?;
    let keys: Arc<dyn Keys> = if scenario.name.starts_with("auth/") {
        Arc::new(oauth::OauthKeys::new(&scenario.url, &scenario.context))
    } else {
        Arc::new(NoKeys)
    };
    Ok(Dial {
        name: "suite".parse().map_err(|_| "no name".to_owned())?,
        transport: Transport::Http { url: scenario.url.clone(), headers: std::collections::BTreeMap::new() },
        concurrency: 4,
        keys,
        egress,
        settings: Settings::default(),
        era: None,
        way: None,
        stderr: Stderr::default(),
        changed: Arc::new(|| {}),
        questions: questions(scenario),
    })
}

fn questions(scenario: &Scenario) -> Questions {
    match scenario.name.contains("elicitation") || scenario.name.contains("request-state") {
        true => Questions::Ask,
        false => Questions::Refuse,
    }
}

struct NoKeys;

#[async_trait]
impl Keys for NoKeys {
    async fn present(&self) -> Result<Vec<Presented>, CallError> {
        Ok(Vec::new())
    }

    async fn refused(&self, _: Refusal<'_>) -> Result<(), CallError> {
        Err(crate::fault::unreachable("suite", "it wants to know who calls"))
    }
}

/// What to call: what the context names, or each tool with what its schema asks for.
fn calls(tools: &[Offer], context: &Value) -> Vec<(String, Map<String, Value>)> {
    if let Some(Value::Array(named)) = context.get("toolCalls") {
        return named
            .iter()
            .filter_map(|call| {
                let arguments = call.get("arguments").and_then(Value::as_object).cloned();
                Some((call.get("name")?.as_str()?.to_owned(), arguments.unwrap_or_default()))
            })
            .collect();
    }
    // One scenario wants to be told what schema we saw.
    let seen = tools.iter().find(|tool| tool.name != "json_schema_echo").map(|tool| &tool.input_schema);
    tools
        .iter()
        .map(|tool| {
            let mut arguments = arguments(&tool.input_schema);
            if tool.name == "json_schema_echo"
                && let Some(seen) = seen
            {
                arguments.insert("schema".to_owned(), seen.clone());
            }
            (tool.name.clone(), arguments)
        })
        .collect()
}

fn arguments(schema: &Value) -> Map<String, Value> {
    let Some(Value::Object(properties)) = schema.get("properties") else { return Map::new() };
    let one = |property: &Value| match property.get("type").and_then(Value::as_str) {
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("test"),
    };
    properties.iter().map(|(name, property)| (name.clone(), one(property))).collect()
}
