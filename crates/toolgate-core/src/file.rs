//! Files that people and programs hand to tools: bytes kept for a while, named in data by their id.
//!
//! What a sender says of a file is shown and never trusted: its name is cleaned, and only what its own first bytes show
//! to be a picture is ever called one.

use crate::accept::Accept;
use crate::actor::Actor;
use crate::contract::text_form;
use crate::id::{FileId, PrincipalId, TenantId};
use crate::text::is_invisible;
use crate::time::Timestamp;

/// The size of the parts a file is kept in; the last one may be smaller.
pub const PART_BYTES: usize = 256 * 1024;

/// What a file counts against its tenant's total beside its bytes, so that empty ones are not free.
pub const COUNTED_BYTES: u64 = 1024;

const LONGEST_NAME: usize = 120;
const LONGEST_ENDING: usize = 12;
const LONGEST_MEDIA_TYPE: usize = 127;

/// The media type of bytes nobody says anything of.
pub const PLAIN_BYTES: &str = "application/octet-stream";

/// A file that arrived whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its id: how data names it.
    pub id: FileId,
    /// In which tenant.
    pub tenant: TenantId,
    /// Whose it is: the person an agent or service sent it for, or whoever sent it.
    pub owner: PrincipalId,
    /// Who sent it.
    pub sent_by: PrincipalId,
    /// What it is called; cleaned.
    pub name: String,
    /// What its sender said it is. Shown, never served.
    pub media_type: String,
    /// The kind of picture its first bytes show it to be.
    pub picture: Option<Picture>,
    /// How many bytes.
    pub size: u64,
    /// Their SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// When it was sent.
    pub created_at: Timestamp,
    /// When it goes.
    pub expires_at: Timestamp,
}

impl File {
    /// Whether it is this caller's, or of the person the caller works for.
    #[must_use]
    pub fn is_of(&self, actor: &Actor) -> bool {
        self.tenant == actor.tenant
            && (self.owner == actor.principal || actor.subject_id() == Some(&self.owner))
    }

    /// Whether it is of one of these kinds.
    #[must_use]
    pub fn is_one_of(&self, kinds: &Accept) -> bool {
        kinds.takes(&self.name, &self.media_type, self.picture)
    }

    /// How many parts it has.
    #[must_use]
    pub const fn parts(&self) -> u64 {
        self.size.div_ceil(PART_BYTES as u64)
    }
}

/// Whose a file is that this caller sends.
#[must_use]
pub fn owner_of(actor: &Actor) -> &PrincipalId {
    actor.subject_id().unwrap_or(&actor.principal)
}

/// The pictures that may be shown where they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picture {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    Webp,
}

text_form!(Picture {
    Png = "image/png",
    Jpeg = "image/jpeg",
    Gif = "image/gif",
    Webp = "image/webp"
});

impl Picture {
    /// How many bytes have to be seen to tell.
    pub const SHOWN_BY: usize = 12;

    /// What the first bytes of a file show, whatever anybody says of it.
    #[must_use]
    pub fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            _ => None,
        }
    }
}

/// A name without path, control, direction or other invisible characters, in bounds; none when nothing is left.
#[must_use]
pub fn clean_name(given: &str) -> Option<String> {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last
        .chars()
        .filter(|c| !is_hidden(*c))
        .map(|c| if "<>:\"|?*".contains(c) { '_' } else { c })
        .collect();
    // A name that begins with dots is hidden from view in many places, and `..` is no name at all.
    let name = kept.trim_matches(|c: char| c.is_whitespace() || c == '.');
    if name.is_empty() {
        return None;
    }
    if name.chars().count() <= LONGEST_NAME {
        return Some(name.to_owned());
    }
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let ending = ending.filter(|ending| ending.chars().count() <= LONGEST_ENDING);
    let room = LONGEST_NAME - ending.map_or(0, |ending| ending.chars().count() + 1);
    let start: String = name.chars().take(room).collect();
    Some(match ending {
        Some(ending) => format!("{}.{ending}", start.trim_end_matches([' ', '.'])),
        None => start,
    })
}

/// Characters that make a name look like another.
fn is_hidden(c: char) -> bool {
    // The last two stand for what could not be shown or read.
    c.is_control() || is_invisible(c) || matches!(c, '\u{fffc}' | '\u{fffd}')
}

/// A media type without parameters, in lower case; what is none becomes plain bytes.
#[must_use]
pub fn clean_media_type(given: &str) -> String {
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let token = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
    };
    let fits = essence.len() <= LONGEST_MEDIA_TYPE
        && essence.split_once('/').is_some_and(|(kind, rest)| token(kind) && token(rest));
    if fits { essence } else { PLAIN_BYTES.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_path_and_what_nobody_sees() {
        let check = |given: &str, expected: Option<&str>| {
            assert_eq!(clean_name(given).as_deref(), expected, "{given:?}");
        };
        check("q3.csv", Some("q3.csv"));
        check("naïve 漢字 🦀.txt", Some("naïve 漢字 🦀.txt"));
        check("../../etc/passwd", Some("passwd"));
        check("C:\\Users\\ada\\cv.pdf", Some("cv.pdf"));
        check("a\0b\r\nSet-Cookie: x.txt", Some("abSet-Cookie_ x.txt"));
        check("invoice\u{202e}fdp.exe", Some("invoicefdp.exe"));
        check("zero\u{200b}width\u{feff}.txt", Some("zerowidth.txt"));
        check(".bashrc", Some("bashrc"));
        check("say \"hi\".txt", Some("say _hi_.txt"));
        for nothing in ["", "   ", ".", "..", "/", "a/", "\u{202e}", "....", "\0"] {
            check(nothing, None);
        }
    }

    #[test]
    fn long_names_keep_their_ending() {
        let long = clean_name(&format!("{}.csv", "ä".repeat(500))).unwrap();
        assert_eq!(long.chars().count(), LONGEST_NAME);
        assert!(long.ends_with("ä.csv"));
        let odd = clean_name(&"x.".repeat(400)).unwrap();
        assert!(odd.chars().count() <= LONGEST_NAME);
    }

    #[test]
    fn media_types_are_plain_or_nothing() {
        let check = |given: &str, expected: &str| assert_eq!(clean_media_type(given), expected, "{given:?}");
        check("text/csv; charset=utf-8", "text/csv");
        check("Image/SVG+xml", "image/svg+xml");
        for wrong in [
            "",
            "csv",
            "text/",
            "text/html\r\nx: y",
            "a/b/c",
            "text/html,x",
            &format!("a/{}", "b".repeat(200)),
        ] {
            check(wrong, PLAIN_BYTES);
        }
    }

    #[test]
    fn pictures_are_known_by_their_first_bytes() {
        assert_eq!(Picture::of(b"\x89PNG\r\n\x1a\n...."), Some(Picture::Png));
        assert_eq!(Picture::of(b"\xff\xd8\xff\xe0"), Some(Picture::Jpeg));
        assert_eq!(Picture::of(b"GIF89a;"), Some(Picture::Gif));
        assert_eq!(Picture::of(b"RIFF\x01\x02\x03\x04WEBPVP8 "), Some(Picture::Webp));
        for other in
            [&b"<html>"[..], b"<svg xmlns=", b"GIF", b"RIFF\x01\x02\x03\x04WAVE", b"", b" \x89PNG\r\n\x1a\n"]
        {
            assert_eq!(Picture::of(other), None, "{other:?}");
        }
    }
}
