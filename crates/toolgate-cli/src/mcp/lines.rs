//! Standard input and output, one message a line. Both block, so each has a thread of its own.

use std::io::{BufRead, Read, Write};

use tokio::sync::mpsc;

/// The longest line.
const MAX_LINE: u64 = 16 << 20;

/// What came in.
pub(super) enum Line {
    /// A line that says something.
    Text(Vec<u8>),
    /// A line that is too long to be looked at.
    TooLong,
}

/// Reads until the end of standard input, or a line that is too long.
pub(super) fn read(lines: &mpsc::Sender<Line>) {
    let mut input = std::io::stdin().lock();
    loop {
        let mut line = Vec::new();
        match (&mut input).take(MAX_LINE + 1).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(read) if read as u64 > MAX_LINE => {
                let _ = lines.blocking_send(Line::TooLong);
                return;
            }
            Ok(_) if line.trim_ascii().is_empty() => {}
            Ok(_) => {
                if lines.blocking_send(Line::Text(line)).is_err() {
                    return;
                }
            }
        }
    }
}

/// Writes until nobody says anything more, or nobody reads.
pub(super) fn write(mut lines: mpsc::Receiver<String>) {
    let mut output = std::io::stdout().lock();
    while let Some(mut line) = lines.blocking_recv() {
        line.push('\n');
        if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}
