//! Reads files that other programs or users have written, and checks their types and sizes.

use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufRead, Error, ErrorKind, Read};
use std::marker::PhantomData;
use std::path::Path;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{IntoDeserializer as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The maximum size in bytes of a file that users write: rules, an experiment, a strategy.
const MAX_FILE_BYTES: u64 = 1 << 24;

/// Reads a text file that a user has written. The file must be a regular file of at most 16 MiB. Unbounded files such
/// as `/dev/zero`, and files that can block such as named pipes, are rejected before they are read. A byte order mark at
/// the beginning is left out.
///
/// # Errors
/// If the file cannot be read, is not a regular file, is too large, or is not UTF-8. The message omits the path.
///
/// ```
/// use std::path::Path;
///
/// let text = cambio_exec::read_text(Path::new("../experiments/quickstart.toml"))?;
/// assert!(text.contains("seats"));
/// let error = cambio_exec::read_text(Path::new(".")).unwrap_err();
/// assert_eq!(error.to_string(), "expected a regular file, found a folder");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_text(path: &Path) -> io::Result<String> {
    let text = read_up_to(path, MAX_FILE_BYTES)?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Like [`read_text`], for files of at most `most` bytes.
///
/// # Errors
/// The errors of [`read_text`].
pub fn read_up_to(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_bytes(path, most)?).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        Error::new(ErrorKind::InvalidData, format!("expected UTF-8, found an invalid sequence at byte {}", place + 1))
    })
}

/// Reads a regular file of at most `most` bytes. The content need not be text.
///
/// # Errors
/// If the file cannot be read, is not a regular file, or is too large. The message omits the path.
pub fn read_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    if file.metadata()?.len() > most {
        return Err(too_large(most));
    }
    // The file may grow while it is read.
    read_all(file, most)
}

/// Reads an input to its end, up to `most` bytes.
///
/// # Errors
/// If the input cannot be read, or has more than `most` bytes.
///
/// ```
/// assert_eq!(cambio_exec::read_all(&b"rows"[..], 4)?, b"rows");
/// let error = cambio_exec::read_all(std::io::repeat(0), 4).unwrap_err();
/// assert_eq!(error.to_string(), "the file is too large: expected at most 4 bytes");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_all(input: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

fn too_large(most: u64) -> Error {
    Error::new(ErrorKind::FileTooLarge, format!("the file is too large: expected at most {most} bytes"))
}

/// Reads the next line with its line break, which only the last line may lack. Empty at the end of the input.
///
/// # Errors
/// If the input cannot be read, or the line has more than `most` bytes.
pub fn read_line(input: &mut (impl BufRead + ?Sized), most: u64) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    input.take(most.saturating_add(1)).read_until(b'\n', &mut line)?;
    if line.len() as u64 > most && line.last() != Some(&b'\n') {
        return Err(Error::other(format!("a line has more than {most} bytes, the limit")));
    }
    Ok(line)
}

/// Reads the next line without its line break; `None` at the end of the input.
///
/// # Errors
/// The errors of [`read_line`].
///
/// ```
/// let mut input = &b"one\ntwo"[..];
/// assert_eq!(cambio_exec::next_line(&mut input, 5)?.as_deref(), Some(&b"one"[..]));
/// assert_eq!(cambio_exec::next_line(&mut input, 5)?.as_deref(), Some(&b"two"[..]));
/// assert_eq!(cambio_exec::next_line(&mut input, 5)?, None);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn next_line(input: &mut (impl BufRead + ?Sized), most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = read_line(input, most)?;
    if line.is_empty() {
        return Ok(None);
    }
    line.pop_if(|last| *last == b'\n');
    Ok(Some(line))
}

/// Opens a regular file for reading. Follows symbolic links.
///
/// # Errors
/// If the file cannot be opened or is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true))
}

/// Opens an existing regular file to append to it or to cut it. Refuses symbolic links, because they may lead to a file
/// outside of the folder that the user named.
///
/// # Errors
/// If the file cannot be opened, is a symbolic link or is not a regular file.
pub fn append_regular(path: &Path) -> io::Result<File> {
    check_regular(&std::fs::symlink_metadata(path)?)?;
    open(path, OpenOptions::new().append(true))
}

fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    // Checked before the file is opened, because opening a named pipe can block.
    check_regular(&std::fs::metadata(path)?)?;
    let file = options.open(path)?;
    // Another process may have replaced the file.
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// Fails if a file is not a regular file.
pub(crate) fn check_regular(found: &Metadata) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    let what = match found.file_type() {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_symlink() => "a symbolic link",
        _ => "a device, a pipe or a socket",
    };
    Err(Error::new(ErrorKind::InvalidInput, format!("expected a regular file, found {what}")))
}

/// Deserializes a list, or a single value as a list with one item. For `deserialize_with`.
///
/// # Errors
/// If the value is neither, or an item of the list has the wrong type.
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct Tables {
///     #[serde(deserialize_with = "cambio_exec::one_or_many")]
///     seats: Vec<usize>,
/// }
///
/// assert_eq!(toml::from_str::<Tables>("seats = 2")?.seats, [2]);
/// assert_eq!(toml::from_str::<Tables>("seats = [2, 4]")?.seats, [2, 4]);
/// let error = toml::from_str::<Tables>("seats = 2.5").err().unwrap();
/// assert_eq!(error.message(), "invalid type: floating point `2.5`, expected usize");
/// # Ok::<(), toml::de::Error>(())
/// ```
pub fn one_or_many<'de, T: Deserialize<'de>, D: Deserializer<'de>>(source: D) -> Result<Vec<T>, D::Error> {
    struct OneOrMany<T>(PhantomData<T>);

    macro_rules! one {
        ($($visit:ident: $type:ty),+) => {
            $(fn $visit<E: serde::de::Error>(self, value: $type) -> Result<Vec<T>, E> {
                T::deserialize(value.into_deserializer()).map(|one| vec![one])
            })+
        };
    }

    impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMany<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("one value, or a list of them")
        }

        one! { visit_bool: bool, visit_f64: f64, visit_i64: i64, visit_u64: u64, visit_i128: i128, visit_u128: u128, visit_str: &str }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<T>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }

    source.deserialize_any(OneOrMany(PhantomData))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn long_or_non_utf8_files_are_refused() {
        let folder = std::env::temp_dir().join(format!("cambio-text-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let refusal = |path: &Path| read_text(path).unwrap_err().to_string();
        assert_eq!(refusal(Path::new("/dev/zero")), "expected a regular file, found a device, a pipe or a socket");
        assert_eq!(refusal(&folder), "expected a regular file, found a folder");
        let pipe = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(refusal(&pipe), "expected a regular file, found a device, a pipe or a socket");
        // A sparse file of 10 GiB, which takes no space on the disk.
        let large = folder.join("large");
        File::create(&large).unwrap().set_len(10 << 30).unwrap();
        assert_eq!(refusal(&large), "the file is too large: expected at most 16777216 bytes");
        let latin = folder.join("latin");
        std::fs::write(&latin, b"name = 'Gr\xfc\xdfe'\n").unwrap();
        assert_eq!(refusal(&latin), "expected UTF-8, found an invalid sequence at byte 11");
        assert_eq!(append_regular(&pipe).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert!(append_regular(&latin).is_ok());
        let link = folder.join("link");
        std::os::unix::fs::symlink(&latin, &link).unwrap();
        assert!(open_regular(&link).is_ok());
        assert!(append_regular(&link).unwrap_err().to_string().ends_with("found a symbolic link"));
        // Files in `/proc` report a size of 0, but have content.
        assert!(!read_text(Path::new("/proc/self/status")).unwrap().is_empty());
        std::fs::remove_dir_all(&folder).unwrap();
    }

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
        assert_eq!(error.to_string(), "a line has more than 1048576 bytes, the limit");
    }
}
