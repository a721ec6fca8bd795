//! The installer of releases, with a release in a folder.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::command::said;
use crate::folder::folder;

const NAME: &str = concat!("cambio-v", env!("CARGO_PKG_VERSION"), "-linux-x86_64");

fn sh(folder: &Path, script: &str) -> Output {
    Command::new("sh").current_dir(folder).args(["-c", script]).output().unwrap()
}

/// Installs the release in the folder `release` to the folder `bin`.
fn install(place: &Path) -> Output {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/install.sh");
    sh(place, &format!("CAMBIO_RELEASE=file://$PWD/release sh {script} bin"))
}

#[test]
fn a_release_is_installed_only_if_its_hash_is_right() {
    let place = folder("release");
    if !sh(&place, "command -v curl tar sha256sum").status.success() {
        eprintln!("skipped: curl, tar or sha256sum is missing");
        return;
    }
    fs::create_dir_all(place.join(NAME)).unwrap();
    fs::create_dir(place.join("release")).unwrap();
    let program = concat!("#!/bin/sh\necho cambio ", env!("CARGO_PKG_VERSION"), "\n");
    fs::write(place.join(NAME).join("cambio"), program).unwrap();
    // As the release workflow does it.
    let packed = sh(
        &place,
        &format!(
            "chmod +x {NAME}/cambio && tar -cf - {NAME} | gzip -1 > release/{NAME}.tar.gz && cd release && sha256sum ./* > SHA256SUMS"
        ),
    );
    assert!(packed.status.success(), "{}", said(&packed));
    for _ in 0..2 {
        let done = install(&place);
        assert!(done.status.success(), "{}", said(&done));
        let found = said(&done);
        assert!(found.starts_with(concat!("installed cambio ", env!("CARGO_PKG_VERSION"))), "{found}");
        assert!(found.contains("add bin to PATH"), "{found}");
    }

    // A changed archive, and an archive without a hash.
    fs::remove_dir_all(place.join("bin")).unwrap();
    let sums = fs::read_to_string(place.join("release/SHA256SUMS")).unwrap();
    let digit = if sums.starts_with('0') { "1" } else { "0" };
    for (sums, expected) in [
        (sums.replacen(&sums[..1], digit, 1), "must have the SHA-256 hash "),
        (String::new(), "hash in SHA256SUMS, found"),
    ] {
        fs::write(place.join("release/SHA256SUMS"), sums).unwrap();
        let refused = install(&place);
        assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
        assert!(said(&refused).contains(expected), "{}", said(&refused));
        assert!(!place.join("bin").exists());
    }
    fs::remove_file(place.join("release").join(format!("{NAME}.tar.gz"))).unwrap();
    assert!(said(&install(&place)).contains("cannot download file://"));
}
