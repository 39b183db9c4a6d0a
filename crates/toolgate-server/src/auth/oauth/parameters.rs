//! Parameters as OAuth wants them: each at most once.

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use toolgate_app::{ClientProof, OauthCode, OauthError};

use super::answer;
use crate::ServerState;
use crate::extract::read;

/// The parameters of a request.
#[derive(Default)]
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// The parameters of a query or a form; none when one of them came twice, for then nobody knows which is meant.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let pairs: Vec<(String, String)> = serde_urlencoded::from_bytes(text).ok()?;
        let twice =
            pairs.iter().enumerate().any(|(at, (name, _))| pairs[..at].iter().any(|(n, _)| n == name));
        (!twice).then_some(Self(pairs))
    }

    /// A parameter; one that is empty is as good as none.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.swap_remove(at).1).filter(|value| !value.is_empty())
    }
}

/// A form as applications send it, with who sends it.
pub(super) struct ClientForm {
    pub(super) parameters: Parameters,
    pub(super) client: ClientProof,
}

impl FromRequest<ServerState> for ClientForm {
    type Rejection = Response;

    async fn from_request(request: Request, state: &ServerState) -> Result<Self, Response> {
        let invalid = |why: &str| answer::refused(OauthCode::InvalidRequest, why);
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded")) {
            return Err(invalid("the body must be `application/x-www-form-urlencoded`"));
        }
        let by_header = basic(request.headers()).map_err(|()| {
            answer::refused(OauthCode::InvalidClient, "the `Authorization` header can't be read")
        })?;
        let body = read(request, state).await.map_err(|cause| answer::failed(&cause))?;
        let mut parameters = Parameters::parse(&body)
            .ok_or_else(|| invalid("the form can't be read, or names a field twice"))?;
        let (client_id, secret) = (parameters.take("client_id"), parameters.take("client_secret"));
        let client = match by_header {
            None => ClientProof { client_id, secret },
            Some(proof) => {
                if secret.is_some() || client_id.is_some_and(|id| proof.client_id.as_ref() != Some(&id)) {
                    return Err(invalid("the application says twice who it is"));
                }
                proof
            }
        };
        Ok(Self { parameters, client })
    }
}

/// What `Authorization: Basic` says: both halves are encoded as in a form first (RFC 6749, 2.3.1).
fn basic(headers: &HeaderMap) -> Result<Option<ClientProof>, ()> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let (scheme, encoded) = value.to_str().map_err(drop)?.split_once(' ').ok_or(())?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(());
    }
    let bytes = BASE64_STANDARD.decode(encoded.trim()).map_err(drop)?;
    let text = String::from_utf8(bytes).map_err(drop)?;
    let (id, secret) = text.split_once(':').ok_or(())?;
    let decoded = |half: &str| {
        let pairs: Result<Vec<(String, String)>, _> = serde_urlencoded::from_str(&format!("x={half}"));
        match pairs {
            Ok(mut pairs) if pairs.len() == 1 => pairs.pop().map(|(_, value)| value),
            _ => None,
        }
    };
    let (id, secret) = (decoded(id).ok_or(())?, decoded(secret).ok_or(())?);
    Ok(Some(ClientProof { client_id: Some(id), secret: Some(secret).filter(|secret| !secret.is_empty()) }))
}

impl From<OauthError> for answer::Refusal {
    fn from(cause: OauthError) -> Self {
        Self(cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_twice_is_refused() {
        assert!(Parameters::parse(b"a=1&a=2").is_none());
        let mut once = Parameters::parse(b"a=1&b=").unwrap();
        assert_eq!((once.take("a").as_deref(), once.take("b"), once.take("c")), (Some("1"), None, None));
    }

    #[test]
    fn both_halves_of_basic_are_decoded() {
        let check = |plain: &str, expected: Result<Option<(&str, Option<&str>)>, ()>| {
            let mut headers = HeaderMap::new();
            let value = format!("Basic {}", BASE64_STANDARD.encode(plain));
            headers.insert(header::AUTHORIZATION, value.parse().unwrap());
            let found =
                basic(&headers).map(|proof| proof.map(|proof| (proof.client_id.unwrap(), proof.secret)));
            let expected =
                expected.map(|proof| proof.map(|(id, secret)| (id.to_owned(), secret.map(str::to_owned))));
            assert_eq!(found, expected, "{plain}");
        };
        check("editor:s3cret", Ok(Some(("editor", Some("s3cret")))));
        check("editor:", Ok(Some(("editor", None))));
        check("https%3A%2F%2Fapp.example%2Fx:a%26b", Ok(Some(("https://app.example/x", Some("a&b")))));
        check("editor:a&x=b", Err(()));
        check("editor", Err(()));
    }
}
