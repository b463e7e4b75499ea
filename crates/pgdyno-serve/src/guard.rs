//! Refuses requests from other pages. A browser sends requests for every page that is open in it, so 127.0.0.1 is no
//! protection by itself: any page may resolve its own name to our address (DNS rebinding), and then read the answers.
//! Its name is in `Host`.

use hyper::header::{HOST, HeaderMap};
use hyper::{Method, Request};

use crate::answer::Answer;

/// The names of this machine for itself.
const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Returns the answer to a request that is refused: another method, host or port. None for all others.
pub(crate) fn refusal<B>(request: &Request<B>, port: u16) -> Option<Answer> {
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return Some(Answer::error(405, "these pages are for reading: GET and HEAD are all there is"));
    }
    let mut hosts = request.headers().get_all(HOST).iter();
    let (first, more) = (hosts.next(), hosts.next());
    let named = first.and_then(|host| host.to_str().ok()).is_some_and(|host| is_ours(host, port));
    // A request may also contain the whole address, as to a proxy.
    let asked = request.uri().authority().is_none_or(|authority| is_ours(authority.as_str(), port));
    if !named || more.is_some() || !asked {
        let why = "this server answers to 127.0.0.1 and localhost with its own port only; through a tunnel, use the same \
                   port at both ends";
        return Some(Answer::error(403, why));
    }
    if is_from_another_site(request.headers()) {
        return Some(Answer::error(403, "a page of another site asked for this; open it by a link or by its address"));
    }
    None
}

/// Returns true if a browser says that another site's page asks, but for following a link: its user cannot have wanted it, and it would
/// cost as much as a page.
fn is_from_another_site(headers: &HeaderMap) -> bool {
    let is = |name, values: &[&str]| {
        let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        values.contains(&value)
    };
    let follows_link = is("sec-fetch-mode", &["navigate"]) && is("sec-fetch-dest", &["document"]);
    is("sec-fetch-site", &["cross-site", "same-site"]) && !follows_link
}

fn is_ours(host: &str, port: u16) -> bool {
    let Some((name, given)) = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit())) else {
        // HTTP omits its default port.
        return port == 80 && is_name(host);
    };
    is_name(name) && given == port.to_string()
}

fn is_name(name: &str) -> bool {
    NAMES.iter().any(|own| own.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(method: &str, uri: &str, hosts: &[&str], port: u16) -> Option<u16> {
        let mut request = Request::builder().method(method).uri(uri);
        for host in hosts {
            request = request.header(HOST, *host);
        }
        refusal(&request.body(()).unwrap(), port).map(|answer| answer.status())
    }

    #[test]
    fn only_the_machines_own_names_with_the_port_are_answered() {
        for host in ["127.0.0.1:8432", "localhost:8432", "LocalHost:8432", "[::1]:8432"] {
            assert_eq!(status("GET", "/", &[host], 8432), None, "{host}");
        }
        for host in [
            "",
            "127.0.0.1",
            "localhost:80",
            "evil.example:8432",
            "127.0.0.1.evil.example:8432",
            "evil.example",
            "localhost:8432:8432",
            "localhost:08432",
            "user@localhost:8432",
            "[::1]",
            "0.0.0.0:8432",
        ] {
            assert_eq!(status("GET", "/", &[host], 8432), Some(403), "{host}");
        }
        assert_eq!(status("GET", "/", &[], 8432), Some(403));
        assert_eq!(status("GET", "/", &["localhost:8432", "evil.example"], 8432), Some(403));
        assert_eq!(status("GET", "http://evil.example/", &["localhost:8432"], 8432), Some(403));
        assert_eq!(status("GET", "http://localhost:8432/", &["localhost:8432"], 8432), None);
        assert_eq!((status("GET", "/", &["localhost"], 80), status("GET", "/", &["[::1]"], 80)), (None, None));
    }

    #[test]
    fn only_reading_is_answered() {
        assert_eq!(status("HEAD", "/", &["localhost:8432"], 8432), None);
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
            assert_eq!(status(method, "/", &["localhost:8432"], 8432), Some(405), "{method}");
        }
    }

    #[test]
    fn pages_of_other_sites_may_link_to_ours_and_nothing_else() {
        let is_refused = |headers: &[(&str, &str)]| {
            let mut request = Request::builder().uri("/history").header(HOST, "localhost:8432");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            refusal(&request.body(()).unwrap(), 8432).is_some()
        };
        let fetched = |site, mode, dest| [("sec-fetch-site", site), ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)];
        for (headers, expected) in [
            (fetched("cross-site", "no-cors", "empty"), true),
            // Another port of this machine is the same site.
            (fetched("same-site", "no-cors", "image"), true),
            (fetched("cross-site", "navigate", "iframe"), true),
            (fetched("cross-site", "navigate", "document"), false),
            (fetched("same-origin", "cors", "empty"), false),
            (fetched("none", "navigate", "document"), false),
        ] {
            assert_eq!(is_refused(&headers), expected, "{headers:?}");
        }
        assert!(!is_refused(&[]), "curl");
    }
}
