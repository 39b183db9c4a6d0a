//! What all documents share on their way in and out: names, pages, and the revision a change was made from.

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use toolgate_api::BudgetView;
use toolgate_app::AppError;
use toolgate_core::document::Expect;
use toolgate_core::id::Slug;
use toolgate_core::limit::{Budget, Overrun, Span};
use toolgate_core::pattern::Pattern;
use toolgate_core::profile::ProfileApproval;
use utoipa::IntoParams;

use super::tool::{bad, parse_id};
use crate::error::ApiError;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamePage {
    /// Where the page starts, from `next_cursor` of the one before.
    pub(crate) cursor: Option<String>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    pub(crate) limit: Option<u32>,
}

/// The name of a document that is there: one that can't exist is one that does not exist.
pub(crate) fn name(text: &str, what: &'static str) -> Result<Slug, ApiError> {
    text.parse().map_err(|_| AppError::NotFound { what }.into())
}

/// The name of a document to write.
pub(crate) fn new_name(text: &str) -> Result<Slug, ApiError> {
    parse_id(text, "name")
}

/// What the request says must be true: `If-Match: "<revision>"`, `If-None-Match: *`, or nothing.
pub(crate) fn precondition(headers: &HeaderMap) -> Result<Expect, ApiError> {
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let seen = text(header::IF_MATCH).map(|tag| {
        let digits = tag.trim().strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
        digits.and_then(|digits| digits.parse().ok()).map(Expect::Revision).ok_or_else(|| {
            bad("`If-Match` must be a revision in quotation marks").hint("such as `If-Match: \"3\"`")
        })
    });
    let absent = text(header::IF_NONE_MATCH).map(|tag| match tag.trim() {
        "*" => Ok(Expect::Absent),
        _ => Err(bad("`If-None-Match` must be `*`")),
    });
    match (seen, absent) {
        (Some(_), Some(_)) => Err(bad("`If-Match` and `If-None-Match` can't both be true")),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => Ok(Expect::Anything),
    }
}

/// A document with its revision as its tag.
pub(crate) fn tagged<T: Serialize>(view: T, revision: Option<u64>) -> Response {
    let mut response = Json(view).into_response();
    let tag = revision.and_then(|revision| HeaderValue::from_str(&format!("\"{revision}\"")).ok());
    if let Some(tag) = tag {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// A list of patterns over ids.
pub(crate) fn patterns(texts: &[String], field: &str) -> Result<Vec<Pattern>, ApiError> {
    texts.iter().map(|text| parse_id(text, field)).collect()
}

/// A list of words that each have one meaning.
pub(crate) fn words<T>(
    texts: &[String],
    meaning: fn(&str) -> Option<T>,
    field: &str,
) -> Result<Vec<T>, ApiError> {
    texts
        .iter()
        .map(|text| meaning(text).ok_or_else(|| bad(format!("`{field}` holds an unknown word"))))
        .collect()
}

/// The one word that is understood for approval.
pub(crate) fn tightening(word: Option<&str>, what: &str) -> Result<Option<ProfileApproval>, ApiError> {
    match word {
        None => Ok(None),
        Some("always_ask") => Ok(Some(ProfileApproval::AlwaysAsk)),
        Some(_) => {
            Err(bad(format!("a {what} can only tighten: `approval` takes `always_ask` and nothing else"))
                .hint("leave `approval` out to keep what policy and tool say"))
        }
    }
}

pub(crate) fn budget(view: Option<BudgetView>) -> Result<Option<Budget>, ApiError> {
    view.map(|view| {
        let every = Span::from_text(&view.every)
            .ok_or_else(|| bad("`cost.every` must be `hour`, `day` or `month`"))?;
        Ok(Budget { micros: view.micros, every })
    })
    .transpose()
}

pub(crate) fn budget_view(budget: Budget) -> BudgetView {
    BudgetView { micros: budget.micros, every: budget.every.as_str().to_owned() }
}

pub(crate) fn overrun(word: Option<&str>) -> Result<Overrun, ApiError> {
    match word {
        None | Some("stop") => Ok(Overrun::Stop),
        Some("ask") => Ok(Overrun::Ask),
        Some(_) => Err(bad("`on_overrun` must be `stop` or `ask`")),
    }
}

pub(crate) fn overrun_word(overrun: Overrun) -> String {
    match overrun {
        Overrun::Stop => "stop",
        Overrun::Ask => "ask",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preconditions_are_read_strictly() {
        let check = |headers: &[(header::HeaderName, &str)]| {
            let headers: HeaderMap =
                headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
            precondition(&headers).ok()
        };
        assert_eq!(check(&[]), Some(Expect::Anything));
        assert_eq!(check(&[(header::IF_MATCH, "\"3\"")]), Some(Expect::Revision(3)));
        assert_eq!(check(&[(header::IF_NONE_MATCH, "*")]), Some(Expect::Absent));
        for bad in ["3", "W/\"3\"", "\"x\"", "*", "\"1\", \"2\"", ""] {
            assert_eq!(check(&[(header::IF_MATCH, bad)]), None, "{bad}");
        }
        assert_eq!(check(&[(header::IF_NONE_MATCH, "\"3\"")]), None);
        assert_eq!(check(&[(header::IF_MATCH, "\"3\""), (header::IF_NONE_MATCH, "*")]), None);
    }
}
