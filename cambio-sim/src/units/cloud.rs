//! Storage in buckets of S3, Google Cloud Storage or Azure.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path as FilePath, PathBuf};
use std::pin::Pin;

use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload};
use tokio::runtime::Runtime;
use url::Url;

use super::blobs::{Blobs, fresh_name};

/// The bytes per part of a multipart upload. S3 requires at least 5 MiB per part and at most 10,000 parts.
const PART: usize = 16 << 20;

/// A bucket, or a folder in it.
#[derive(Debug)]
pub(super) struct Bucket {
    store: Box<dyn ObjectStore>,
    root: Path,
    runtime: std::sync::Arc<Runtime>,
}

fn failed(error: object_store::Error) -> io::Error {
    let kind = match &error {
        object_store::Error::NotFound { .. } => ErrorKind::NotFound,
        object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. } => {
            ErrorKind::AlreadyExists
        }
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            ErrorKind::PermissionDenied
        }
        _ => ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

impl Bucket {
    /// Opens the bucket of a URL such as `s3://bucket/folder`. Credentials, region and endpoint come from the usual environment
    /// variables of each cloud.
    pub(super) fn open(url: &str) -> io::Result<Bucket> {
        let url = Url::parse(url).map_err(|error| io::Error::new(ErrorKind::InvalidInput, error.to_string()))?;
        let (store, root) = object_store::parse_url_opts(&url, std::env::vars()).map_err(failed)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        Ok(Bucket { store, root, runtime: std::sync::Arc::new(runtime) })
    }

    fn at(&self, name: &str) -> Path {
        name.split('/').fold(self.root.clone(), Path::join)
    }
}

impl Blobs for Bucket {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let prefix = self.at(folder);
        let found: Vec<_> = self.runtime.block_on(self.store.list(Some(&prefix)).try_collect()).map_err(failed)?;
        let below = |path: &Path| {
            let parts: Vec<String> = path.prefix_match(&self.root)?.map(|part| part.as_ref().to_owned()).collect();
            Some(parts.join("/"))
        };
        Ok(found.iter().filter_map(|object| below(&object.location)).collect())
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read + Send>> {
        let found = self.runtime.block_on(self.store.get(&self.at(name))).map_err(failed)?;
        let (runtime, chunk) = (std::sync::Arc::clone(&self.runtime), bytes::Bytes::new());
        Ok(Box::new(Download { stream: found.into_stream(), runtime, chunk }))
    }

    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let payload = PutPayload::from(bytes.to_vec());
        self.runtime.block_on(self.store.put_opts(&self.at(name), payload, options)).map(|_| ()).map_err(failed)
    }

    fn aside(&self) -> io::Result<PathBuf> {
        Ok(std::env::temp_dir().join(format!("cambio-unit-{}", fresh_name()?)))
    }

    fn commit(&self, aside: &FilePath, name: &str) -> io::Result<()> {
        let mut file = File::open(aside)?;
        let path = self.at(name);
        let mut part = || {
            let mut bytes = Vec::new();
            Read::by_ref(&mut file).take(PART as u64).read_to_end(&mut bytes)?;
            Ok::<_, io::Error>(bytes)
        };
        let first = part()?;
        if first.len() < PART {
            self.runtime.block_on(self.store.put(&path, first.into())).map_err(failed)?;
        } else {
            self.runtime.block_on(async {
                let mut upload = self.store.put_multipart(&path).await.map_err(failed)?;
                let mut bytes = first;
                let sent = async {
                    while !bytes.is_empty() {
                        upload.put_part(std::mem::take(&mut bytes).into()).await.map_err(failed)?;
                        bytes = part()?;
                    }
                    Ok::<_, io::Error>(())
                };
                if let Err(error) = sent.await {
                    // If aborting fails too, report only the first error.
                    let _ = upload.abort().await;
                    return Err(error);
                }
                upload.complete().await.map_err(failed)
            })?;
        }
        // The file has been uploaded, so the local copy is no longer needed.
        let _ = std::fs::remove_file(aside);
        Ok(())
    }
}

struct Download {
    stream: Pin<Box<dyn Stream<Item = object_store::Result<bytes::Bytes>> + Send>>,
    runtime: std::sync::Arc<Runtime>,
    chunk: bytes::Bytes,
}

impl Read for Download {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            match self.runtime.block_on(self.stream.next()) {
                None => return Ok(0),
                Some(chunk) => self.chunk = chunk.map_err(failed)?,
            }
        }
        let length = into.len().min(self.chunk.len());
        into[..length].copy_from_slice(&self.chunk.split_to(length));
        Ok(length)
    }
}
