//! Our facts as Cedar's entities and contexts.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use cedar_policy::{
    Context, Entity, EntityId, EntityTypeName, EntityUid, RestrictedExpression as Expression,
};
use jiff::civil::Weekday;
use toolgate_core::Timestamp;
use toolgate_core::id::{PrincipalId, PrincipalKind};

use super::facts::{Action, Circumstances, PrincipalFacts, ToolKind};
use super::reads::Reads;
use super::scope::{Member, NAMESPACE, Uid};

/// Our kinds of entities. Cedar parses a kind's name, which costs more than finding it here.
static KINDS: LazyLock<HashMap<String, EntityTypeName>> = LazyLock::new(|| {
    ["User", "Agent", "Service", "Role", "Tool", "Toolset", "Connection", "Area", "Action"]
        .into_iter()
        .filter_map(|kind| {
            let name = format!("{NAMESPACE}::{kind}");
            let parsed = name.parse().ok()?;
            Some((name, parsed))
        })
        .collect()
});

static ACTIONS: LazyLock<HashMap<Action, EntityUid>> = LazyLock::new(|| {
    let uid = |action: Action| Some((action, cedar_uid(&Uid::ours("Action", action.as_str())).ok()?));
    Action::ALL.into_iter().filter_map(uid).collect()
});

/// Something Cedar would not take. Our own words are fixed, so none is expected; if one comes, the answer is "no".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the question could not be put to the policies")]
pub(super) struct Unaskable;

/// The uid of a principal.
pub(super) fn principal_uid(id: &PrincipalId) -> Uid {
    Uid::ours(kind_name(id.kind()), id.as_str())
}

/// A principal with its roles, rules and name.
pub(super) fn principal(who: &PrincipalFacts) -> Result<Entity, Unaskable> {
    entity(&Member::principal(who), [("name", text(name_of(&who.id))), ("rules", texts(&who.rules))])
}

/// The person worked for. Their roles and rules are not known, so a policy that reads those faults and denies.
pub(super) fn subject(id: &PrincipalId) -> Result<Entity, Unaskable> {
    entity(&Member { uid: principal_uid(id), parents: Vec::new() }, [("name", text(name_of(id)))])
}

/// A tool with what it declares.
pub(super) fn tool(member: &Member, kind: &ToolKind) -> Result<Entity, Unaskable> {
    entity(
        member,
        [
            ("namespace", text(&kind.namespace)),
            ("category", text(&kind.category)),
            ("effect", text(kind.effect.as_str())),
            ("egress", text(kind.egress.as_str())),
            ("idempotent", Expression::new_bool(kind.idempotent)),
            ("internal", Expression::new_bool(kind.internal)),
        ],
    )
}

/// An account at an outside service.
pub(super) fn connection(member: &Member, provider: &str) -> Result<Entity, Unaskable> {
    entity(member, [("provider", text(provider))])
}

/// An entity with no attributes.
pub(super) fn plain(member: &Member) -> Result<Entity, Unaskable> {
    entity(member, [])
}

/// A uid as Cedar has it.
pub(super) fn cedar_uid(uid: &Uid) -> Result<EntityUid, Unaskable> {
    let kind = KINDS.get(&uid.kind).ok_or(Unaskable)?;
    Ok(EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(&uid.id)))
}

/// An action as Cedar has it.
pub(super) fn action_uid(action: Action) -> Result<EntityUid, Unaskable> {
    ACTIONS.get(&action).cloned().ok_or(Unaskable)
}

/// The parts of the context that are read; building the others would be work for nobody.
pub(super) fn context(
    action: Action,
    reads: Reads,
    circumstances: &Circumstances<'_>,
    input: Option<Expression>,
) -> Result<Context, Unaskable> {
    let mut pairs = Vec::new();
    let mut add = |part: Reads, name: &str, value: &dyn Fn() -> Result<Expression, Unaskable>| {
        if reads.has(part) {
            pairs.push((name.to_owned(), value()?));
        }
        Ok(())
    };
    let now = moment(circumstances.now);
    add(Reads::NOW, "now", &|| Ok(Expression::new_datetime(format!("{:.3}Z", now))))?;
    add(Reads::HOUR, "hour", &|| Ok(Expression::new_long(now.hour().into())))?;
    add(Reads::WEEKDAY, "weekday", &|| Ok(text(weekday_name(now.weekday()))))?;
    add(Reads::LABELS, "labels", &|| Ok(texts(circumstances.labels)))?;
    add(Reads::SOURCE, "source", &|| Ok(text(circumstances.source.as_str())))?;
    if action == Action::Approve {
        add(Reads::OWN, "own", &|| Ok(Expression::new_bool(circumstances.own)))?;
        add(Reads::FOR_ME, "for_me", &|| Ok(Expression::new_bool(circumstances.for_me)))?;
    }
    if let Some(id) = person(circumstances) {
        add(Reads::SUBJECT, "subject", &|| Ok(Expression::new_entity_uid(cedar_uid(&principal_uid(id))?)))?;
    }
    pairs.extend(input.filter(|_| reads.has(Reads::INPUT)).map(|input| ("input".to_owned(), input)));
    Context::from_pairs(pairs).map_err(|_| Unaskable)
}

/// The subject, when it is a person.
pub(super) fn person<'a>(circumstances: &Circumstances<'a>) -> Option<&'a PrincipalId> {
    circumstances.subject.filter(|subject| subject.kind() == PrincipalKind::User)
}

fn entity<const N: usize>(member: &Member, attributes: [(&str, Expression); N]) -> Result<Entity, Unaskable> {
    let attributes: HashMap<String, Expression> =
        attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let parents: HashSet<EntityUid> = member.parents.iter().map(cedar_uid).collect::<Result<_, _>>()?;
    Entity::new(cedar_uid(&member.uid)?, attributes, parents).map_err(|_| Unaskable)
}

fn text(text: &str) -> Expression {
    Expression::new_string(text.to_owned())
}

fn texts(texts: &[String]) -> Expression {
    Expression::new_set(texts.iter().map(|one| text(one)))
}

/// The civil time in UTC. Cedar writes years with four digits, so moments beyond are held at the ends.
fn moment(timestamp: Timestamp) -> jiff::civil::DateTime {
    let first = jiff::civil::DateTime::constant(0, 1, 1, 0, 0, 0, 0);
    let Ok(moment) = jiff::Timestamp::from_microsecond(timestamp.as_micros()) else {
        return if timestamp.as_micros() < 0 { first } else { jiff::civil::DateTime::MAX };
    };
    jiff::tz::Offset::UTC.to_datetime(moment).max(first)
}

fn name_of(id: &PrincipalId) -> &str {
    id.as_str().split_once(':').map_or(id.as_str(), |(_, name)| name)
}

const fn kind_name(kind: PrincipalKind) -> &'static str {
    match kind {
        PrincipalKind::User => "User",
        PrincipalKind::Agent => "Agent",
        PrincipalKind::Service => "Service",
    }
}

const fn weekday_name(weekday: Weekday) -> &'static str {
    match weekday {
        Weekday::Monday => "monday",
        Weekday::Tuesday => "tuesday",
        Weekday::Wednesday => "wednesday",
        Weekday::Thursday => "thursday",
        Weekday::Friday => "friday",
        Weekday::Saturday => "saturday",
        Weekday::Sunday => "sunday",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_action_has_its_name() {
        assert_eq!((KINDS.len(), ACTIONS.len()), (9, 6));
    }

    #[test]
    fn moments_are_told_in_utc_and_held_at_the_ends() {
        let check = |micros: i64, shown: &str, weekday: &str| {
            let now = moment(Timestamp::from_micros(micros));
            assert_eq!((format!("{now:.3}").as_str(), weekday_name(now.weekday())), (shown, weekday));
            let circumstances = Circumstances {
                now: Timestamp::from_micros(micros),
                labels: &[],
                source: toolgate_core::Source::Api,
                subject: None,
                own: false,
                for_me: false,
            };
            assert!(context(Action::See, Reads::NOW, &circumstances, None).is_ok(), "{shown}");
        };
        check(0, "1970-01-01T00:00:00.000", "thursday");
        check(-1_000, "1969-12-31T23:59:59.999", "wednesday");
        check(1_750_000_000_123_456, "2025-06-15T15:06:40.123", "sunday");
        check(i64::MAX, "9999-12-31T23:59:59.999", "friday");
        check(i64::MIN, "0000-01-01T00:00:00.000", "saturday");
    }

    #[test]
    fn ids_may_hold_any_text() {
        for id in ["", "\"", "\\", "a\0b", "\u{202e}", "日本"] {
            assert_eq!(cedar_uid(&Uid::ours("Role", id)).unwrap().id().unescaped(), id);
        }
    }
}
