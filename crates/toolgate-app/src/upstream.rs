//! MCP servers that this gate calls: who they are and how they are reached. Nothing of theirs is on before it is reviewed.

use std::sync::Arc;

use serde_json::json;
use toolgate_core::administration::Write;
use toolgate_core::document::{Area, DocumentKind, Expect};
use toolgate_core::id::{Slug, TenantId};
use toolgate_core::port::upstream::{Health, Listing, Upstreams};
use toolgate_core::upstream::{ToolState, Transport, Upstream, UpstreamAuth, UpstreamTool, tool_id};
use toolgate_core::{Actor, CallError};

use crate::bounds;
use crate::stored::{Stored, part_of};
use crate::{App, AppError};

const KIND: DocumentKind = DocumentKind::Upstream;
/// The most servers of a tenant.
const MOST: usize = 200;
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

/// A server as it stands: what was written, how it does here, and how many of its tools stand where.
#[derive(Debug, Clone)]
pub struct KnownUpstream {
    /// What was written.
    pub stored: Stored<Upstream>,
    /// How it does on this node; none when nothing was asked of it yet.
    pub health: Option<Health>,
    /// How many of its tools stand where.
    pub tools: Vec<(ToolState, usize)>,
}

impl App {
    /// The servers after `after`, ordered by name, and where the next part starts.
    ///
    /// # Errors
    /// "Forbidden" for whoever does not manage upstreams.
    pub async fn list_upstreams(
        &self,
        actor: &Actor,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<KnownUpstream>, Option<String>), AppError> {
        self.require(actor, Area::Upstreams)?;
        let all = self.stored(actor, KIND).await?;
        let (part, next) = part_of(all, |found: &Stored<Upstream>| &found.name, after, limit);
        let tools = self.stored::<UpstreamTool>(actor, DocumentKind::UpstreamTool).await?;
        Ok((part.into_iter().map(|stored| self.known_upstream(actor, stored, &tools)).collect(), next))
    }

    /// One server.
    ///
    /// # Errors
    /// As [`App::list_upstreams`], and "not found".
    pub async fn read_upstream(&self, actor: &Actor, name: &Slug) -> Result<KnownUpstream, AppError> {
        self.require(actor, Area::Upstreams)?;
        let stored = self.stored_one(actor, KIND, name.as_str()).await?;
        let tools = self.stored::<UpstreamTool>(actor, DocumentKind::UpstreamTool).await?;
        Ok(self.known_upstream(actor, stored, &tools))
    }

    fn known_upstream(
        &self,
        actor: &Actor,
        stored: Stored<Upstream>,
        tools: &[Stored<UpstreamTool>],
    ) -> KnownUpstream {
        let name = stored.name.parse::<Slug>().ok();
        let health =
            name.as_ref().zip(self.upstreams()).and_then(|(name, pool)| pool.health(&actor.tenant, name));
        let own = || tools.iter().filter(|tool| tool.body.upstream.as_str() == stored.name);
        let count = |state| own().filter(|tool| tool.body.state() == state).count();
        let tools = ToolState::ALL.map(|state| (state, count(state))).to_vec();
        KnownUpstream { health, tools, stored }
    }

    /// Writes a server down. Naming a command is a permission of its own: whoever may do it runs programs here.
    ///
    /// # Errors
    /// What is wrong with it; a conflict when it does not stand as `expect` says.
    pub async fn put_upstream(
        &self,
        actor: &Actor,
        name: &Slug,
        upstream: Upstream,
        expect: Expect,
    ) -> Result<KnownUpstream, AppError> {
        self.require(actor, Area::Upstreams)?;
        let before = self.store().document(&actor.tenant, KIND, name.as_str()).await?;
        let before = before.map(Stored::<Upstream>::of).transpose()?;
        let known = before.as_ref().is_some_and(|before| before.body.transport == upstream.transport);
        if matches!(upstream.transport, Transport::Stdio { .. }) && !known {
            self.require(actor, Area::UpstreamCommands)?;
        }
        if before.is_none() && self.documents(actor, KIND).await?.len() >= MOST {
            return Err(AppError::Conflict {
                message: format!("the tenant has {MOST} MCP servers, the most there may be"),
            });
        }
        self.permitted(actor, &upstream)?;
        let upstream = checked(name, upstream)?;
        if before.is_some() && !known {
            // What was accepted was accepted there; it waits again before anything is called here.
            self.hold_tools(actor, name).await?;
        }
        self.put_stored(actor, KIND, name.as_str(), &upstream, expect).await?;
        self.forget_upstream(&actor.tenant, name).await;
        self.read_upstream(actor, name).await
    }

    /// Switches a server's accepted tools on or off.
    ///
    /// # Errors
    /// As [`App::read_upstream`].
    pub async fn switch_upstream(
        &self,
        actor: &Actor,
        name: &Slug,
        on: bool,
    ) -> Result<KnownUpstream, AppError> {
        let found = self.read_upstream(actor, name).await?.stored;
        let upstream = Upstream { enabled: on, ..found.body };
        self.put_stored(actor, KIND, name.as_str(), &upstream, Expect::Revision(found.revision)).await?;
        self.forget_upstream(&actor.tenant, name).await;
        self.read_upstream(actor, name).await
    }

    /// Takes a server away, with everything that was accepted of it.
    ///
    /// # Errors
    /// "Not found" when there is none.
    pub async fn delete_upstream(&self, actor: &Actor, name: &Slug, expect: Expect) -> Result<(), AppError> {
        self.require(actor, Area::Upstreams)?;
        self.stored_one::<Upstream>(actor, KIND, name.as_str()).await?;
        let mut writes = vec![Write::RemoveDocument { kind: KIND, name: name.to_string(), expect }];
        for tool in self.tools_of_upstream(actor, name).await? {
            writes.push(Write::RemoveDocument {
                kind: DocumentKind::UpstreamTool,
                name: tool.name,
                expect: Expect::Revision(tool.revision),
            });
        }
        let summary = json!({ "action": "upstream.removed", "name": name, "tools": writes.len() - 1 });
        self.change(actor, summary, writes).await?;
        self.forget_upstream(&actor.tenant, name).await;
        Ok(())
    }

    /// Connects to a server and shows what it has. Nothing is kept of it.
    ///
    /// # Errors
    /// What kept it from answering, with its code.
    pub async fn test_upstream(&self, actor: &Actor, name: &Slug) -> Result<Listing, AppError> {
        self.require(actor, Area::Upstreams)?;
        let upstream = self.stored_one::<Upstream>(actor, KIND, name.as_str()).await?.body;
        self.ask_upstream(actor, name, &Arc::new(upstream)).await
    }

    pub(crate) async fn ask_upstream(
        &self,
        actor: &Actor,
        name: &Slug,
        upstream: &Arc<Upstream>,
    ) -> Result<Listing, AppError> {
        self.permitted(actor, upstream)?;
        let pool = self.upstreams().ok_or_else(no_pool)?;
        let person = (upstream.auth == UpstreamAuth::PerUser).then_some(&actor.principal);
        pool.list(&actor.tenant, name, upstream, person).await.map_err(AppError::Call)
    }

    /// Whoever runs the gate decides which programs run on its machine.
    fn permitted(&self, actor: &Actor, upstream: &Upstream) -> Result<(), AppError> {
        if self.snapshots.commands().permits(&actor.tenant, &upstream.transport) {
            return Ok(());
        }
        Err(AppError::forbidden("this program may not be started as an MCP server here").with_hint(
            "whoever runs the gate allows programs with `[upstreams] commands` in `toolgate.toml`",
        ))
    }

    pub(crate) async fn forget_upstream(&self, tenant: &TenantId, name: &Slug) {
        if let Some(pool) = self.upstreams() {
            pool.forget(tenant, name).await;
        }
    }

    pub(crate) fn upstreams(&self) -> Option<&Arc<dyn Upstreams>> {
        self.snapshots.upstreams()
    }
}

fn no_pool() -> AppError {
    AppError::Call(CallError::new(
        toolgate_core::ErrorCode::UpstreamFailed,
        "this server is not set up to call MCP servers",
    ))
}

fn checked(name: &Slug, upstream: Upstream) -> Result<Upstream, AppError> {
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
                    no_secret(key)?;
                }
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
                no_secret(key)?;
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
        no_secret(name)?;
    }
    if authority.contains('@') {
        return Err(bad("may not hold a name or password"));
    }
    Ok(())
}

fn is_argument(text: &str) -> bool {
    text.len() <= MAX_TEXT && !text.contains('\0')
}

/// Variables by which a program is led to run something else: what may be started is decided by its name.
fn steers(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
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

/// Documents are shown to all who manage them and kept in every version: no place for a secret.
fn no_secret(name: &str) -> Result<(), AppError> {
    let ends = |end: &&str| name.to_ascii_uppercase().ends_with(end);
    let secret = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "_KEY", "-KEY", "APIKEY"].iter().any(ends);
    if !secret && toolgate_schema::forbidden_name(name).is_none() {
        return Ok(());
    }
    Err(AppError::invalid(format!("`{name}` looks like it carries a secret"))
        .with_hint("keep it as a connection: `toolgate connection set mcp:<name>`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn http(url: &str) -> Upstream {
        Upstream {
            title: String::new(),
            transport: Transport::Http { url: url.to_owned(), headers: Default::default() },
            enabled: true,
            auth: UpstreamAuth::None,
            connect_timeout_ms: 1_000,
            concurrency: 4,
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
        assert!(ok("a", with("LOG_LEVEL")));
        for bad in [
            "API_KEY",
            "NOTION_TOKEN",
            "PASSWORD",
            "A=B",
            "",
            "PATH",
            "LD_PRELOAD",
            "NODE_OPTIONS",
            "PYTHONPATH",
        ] {
            assert!(!ok("a", with(bad)), "{bad}");
        }
    }
}
