//! Cedar: who may see, call, approve and manage what, as policies a tenant writes.
//!
//! [`Policies`] are parsed, rewritten and indexed once. A [`Judge`] holds them beside a tenant's tools and answers
//! questions; it evaluates only the policies whose scope matches, and remembers what cannot change. The language is
//! told in `docs/policies/README.md`.

mod answer;
mod check;
mod compiled;
mod entity;
mod facts;
mod input;
mod judge;
mod memo;
mod moment;
mod names;
mod number;
mod optimist;
mod parse;
mod policies;
mod problem;
mod question;
mod reads;
mod schema;
mod scope;
mod text;
mod tools;

pub use answer::{Answer, DENY_BY_DEFAULT, Deciding, ToolAnswer};
pub use check::Known;
pub use facts::{Action, Circumstances, PrincipalFacts, ToolFacts};
pub use judge::Judge;
pub use policies::{Checked, Policies};
pub use problem::{PolicyProblem, PolicyProblems};
pub use schema::SCHEMA;
