//! Answers requests without a socket, for the fuzz targets. Not part of the interface.

use std::path::PathBuf;

use hyper::{Request, Uri};

use crate::answer::Answer;
use crate::site::Site;
use crate::{Pages, guard};

/// The pages of a results directory.
#[derive(Debug)]
pub struct Served(Site);

impl Served {
    /// Returns the pages of `results`, as if they were served at `port`.
    #[must_use]
    pub fn new(results: PathBuf, pages: Box<dyn Pages>, port: u16) -> Self {
        Self(Site::new(results, pages, port))
    }

    /// Returns status and body of the answer; `None` if hyper would refuse the request.
    #[must_use]
    pub fn answer(&self, method: &str, target: &str, hosts: &[&[u8]]) -> Option<(u16, Vec<u8>)> {
        let mut request = Request::builder().method(method).uri(target.parse::<Uri>().ok()?);
        for host in hosts {
            request = request.header(hyper::header::HOST, *host);
        }
        let request = request.body(()).ok()?;
        let uri = request.uri();
        let page = || self.0.answer(uri.path(), uri.query().unwrap_or_default());
        let answer: Answer = guard::refusal(&request, self.0.port()).unwrap_or_else(page);
        let (status, body) = answer.into_parts();
        Some((status, body))
    }
}
