//! Why a call would run, ask or be refused: every gate in its order, with the rule that decided there.

use serde_json::Value;
use toolgate_core::actor::Credential;
use toolgate_core::contract::Audience;
use toolgate_core::document::Area;
use toolgate_core::id::{PrincipalId, PrincipalKind, ToolName};
use toolgate_core::port::gate::{Ask, Decision, Verdict};
use toolgate_core::{Actor, CallError, Effect, Egress, Timestamp};

use crate::snapshot::RegistryEntry;
use crate::{App, AppError};

/// What to explain.
#[derive(Debug, Clone)]
pub struct ExplainRequest {
    /// For whom; none means the caller.
    pub principal: Option<PrincipalId>,
    /// Working for whom.
    pub subject: Option<PrincipalId>,
    /// Which tool.
    pub tool: ToolName,
    /// With which arguments, if that matters.
    pub input: Option<Value>,
    /// In a session with these labels.
    pub labels: Vec<String>,
    /// At which moment; none means now.
    pub at: Option<Timestamp>,
}

/// One gate's word.
#[derive(Debug, Clone)]
pub struct ExplainStep {
    /// Which gate.
    pub gate: &'static str,
    /// `pass`, `ask`, `deny`, `hide` or `skip`.
    pub verdict: &'static str,
    /// The rule that decided there.
    pub rule: Option<String>,
    /// Why, in one sentence.
    pub reason: String,
    /// What would change it.
    pub hint: Option<String>,
}

/// The whole way of a call.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// For whom.
    pub principal: PrincipalId,
    /// Which tool.
    pub tool: ToolName,
    /// `allow`, `ask`, `deny` or `hide`: the strictest of all gates.
    pub verdict: &'static str,
    /// The rule that decided.
    pub rule: Option<String>,
    /// Every gate, in its order.
    pub steps: Vec<ExplainStep>,
}

impl App {
    /// Explains what would become of a call. One may ask for oneself about what one sees; whoever manages policies may
    /// ask for anyone about anything.
    ///
    /// # Errors
    /// "Not found" for a tool or principal that is not there, or that the caller may not know of.
    pub async fn explain(&self, actor: &Actor, request: ExplainRequest) -> Result<Explanation, AppError> {
        let manages = self.require(actor, Area::Policies).is_ok();
        let for_self = request.principal.as_ref().is_none_or(|who| *who == actor.principal);
        if !manages && (!for_self || request.subject.is_some()) {
            return Err(AppError::forbidden("only those who manage policies may explain for someone else")
                .with_hint("leave `principal` out to explain for yourself"));
        }
        let who = if for_self && request.subject.is_none() {
            actor.clone()
        } else {
            let principal = request.principal.as_ref().unwrap_or(&actor.principal);
            let directory = &self.runner.parts().directory;
            let found = directory.actor(&actor.tenant, principal, request.subject.as_ref(), None).await?;
            let mut found = found.ok_or(AppError::NotFound { what: "principal" })?;
            // As it would come: agents and services by a key. Which key is not known, so none of its scopes.
            if principal.kind() != PrincipalKind::User {
                found.credential = Credential::Key(toolgate_core::id::ApiKeyId::generate());
            }
            found
        };
        let snapshot =
            self.snapshots.load(&actor.tenant).await?.ok_or(AppError::NotFound { what: "tool" })?;
        let entry = snapshot.registry().iter().find(|entry| entry.tool.contract.id == request.tool);
        let entry = entry.ok_or(AppError::NotFound { what: "tool" })?;
        let now = request.at.unwrap_or_else(|| self.now());
        let ask = Ask { labels: &request.labels, now, ..self.ask(&who, &entry.tool) };
        let steps = self.walk(&ask, entry, request.input.as_ref()).await;
        let strictest = steps.iter().max_by_key(|step| strictness(step.verdict));
        let verdict = match strictest.map_or("deny", |step| step.verdict) {
            "pass" | "skip" => "allow",
            other => other,
        };
        if !manages && verdict == "hide" {
            return Err(AppError::NotFound { what: "tool" });
        }
        let deciding = steps
            .iter()
            .find(|step| step.verdict == verdict)
            .or_else(|| steps.iter().rev().find(|step| step.verdict == "pass" && step.rule.is_some()));
        Ok(Explanation {
            principal: who.principal.clone(),
            tool: request.tool,
            verdict,
            rule: deciding.and_then(|step| step.rule.clone()),
            steps,
        })
    }

    async fn walk(&self, ask: &Ask<'_>, entry: &RegistryEntry, input: Option<&Value>) -> Vec<ExplainStep> {
        let parts = self.runner.parts();
        let (who, tool, contract) = (ask.actor, &entry.tool, &entry.tool.contract);
        let mut steps = Vec::new();
        let on = entry.enablement.is_on();
        steps.push(
            step("enablement", if on { "pass" } else { "hide" }, entry.enablement.reason())
                .rule(format!("enablement: {}", entry.enablement.as_str()))
                .hint((!on).then(|| format!("switch it on: `toolgate tool enable {}`", contract.id))),
        );
        let inside = contract.audience != Audience::Internal || who.stands_inside();
        steps.push(step(
            "audience",
            if inside { "pass" } else { "hide" },
            if inside {
                "the tool may be reached this way"
            } else {
                "an internal tool never reaches a key or MCP"
            },
        ));
        let reached = who.scopes.reach(contract);
        steps.push(step(
            "scopes",
            if reached { "pass" } else { "hide" },
            if reached { "the credential reaches the tool" } else { "the key's scopes leave the tool out" },
        ));
        let decision = parts.policy.decide(ask);
        steps.push(of_decision("policy", &decision));
        steps.push(match parts.authorizer.authorize(who, contract) {
            Ok(()) => step("access rules", "pass", "every access rule the tool needs is held"),
            Err(error) => step("access rules", "deny", error.message).hint(error.hint),
        });
        if tool.needs_connection() {
            steps.push(match parts.connections.check(ask, None).await {
                Ok(_) => step("connection", "pass", "the connection the tool works with may be used"),
                Err(error) => of_refusal("connection", error),
            });
        }
        match input {
            None => steps.push(step("arguments", "skip", "no arguments were given to explain")),
            Some(input) => match tool.check_input(input) {
                Err(error) => steps.push(step("arguments", "deny", error.message).hint(error.hint)),
                Ok(()) => {
                    steps.push(step("arguments", "pass", "they fit the tool's schema"));
                    let read = parts.policy.decide_input(ask, input, &decision);
                    steps.push(of_decision("policy with arguments", &read));
                }
            },
        }
        steps.push(guards(ask));
        steps
    }
}

fn guards(ask: &Ask<'_>) -> ExplainStep {
    let contract = &ask.tool.contract;
    let by_machine = ask.actor.principal.kind() != PrincipalKind::User;
    if ask.tool.requires_approval {
        return step("guards", "ask", "the tool always asks a person")
            .rule("guard: the tool asks".to_owned());
    }
    if by_machine && (contract.effect == Effect::Destructive || contract.egress == Egress::Write) {
        return step("guards", "ask", "such a call by an agent or service always asks a person")
            .rule("guard: agents and services".to_owned());
    }
    step("guards", "pass", "no built-in guard asks for a person")
}

fn of_decision(gate: &'static str, decision: &Decision) -> ExplainStep {
    let verdict = match decision.verdict {
        Verdict::Allow => "pass",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
        Verdict::Hide => "hide",
    };
    let reason = if decision.reason.is_empty() { "it may run unattended" } else { decision.reason.as_str() };
    step(gate, verdict, reason).rule(decision.rule.to_string()).hint(decision.hint.clone())
}

fn of_refusal(gate: &'static str, error: CallError) -> ExplainStep {
    let rule = error.details.as_ref().and_then(|details| details.get("rule")?.as_str());
    let rule = rule.map(str::to_owned);
    ExplainStep { rule, ..step(gate, "deny", error.message).hint(error.hint) }
}

fn strictness(verdict: &str) -> u8 {
    match verdict {
        "ask" => 1,
        "deny" => 2,
        "hide" => 3,
        _ => 0,
    }
}

fn step(gate: &'static str, verdict: &'static str, reason: impl Into<String>) -> ExplainStep {
    ExplainStep { gate, verdict, rule: None, reason: reason.into(), hint: None }
}

impl ExplainStep {
    fn rule(mut self, rule: String) -> Self {
        self.rule = Some(rule);
        self
    }

    fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }
}
