//! Any bytes as a server's authentication requests, each behind its length in one byte. `%` in a request stands for the nonce
//! that the client sent, which differs each time.

use pgdyno_wire::auth::{AuthProgress, Authenticator, Binding, BindingPolicy};
use pgdyno_wire::backend;

/// A password that neither side sends by chance.
const PASSWORD: &[u8] = b"k33p-th1s-s3cr3t";

pub(crate) fn run(input: &[u8]) {
    // libFuzzer finds the password: it sees the operands of comparisons.
    if input.windows(8).any(|part| PASSWORD.windows(8).any(|secret| part == secret)) {
        return;
    }
    let Some((&[how], mut rest)) = input.split_first_chunk::<1>() else { return };
    let binding = match how % 3 {
        0 => Binding::NoTls,
        1 => Binding::Unavailable,
        _ => Binding::EndPoint(vec![7; 32]),
    };
    let policy = [BindingPolicy::Disable, BindingPolicy::Prefer, BindingPolicy::Require][usize::from(how / 3 % 3)];
    let mut authenticator = Authenticator::new("bench", Some(PASSWORD), binding, policy);
    let (mut nonce, mut scram, mut proven) = (Vec::new(), false, false);
    while let Some((&length, tail)) = rest.split_first() {
        let (request, tail) = tail.split_at(usize::from(length).min(tail.len()));
        rest = tail;
        let request: Vec<u8> =
            request.iter().flat_map(|byte| if *byte == b'%' { nonce.clone() } else { vec![*byte] }).collect();
        let kind = request.first_chunk::<4>().map(|kind| i32::from_be_bytes(*kind));
        // The server chooses the number of rounds, and many take long.
        let rounds = request.windows(2).position(|part| part == b"i=").map_or(0, |at| digits(&request[at + 2..]));
        if rounds > 3 {
            return;
        }
        let mut out = Vec::new();
        let answer = authenticator.answer(&request, &mut out);
        // The password is sent in clear text only on request, and never where channel binding is required.
        let shown = out.windows(PASSWORD.len()).any(|part| part == PASSWORD);
        assert!(!shown || kind == Some(3) && policy != BindingPolicy::Require);
        match answer {
            Ok(AuthProgress::Continue) => {
                scram |= kind == Some(10);
                proven |= kind == Some(12);
                assert!(out.is_empty() || backend::next_message(&out).is_ok_and(|m| m.is_some_and(|m| m.tag == b'p')));
                if kind == Some(10) {
                    let at = out.windows(2).position(|part| part == b"r=").expect("a first message has a nonce");
                    nonce = out[at + 2..].to_vec();
                }
            }
            Ok(AuthProgress::Done) => {
                assert!(!scram || proven, "a server that has proven nothing");
                assert!(policy != BindingPolicy::Require || authenticator.is_channel_bound());
                return;
            }
            Err(error) => {
                let message = error.to_string();
                assert!(!message.is_empty() && !message.contains("k33p-th1s-s3cr3t"));
                return;
            }
        }
    }
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}
