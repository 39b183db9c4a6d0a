//! What a client takes for an answer.

use axum::http::{HeaderMap, header};

/// What a client takes for an answer: as the specification has it both, but who says nothing gets what fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Accepts {
    pub(super) json: bool,
    pub(super) stream: bool,
}

impl Accepts {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut accepts = Self { json: false, stream: false };
        let mut said = false;
        for value in headers.get_all(header::ACCEPT) {
            for part in value.to_str().unwrap_or_default().split(',') {
                said = true;
                match part.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
                    "*/*" => accepts = Self { json: true, stream: true },
                    "application/json" | "application/*" => accepts.json = true,
                    "text/event-stream" | "text/*" => accepts.stream = true,
                    _ => {}
                }
            }
        }
        if said { accepts } else { Self { json: true, stream: false } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_get_what_they_take() {
        let of = |text: &str| {
            let mut headers = HeaderMap::new();
            if !text.is_empty() {
                headers.insert(header::ACCEPT, text.parse().unwrap());
            }
            let accepts = Accepts::of(&headers);
            (accepts.json, accepts.stream)
        };
        assert_eq!(of("application/json, text/event-stream"), (true, true));
        assert_eq!(of("application/json"), (true, false));
        assert_eq!(of("TEXT/EVENT-STREAM;q=0.5"), (false, true));
        assert_eq!(of("*/*"), (true, true));
        assert_eq!(of(""), (true, false));
        assert_eq!(of("image/png"), (false, false));
    }
}
