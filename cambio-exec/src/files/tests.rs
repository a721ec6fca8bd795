use super::*;

#[test]
fn writers_of_one_file_do_not_disturb_each_other() {
    let folder = std::env::temp_dir().join(format!("cambio-writers-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("file");
    std::thread::scope(|scope| {
        for letter in [b'a', b'b', b'c', b'd'] {
            let path = &path;
            scope.spawn(move || {
                for length in 1..100 {
                    write_whole(path, &vec![letter; 1000 * length]).unwrap();
                    let found = std::fs::read(path).unwrap();
                    assert!(!found.is_empty() && found.len().is_multiple_of(1000), "{} bytes", found.len());
                    assert!(found.iter().all(|byte| *byte == found[0]), "bytes of two writers");
                }
            });
        }
    });
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no temporary file is left");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[cfg(unix)]
#[test]
fn a_temporary_file_that_is_a_link_or_a_pipe_is_refused() {
    let folder = std::env::temp_dir().join(format!("cambio-temporary-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (path, new, other) = (folder.join("file"), folder.join("file.new"), folder.join("other"));
    std::fs::write(&other, "mine").unwrap();
    std::os::unix::fs::symlink(&other, &new).unwrap();
    let error = write_whole(&path, b"rows").unwrap_err().to_string();
    assert!(error.ends_with("file.new: expected a regular file, found a symbolic link"), "{error}");
    assert_eq!(std::fs::read(&other).unwrap(), b"mine");
    std::fs::remove_file(&new).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&new).status().unwrap().success());
    assert!(write_whole(&path, b"rows").is_err());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_a_secret() {
    use std::os::unix::fs::PermissionsExt as _;
    let outer = std::env::temp_dir().join(format!("cambio-private-{}", std::process::id()));
    let folder = outer.join("inner");
    create_private_folder(&folder).unwrap();
    create_private_folder(&folder).unwrap();
    let path = folder.join("file");
    std::fs::write(&path, "a file that others can read").unwrap();
    write_private(&path, b"secret").unwrap();
    for (path, mode) in [(&outer, 0o700), (&folder, 0o700), (&path, 0o600)] {
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
    }
    std::fs::remove_dir_all(&outer).unwrap();
}
