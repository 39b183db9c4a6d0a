//! Who is told outside of what happens here, from the operator's file.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, bail};
use serde::Deserialize;
use toolgate_app::{Channel, Outbox, Pace, Shape};
use toolgate_core::id::{Slug, TenantId};
use toolgate_core::notification::NotificationKind;
use toolgate_egress::Url;

use crate::courier::EgressCourier;

/// The shortest secret that a webhook is signed with.
const SECRET_CHARS: usize = 16;

/// `[notify.<name>]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotifyConfig {
    /// Where messages go.
    url: Option<String>,
    /// The variable that holds where messages go, where the address is a secret by itself.
    url_env: Option<String>,
    /// What they look like.
    kind: Kind,
    /// The variable that holds what signs them; for a webhook.
    secret_env: Option<String>,
    /// Whose calls.
    #[serde(default = "TenantId::default_tenant")]
    tenant: TenantId,
    /// Of what; left out, of everything.
    events: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Webhook,
    Slack,
}

impl std::fmt::Debug for NotifyConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("NotifyConfig");
        shown.field("kind", &self.kind).field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

/// The outbox of the file. Nobody is told anything yet.
pub(crate) fn outbox(
    all: BTreeMap<String, NotifyConfig>,
    public_url: Option<String>,
) -> anyhow::Result<Outbox> {
    let channels = all
        .into_iter()
        .map(|(name, config)| {
            let context = format!("`[notify.{name}]`");
            let channel = channel(name, config, |variable| std::env::var(variable).ok());
            channel.map(Arc::new).context(context)
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    let courier = EgressCourier::to(channels.iter().map(|channel| channel.url.as_str()))?;
    Ok(Outbox { channels, courier: Some(Arc::new(courier)), public_url, pace: Pace::default() })
}

fn channel(
    name: String,
    config: NotifyConfig,
    variable: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<Channel> {
    // The name stands in addresses and in what receivers know messages by.
    name.parse::<Slug>()?;
    let read = |field: &str, named: &str| match variable(named).filter(|text| !text.is_empty()) {
        Some(text) => Ok(text),
        None => bail!("the variable `{named}` that `{field}` names is not set"),
    };
    let url = match (config.url, config.url_env) {
        (Some(url), None) => url,
        (None, Some(named)) => read("url_env", &named)?,
        _ => bail!("name where messages go, with `url` or `url_env`"),
    };
    // Not a word of the address itself: it may be a secret.
    let parsed = Url::parse(&url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    if !parsed.is_some_and(|url| url.has_host() && url.username().is_empty() && url.password().is_none()) {
        bail!("the address is not an http or https one without a user name in it");
    }
    let shape = match (config.kind, config.secret_env) {
        (Kind::Webhook, Some(named)) => {
            let secret = read("secret_env", &named)?;
            if secret.chars().count() < SECRET_CHARS {
                bail!("the secret in `{named}` must have at least {SECRET_CHARS} characters");
            }
            Shape::Webhook { secret }
        }
        (Kind::Webhook, None) => {
            bail!("a webhook is signed: name the variable of its secret with `secret_env`")
        }
        (Kind::Slack, None) => Shape::Slack,
        (Kind::Slack, Some(_)) => bail!("`secret_env` goes with `kind = \"webhook\"` only"),
    };
    let kinds = match config.events {
        None => NotificationKind::OF_CALLS.to_vec(),
        Some(named) => named.iter().map(|text| kind_of(text)).collect::<anyhow::Result<_>>()?,
    };
    Ok(Channel { name, tenant: config.tenant, kinds, url, shape })
}

fn kind_of(text: &str) -> anyhow::Result<NotificationKind> {
    let known = NotificationKind::OF_CALLS;
    known.into_iter().find(|kind| kind.as_str() == text).with_context(|| {
        let words: Vec<&str> = known.iter().map(|kind| kind.as_str()).collect();
        format!("there is no event `{text}`; there are: {}", words.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_config(text: &str) -> Result<Channel, String> {
        let config = toml::from_str(text).map_err(|cause| cause.to_string())?;
        let variable = |name: &str| match name {
            "SECRET" => Some("0123456789abcdef".to_owned()),
            "SHORT" => Some("0123456789".to_owned()),
            "HOOK" => Some("https://hooks.example/T0/B0/x".to_owned()),
            _ => None,
        };
        channel("ops".to_owned(), config, variable).map_err(|cause| format!("{cause:#}"))
    }

    #[test]
    fn little_has_to_be_said() {
        let webhook =
            try_config("kind = 'webhook'\nurl = 'https://x.example/in'\nsecret_env = 'SECRET'").unwrap();
        assert_eq!((webhook.tenant.as_str(), webhook.kinds.len()), ("default", 5));
        let slack = try_config("kind = 'slack'\nurl_env = 'HOOK'\nevents = ['call.in_doubt']").unwrap();
        assert_eq!(slack.kinds, [NotificationKind::CallInDoubt]);
    }

    #[test]
    fn what_can_not_work_is_said_at_start_and_no_secret_with_it() {
        for (text, why) in [
            ("kind = 'webhook'\nurl = 'https://x.example/SECRETPATH'", "`secret_env`"),
            ("kind = 'webhook'\nurl = 'https://x.example'\nsecret_env = 'UNSET'", "`UNSET`"),
            ("kind = 'webhook'\nurl = 'https://x.example'\nsecret_env = 'SHORT'", "16 characters"),
            ("kind = 'slack'", "`url`"),
            ("kind = 'slack'\nurl = 'https://x.example'\nurl_env = 'HOOK'", "`url`"),
            ("kind = 'slack'\nurl = 'ftp://SECRETPATH'", "http"),
            ("kind = 'slack'\nurl = 'https://user:SECRETPATH@x.example'", "user name"),
            ("kind = 'slack'\nurl_env = 'HOOK'\nsecret_env = 'SECRET'", "webhook"),
            ("kind = 'slack'\nurl_env = 'HOOK'\nevents = ['approval.asked']", "approval.requested"),
            ("kind = 'pigeon'\nurl_env = 'HOOK'", "pigeon"),
            ("kind = 'slack'\nurl_env = 'HOOK'\nno_such = 1", "unknown field"),
        ] {
            let cause = try_config(text).unwrap_err();
            assert!(cause.contains(why), "{text}: {cause}");
            assert!(!cause.contains("SECRETPATH") && !cause.contains("0123456789"), "{cause}");
        }
    }
}
