//! Use cases against stores that are made for one question each.
#![allow(clippy::unwrap_used, reason = "test code")]

mod predicate;
