//! Every id, its prefix and its meaning. The text form is a promise; the inside is not.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// A text that is not the id it was taken for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is not a valid {expected}")]
pub struct BadId {
    /// What a right text looks like.
    pub expected: &'static str,
}

macro_rules! prefixed_ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// The text every id of this kind starts with.
            pub const PREFIX: &'static str = concat!($prefix, "_");

            /// A new id. Ids made later sort later (UUIDv7).
            #[must_use]
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }

            /// The same number under this kind's prefix: how a call's own session gets its id.
            #[must_use]
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The number inside.
            #[must_use]
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut buffer = [0u8; uuid::fmt::Simple::LENGTH];
                f.write_str(Self::PREFIX)?;
                f.write_str(self.0.simple().encode_lower(&mut buffer))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                let bad = BadId { expected: concat!($prefix, "_ id: `", $prefix, "_` and 32 hexadecimal digits") };
                let digits = text.strip_prefix(Self::PREFIX).filter(|rest| rest.len() == 32).ok_or(bad.clone())?;
                // Only the one spelling `Display` makes, so that equal ids have equal texts.
                if digits.bytes().any(|b| b.is_ascii_uppercase()) {
                    return Err(bad);
                }
                Uuid::try_parse(digits).map(Self).map_err(|_| bad)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

prefixed_ids! {
    /// One call of one tool version; also the `call_id` that callers see.
    InvocationId = "inv";
    /// A thread of work and its chain of events.
    SessionId = "ses";
    /// A bearer key; the key itself is never stored.
    ApiKeyId = "key";
    /// An account at an outside service.
    ConnectionId = "con";
    /// One running server process, as named in leases.
    WorkerId = "wrk";
    /// A person signed in with a browser.
    SignInId = "sin";
    /// A message to the outside.
    NotificationId = "ntf";
    /// What a person let an application do.
    OauthGrantId = "ogr";
    /// A link by which anyone may look at one call, for a while.
    ShareId = "shr";
    /// A file that was sent here for tools to read.
    FileId = "fil";
    /// Two users of different tenants who are one person.
    TenantLinkId = "lnk";
}

macro_rules! text_ids {
    ($($(#[$doc:meta])* $name:ident, $expected:literal, $valid:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The text form.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                let valid: fn(&str) -> bool = $valid;
                if valid(text) { Ok(Self(text.into())) } else { Err(BadId { expected: $expected }) }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

text_ids! {
    /// A tool's id: `<namespace>__<name>`.
    ToolName, "tool id: `<namespace>__<name>` of letters, digits, `_` and `-`, at most 64 characters", is_tool_name;
    /// A tenant's slug, the wall between organisations.
    TenantId, "tenant slug: lower-case letters, digits and `-`, at most 63 characters", is_tenant_slug;
    /// Who acts: `user:…`, `agent:…` or `service:…`.
    PrincipalId, "principal: `user:`, `agent:` or `service:` and a name of at most 128 characters", is_principal;
    /// What people call a role, toolset, profile or limit.
    Slug, "name: lower-case letters, digits, `-`, `_` and `.`, at most 64 characters, starting with a letter or digit", is_slug;
    /// What a caller sends so that a repeat is recognised.
    IdempotencyKey, "idempotency key: 1 to 255 visible ASCII characters", is_idempotency_key;
}

impl TenantId {
    /// The tenant that exists from the first start, whose tool rows apply to all.
    #[must_use]
    pub fn default_tenant() -> Self {
        Self("default".into())
    }
}

/// The kinds of principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PrincipalKind {
    /// A person.
    User,
    /// A model with instructions and tools.
    Agent,
    /// Another program.
    Service,
}

impl PrincipalId {
    /// The part after the kind.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.split_once(':').map_or("", |(_, name)| name)
    }

    /// What kind of principal this is.
    #[must_use]
    pub fn kind(&self) -> PrincipalKind {
        match self.0.split_once(':') {
            Some(("user", _)) => PrincipalKind::User,
            Some(("agent", _)) => PrincipalKind::Agent,
            // The text was checked when it was parsed, so what is left is a service.
            _ => PrincipalKind::Service,
        }
    }
}

impl ToolName {
    /// The part before the first `__`.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.0.split_once("__").map_or("", |(namespace, _)| namespace)
    }
}

fn is_tool_name(text: &str) -> bool {
    text.len() <= 64
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        && text.split_once("__").is_some_and(|(namespace, name)| !namespace.is_empty() && !name.is_empty())
}

fn is_tenant_slug(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !text.starts_with('-')
}

fn is_principal(text: &str) -> bool {
    text.split_once(':').is_some_and(|(kind, name)| {
        matches!(kind, "user" | "agent" | "service")
            && (1..=128).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.@+/:".contains(&b))
    })
}

fn is_slug(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b))
        && text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
}

fn is_idempotency_key(text: &str) -> bool {
    (1..=255).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_survive_a_round_trip_and_keep_their_kind() {
        let id = InvocationId::generate();
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!(id.to_string().parse::<SessionId>().is_err());
        assert!(id.to_string().to_uppercase().parse::<InvocationId>().is_err());
    }

    #[test]
    fn later_ids_sort_later() {
        let ids: Vec<String> = (0..100).map(|_| InvocationId::generate().to_string()).collect();
        assert!(ids.is_sorted());
    }

    #[test]
    fn tool_names_have_a_namespace_and_bounds() {
        let longest = format!("core__{}", "a".repeat(58));
        for good in ["core__get_current_time", "mcp__github__create_issue", "a-b__C", longest.as_str()] {
            assert!(good.parse::<ToolName>().is_ok(), "{good}");
        }
        let too_long = format!("core__{}", "a".repeat(59));
        for bad in ["", "core", "__x", "core__", "core__a b", "core__ä", "core__a/b", too_long.as_str()] {
            assert!(bad.parse::<ToolName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn principals_say_their_kind() {
        let check = |text: &str, kind| assert_eq!(text.parse::<PrincipalId>().map(|p| p.kind()), Ok(kind));
        check("user:ada", PrincipalKind::User);
        check("agent:helper", PrincipalKind::Agent);
        check("service:ci", PrincipalKind::Service);
        for bad in ["", "ada", "root:x", "user:", "user:a b"] {
            assert!(bad.parse::<PrincipalId>().is_err(), "{bad}");
        }
    }
}
