//! Which servers are trusted: the same verdict as libpq's, on a real server with certificates of every kind.

use std::path::PathBuf;

use pgdyno_net::{Connection, Env};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};

use crate::beside;
use crate::pki::write_key;
use crate::server::{self, TestServer};

/// The serial number of every server's certificate.
const LEAF: u8 = 7;

/// What a verdict is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Is {
    Trusted,
    Refused,
    /// libpq connects, and pgdyno says what is wrong.
    RefusedByUsAlone,
}
use Is::{Refused, RefusedByUsAlone, Trusted};

/// A certificate and its key, which may sign others.
struct Authority {
    params: CertificateParams,
    key: KeyPair,
    pem: String,
}

fn serial(number: u8) -> Option<SerialNumber> {
    Some(SerialNumber::from(vec![number]))
}

impl Authority {
    fn params(name: &str, change: impl Fn(&mut CertificateParams)) -> CertificateParams {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.serial_number = serial(1);
        change(&mut params);
        params
    }

    fn root(name: &str, change: impl Fn(&mut CertificateParams)) -> Self {
        let (params, key) = (Self::params(name, change), KeyPair::generate().unwrap());
        let pem = params.self_signed(&key).unwrap().pem();
        Self { params, key, pem }
    }

    fn below(&self, name: &str, change: impl Fn(&mut CertificateParams)) -> Self {
        let mut params = Self::params(name, change);
        params.serial_number = serial(2);
        let key = KeyPair::generate().unwrap();
        let pem = params.signed_by(&key, &self.issuer()).unwrap().pem();
        Self { params, key, pem }
    }

    fn issuer(&self) -> Issuer<'_, &KeyPair> {
        Issuer::from_params(&self.params, &self.key)
    }

    /// A revocation list of these serial numbers, in force from year to year.
    fn list(&self, revoked: &[u8], years: std::ops::Range<i32>) -> String {
        // Signed whether the certificate says that it may or not.
        let mut params = self.params.clone();
        params.key_usages = vec![KeyUsagePurpose::CrlSign];
        let revoked = revoked.iter().map(|number| RevokedCertParams {
            serial_number: SerialNumber::from(vec![*number]),
            revocation_time: date_time_ymd(2020, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(years.start, 1, 1),
            next_update: date_time_ymd(years.end, 1, 1),
            crl_number: SerialNumber::from(vec![1]),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        list.signed_by(&Issuer::from_params(&params, &self.key)).unwrap().pem().unwrap()
    }
}

/// A real server, its certificates, and the files that clients are given.
pub(crate) struct Fixture {
    pub(crate) server: TestServer,
    files: tempfile::TempDir,
    reloads: u32,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let server = TestServer::start("", "local all all trust\nhost all all all trust\n");
        Self { server, files: tempfile::tempdir().unwrap(), reloads: 0 }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.files.path().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Makes the server show this chain.
    pub(crate) fn show(&mut self, chain: &str, key: &str) {
        for (name, text) in [("server.crt", chain), ("server.key", key)] {
            let path = self.server.dir().join(name);
            write_key(&path, text);
            server::hand_over(&path);
        }
        self.reloads += 1;
        let dir = self.server.dir().display();
        let mut admin = self.server.admin();
        for setting in [
            "ssl = on".to_owned(),
            format!("ssl_cert_file = '{dir}/server.crt'"),
            format!("ssl_key_file = '{dir}/server.key'"),
            // What sessions show of it says which reload they come after.
            format!("log_min_duration_statement = {}", 1_000_000 + self.reloads),
        ] {
            admin.execute(&format!("alter system set {setting}")).unwrap();
        }
        admin.execute("select pg_reload_conf()").unwrap();
        let shown = format!("{}ms", 1_000_000 + self.reloads);
        while self.server.admin().query_one("show log_min_duration_statement").unwrap() != shown {}
    }

    /// Shows a server's certificate that `authority` signs, and `between` with it.
    fn show_signed(&mut self, authority: &Authority, between: &str, change: impl Fn(&mut CertificateParams)) -> String {
        let mut params = CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "server");
        params.serial_number = serial(LEAF);
        params.use_authority_key_identifier_extension = true;
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let pem = params.signed_by(&key, &authority.issuer()).unwrap().pem();
        self.show(&format!("{pem}{between}"), &key.serialize_pem());
        pem
    }

    /// Asks libpq and pgdyno; `{}` stands for the directory of the files.
    fn check(&self, what: &str, is: Is, dsn: &str) {
        let dsn = dsn.replace("{}", self.files.path().to_str().unwrap());
        let host = if dsn.contains("host=") { "" } else { "host=localhost " };
        let dsn = format!("{host}port={} dbname=postgres user=postgres {dsn}", self.server.port);
        let env = Env::new([], None, Some("postgres"));
        let ours = pgdyno_net::ConnectOptions::resolve(&dsn, &env).unwrap();
        let ours = Connection::open(&ours).map(drop);
        assert_eq!(ours.is_ok(), is == Trusted, "{what}: {ours:?}: {dsn}");
        let libpq = beside::libpq(&dsn);
        assert_eq!(libpq.refused(), is == Refused, "{what}: {libpq:?}: {dsn}");
    }
}

const NOW: std::ops::Range<i32> = 2020..2099;
const OVER: std::ops::Range<i32> = 2019..2021;
const NOT_YET: std::ops::Range<i32> = 2098..2099;

type Edit = fn(&mut CertificateParams);

fn as_it_is(_: &mut CertificateParams) {}

#[test]
fn servers_are_trusted_and_refused_as_by_libpq() {
    if !server::available("trust") || !beside::available("trust") {
        return;
    }
    let mut f = Fixture::new();
    let root = Authority::root("root", as_it_is);
    let stranger = Authority::root("stranger", as_it_is);
    let namesake = Authority::root("root", as_it_is);
    let middle = root.below("middle", as_it_is);
    f.file("root.crt", &root.pem);
    f.file("stranger.crt", &stranger.pem);
    f.file("namesake.crt", &namesake.pem);
    f.file("middle.crt", &middle.pem);
    f.file("both.crt", &format!("{}{}", middle.pem, root.pem));
    f.file("empty", "");
    std::fs::create_dir(f.path("empty_dir")).unwrap();
    let (clean, revoking) = (root.list(&[], NOW), root.list(&[LEAF], 2021..2099));
    let (later, over) = (root.list(&[], 2022..2099), root.list(&[], OVER));
    for (name, text) in [
        ("clean", clean.clone()),
        ("revoking", revoking.clone()),
        ("older_first", format!("{clean}{revoking}")),
        ("newer_first", format!("{revoking}{clean}")),
        ("taken_back", format!("{revoking}{later}")),
        ("over", over.clone()),
        ("over_and_clean", format!("{over}{clean}")),
        ("not_yet", root.list(&[], NOT_YET)),
        ("foreign", stranger.list(&[], NOW)),
        ("foreign_and_clean", format!("{}{clean}", stranger.list(&[], NOW))),
        ("namesake", namesake.list(&[], NOW)),
        ("revoking_root", root.list(&[1], NOW)),
        ("revoking_middle", format!("{}{}", root.list(&[2], NOW), middle.list(&[], NOW))),
        ("middle_alone", middle.list(&[], NOW)),
        ("chain", format!("{clean}{}", middle.list(&[], NOW))),
        ("chain_revoking", format!("{clean}{}", middle.list(&[LEAF], NOW))),
    ] {
        f.file(&format!("{name}.crl"), &text);
    }

    let full = "sslmode=verify-full sslrootcert={}/root.crt";
    let leaf = f.show_signed(&root, "", as_it_is);
    f.file("leaf.crt", &leaf);
    f.file("leaf_and_root.crt", &format!("{leaf}{}", root.pem));
    f.check("a chain to the root", Trusted, full);
    f.check("another root", Refused, "sslmode=verify-full sslrootcert={}/stranger.crt");
    f.check("another root of the same name", Refused, "sslmode=verify-ca sslrootcert={}/namesake.crt");
    f.check("another root, and no more than encryption wanted", Refused, "sslmode=require sslrootcert={}/stranger.crt");
    f.check("no root, and no more than encryption wanted", Trusted, "sslmode=require sslrootcert={}/absent.crt");
    f.check("no root", Refused, "sslmode=verify-ca sslrootcert={}/absent.crt");
    f.check("a root file without a certificate", Refused, "sslmode=verify-ca sslrootcert={}/empty");
    f.check("another name", Refused, &format!("host=db.example hostaddr=127.0.0.1 {full}"));
    f.check("an address among the names", Trusted, &format!("host=127.0.0.1 {full}"));
    let any_name = "host=db.example hostaddr=127.0.0.1 sslmode=verify-ca sslrootcert={}/root.crt";
    f.check("another name, and none wanted", Trusted, any_name);
    for (list, is) in [
        ("clean", Trusted),
        ("revoking", Refused),
        ("older_first", Refused),
        ("newer_first", Refused),
        ("taken_back", Trusted),
        ("over", Refused),
        ("over_and_clean", Trusted),
        ("not_yet", Refused),
        ("foreign", Refused),
        ("foreign_and_clean", Trusted),
        ("namesake", Refused),
        ("revoking_root", Refused),
    ] {
        f.check(list, is, &format!("{full} sslcrl={{}}/{list}.crl"));
    }
    f.check("a list and no root", Trusted, "sslmode=require sslrootcert={}/absent.crt sslcrl={}/foreign.crl");
    f.check(
        "a list of another CA, and no more than encryption",
        Refused,
        "sslmode=require sslrootcert={}/root.crt sslcrl={}/foreign.crl",
    );
    f.check("an empty directory of lists", Refused, &format!("{full} sslcrldir={{}}/empty_dir"));
    f.check("no such directory", Refused, &format!("{full} sslcrldir={{}}/absent"));
    // Here libpq verifies no revocation at all.
    f.check("no such list", RefusedByUsAlone, &format!("{full} sslcrl={{}}/absent.crl"));
    f.check("an empty list file", RefusedByUsAlone, &format!("{full} sslcrl={{}}/empty"));
    f.check("the leaf for a root", Refused, "sslmode=verify-full sslrootcert={}/leaf.crt");
    f.check(
        "the leaf for a root, and a list",
        Refused,
        "sslmode=verify-full sslrootcert={}/leaf.crt sslcrl={}/clean.crl",
    );
    f.check("the leaf beside its root", Trusted, "sslmode=verify-full sslrootcert={}/leaf_and_root.crt");
    let beside_root = "sslmode=verify-full sslrootcert={}/leaf_and_root.crt sslcrl={}/revoking.crl";
    f.check("the leaf beside its root, revoked", Refused, beside_root);

    f.show_signed(&middle, &middle.pem, as_it_is);
    f.check("a chain of three", Trusted, full);
    f.check("a chain of three, no root of it", Refused, "sslmode=verify-ca sslrootcert={}/middle.crt");
    for (list, is) in [
        ("chain", Trusted),
        ("clean", Refused),
        ("middle_alone", Refused),
        ("chain_revoking", Refused),
        ("revoking_middle", Refused),
    ] {
        f.check(list, is, &format!("{full} sslcrl={{}}/{list}.crl"));
    }
    f.show_signed(&middle, "", as_it_is);
    f.check("the CA between is missing", Refused, full);
    f.check("the CA between is trusted", Trusted, "sslmode=verify-full sslrootcert={}/both.crt");
    f.check("the CA between alone is trusted", Refused, "sslmode=verify-full sslrootcert={}/middle.crt");

    let edits: [(&str, Is, Edit); 7] = [
        ("over", Refused, |p| p.not_after = date_time_ymd(2020, 1, 1)),
        ("not yet", Refused, |p| p.not_before = date_time_ymd(2098, 1, 1)),
        ("for clients", Refused, |p| p.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth]),
        ("for servers", Trusted, |p| p.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth]),
        ("a key for lists", Refused, |p| p.key_usages = vec![KeyUsagePurpose::CrlSign]),
        ("a common name alone", Trusted, |p| {
            p.subject_alt_names.clear();
            p.distinguished_name.push(DnType::CommonName, "localhost");
        }),
        ("a common name beside other names", Refused, |p| {
            p.subject_alt_names = vec![rcgen::SanType::DnsName("db.example".try_into().unwrap())];
            p.distinguished_name.push(DnType::CommonName, "localhost");
        }),
    ];
    for (what, is, edit) in edits {
        f.show_signed(&root, "", edit);
        f.check(what, is, full);
    }

    // Roots that should not sign.
    let edits: [(&str, Edit); 6] = [
        ("over", |p| p.not_after = date_time_ymd(2020, 1, 1)),
        ("not yet", |p| p.not_before = date_time_ymd(2098, 1, 1)),
        ("no CA", |p| p.is_ca = IsCa::ExplicitNoCa),
        ("no key for certificates", |p| p.key_usages = vec![KeyUsagePurpose::CrlSign]),
        ("for clients", |p| p.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth]),
        ("no key for lists", |p| p.key_usages = vec![KeyUsagePurpose::KeyCertSign]),
    ];
    for (what, edit) in edits {
        let poor = Authority::root("poor", edit);
        f.show_signed(&poor, "", as_it_is);
        f.file("poor.crt", &poor.pem);
        f.file("poor.crl", &poor.list(&[], NOW));
        let dsn = "sslmode=verify-ca sslrootcert={}/poor.crt";
        let without = if what == "no key for lists" { Trusted } else { Refused };
        f.check(&format!("a root: {what}"), without, dsn);
        f.check(&format!("a root: {what}, with a list"), Refused, &format!("{dsn} sslcrl={{}}/poor.crl"));
    }
    // And one that lets no CA stand between.
    let low = Authority::root("low", |p| p.is_ca = IsCa::Ca(BasicConstraints::Constrained(0)));
    let under = low.below("under", as_it_is);
    f.file("low.crt", &low.pem);
    f.show_signed(&under, &under.pem, as_it_is);
    f.check("a CA too many", Refused, "sslmode=verify-ca sslrootcert={}/low.crt");
    let under = root.below("under", |p| p.key_usages = vec![KeyUsagePurpose::CrlSign]);
    f.show_signed(&under, &under.pem, as_it_is);
    f.check("a CA between that may not sign", Refused, full);

    // A certificate that is its own root.
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let key = KeyPair::generate().unwrap();
    for (what, is, edit) in [
        ("self-signed", Trusted, as_it_is as Edit),
        ("self-signed, for clients", Refused, |p| p.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth]),
        ("self-signed, over", Refused, |p| p.not_after = date_time_ymd(2020, 1, 1)),
    ] {
        edit(&mut params);
        let pem = params.self_signed(&key).unwrap().pem();
        f.show(&pem, &key.serialize_pem());
        f.file("own.crt", &pem);
        let own = "sslmode=verify-full sslrootcert={}/own.crt";
        f.check(what, is, own);
        f.check(&format!("{what}, with a list"), Refused, &format!("{own} sslcrl={{}}/foreign.crl"));
        f.check(&format!("{what}, another name"), Refused, &format!("host=db.example hostaddr=127.0.0.1 {own}"));
        f.check(&format!("{what}, another root"), Refused, full);
    }
}
