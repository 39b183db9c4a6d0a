//! Tools and the history of their contracts.

use toolgate_core::contract::ContractVersion;
use toolgate_core::port::store::ToolRow;
use toolgate_core::{Effect, Egress};

use crate::given::*;

fn tool(id: &str, egress: Egress, requires_approval: bool) -> ToolRow {
    ToolRow {
        id: id.parse().unwrap(),
        version: ContractVersion("v1".into()),
        effect: Effect::Mutate,
        egress,
        requires_approval,
        contract: json(r#"{ "title": "A tool" }"#),
    }
}

/// The database itself makes every tool that writes outside ask a person, when it is new and when it changes.
pub async fn write_egress_forces_approval(store: Shared) {
    let tools = vec![
        tool("core__asks", Egress::None, true),
        tool("core__reads", Egress::ReadOnly, false),
        tool("core__writes", Egress::Write, false),
    ];
    let expected = |tools: &[ToolRow]| -> Vec<ToolRow> {
        let forced = |row: &ToolRow| row.requires_approval || row.egress == Egress::Write;
        tools.iter().map(|row| ToolRow { requires_approval: forced(row), ..row.clone() }).collect()
    };
    assert_eq!(store.record_tools(&tenant(), tools.clone(), now()).await.unwrap(), expected(&tools));
    assert_eq!(store.record_tools(&tenant(), tools.clone(), now()).await.unwrap(), expected(&tools));

    let mut changed = tools;
    changed[0].requires_approval = false;
    (changed[1].egress, changed[1].version) = (Egress::Write, ContractVersion("v2".into()));
    assert_eq!(store.record_tools(&tenant(), changed.clone(), now()).await.unwrap(), expected(&changed));
}

/// Recorded tools replace what was there, in the tenant they were recorded for; all of its tools are returned, in
/// order of id.
pub async fn tools_are_replaced_by_what_is_recorded(store: Shared) {
    let first = tool("core__b", Egress::None, false);
    store.record_tools(&tenant(), vec![first.clone()], now()).await.unwrap();
    let second = ToolRow {
        version: ContractVersion("v2".into()),
        contract: json(r#"{"title":"B"}"#),
        ..first.clone()
    };
    let other = tool("core__a", Egress::None, false);
    let kept = store.record_tools(&tenant(), vec![second.clone(), other.clone()], now()).await.unwrap();
    assert_eq!(kept, [other.clone(), second.clone()]);

    let foreign = store.record_tools(&other_tenant(), vec![first.clone()], now()).await.unwrap();
    assert_eq!(foreign, std::slice::from_ref(&first));
    // An old contract may come back.
    let kept = store.record_tools(&tenant(), vec![first.clone()], now()).await.unwrap();
    assert_eq!(kept, [other.clone(), first.clone()]);
    assert_eq!(store.record_tools(&tenant(), Vec::new(), now()).await.unwrap(), [other, first]);
}
