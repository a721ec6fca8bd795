//! The gate before every request: the token of the address, the host, and where the request comes from.

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};

use crate::answer::Problem;

/// What a request has to show.
#[derive(Debug)]
pub(crate) struct Gate {
    token: String,
    /// The hosts under which the server is reached, each with its port.
    hosts: Vec<String>,
}

impl Gate {
    /// A gate for a server at this port of the loopback address.
    pub(crate) fn new(token: String, port: u16) -> Gate {
        Gate { token, hosts: ["127.0.0.1", "localhost"].map(|host| format!("{host}:{port}")).to_vec() }
    }

    /// The rest of the path behind the token, if the request may come in.
    pub(crate) fn admit(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<String, Problem> {
        let turn = |status, why: &str| Err(Problem(status, why.to_owned()));
        let of = |name: header::HeaderName| {
            let mut values = headers.get_all(name).iter();
            let first = values.next().map(|value| value.to_str().unwrap_or("\u{0}"));
            (first, values.next().is_some())
        };
        let is_ours = |host: &str| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host));
        // A name of somebody else's that leads to this machine would make its pages ours (DNS rebinding).
        match of(header::HOST) {
            (Some(host), false) if is_ours(host) => {}
            _ => return turn(StatusCode::MISDIRECTED_REQUEST, "this server answers to 127.0.0.1 and localhost alone"),
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
            return turn(StatusCode::METHOD_NOT_ALLOWED, "allowed are GET and POST");
        }
        let path = uri.path().strip_prefix('/').unwrap_or_default();
        let (token, rest) = path.split_once('/').unwrap_or((path, ""));
        // The comparison of two hashes takes the same time wherever they differ.
        if blake3::hash(token.as_bytes()) != blake3::hash(self.token.as_bytes()) {
            return turn(
                StatusCode::FORBIDDEN,
                "this address has not the token of this server; open the address that `cambio serve` printed",
            );
        }
        Ok(format!("/{rest}"))
    }
}

/// What every answer says to the browser: nothing from elsewhere, no script but ours, no frame around us.
pub(crate) const HEADERS: [(header::HeaderName, HeaderValue); 6] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (header::HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
];

/// The policy of our own pages.
pub(crate) const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// The policy of pages that lie in run folders: they have their style in them, and no script.
pub(crate) const STORED_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
);
