//! What holds for any policies and any questions.

use std::sync::Arc;

use cedar_policy::PolicySet;
use proptest::collection::vec;
use proptest::prelude::*;
use toolgate_core::id::ToolName;
use toolgate_policy::cedar::{Judge, Policies, ToolAnswer};

use crate::grammar::{Given, any_given, any_moody_policy, any_policy, any_questions, text_of, tools};
use crate::plain;

fn judge(policies: &[String]) -> Judge {
    Judge::new(Arc::new(Policies::load(&text_of(policies)).unwrap()), tools())
}

fn without_input(judge: &Judge, given: &Given) -> Arc<ToolAnswer> {
    judge.tool(&given.who, &given.tool.parse::<ToolName>().unwrap(), &given.circumstances())
}

fn with_input(judge: &Judge, given: &Given) -> Arc<ToolAnswer> {
    let tool: ToolName = given.tool.parse().unwrap();
    judge.tool_with_input(&given.who, &tool, &given.circumstances(), &given.input)
}

/// Every yes and no about one question: see, call, unattended with arguments, approve, manage, connection, and the
/// three without arguments.
fn everything(judge: &Judge, given: &Given) -> Vec<bool> {
    let (with, without) = (with_input(judge, given), without_input(judge, given));
    let circumstances = given.circumstances();
    vec![
        with.see.allowed,
        with.call.allowed,
        with.unattended.allowed,
        judge.approve(&given.who, &given.tool.parse().unwrap(), &circumstances, &given.input).allowed,
        judge.manage(&given.who, given.area, &circumstances).allowed,
        judge.connection(&given.who, "github", "con_1", &circumstances).allowed,
        without.see.allowed,
        without.call.allowed,
        without.unattended.allowed,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The judge answers as Cedar does over all policies, where an error denies. One judge is asked many questions
    /// that differ in every circumstance, so an answer wrongly remembered would show.
    #[test]
    fn the_judge_answers_as_plain_cedar(policies in vec(any_policy(), 0..9), questions in any_questions(24)) {
        let judge = judge(&policies);
        let set: PolicySet = text_of(&policies).parse().unwrap();
        for given in &questions {
            let expected = [
                plain::allows(&set, given, "see", "tool", None),
                plain::allows(&set, given, "call", "tool", Some(&given.input)),
                plain::allows(&set, given, "call_unattended", "tool", Some(&given.input)),
                plain::allows(&set, given, "approve", "tool", Some(&given.input)),
                plain::allows(&set, given, "manage", "area", None),
                plain::allows(&set, given, "use_connection", "connection", None),
            ];
            prop_assert_eq!(&everything(&judge, given)[..6], &expected, "{:?}", given);
        }
    }

    /// What is allowed for some arguments is allowed without them, and where no policy reads them nothing differs.
    #[test]
    fn without_arguments_at_least_as_much_is_allowed(
        policies in vec(any_policy(), 0..9),
        given in any_given(),
        others in vec(any_given(), 1..12),
    ) {
        let judge = judge(&policies);
        let without = without_input(&judge, &given);
        for input in others.into_iter().map(|other| other.input) {
            let with = with_input(&judge, &Given { input, ..given.clone() });
            prop_assert!(!with.call.allowed || without.call.allowed);
            prop_assert!(!with.unattended.allowed || without.unattended.allowed);
            prop_assert_eq!(&with.see, &without.see);
            prop_assert_eq!(with.reads_input, without.reads_input);
            if !without.reads_input {
                prop_assert_eq!(&with, &without);
            }
        }
    }

    /// One more forbid never allows more.
    #[test]
    fn a_forbid_never_allows_more(
        policies in vec(any_policy(), 0..7),
        extra in any_policy(),
        place in any::<proptest::sample::Index>(),
        questions in any_questions(12),
    ) {
        let before = judge(&policies);
        let mut more = policies.clone();
        more.insert(place.index(policies.len() + 1), extra.replacen("permit", "forbid", 1));
        let after = judge(&more);
        for given in &questions {
            for (before, after) in everything(&before, given).into_iter().zip(everything(&after, given)) {
                prop_assert!(before || !after);
            }
        }
    }

    /// An answer given in other circumstances is never told again: one principal asks about one tool, over and over,
    /// while one circumstance after another changes.
    #[test]
    fn remembered_answers_are_never_stale(
        policies in vec(any_moody_policy(), 1..4),
        questions in any_questions(24),
    ) {
        let judge = judge(&policies);
        let set: PolicySet = text_of(&policies).parse().unwrap();
        for given in &questions {
            let given = Given { who: questions[0].who.clone(), tool: questions[0].tool, ..given.clone() };
            let found = without_input(&judge, &given);
            for (action, found) in
                [("see", &found.see), ("call", &found.call), ("call_unattended", &found.unattended)]
            {
                prop_assert_eq!(found.allowed, plain::allows(&set, &given, action, "tool", None), "{:?}", given);
            }
        }
    }

    /// What a judge remembers never shows: a fresh one says the same, to the last word.
    #[test]
    fn a_fresh_judge_says_the_same(policies in vec(any_policy(), 0..9), questions in any_questions(12)) {
        let remembering = judge(&policies);
        for given in questions.iter().chain(&questions) {
            let fresh = Judge::new(Arc::clone(remembering.policies()), tools());
            prop_assert_eq!(without_input(&remembering, given), without_input(&fresh, given));
            prop_assert_eq!(with_input(&remembering, given), with_input(&fresh, given));
        }
    }
}
