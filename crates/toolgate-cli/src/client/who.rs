//! Names of principals as people type them: `agent show helper` means `agent:helper`.

use toolgate_core::id::{PrincipalId, PrincipalKind};

use super::{Stop, show};

const KINDS: [PrincipalKind; 3] = [PrincipalKind::User, PrincipalKind::Agent, PrincipalKind::Service];

/// The word before the colon.
pub(super) const fn word(kind: PrincipalKind) -> &'static str {
    match kind {
        PrincipalKind::User => "user",
        PrincipalKind::Agent => "agent",
        PrincipalKind::Service => "service",
    }
}

/// The id of a principal of this kind, given by its id or by its name alone.
pub(super) fn of_kind(kind: PrincipalKind, text: &str) -> Result<PrincipalId, Stop> {
    let word = word(kind);
    let full = if names_kind(text) { text.to_owned() } else { format!("{word}:{text}") };
    match full.parse::<PrincipalId>() {
        Ok(id) if id.kind() == kind => Ok(id),
        Ok(id) => Err(Stop::usage(format!("`{id}` is not of the kind `{word}`"))
            .hint(format!("use `toolgate {}` for it", self::word(id.kind())))),
        Err(_) => Err(Stop::usage(format!("`{}` can't be the name of a principal", show::plain(text)))
            .hint("a name has letters, digits and `_-.@+/:`, at most 128 of them")),
    }
}

fn names_kind(text: &str) -> bool {
    text.split_once(':').is_some_and(|(start, _)| KINDS.iter().any(|kind| word(*kind) == start))
}

/// An agent's id or name.
pub(super) fn parse_agent(text: &str) -> Result<PrincipalId, String> {
    parse(PrincipalKind::Agent, text)
}

/// A user's id or name.
pub(super) fn parse_user(text: &str) -> Result<PrincipalId, String> {
    parse(PrincipalKind::User, text)
}

fn parse(kind: PrincipalKind, text: &str) -> Result<PrincipalId, String> {
    of_kind(kind, text).map_err(|stop| {
        let (message, hint) = stop.into_parts();
        hint.map_or_else(|| message.clone(), |hint| format!("{message}; {hint}"))
    })
}

/// Users by id, name, or the start of an id and `*`.
pub(super) fn parse_user_pattern(text: &str) -> Result<String, String> {
    let pattern = if text == "*" || names_kind(text) { text.to_owned() } else { format!("user:{text}") };
    match pattern.parse::<toolgate_core::pattern::Pattern>() {
        Ok(_) => Ok(pattern),
        Err(cause) => Err(cause.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_may_be_left_out() {
        let agent = |text: &str| parse_agent(text).map(|id| id.to_string());
        assert_eq!(agent("helper"), Ok("agent:helper".to_owned()));
        assert_eq!(agent("agent:helper"), Ok("agent:helper".to_owned()));
        assert_eq!(agent("team:helper"), Ok("agent:team:helper".to_owned()));
        assert!(agent("user:ada").is_err_and(|text| text.contains("toolgate user")));
        for bad in ["", "agent:", "a b", "a\x1b"] {
            assert!(agent(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn people_are_named_by_pattern() {
        for (text, expected) in [
            ("ada", "user:ada"),
            ("user:ada", "user:ada"),
            ("user:*", "user:*"),
            ("*", "*"),
            ("a*", "user:a*"),
        ] {
            assert_eq!(parse_user_pattern(text), Ok(expected.to_owned()));
        }
        assert!(parse_user_pattern("a b").is_err());
    }
}
