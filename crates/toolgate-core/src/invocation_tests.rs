use proptest::prelude::*;

use super::*;
use crate::change::{Change, NewCall, SessionUse, fold, recorded};
use crate::event::{ChainHead, Event};

fn opened(approval_required: bool) -> Opened {
    Opened {
        id: InvocationId::generate(),
        tenant: TenantId::default_tenant(),
        session: SessionId::generate(),
        parent: None,
        tool: "core__x".parse().unwrap(),
        tool_version: Some(ContractVersion("v".into())),
        effect: Effect::Mutate,
        egress: Egress::None,
        idempotent: false,
        actor: "agent:a".parse().unwrap(),
        subject: None,
        key: None,
        source: Source::Api,
        input: JsonText::parse(r#"{"a":1}"#).unwrap(),
        idempotency_key: Some("k".parse().unwrap()),
        request_digest: "d".into(),
        rule: Some("r".into()),
        approval_required,
        created_at: Timestamp::from_micros(1),
    }
}

fn any_step() -> impl Strategy<Value = Step> {
    let error = || CallError::new(ErrorCode::Execution, "no").hint("h").details(serde_json::json!({"p": 1}));
    let output = || JsonText::parse(r#"{"o":[1,2]}"#).unwrap();
    let deadline = Timestamp::from_micros(99);
    prop_oneof![
        (0u32..3).prop_map(move |needed| Step::NeedsApproval {
            reason: "r".into(),
            deadline,
            review: (needed > 0).then(|| Box::new(review(needed)))
        }),
        Just(Step::ReviewChanged { step: ReviewStep::Voted }),
        Just(Step::ReviewChanged { step: ReviewStep::Remarked { text: "why?".into() } }),
        Just(Step::ReviewChanged {
            step: ReviewStep::Edited {
                input: output(),
                preview: None,
                preview_failed: None,
                digest: "e".into()
            }
        }),
        Just(Step::Approved { reason: None }),
        Just(Step::Rejected { reason: "no".into() }),
        (1u32..4)
            .prop_map(|attempt| Step::Started { attempt, worker: WorkerId::from_uuid(uuid::Uuid::nil()) }),
        Just(Step::OutputAppended { chunk: output() }),
        Just(Step::Waiting { reason: "w".into(), deadline }),
        Just(Step::Completed { output: output(), cost_micros: Some(5) }),
        Just(Step::Failed { error: error() }),
        Just(Step::Cancelled { reason: None }),
        Just(Step::Expired),
        Just(Step::InDoubt { error: error() }),
        Just(Step::CancelRequested { reason: Some("c".into()) }),
        (1u32..3).prop_map(move |attempt| Step::LateResult { attempt, output: Some(output()), error: None }),
    ]
}

fn review(needed: u32) -> Review {
    Review {
        digest: "d".into(),
        preview: None,
        preview_failed: None,
        connection: None,
        needed,
        approvers: Vec::new(),
        escalate_at: None,
        escalate_to: Vec::new(),
        deadline: Timestamp::from_micros(99),
        assigned_to: None,
        assigned_role: None,
        votes: Vec::new(),
        remarks: Vec::new(),
        input: None,
    }
}

fn started() -> Step {
    Step::Started { attempt: 1, worker: WorkerId::from_uuid(uuid::Uuid::nil()) }
}

proptest! {
    /// Whatever steps are tried in whatever order: no step leaves a terminal state, a refused step changes nothing,
    /// what needs a person never runs without one, and folding the events gives the row.
    #[test]
    fn no_path_breaks_the_rules(
        approval_required in any::<bool>(),
        first in any_step(),
        steps in proptest::collection::vec(any_step(), 0..24),
    ) {
        let by: PrincipalId = "user:u".parse().unwrap();
        let Ok(new) = NewCall::open(opened(approval_required), &[first], Timestamp::from_micros(2), SessionUse::New)
        else { return Ok(()) };
        let mut events: Vec<Event> = Vec::new();
        for draft in new.drafts() {
            events.push(draft.clone().seal(events.last().map_or(ChainHead::EMPTY, Event::head)));
        }
        let mut row = new.written(&events);
        for (i, step) in steps.iter().enumerate() {
            let before = row.clone();
            match Change::step(&row, &by, step, Timestamp::from_micros(3 + i as i64)) {
                Err(refused) => prop_assert_eq!(refused.from, Some(before.status)),
                Ok(change) => {
                    prop_assert_eq!(change.seen(), before.revision);
                    let event = change.draft().clone().seal(row.head.unwrap());
                    row = change.written(&event);
                    events.push(event);
                    prop_assert_eq!(row.revision, before.revision + 1);
                    if before.status.is_terminal() {
                        prop_assert_eq!(row.status, before.status);
                        prop_assert_eq!(&row.output, &before.output);
                        prop_assert_eq!(&row.error, &before.error);
                        prop_assert_eq!(row.completed_at, before.completed_at);
                    }
                    if row.status == Status::Running && approval_required {
                        prop_assert_eq!(row.approval, Approval::Approved);
                    }
                    if row.approval != before.approval {
                        prop_assert_eq!(before.approval, Approval::Pending);
                    }
                    prop_assert_eq!(row.status.is_settled(), row.completed_at.is_some());
                    prop_assert!(row.attempt == before.attempt || row.attempt == before.attempt + 1);
                }
            }
        }
        prop_assert_eq!(fold(&events).unwrap(), recorded(&row));
    }
}

#[test]
fn the_table_of_moves_is_the_documented_one() {
    use Status as S;
    let by: PrincipalId = "user:u".parse().unwrap();
    let at = Timestamp::from_micros(1);
    let error = CallError::new(ErrorCode::Execution, "no");
    let output = JsonText::parse("{}").unwrap();
    let steps = [
        Step::ReviewChanged { step: ReviewStep::Voted },
        Step::Approved { reason: None },
        Step::Rejected { reason: "r".into() },
        Step::Started { attempt: 2, worker: WorkerId::from_uuid(uuid::Uuid::nil()) },
        Step::OutputAppended { chunk: output.clone() },
        Step::Waiting { reason: "w".into(), deadline: at },
        Step::Completed { output, cost_micros: None },
        Step::Failed { error: error.clone() },
        Step::Cancelled { reason: None },
        Step::Expired,
        Step::InDoubt { error },
        Step::CancelRequested { reason: None },
    ];
    let mut seen = Vec::new();
    for status in S::ALL {
        for approval in [Approval::NotRequired, Approval::Pending, Approval::Approved] {
            let mut row = Invocation::open(opened(false), &by, &started(), at).unwrap();
            (row.status, row.approval) = (status, approval);
            for step in &steps {
                if let Ok(next) = row.apply(&by, step, at) {
                    let line =
                        format!("{} + {} = {}", status.as_str(), step.kind().as_str(), next.status.as_str());
                    if !seen.contains(&line) {
                        seen.push(line);
                    }
                }
            }
        }
    }
    let expected = [
        "pending + tool.cancelled = cancelled",
        "pending + tool.review_changed = pending",
        "pending + tool.approved = pending",
        "pending + tool.rejected = rejected",
        "pending + tool.expired = expired",
        "pending + tool.started = running",
        "pending + tool.failed = failed",
        "running + tool.started = running",
        "running + tool.output_appended = running",
        "running + tool.waiting = waiting",
        "running + tool.completed = completed",
        "running + tool.failed = failed",
        "running + tool.cancelled = cancelled",
        "running + tool.in_doubt = in_doubt",
        "running + tool.cancel_requested = running",
        "waiting + tool.completed = completed",
        "waiting + tool.failed = failed",
        "waiting + tool.cancelled = cancelled",
        "waiting + tool.expired = expired",
        "waiting + tool.in_doubt = in_doubt",
        "in_doubt + tool.started = running",
        "in_doubt + tool.completed = completed",
        "in_doubt + tool.failed = failed",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_call_that_needs_a_person_cannot_begin_running() {
    let refused = NewCall::open(opened(true), &[started()], Timestamp::from_micros(1), SessionUse::New);
    assert!(refused.is_err());
}

#[test]
fn as_many_people_as_are_needed_and_each_once() {
    let (ada, bob): (PrincipalId, PrincipalId) = ("user:ada".parse().unwrap(), "user:bob".parse().unwrap());
    let at = Timestamp::from_micros(1);
    let asked = Step::NeedsApproval { reason: "r".into(), deadline: at, review: Some(Box::new(review(2))) };
    let (voted, approved) =
        (Step::ReviewChanged { step: ReviewStep::Voted }, Step::Approved { reason: None });
    let row = Invocation::open(opened(true), &ada, &asked, at).unwrap();
    assert!(row.apply(&ada, &approved, at).is_err(), "one is not enough");
    let row = row.apply(&ada, &voted, at).unwrap();
    assert!(row.apply(&ada, &voted, at).is_err(), "nobody counts twice");
    assert!(row.apply(&ada, &approved, at).is_err(), "not even at the end");
    assert_eq!(row.apply(&bob, &approved, at).unwrap().approval, Approval::Approved);
}
