//! The request guard: checks the token, the host and the origin of every request.

use cambio_view::RequestError;
use hyper::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};

use crate::answer::refused;

/// Checks requests before they are handled.
#[derive(Debug)]
pub(crate) struct RequestGuard {
    token: String,
    /// The accepted `Host` values.
    hosts: [String; 2],
}

impl RequestGuard {
    /// A guard for a server at this port of the loopback address.
    pub(crate) fn new(token: String, port: u16) -> RequestGuard {
        RequestGuard { token, hosts: ["127.0.0.1", "localhost"].map(|host| format!("{host}:{port}")) }
    }

    /// Returns the path after the token.
    pub(crate) fn admit<'u>(
        &self,
        method: &Method,
        uri: &'u Uri,
        headers: &HeaderMap,
    ) -> Result<&'u str, RequestError> {
        let turn = |status, why: &str| Err(refused(status, why));
        let of = |name: header::HeaderName| {
            let mut values = headers.get_all(name).iter();
            let first = values.next().map(|value| value.to_str().unwrap_or("\u{0}"));
            (first, values.next().is_some())
        };
        let is_ours = |host: &str| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host));
        // Prevents DNS rebinding: the host name of another site that resolves to this machine.
        match of(header::HOST) {
            (Some(host), false) if is_ours(host) => {}
            _ => return turn(StatusCode::MISDIRECTED_REQUEST, "the host must be 127.0.0.1 or localhost"),
        }
        match of(header::ORIGIN) {
            (None, _) => {}
            (Some(origin), false) if origin.strip_prefix("http://").is_some_and(is_ours) => {}
            _ => return turn(StatusCode::FORBIDDEN, "the request comes from a page of another origin"),
        }
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        if site.is_some_and(|site| site == b"cross-site" || site == b"same-site") && *method != Method::GET {
            return turn(StatusCode::FORBIDDEN, "the request comes from a page of another site");
        }
        if !matches!(*method, Method::GET | Method::HEAD | Method::POST) {
            return turn(StatusCode::METHOD_NOT_ALLOWED, "the method must be GET or POST");
        }
        let path = uri.path().strip_prefix('/').unwrap_or_default();
        let (token, rest) = path.split_once('/').unwrap_or((path, ""));
        // Compares hashes, because this takes constant time.
        if blake3::hash(token.as_bytes()) != blake3::hash(self.token.as_bytes()) {
            return turn(
                StatusCode::FORBIDDEN,
                "this address does not contain the token of this server; open the address that `cambio serve` printed",
            );
        }
        Ok(rest)
    }
}

/// Security headers of every response: no sniffing, no referrer, no cache, no frames, no use by other origins.
pub(crate) const HEADERS: [(header::HeaderName, HeaderValue); 6] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (header::HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
];

/// The content security policy of all pages except those in run folders.
pub(crate) const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// The content security policy of pages in run folders, which have inline styles and no scripts.
pub(crate) const STORED_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
);
