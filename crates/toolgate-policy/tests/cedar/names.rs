//! Names in policies: slips of the pen are found when a text is saved, and who is named is known.

use toolgate_policy::cedar::{Known, Policies, PolicyProblem};

use crate::given::refund_schema;

fn save(scope: &str, condition: &str) -> Result<Vec<PolicyProblem>, Vec<PolicyProblem>> {
    let text = format!("@id(\"p\") permit ({scope}) when {{ {condition} }};");
    let known = Known {
        input_schema_of: &|tool| (tool == "crm__refund").then(refund_schema),
        role: &|role| role == "approver",
        toolset: &|toolset| toolset == "desk",
    };
    Policies::check_for(&text, &known).map(|checked| checked.warnings).map_err(|problems| problems.0)
}

fn warned(scope: &str, condition: &str, message: &str) {
    let warnings =
        save(scope, condition).unwrap_or_else(|problems| panic!("{scope} {condition}: {problems:?}"));
    let messages: Vec<&str> = warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(messages, [message], "{scope} {condition}");
    assert_eq!(warnings[0].policy.as_deref(), Some("p"));
    assert!(warnings[0].hint.is_some());
}

fn refused(scope: &str, condition: &str, message: &str, hint: &str) {
    let problems = save(scope, condition).unwrap_err();
    assert_eq!(problems[0].message, message, "{scope} {condition}");
    let told = problems[0].hint.as_deref().unwrap_or_default();
    assert!(told.contains(hint), "{scope} {condition}: {told}");
}

const CALL: &str = "action == Toolgate::Action::\"call\", resource";
const MANAGE: &str = "action == Toolgate::Action::\"manage\", resource";

#[test]
fn what_there_may_be_later_is_a_warning() {
    let scope = |rest: &str| format!("principal, action == Toolgate::Action::\"call\", resource{rest}");
    let in_role = format!("principal in Toolgate::Role::\"aprover\", {CALL}");
    warned(&in_role, "true", "no role is named `aprover`");
    warned(&scope(""), "principal in Toolgate::Role::\"boss\"", "no role is named `boss`");
    warned(&scope(" in Toolgate::Toolset::\"desks\""), "true", "no toolset is named `desks`");
    warned(&scope(" == Toolgate::Tool::\"crm__gone\""), "true", "no tool is named `crm__gone`");
    let among = "[Toolgate::Tool::\"crm__refund\", Toolgate::Tool::\"crm__gone\"].contains(resource)";
    warned(&scope(""), among, "no tool is named `crm__gone`");
    let fine = format!("principal in Toolgate::Role::\"approver\", {CALL} in Toolgate::Toolset::\"desk\"");
    assert_eq!(save(&fine, "true"), Ok(vec![]));
}

#[test]
fn what_can_never_be_is_refused() {
    let area = |name: &str| format!("principal, {MANAGE} == Toolgate::Area::\"{name}\"");
    refused(&area("users"), "true", "there is no area `users` to manage", "`principals`");
    assert_eq!(save(&area("principals"), "true"), Ok(vec![]));
    let anyone = format!("principal, {MANAGE}");
    refused(&anyone, "resource == Toolgate::Area::\"key\"", "there is no area `key` to manage", "`keys`");
    for (kind, id, of, hint) in [
        ("User", "ada", "a user", "User::\"user:ada\""),
        ("User", "agent:ada", "a user", "User::\"user:ada\""),
        ("Agent", "user:helper", "an agent", "Agent::\"agent:helper\""),
        ("Service", "Service:billing", "a service", "Service::\"service:billing\""),
        ("User", "user:", "a user", "begin with their kind"),
    ] {
        let message = format!("`{id}` is no id of {of}");
        let scope = format!("principal == Toolgate::{kind}::\"{id}\", {CALL}");
        refused(&scope, "true", &message, hint);
        let named = format!("principal == Toolgate::{kind}::\"{id}\"");
        refused(&format!("principal, {CALL}"), &named, &message, hint);
    }
    assert_eq!(save(&format!("principal == Toolgate::User::\"user:ada\", {CALL}"), "true"), Ok(vec![]));
}

#[test]
fn words_an_attribute_never_has_are_warned_of() {
    let anyone = format!("principal, {CALL}");
    for (condition, message) in [
        ("resource.effect == \"reads\"", "`effect` is never `reads`"),
        ("\"Read\" != resource.effect", "`effect` is never `Read`"),
        ("[\"read\", \"mutates\"].contains(resource.effect)", "`effect` is never `mutates`"),
        ("resource.egress == \"read-only\"", "`egress` is never `read-only`"),
        ("context.weekday == \"Monday\"", "`weekday` is never `Monday`"),
        ("!(context.hour > 5 && context.source == \"rest\")", "`source` is never `rest`"),
    ] {
        warned(&anyone, condition, message);
    }
    let fine = "[\"read\", \"mutate\"].contains(resource.effect) && resource.egress != \"write\" \
                && context.weekday == \"friday\" && resource.namespace == \"reads\" && context.source == \"mcp\"";
    assert_eq!(save(&anyone, fine), Ok(vec![]));
}

#[test]
fn who_is_named_is_known_wherever_it_stands() {
    let names = |scope: &str, condition: &str| {
        let text = format!("@id(\"p\") forbid ({scope}) when {{ {condition} }};");
        let policies = Policies::load(&text).unwrap();
        ["user:ada", "user:bob", "agent:ada"].map(|id| policies.names_principal(&id.parse().unwrap()))
    };
    let anyone = format!("principal, {CALL}");
    let (ada, nobody, all) = ([true, false, false], [false; 3], [true; 3]);
    assert_eq!(names(&format!("principal == Toolgate::User::\"user:ada\", {CALL}"), "true"), ada);
    assert_eq!(names(&format!("principal in Toolgate::User::\"user:ada\", {CALL}"), "true"), ada);
    let within = format!("principal is Toolgate::User in Toolgate::User::\"user:ada\", {CALL}");
    assert_eq!(names(&within, "true"), ada);
    assert_eq!(names(&anyone, "[Toolgate::User::\"user:ada\"].contains(principal)"), ada);
    assert_eq!(names(&anyone, "context has subject && context.subject == Toolgate::User::\"user:ada\""), ada);
    assert_eq!(names(&anyone, "principal.name == \"ada\""), all);
    assert_eq!(names(&anyone, "context has subject && context.subject.name like \"a*\""), all);
    assert_eq!(names(&anyone, "principal in Toolgate::Role::\"user:ada\""), nobody);
    assert_eq!(names(&anyone, "principal.rules.contains(\"*\")"), nobody);
}
