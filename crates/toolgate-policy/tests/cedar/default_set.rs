//! What a tenant starts with.

use serde_json::json;
use toolgate_core::id::ToolName;
use toolgate_policy::cedar::{Circumstances, Deciding, Judge, Policies};

use crate::given::{judge, plainly, who};

fn default_judge() -> Judge {
    judge(Policies::default_set().0)
}

#[test]
fn the_default_set_is_whole() {
    let (text, policies) = Policies::default_set();
    assert_eq!(policies.len(), text.matches("@id(").count());
    assert_eq!(policies.ids().next(), Some("everyone may see and call"));
    assert!(!policies.reads_labels() && !policies.is_empty());
}

#[test]
fn everyone_calls_and_only_reads_run_unattended() {
    let judge = default_judge();
    for id in ["user:ada", "agent:helper", "service:billing"] {
        for (tool, unattended) in
            [("core__time", true), ("crm__find", true), ("crm__note", false), ("files__delete", false)]
        {
            let answer = judge.tool(&who(id, &[], &[]), &tool.parse().unwrap(), &plainly());
            assert!(answer.see.allowed && answer.call.allowed);
            assert_eq!(answer.unattended.allowed, unattended, "{id} {tool}");
            assert!(!answer.reads_input);
            let by = if unattended { Deciding::Permit } else { Deciding::NoPermit };
            assert_eq!(answer.unattended.by, by);
        }
    }
}

#[test]
fn people_approve_their_own_and_approvers_any() {
    let judge = default_judge();
    let refund: ToolName = "crm__refund".parse().unwrap();
    let check = |id, roles: &[&str], rules: &[&str], own, for_me, rule: &str| {
        let circumstances = Circumstances { own, for_me, ..plainly() };
        let answer = judge.approve(&who(id, roles, rules), &refund, &circumstances, &json!({"amount": 1}));
        assert_eq!(&*answer.rule, rule, "{id}");
        assert_eq!(answer.allowed, rule != "deny by default");
    };
    check("user:ada", &[], &[], true, false, "people approve their own calls");
    check("user:ada", &[], &[], false, true, "people approve their own calls");
    check("user:ada", &[], &[], false, false, "deny by default");
    check("agent:helper", &[], &[], true, true, "deny by default");
    check("service:billing", &[], &[], true, false, "deny by default");
    check("user:bob", &["approver"], &[], false, false, "approvers approve");
    check("user:root", &[], &["*"], false, false, "administrators approve");
}

#[test]
fn administrators_manage_and_auditors_read_the_record() {
    let judge = default_judge();
    let may = |roles: &[&str], rules: &[&str], area| {
        judge.manage(&who("user:ada", roles, rules), area, &plainly()).allowed
    };
    assert!(may(&[], &["*"], "policies") && may(&[], &["*"], "audit"));
    assert!(may(&["auditor"], &[], "audit"));
    assert!(!may(&["auditor"], &[], "policies"));
    assert!(!may(&["approver"], &["crm.notes.write"], "audit"));
}

#[test]
fn granted_connections_may_be_used() {
    let judge = default_judge();
    assert!(judge.connection(&who("agent:a", &[], &[]), "github", "con_1", &plainly()).allowed);
}
