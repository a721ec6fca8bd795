//! The request guard: checks the token, the host and the origin of every request.

use std::net::SocketAddr;

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use cambio_core::Seat;

use crate::answer::ApiError;

/// What a request may reach.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Access {
    /// Everything: the request has the token of the server.
    Owner,
    /// One seat of one table: the request has the token of a link.
    Guest { table: u64, seat: Seat },
}

/// Checks requests before they are handled.
#[derive(Debug)]
pub(crate) struct RequestGuard {
    /// The token of the server; `None` if only links are accepted.
    token: Option<String>,
    /// The accepted `Host` values.
    hosts: Vec<String>,
}

impl RequestGuard {
    /// A guard for a server at this port of the loopback address.
    pub(crate) fn new(token: String, port: u16) -> RequestGuard {
        let hosts = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{port}")).to_vec();
        RequestGuard { token: Some(token), hosts }
    }

    /// A guard for an address in a local network, which accepts only links to seats.
    pub(crate) fn of_network(address: SocketAddr) -> RequestGuard {
        RequestGuard { token: None, hosts: vec![address.to_string()] }
    }

    /// Returns what the request may reach, and the path after the token. `linked` returns the table and the seat of a link.
    pub(crate) fn admit(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        linked: impl Fn(&str) -> Option<(u64, Seat)>,
    ) -> Result<(Access, String), ApiError> {
        let turn = |status, why: &str| Err(ApiError(status, why.to_owned()));
        let of = |name: header::HeaderName| {
            let mut values = headers.get_all(name).iter();
            let first = values.next().map(|value| value.to_str().unwrap_or("\u{0}"));
            (first, values.next().is_some())
        };
        let is_ours = |host: &str| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host));
        // Prevents DNS rebinding: the host name of another site that resolves to this machine.
        match of(header::HOST) {
            (Some(host), false) if is_ours(host) => {}
            _ if self.token.is_none() => {
                return turn(StatusCode::MISDIRECTED_REQUEST, "the host must be the address in the link");
            }
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
        let is_owners = |own: &String| blake3::hash(token.as_bytes()) == blake3::hash(own.as_bytes());
        let access = if self.token.as_ref().is_some_and(is_owners) {
            Access::Owner
        } else if let Some((table, seat)) = linked(token) {
            Access::Guest { table, seat }
        } else if self.token.is_none() {
            return turn(
                StatusCode::FORBIDDEN,
                "this link is not valid: the table is closed, or a bot plays in this seat now; ask the host for another link",
            );
        } else {
            return turn(
                StatusCode::FORBIDDEN,
                "this address contains neither the token of this server nor a valid link to a table; open the address that \
                 `cambio serve` printed, or ask the host for a link",
            );
        };
        Ok((access, format!("/{rest}")))
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
