//! Quotes of texts from outside the program, errors in TOML files, and suggestions for misspelt names.

use std::fmt::{self, Write as _};
use std::io;

use serde::de::DeserializeOwned;

/// The error for a text that is not a decision, a spot, a power, a seed or a position. The message names the valid texts.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(pub(crate) String);

/// A text from outside the program, made safe to quote in a message; see [`excerpt`].
#[derive(Clone, Copy, Debug)]
pub struct Excerpt<'t> {
    text: &'t str,
    most: usize,
}

/// Quotes a text that comes from a file, a command line or another program.
///
/// Control characters and marks that change the writing direction are escaped, such as `\u{1b}`, so that the text can
/// neither control a terminal nor imitate another line. After 100 characters the text is cut and ends with `…`.
///
/// ```
/// use cambio_core::text::excerpt;
///
/// assert_eq!(excerpt("never").to_string(), "never");
/// assert_eq!(excerpt("\u{1b}[31mred\n").to_string(), r"\u{1b}[31mred\n");
/// assert_eq!(excerpt(&"x".repeat(1_000_000)).to_string(), "x".repeat(100) + "…");
/// assert_eq!(excerpt("a long story").up_to(6).to_string(), "a long…");
/// ```
pub const fn excerpt(text: &str) -> Excerpt<'_> {
    Excerpt { text, most: 100 }
}

impl Excerpt<'_> {
    /// Cuts the text after this number of characters, instead of 100.
    #[must_use]
    pub const fn up_to(self, most: usize) -> Self {
        Excerpt { most, ..self }
    }
}

/// A text without the byte order mark that some editors and programs write at its beginning.
///
/// ```
/// assert_eq!(cambio_core::text::without_mark("\u{feff}seats = 2"), "seats = 2");
/// ```
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Suggests the most similar name, with a space at the end: "did you mean `name`? ". Empty if no name is similar.
///
/// ```
/// use cambio_core::text::did_you_mean;
///
/// assert_eq!(did_you_mean("greddy", ["random", "greedy"]), "did you mean `greedy`? ");
/// assert_eq!(did_you_mean("external", ["random", "greedy"]), "");
/// ```
pub fn did_you_mean<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    // A long text is not a typo, and its edit distance would take long to compute.
    if word.len() > 40 {
        return String::new();
    }
    let most = 1 + word.chars().count() / 4;
    let typos = names.into_iter().map(|name| (strsim::damerau_levenshtein(word, name), name));
    let nearest =
        typos.filter(|&(typos, _)| typos <= most && typos < word.chars().count()).min_by_key(|&(typos, _)| typos);
    nearest.map_or_else(String::new, |(_, name)| format!("did you mean `{name}`? "))
}

/// Parses a TOML file that a person has written.
///
/// # Errors
/// A sentence with the line and, if a value is invalid, with the field, the expected value and the value found.
///
/// ```
/// use cambio_core::text::read_toml;
/// use std::collections::BTreeMap;
///
/// let error = read_toml::<BTreeMap<String, u8>>("seats = 2\ndeals = -5").unwrap_err();
/// assert_eq!(error, "line 2: field `deals` must be a whole number from 0 to 255, found -5");
/// ```
pub fn read_toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or_default();
        let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
        let place = line.map_or_else(String::new, |line| format!("line {line}: "));
        let what = in_plain_words(error.message(), field_at(text, span.start).as_deref(), text[span].trim());
        format!("{place}{what}")
    })
}

/// The message of the TOML parser, with the field and the value that was found, and without names of Rust types.
fn in_plain_words(message: &str, field: Option<&str>, value: &str) -> String {
    // The parser's message for a field that is one of several words.
    let message = message.trim().replace("wanted string or table", "invalid type: another one, expected a string");
    let message = with_nearest_field(&message).replace('\n', " ");
    let is_of_value =
        ["invalid type: ", "invalid value: ", "unknown variant "].iter().any(|start| message.starts_with(start));
    let Some((_, expected)) = message.split_once(", expected ").filter(|_| is_of_value) else { return message };
    let up_to = |most: u64| format!("a whole number from 0 to {most}");
    let expected = match expected {
        "a sequence" => "a list".to_owned(),
        "a string" => "a text in quotes".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "u8" => up_to(u8::MAX.into()),
        "u16" => up_to(u16::MAX.into()),
        "u32" => up_to(u32::MAX.into()),
        "u64" => up_to(u64::MAX),
        "usize" => "a whole number of at least 0".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        expected if expected == "a map" || expected.starts_with("struct ") => "a table".to_owned(),
        expected => expected.to_owned(),
    };
    let field = field.map_or_else(|| "the value".to_owned(), |field| format!("field `{field}`"));
    format!("{field} must be {expected}, found {}", excerpt(value))
}

/// The field of the value at this place in a TOML file: the last key before the place, after the name of its table.
fn field_at(text: &str, place: usize) -> Option<String> {
    let end = text[place..].find('\n').map_or(text.len(), |length| place + length);
    let is_name =
        |name: &&str| !name.is_empty() && name.chars().all(|char| char.is_alphanumeric() || "_-.".contains(char));
    let (mut table, mut field) = (None, None);
    for line in text[..end].lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).filter(is_name) {
            (table, field) = (Some(name), None);
        } else if let Some(name) = line.split_once('=').map(|(name, _)| name.trim()).filter(is_name) {
            field = Some(name);
        }
    }
    match (table, field) {
        (Some(table), Some(field)) => Some(format!("{table}.{field}")),
        (table, field) => field.or(table).map(str::to_owned),
    }
}

/// Adds a suggestion to the parser's message about an unknown field, if a known field has a similar name.
fn with_nearest_field(message: &str) -> String {
    let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    match message.split_once(", expected one of ") {
        Some((unknown, known)) if unknown.starts_with("unknown field ") => {
            let (word, names) = (quoted(unknown).join(""), quoted(known));
            let meant = did_you_mean(&word, names.iter().map(String::as_str));
            if meant.is_empty() { message.to_owned() } else { format!("{unknown}; {meant}expected one of {known}") }
        }
        _ => message.to_owned(),
    }
}

/// Whether a character can control a terminal or imitate other text. The `matches!` lists Unicode's line and paragraph
/// separators, its direction marks, invisible format characters, and the byte order mark.
fn commands(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || matches!(char, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A writer to a terminal for text that may come from outside the program: the characters that [`excerpt`] escapes are
/// written as in JSON, such as `\u001b`, except line breaks and tabs. So JSON keeps its meaning. Invalid UTF-8 becomes
/// `\u{fffd}`.
///
/// ```
/// use std::io::Write as _;
///
/// let mut out = Vec::new();
/// writeln!(cambio_core::text::EscapingWriter::new(&mut out), "\u{1b}[31mred\u{202e}\tgr\u{fc}n").unwrap();
/// assert_eq!(out, "\\u001b[31mred\\u202e\tgr\u{fc}n\n".as_bytes());
/// ```
#[derive(Debug)]
pub struct EscapingWriter<W> {
    out: W,
    /// The begun character at the end of the input.
    begun: Vec<u8>,
}

impl<W: io::Write> EscapingWriter<W> {
    /// Escapes what is written to `out`.
    pub const fn new(out: W) -> EscapingWriter<W> {
        EscapingWriter { out, begun: Vec::new() }
    }

    fn write_text(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut escaped = String::with_capacity(bytes.len());
        for char in String::from_utf8_lossy(bytes).chars() {
            if commands(char) && !matches!(char, '\n' | '\t') {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    let _ = write!(escaped, "\\u{unit:04x}");
                }
            } else {
                escaped.push(char);
            }
        }
        self.out.write_all(escaped.as_bytes())
    }
}

impl<W: io::Write> io::Write for EscapingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = std::mem::take(&mut self.begun);
        text.extend_from_slice(bytes);
        if let Some(error) = str::from_utf8(&text).err().filter(|error| error.error_len().is_none()) {
            self.begun = text.split_off(error.valid_up_to());
        }
        self.write_text(&text).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let begun = std::mem::take(&mut self.begun);
        self.write_text(&begun).and_then(|()| self.out.flush())
    }
}

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut chars = self.text.chars();
        for char in chars.by_ref().take(self.most) {
            if commands(char) {
                write!(f, "{}", char.escape_default())?;
            } else {
                f.write_char(char)?;
            }
        }
        if chars.next().is_some() { f.write_char('…') } else { Ok(()) }
    }
}

/// The noun `one` in the form for this number: `match` for 1, otherwise `matches`.
///
/// ```
/// use cambio_core::text::noun;
///
/// assert_eq!([noun(1, "match"), noun(2, "match"), noun(0, "deal")], ["match", "matches", "deals"]);
/// ```
pub fn noun(value: u64, one: &str) -> String {
    let plural = if one.ends_with("ch") { "es" } else { "s" };
    format!("{one}{}", if value == 1 { "" } else { plural })
}

/// A time with two significant digits or more and its unit: `0.34 µs`, `4.2 ms`, `120 ms`, `1.5 s`.
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds < 0.999_5e-3 => (seconds * 1e6, "µs"),
        seconds if seconds < 0.999_5 => (seconds * 1e3, "ms"),
        seconds => (seconds, "s"),
    };
    let digits = if value < 0.995 { 2 } else { usize::from(value < 9.95) };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests;
