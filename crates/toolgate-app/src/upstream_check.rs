//! What may be written of an MCP server: within bounds, of the web or a program, and without secrets.

use toolgate_core::argument::argument_variables;
use toolgate_core::id::Slug;
use toolgate_core::upstream::{Transport, Upstream, UpstreamAuth, tool_id};

use crate::upstream_secret::{no_secret_argument, no_secret_name, no_secret_text};
use crate::{AppError, bounds};

const MAX_ARGS: usize = 64;
const MAX_TEXT: usize = 4_096;
/// Headers that carry who we are, or how we speak.
const OURS: [&str; 9] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "transfer-encoding",
    "user-agent",
];

/// The document as it is kept, if it can be.
pub(crate) fn checked(name: &Slug, upstream: Upstream) -> Result<Upstream, AppError> {
    if tool_id(name, "x").is_none() {
        return Err(AppError::invalid(
            "an MCP server's name may have at most 24 letters, digits, `-` and single `_`",
        )
        .with_hint("it stands in every tool's id, as in `mcp__<name>__<tool>`; choose a short one"));
    }
    match &upstream.transport {
        Transport::Stdio { command, args, env } => {
            bounds::at_most(args, MAX_ARGS, "args")?;
            if command.is_empty() || std::iter::once(command).chain(args).any(|text| !is_argument(text)) {
                return Err(AppError::invalid(
                    "the command and its arguments must be plain texts without NUL",
                )
                .with_hint("each argument is handed over as it is; there is no shell"));
            }
            no_secret_argument(args)?;
            if let Some(name) = args.iter().flat_map(|argument| argument_variables(argument)).next()
                && upstream.auth == UpstreamAuth::None
            {
                return Err(AppError::invalid(format!(
                    "the arguments name `${{{name}}}`, which a connection would hold, and the server has none"
                ))
                .with_hint(format!(
                    "set `auth` to `shared` or `per_user`, then `toolgate connection set`; `$${{{name}}}` is the text itself"
                )));
            }
            for (key, value) in env {
                if !is_variable(key) || !is_argument(value) {
                    return Err(AppError::invalid(
                        "`env` holds a name or value that can't be an environment variable",
                    ));
                }
                // An empty one says that the program takes it from a connection.
                if steers(key) {
                    return Err(AppError::invalid(format!(
                        "`{key}` would change which program runs, or how"
                    ))
                    .with_hint("name the program and its arguments instead"));
                }
                if !value.is_empty() {
                    no_secret_name(key)?;
                }
                no_secret_text(value, key)?;
            }
        }
        Transport::Http { url, headers } => {
            check_address(url)?;
            for (key, value) in headers {
                let plain = |text: &str| text.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
                if key.is_empty()
                    || !key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
                    || !plain(value)
                {
                    return Err(AppError::invalid("`headers` holds a name or value that can't be a header"));
                }
                if OURS.iter().any(|ours| key.eq_ignore_ascii_case(ours))
                    || key.to_ascii_lowercase().starts_with("mcp-")
                {
                    return Err(AppError::invalid(format!("the header `{key}` is the gate's own to send")));
                }
                no_secret_name(key)?;
                no_secret_text(value, key)?;
            }
        }
    }
    if !(100..=300_000).contains(&upstream.connect_timeout_ms) {
        return Err(AppError::invalid("`connect_timeout_ms` must be from 100 to 300,000"));
    }
    if !(1..=256).contains(&upstream.concurrency) {
        return Err(AppError::invalid("`concurrency` must be from 1 to 256"));
    }
    Ok(Upstream { title: bounds::title(&upstream.title)?, ..upstream })
}

/// An address of the web, without a name and password in it. Where it leads is checked when it is called.
fn check_address(url: &str) -> Result<(), AppError> {
    let bad = |why: &str| {
        AppError::invalid(format!("`url` {why}")).with_hint("such as `https://mcp.example.com/mcp`")
    };
    if url.len() > MAX_TEXT || !url.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(bad("is too long, or holds what an address can't"));
    }
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let Some(rest) = rest else { return Err(bad("must begin with `https://` or `http://`")) };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() {
        return Err(bad("names no host"));
    }
    let query = url.split_once('?').map_or("", |(_, query)| query);
    for name in query.split('&').filter_map(|pair| pair.split('=').next()).filter(|name| !name.is_empty()) {
        no_secret_name(name)?;
    }
    if authority.contains('@') {
        return Err(bad("may not hold a name or password"));
    }
    no_secret_text(url, "url")
}

fn is_argument(text: &str) -> bool {
    text.len() <= MAX_TEXT && !text.contains('\0')
}

/// Variables by which a program is led to run something else: what may be started is decided by its name.
fn steers(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // How it says what it says, and whom it trusts: many servers are installed with these.
    let harmless = [
        "NODE_ENV",
        "NODE_EXTRA_CA_CERTS",
        "NODE_NO_WARNINGS",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONIOENCODING",
        "PYTHONUNBUFFERED",
        "PYTHONUTF8",
    ];
    if harmless.contains(&name.as_str()) {
        return false;
    }
    let starts = [
        "LD_",
        "DYLD_",
        "GIT_",
        "PERL5",
        "BASH_",
        "NPM_CONFIG_",
        "PYTHON",
        "RUBY",
        "NODE_",
        "JAVA_",
        "JDK_",
        "_JAVA",
    ];
    let whole = [
        "PATH",
        "HOME",
        "ENV",
        "SHELL",
        "IFS",
        "PS4",
        "PROMPT_COMMAND",
        "CLASSPATH",
        "EDITOR",
        "PAGER",
        "TMPDIR",
    ];
    let ends = ["_OPTIONS", "_OPTS", "_PRELOAD"];
    starts.iter().any(|start| name.starts_with(start))
        || whole.contains(&name.as_str())
        || ends.iter().any(|end| name.ends_with(end))
}

fn is_variable(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use toolgate_core::upstream::Questions;

    use super::*;

    fn http(url: &str) -> Upstream {
        Upstream {
            title: String::new(),
            transport: Transport::Http { url: url.to_owned(), headers: Default::default() },
            enabled: true,
            auth: UpstreamAuth::None,
            connect_timeout_ms: 1_000,
            concurrency: 4,
            questions: Questions::Refuse,
        }
    }

    fn ok(name: &str, upstream: Upstream) -> bool {
        checked(&name.parse().unwrap(), upstream).is_ok()
    }

    #[test]
    fn addresses_are_of_the_web_and_hold_no_password() {
        assert!(ok("a", http("https://mcp.example.com/mcp")));
        for bad in [
            "",
            "file:///etc/passwd",
            "https://",
            "https://ada:x@host/",
            "ftp://host",
            "https://a b/",
            "https://h/?api_key=x",
        ] {
            assert!(!ok("a", http(bad)), "{bad}");
        }
    }

    #[test]
    fn variables_need_a_connection() {
        let with = |argument: &str, auth| Upstream {
            transport: Transport::Stdio {
                command: "server".to_owned(),
                args: vec![argument.to_owned()],
                env: Default::default(),
            },
            auth,
            ..http("https://h/")
        };
        assert!(ok("a", with("${PG_URL}", UpstreamAuth::Shared)));
        assert!(!ok("a", with("${PG_URL}", UpstreamAuth::None)));
        assert!(ok("a", with("$${PG_URL}", UpstreamAuth::None)));
    }

    #[test]
    fn names_leave_ids_unambiguous() {
        for bad in ["a__b", "a.b", "a_", "a-very-long-name-that-fits-nowhere"] {
            assert!(!ok(bad, http("https://h/")), "{bad}");
        }
    }

    #[test]
    fn secrets_have_no_place_in_a_document() {
        let with = |key: &str| Upstream {
            transport: Transport::Stdio {
                command: "server".to_owned(),
                args: Vec::new(),
                env: [(key.to_owned(), "x".to_owned())].into(),
            },
            ..http("https://h/")
        };
        for good in ["LOG_LEVEL", "NODE_ENV", "NODE_EXTRA_CA_CERTS", "PYTHONUNBUFFERED"] {
            assert!(ok("a", with(good)), "{good}");
        }
        for bad in [
            "API_KEY",
            "NOTION_TOKEN",
            "PASSWORD",
            "A=B",
            "",
            "PATH",
            "LD_PRELOAD",
            "NODE_OPTIONS",
            "NODE_PATH",
            "PYTHONPATH",
            "PYTHONSTARTUP",
        ] {
            assert!(!ok("a", with(bad)), "{bad}");
        }
    }
}
