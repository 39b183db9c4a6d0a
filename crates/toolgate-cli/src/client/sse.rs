//! Server-sent events, as far as a gate sends them.

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Frame {
    /// The `id` field: where to go on after a break.
    pub(super) id: String,
    /// The `data` field.
    pub(super) data: String,
}

/// Puts the pieces of a stream together.
#[derive(Debug, Default)]
pub(super) struct Frames {
    rest: Vec<u8>,
    current: Frame,
}

impl Frames {
    /// Takes the next piece, and gives the events it completes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Frame> {
        self.rest.extend_from_slice(bytes);
        let mut frames = Vec::new();
        let mut start = 0;
        while let Some(length) = self.rest[start..].iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(&self.rest[start..start + length]).into_owned();
            start += length + 1;
            frames.extend(self.line(line.trim_end_matches('\r')));
        }
        self.rest.drain(..start);
        frames
    }

    fn line(&mut self, line: &str) -> Option<Frame> {
        if line.is_empty() {
            let frame = std::mem::take(&mut self.current);
            return Some(frame).filter(|frame| !frame.data.is_empty());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => value.clone_into(&mut self.current.id),
            "data" => {
                if !self.current.data.is_empty() {
                    self.current.data.push('\n');
                }
                self.current.data.push_str(value);
            }
            // `event` stands in the data too; a line that begins with a colon keeps the connection alive.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(id: &str, data: &str) -> Frame {
        Frame { id: id.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn events_are_found_however_the_stream_is_cut() {
        let stream = ": hello\n\nid: 1\nevent: tool.started\ndata: {\"a\":\"ü\"}\n\nid:2\r\ndata:x\r\ndata: y\r\n\r\nid: 3\n";
        let expected = [frame("1", "{\"a\":\"ü\"}"), frame("2", "x\ny")];
        for size in 1..stream.len() {
            let mut frames = Frames::default();
            let found: Vec<Frame> =
                stream.as_bytes().chunks(size).flat_map(|piece| frames.push(piece)).collect();
            assert_eq!(found, expected, "in pieces of {size}");
        }
    }
}
