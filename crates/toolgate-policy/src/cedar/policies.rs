//! A set of policies, ready to be asked.

use std::collections::HashSet;

use cedar_policy::pst;
use serde_json::Value;
use toolgate_core::id::PrincipalId;

use super::check::{Known, check};
use super::compiled::Compiled;
use super::parse::{Parsed, on_wide_stack, parse};
use super::problem::{PolicyProblem, PolicyProblems};
use super::reads::{Reads, entities_of, expression, reads_names};
use super::scope::Index;

/// The policies a tenant starts with.
const DEFAULT: &str = include_str!("../../policies/default.cedar");

/// Policies parsed, rewritten and indexed. They never change; a new text makes new ones.
#[derive(Default)]
pub struct Policies {
    pub(super) compiled: Vec<Compiled>,
    pub(super) index: Index,
    /// Tools some policy names, wherever it does. No policy can tell others apart by name.
    pub(super) named_tools: HashSet<String>,
    /// Users, agents and services some policy names, wherever it does.
    named_principals: HashSet<String>,
    /// Whether some policy tells people apart by their `name`.
    reads_names: bool,
}

impl std::fmt::Debug for Policies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Their trees would fill pages.
        f.debug_struct("Policies").field("len", &self.compiled.len()).finish_non_exhaustive()
    }
}

/// Policies that passed the check, and what to look at again.
#[derive(Debug)]
pub struct Checked {
    /// The policies.
    pub policies: Policies,
    /// Nothing that keeps them from being saved.
    pub warnings: Vec<PolicyProblem>,
}

impl Policies {
    /// Reads a text that was checked when it was saved.
    ///
    /// # Errors
    /// Everything that keeps the text from being read.
    pub fn load(text: &str) -> Result<Self, PolicyProblems> {
        Self::compile(&parse(text)?)
    }

    /// Reads a text and checks every policy against the schema, and those that read arguments against their tool's
    /// types. `input_schema_of` finds a tool's JSON Schema by the tool's id. Which roles and toolsets there are is not
    /// asked.
    ///
    /// # Errors
    /// Everything that keeps the text from being saved.
    pub fn check(
        text: &str,
        input_schema_of: &dyn Fn(&str) -> Option<Value>,
    ) -> Result<Checked, PolicyProblems> {
        Self::check_for(text, &Known { input_schema_of, role: &|_| true, toolset: &|_| true })
    }

    /// The same for a tenant of which more is known: a role or toolset it does not have is a warning.
    ///
    /// # Errors
    /// Everything that keeps the text from being saved.
    pub fn check_for(text: &str, known: &Known<'_>) -> Result<Checked, PolicyProblems> {
        let parsed = parse(text)?;
        let warnings = check(text, &parsed, known)?;
        Ok(Checked { policies: Self::compile(&parsed)?, warnings })
    }

    /// The policies a tenant starts with, and their text.
    #[must_use]
    pub fn default_set() -> (&'static str, Self) {
        // The text is part of this build and a test loads it. Without policies everything is denied.
        (DEFAULT, Self::load(DEFAULT).unwrap_or_default())
    }

    /// The ids in the order of the text.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.compiled.iter().map(|policy| &*policy.id)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.compiled.len()
    }

    /// Whether there are none, so that everything is denied.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.compiled.is_empty()
    }

    /// Whether any policy looks at a session's labels.
    #[must_use]
    pub fn reads_labels(&self) -> bool {
        self.compiled.iter().any(|policy| policy.with_input().reads.has(Reads::LABELS))
    }

    /// Whether some policy can tell this principal from others with the same roles and rules: it names it, or reads
    /// the names of principals.
    #[must_use]
    pub fn names_principal(&self, principal: &PrincipalId) -> bool {
        self.reads_names || self.named_principals.contains(principal.as_str())
    }

    fn compile(parsed: &[Parsed]) -> Result<Self, PolicyProblems> {
        let compiled: Option<Vec<Compiled>> = on_wide_stack(|| parsed.iter().map(Compiled::of).collect())?;
        let compiled =
            compiled.ok_or_else(|| PolicyProblem::at("", 0, "the policies could not be made ready"))?;
        let mut policies = Self { compiled, ..Self::default() };
        for (place, policy) in (0..).zip(parsed) {
            policies.index.add(place, &policy.body);
            policies.note_names(&policy.body);
        }
        Ok(policies)
    }

    fn note_names(&mut self, body: &pst::Template) {
        entities_of(body, &mut |uid| match uid.ty.0.id.as_str() {
            "Tool" => {
                self.named_tools.insert(uid.eid.to_string());
            }
            "User" | "Agent" | "Service" => {
                self.named_principals.insert(uid.eid.to_string());
            }
            _ => {}
        });
        self.reads_names |= body.clauses().iter().map(expression).any(reads_names);
    }
}
