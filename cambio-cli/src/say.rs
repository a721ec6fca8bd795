//! What the command says, and the lines that it is told.

use std::io::{self, BufRead, Read as _, Write as _};

use cambio_core::shown;

/// The most characters of a message.
const MESSAGE: usize = 10_000;

/// Prints a line on standard error, as `eprintln!`. Everything that is told to people goes through here, because it may quote a
/// file's name or a file: see [`plain`].
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(&format!($($words)*)) };
}
pub(crate) use say;

/// Prints a line on standard error. If that is closed or full, there is nobody to tell.
pub(crate) fn line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", plain(text));
}

/// Prints help, or what is wrong with a command line, on the output that it belongs to.
pub(crate) fn usage(error: &clap::Error) {
    let text = error.render().to_string();
    // What the reader of numbers says of a sign or a letter names no number that is allowed.
    let digits = "invalid digit found in string";
    if text.contains(digits) {
        let text = plain_lines(&text.replace(digits, "allowed is a whole number from 0 on"));
        let _ = io::stderr().lock().write_all(text.as_bytes());
        return;
    }
    let harmless = plain_lines(&text);
    // If the output cannot be written to, there is nobody to tell. Colours are for what quotes nothing foreign.
    let _ = if text == harmless { error.print() } else { io::stderr().lock().write_all(harmless.as_bytes()) };
}

/// A message as one line that a terminal only prints: control characters are escaped, and what is very long is cut.
pub(crate) fn plain(text: &str) -> String {
    shown(text).up_to(MESSAGE).to_string()
}

/// As [`plain`], for a text of several lines.
pub(crate) fn plain_lines(text: &str) -> String {
    text.split('\n').map(plain).collect::<Vec<_>>().join("\n")
}

/// Reads the next line, without its end, of at most `most` bytes; `None` at the end of the input. Fails if the input
/// cannot be read, or the line is longer.
pub(crate) fn next_line(input: &mut (impl BufRead + ?Sized), most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if input.take(most + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() as u64 > most {
        return Err(io::Error::other(format!("a line has more than {most} bytes; allowed are that many")));
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_up_to_its_bound_and_no_further() {
        let mut input = b"one\n\nthree\nfo".as_slice();
        let mut next = || next_line(&mut input, 5).unwrap().map(|line| String::from_utf8(line).unwrap());
        assert_eq!(next().as_deref(), Some("one"));
        assert_eq!(next().as_deref(), Some(""));
        assert_eq!(next().as_deref(), Some("three"));
        assert_eq!(next().as_deref(), Some("fo"));
        assert_eq!(next(), None);
        let error = next_line(&mut io::BufReader::new(io::repeat(0)), 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "a line has more than 1048576 bytes; allowed are that many");
    }
}
