//! Answers that take up room until their client has read them.

use axum::body::Bytes;
use toolgate_mcp::{Id, Kept, Reader, RpcError, Told, result_message};

/// An answer, and the room it takes.
pub(super) struct Done {
    pub(super) result: Result<String, RpcError>,
    pub(super) kept: Option<Kept>,
}

impl Done {
    /// An answer to this reader.
    pub(super) fn to(reader: &Reader, result: Result<String, RpcError>) -> Self {
        let (result, kept) = reader.answer(result);
        Self { result, kept }
    }

    /// The answer that ends a stream.
    pub(super) fn told(self, id: &Id) -> Told {
        let message = match self.result {
            Ok(result) => result_message(id, &result),
            Err(error) => error.to_message(Some(id)),
        };
        Told { message: Some(message), kept: self.kept, ..Told::default() }
    }
}

/// A text as bytes that keep its room for as long as anyone holds them.
pub(super) fn keeping(text: String, kept: Option<Kept>) -> Bytes {
    match kept {
        None => Bytes::from(text),
        Some(kept) => Bytes::from_owner(Keeping { text, _kept: kept }),
    }
}

struct Keeping {
    text: String,
    _kept: Kept,
}

impl AsRef<[u8]> for Keeping {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}
