//! What the operator decided about links to runs.

use std::time::Duration;

use anyhow::{Context, bail};
use serde::Deserialize;
use toolgate_app::ShareSettings;

/// The longest a link may last, whatever the file says.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);

/// `[shares]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ShareConfig {
    /// Whether people may show runs to anyone by a link; links that were made before show nothing while it is off.
    enabled: Option<bool>,
    /// The longest a link lasts, such as `12h` or `7d`; at most `30d`.
    longest: Option<String>,
}

/// The settings of the file.
pub(crate) fn settings(config: &ShareConfig) -> anyhow::Result<ShareSettings> {
    let usual = ShareSettings::default();
    let longest = match &config.longest {
        None => usual.longest,
        Some(text) => span(text).context("`[shares] longest`")?,
    };
    Ok(ShareSettings { enabled: config.enabled.unwrap_or(usual.enabled), longest })
}

fn span(text: &str) -> anyhow::Result<Duration> {
    let units = [("m", 60), ("h", 3600), ("d", 24 * 3600)];
    let found = units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)));
    let (number, unit) = found.with_context(|| format!("`{text}` must be such as 30m, 12h or 7d"))?;
    let number: u64 = number.parse().with_context(|| format!("`{text}` must be such as 30m, 12h or 7d"))?;
    let span = Duration::from_secs(number.saturating_mul(unit));
    if span.is_zero() || span > LONGEST {
        bail!("`{text}` must be at least a minute and at most 30d");
    }
    Ok(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_bounded() {
        assert_eq!(span("12h").unwrap(), Duration::from_secs(12 * 3600));
        assert_eq!(span("30d").unwrap(), LONGEST);
        for bad in ["", "0d", "31d", "7", "d", "-1d", "99999999999999999999d", "7w", "7ü"] {
            assert!(span(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_left_out_is_as_usual() {
        assert_eq!(settings(&ShareConfig::default()).unwrap(), ShareSettings::default());
        let off: ShareConfig = toml::from_str("enabled = false\nlongest = '1d'").unwrap();
        let off = settings(&off).unwrap();
        assert!(!off.enabled && off.longest == Duration::from_secs(86_400));
        assert!(toml::from_str::<ShareConfig>("forever = true").is_err());
    }
}
