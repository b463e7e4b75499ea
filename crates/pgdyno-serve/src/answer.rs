//! An HTTP answer with its headers: no cache keeps it, no other page reads it, and no browser guesses its type.

use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use hyper::header::{self, HeaderName, HeaderValue};

use crate::pages;

/// What the browser may load and do on our own pages: only what this server has.
const OWN_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                          form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Headers of every answer.
const ALWAYS: [(HeaderName, &str); 6] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

const HTML: &str = "text/html; charset=utf-8";

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    status: u16,
    kind: &'static str,
    body: Bytes,
    policy: String,
}

impl Answer {
    fn new(kind: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status: 200, kind, body: body.into(), policy: OWN_POLICY.to_owned() }
    }

    /// Returns one of our own pages.
    pub(crate) fn page(html: String) -> Self {
        Self::new(HTML, html)
    }

    /// Returns a page that contains everything it needs, such as a report, under its own policy.
    pub(crate) fn report(html: Vec<u8>) -> Self {
        let policy = format!("{}; frame-ancestors 'none'", pgdyno_report::html::policy());
        Self { policy, ..Self::new(HTML, html) }
    }

    /// Adds a notice to one of our own pages; other answers stay as they are.
    pub(crate) fn with_notice(mut self, notice: &str) -> Self {
        if self.kind == HTML && self.policy == OWN_POLICY {
            self.body = pages::with_notice(&String::from_utf8_lossy(&self.body), notice).into();
        }
        self
    }

    /// Returns data for a script of ours.
    pub(crate) fn json(value: &serde_json::Value) -> Self {
        Self::new("application/json", value.to_string())
    }

    /// Returns text of another kind.
    pub(crate) fn of_kind(kind: &'static str, text: String) -> Self {
        Self::new(kind, text)
    }

    /// Returns a file of ours.
    pub(crate) fn asset(kind: &'static str, body: &'static str) -> Self {
        Self::new(kind, body)
    }

    /// Returns a page with an error.
    pub(crate) fn error(status: u16, why: &str) -> Self {
        Self { status, ..Self::page(pages::error(status, why)) }
    }

    #[cfg(test)]
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    #[cfg(test)]
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// Returns status and body.
    pub(crate) fn into_parts(self) -> (u16, Vec<u8>) {
        (self.status, self.body.into())
    }

    pub(crate) fn into_response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(self.body));
        // Status codes and policies are constants and valid.
        *response.status_mut() = hyper::StatusCode::from_u16(self.status).unwrap_or_default();
        let headers = response.headers_mut();
        headers.extend(ALWAYS.map(|(name, value)| (name, HeaderValue::from_static(value))));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        if let Ok(policy) = HeaderValue::from_str(&self.policy) {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        if self.status == 405 {
            headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        response
    }
}
