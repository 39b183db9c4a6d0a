//! What a gate answers with, piece by piece: one message, or the events of a stream.

use futures::StreamExt;
use futures::stream::BoxStream;

use super::Reply;

/// One piece of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Piece {
    /// What to go on after, where the stream breaks off.
    pub(super) event: Option<String>,
    /// The message; empty where only the event matters.
    pub(super) text: String,
}

impl Piece {
    /// The piece that a block of a stream is; none for a comment.
    fn of(block: &str) -> Option<Self> {
        let mut piece = Self::default();
        let mut data: Vec<&str> = Vec::new();
        for line in block.lines() {
            match line.split_once(':') {
                Some(("data", rest)) => data.push(rest.trim_start()),
                Some(("id", rest)) => piece.event = Some(rest.trim_start().to_owned()),
                _ => {}
            }
        }
        piece.text = data.join("\n");
        (!data.is_empty() || piece.event.is_some()).then_some(piece)
    }
}

/// The pieces of a reply.
pub(super) fn of(reply: Reply) -> BoxStream<'static, Piece> {
    if reply.streams {
        let state = (reply.body, Vec::<u8>::new());
        return futures::stream::unfold(state, |(mut body, mut text)| async move {
            loop {
                while let Some(end) = text.windows(2).position(|pair| pair == b"\n\n") {
                    let block: Vec<u8> = text.drain(..end + 2).collect();
                    if let Some(piece) = Piece::of(&String::from_utf8_lossy(&block)) {
                        return Some((piece, (body, text)));
                    }
                }
                text.extend(body.next().await?.ok()?);
            }
        })
        .boxed();
    }
    futures::stream::once(async move {
        let parts: Vec<_> = reply.body.collect().await;
        let bytes: Vec<u8> = parts.into_iter().filter_map(Result::ok).flatten().collect();
        Piece { event: None, text: String::from_utf8_lossy(&bytes).into_owned() }
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_told_from_comments() {
        let piece = |event: Option<&str>, text: &str| {
            Some(Piece { event: event.map(str::to_owned), text: text.to_owned() })
        };
        assert_eq!(Piece::of(": still here\n\n"), None);
        assert_eq!(Piece::of("event: message\ndata: {}\n\n"), piece(None, "{}"));
        assert_eq!(Piece::of("id: c.1.-.x\ndata: \n\n"), piece(Some("c.1.-.x"), ""));
        assert_eq!(Piece::of("id: 7\ndata: {\ndata:}\n\n"), piece(Some("7"), "{\n}"));
    }
}
