//! Principals, tools and circumstances that the tests share.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::{Source, Timestamp, ToolContract};
use toolgate_policy::cedar::{Circumstances, Judge, Policies, PrincipalFacts, ToolFacts};

/// A principal with these roles and rules.
pub(crate) fn who(id: &str, roles: &[&str], rules: &[&str]) -> PrincipalFacts {
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    PrincipalFacts { id: id.parse().unwrap(), roles: owned(roles), rules: owned(rules) }
}

/// A tool with this effect and egress, whose arguments are those of a refund.
pub(crate) fn contract(id: &str, effect: &str, egress: &str) -> ToolContract {
    serde_json::from_value(json!({
        "id": id, "title": "t", "description": "d", "category": "work", "icon": "i",
        "input_schema": refund_schema(), "output_schema": {"type": "object"},
        "effect": effect, "egress": egress, "redaction": {"allow": ["*"]},
        "execution": {"kind": "native", "plugin": "core"}
    }))
    .unwrap()
}

/// The arguments of a refund.
pub(crate) fn refund_schema() -> Value {
    json!({
        "type": "object",
        "required": ["amount"],
        "properties": {
            "amount": {"type": "integer"},
            "price": {"type": "number"},
            "reason": {"type": "string"},
            "urgent": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "free": {}
        }
    })
}

/// The tools most tests know: one of each effect, and one that writes outside.
pub(crate) fn tools() -> Vec<ToolFacts> {
    [
        ("core__time", "read", "none", vec![]),
        ("crm__refund", "mutate", "write", vec!["desk"]),
        ("crm__note", "mutate", "none", vec!["desk"]),
        ("crm__find", "read", "read_only", vec!["desk"]),
        ("files__delete", "destructive", "none", vec!["files"]),
    ]
    .map(|(id, effect, egress, toolsets)| {
        ToolFacts::of(&contract(id, effect, egress), toolsets.into_iter().map(str::to_owned).collect())
    })
    .into()
}

/// A judge over [`tools`] from policies that pass the check without a warning.
pub(crate) fn judge(text: &str) -> Judge {
    let checked =
        Policies::check(text, &|_| Some(refund_schema())).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(checked.warnings, []);
    Judge::new(Arc::new(checked.policies), tools())
}

/// An hour of a day of June 2025; the 2nd is a Monday.
pub(crate) fn june(day: i64, hour: i64) -> Timestamp {
    // 2025-06-01T00:00:00Z
    Timestamp::from_micros((1_748_736_000 + (day - 1) * 86_400 + hour * 3_600) * 1_000_000)
}

/// Monday the 2nd of June 2025 at ten, through the API, for oneself.
pub(crate) fn plainly() -> Circumstances<'static> {
    Circumstances {
        now: june(2, 10),
        labels: &[],
        source: Source::Api,
        subject: None,
        own: false,
        for_me: false,
    }
}
