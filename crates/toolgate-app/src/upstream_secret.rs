//! Secrets have no place in what is written of an MCP server: documents are shown to all who manage them and kept in
//! every version, and a program's arguments are seen by everyone on the machine.

use std::borrow::Cow;

use toolgate_core::argument::{ArgumentPart, argument_parts};

use crate::AppError;

/// How names end that carry a secret.
const NAMES: [&str; 8] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "_KEY", "-KEY", "APIKEY"];
/// How tokens begin that well-known services make.
const TOKENS: [&str; 29] = [
    "AIza",
    "AKIA",
    "ASIA",
    "SG.",
    "dop_v1_",
    "gho_",
    "ghp_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "hf_",
    "lin_api_",
    "npm_",
    "ntn_",
    "pypi-",
    "rk_live_",
    "secret_",
    "shpat_",
    "sk-",
    "sk_live_",
    "sk_test_",
    "tvly-",
    "xapp-",
    "xoxb-",
    "xoxp-",
    "xoxs-",
    "ya29.",
];
/// What follows that beginning, at the least.
const TOKEN_LENGTH: usize = 16;

/// Refuses a name that says it carries a secret.
pub(crate) fn no_secret_name(name: &str) -> Result<(), AppError> {
    if !names_secret(name) && toolgate_schema::forbidden_name(name).is_none() {
        return Ok(());
    }
    Err(refused(&format!("`{name}` looks like it carries a secret")))
}

/// Refuses a text that is a secret by its looks. The text itself is not repeated.
pub(crate) fn no_secret_text(text: &str, place: &str) -> Result<(), AppError> {
    if is_secret(text) { Err(refused(&format!("`{place}` looks like it holds a secret"))) } else { Ok(()) }
}

/// Refuses arguments that are secrets, or are said to be by the flag before them.
pub(crate) fn no_secret_argument(args: &[String]) -> Result<(), AppError> {
    // What stands for something in the connection is none of it.
    let args: Vec<Cow<'_, str>> = args.iter().map(|arg| without_variables(arg)).collect();
    for (at, arg) in args.iter().enumerate() {
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (arg.as_ref(), args.get(at + 1).map(AsRef::as_ref).filter(|next| !next.starts_with('-'))),
        };
        let flag = name.trim_start_matches('-');
        let is_name =
            !flag.is_empty() && flag.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        // Without a dash and a sign it is a word of its own, and what follows is another.
        let names_value = name.starts_with('-') || arg.contains('=');
        let given = value.is_some_and(|value| !value.is_empty() && !is_place(value));
        if is_name && names_value && names_secret(flag) && given {
            return Err(refused(&format!("the argument `{name}` looks like it carries a secret")));
        }
        if is_secret(arg) || is_secret_header(arg) || value.is_some_and(is_secret_header) {
            return Err(refused(&format!("argument {} of the program looks like it holds a secret", at + 1)));
        }
    }
    Ok(())
}

/// An argument without its variables.
fn without_variables(argument: &str) -> Cow<'_, str> {
    if !argument.contains("${") {
        return Cow::Borrowed(argument);
    }
    let texts = argument_parts(argument).into_iter().filter_map(|part| match part {
        ArgumentPart::Text(text) => Some(text),
        ArgumentPart::Variable(_) => None,
    });
    Cow::Owned(texts.collect())
}

/// A header as many programs take them, such as `X-API-Key: …`, with something secret in it.
fn is_secret_header(text: &str) -> bool {
    let Some((name, value)) = text.split_once(':') else { return false };
    let name = name.trim();
    let is_name =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    let carries =
        ["authorization", "proxy-authorization", "cookie"].iter().any(|it| name.eq_ignore_ascii_case(it));
    // What is left of `Bearer ${TOKEN}`.
    let scheme = ["bearer", "basic", "token"].iter().any(|it| value.trim().eq_ignore_ascii_case(it));
    is_name
        && (carries || names_secret(name))
        && !value.trim().is_empty()
        && !scheme
        && !is_place(value.trim())
}

/// Credentials as HTTP has them: a scheme, then something that no word looks like.
fn is_credential(text: &str) -> bool {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    words.windows(2).any(|pair| {
        let word = pair[0].rsplit(['=', ':']).next().unwrap_or_default();
        let scheme = ["bearer", "basic"].iter().any(|it| word.eq_ignore_ascii_case(it));
        let random = pair[1].bytes().any(|b| b.is_ascii_digit()) || pair[1].ends_with('=');
        scheme && pair[1].len() >= 8 && random
    })
}

fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    NAMES.iter().any(|end| name.ends_with(end))
}

/// A file that holds a secret may be named.
fn is_place(value: &str) -> bool {
    ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start))
}

fn is_secret(text: &str) -> bool {
    let private_key = text.contains("-----BEGIN") && text.contains("PRIVATE KEY");
    private_key
        || holds_password(text)
        || is_credential(text)
        || text.split(|c| !is_of_token(c)).any(is_token)
}

fn is_of_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.".contains(c)
}

fn is_token(word: &str) -> bool {
    let random = |rest: &str| {
        rest.len() >= TOKEN_LENGTH
            && rest.bytes().any(|b| b.is_ascii_digit())
            && rest.bytes().any(|b| b.is_ascii_alphabetic())
    };
    let made = TOKENS.iter().filter_map(|start| word.strip_prefix(start)).any(random);
    // A JSON web token: three parts, the first of which is JSON.
    made || (word.starts_with("eyJ") && word.len() >= 40 && word.matches('.').count() == 2)
}

/// Whether an address in the text has a password before its host.
fn holds_password(text: &str) -> bool {
    text.match_indices("://").any(|(at, sign)| {
        let rest = &text[at + sign.len()..];
        let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        authority
            .rsplit_once('@')
            .is_some_and(|(user, _)| user.split_once(':').is_some_and(|(_, p)| !p.is_empty()))
    })
}

fn refused(message: &str) -> AppError {
    AppError::invalid(message).with_hint(
        "keep it as a connection: `toolgate connection set mcp:<name>`, for a program with `--kind env --name VARIABLE`; an argument names it as `${VARIABLE}`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(words: &[&str]) -> bool {
        no_secret_argument(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>()).is_ok()
    }

    #[test]
    fn secrets_among_arguments_are_refused() {
        for bad in [
            &["--token", "abc"][..],
            &["--api-key=abc"],
            &["serve", "--db-password", "hunter2"],
            &["NOTION_TOKEN=abc", "server"],
            &["-e", "GITHUB_TOKEN=abc"],
            &["--secret", "x"],
            &["ghp_0123456789abcdefABCDEF0123456789abcd"],
            &["--auth", "Bearer sk-proj-0123456789abcdefghij"],
            &["postgres://ada:hunter2@db.example/main"],
            &["--jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"],
            &["-----BEGIN RSA PRIVATE KEY-----"],
            &["--header", "X-API-Key: 0123456789abcdef0123456789abcdef"],
            &["--header=X-API-Key:abc"],
            &["-H", "Authorization: Basic dXNlcjpwYXNzd29yZA=="],
            &["--header", "Authorization:${SCHEME} hunter2"],
            &["--auth", "Basic dXNlcjpwYXNzd29yZA=="],
            &["--auth=Basic dXNlcjpwYXNzd29yZA=="],
            &["--token", "abc${REST}"],
        ] {
            assert!(!arguments(bad), "{bad:?}");
        }
    }

    #[test]
    fn what_only_sounds_like_one_is_not() {
        for good in [
            &[][..],
            &["-y", "@modelcontextprotocol/server-filesystem", "/srv/shared"],
            &["--token-file", "/run/secrets/token"],
            &["--token=/run/secrets/token"],
            &["--max-tokens", "100"],
            &["--password", "--verbose"],
            &["token", "list"],
            &["--keyboard", "us"],
            &["postgres://ada@db.example/main"],
            &["git+ssh://git@github.com/a/b.git"],
            &["sk-learn-server-with-a-long-name"],
            &["--primary", "npm_config_registry_and_more"],
            &["${PG_URL}"],
            &["--api-key=${KEY}"],
            &["--api-key", "${KEY}"],
            &["postgres://ada:${PASSWORD}@db.example/main"],
            &["--header", "Authorization: Bearer ${TOKEN}"],
            &["--header", "Authorization:${AUTH}"],
            &["--header", "X-Team: platform"],
            &["--scheme", "Basic authentication"],
            &["C:/tools/token", "a: b"],
        ] {
            assert!(arguments(good), "{good:?}");
        }
    }

    #[test]
    fn a_refusal_does_not_repeat_the_secret() {
        for words in [&["--token", "hunter2-in-the-clear"][..], &["ghp_0123456789abcdefABCDEF0123456789abcd"]]
        {
            let args: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            let error = format!("{:?}", no_secret_argument(&args).unwrap_err());
            assert!(!error.contains("hunter2") && !error.contains("ghp_"), "{error}");
        }
    }
}
