//! Failovers that a program of a cluster manager or of a cloud orders. Arguments are lists: no shell reads them.

use std::fmt::Write as _;

/// A failover by another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailoverKind {
    /// Patroni: the leader hands over to another member.
    PatroniSwitchover,
    /// Patroni: a member becomes the leader, whatever the present one does.
    PatroniFailover,
    /// pg_auto_failover: the monitor orders a failover.
    PgAutoFailover,
    /// Amazon RDS, an instance with a standby in another zone.
    Rds,
    /// Amazon Aurora, and RDS with two readable standbys.
    RdsCluster,
    /// AlloyDB.
    AlloyDb,
    /// Cloud SQL.
    CloudSql,
    /// Azure Database for PostgreSQL, flexible server.
    AzureFlexible,
    /// PolarDB for PostgreSQL.
    PolarDb,
}

/// How a failover is ordered.
struct FailoverRow {
    /// Its name, before its parts.
    name: &'static str,
    /// What must be named after it.
    parts: &'static [&'static str],
    /// The program.
    program: &'static str,
    /// Its arguments. `{0}`, `{1}` … are the parts.
    args: &'static [&'static str],
    /// What the program needs.
    needs: &'static str,
}

impl FailoverKind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::PatroniSwitchover,
        Self::PatroniFailover,
        Self::PgAutoFailover,
        Self::Rds,
        Self::RdsCluster,
        Self::AlloyDb,
        Self::CloudSql,
        Self::AzureFlexible,
        Self::PolarDb,
    ];

    fn row(self) -> FailoverRow {
        let row = |name, parts, program, args, needs| FailoverRow { name, parts, program, args, needs };
        match self {
            // patronictl takes the leader, the candidate and the cluster from its configuration if it must not ask (--force).
            Self::PatroniSwitchover => {
                row("patroni:switchover", &[], "patronictl", &["switchover", "--force"], PATRONI)
            }
            Self::PatroniFailover => {
                let args = &["failover", "--candidate", "{0}", "--force"];
                row("patroni:failover", &["MEMBER"], "patronictl", args, PATRONI)
            }
            // Its switchover is a synonym.
            Self::PgAutoFailover => {
                let needs = "pg_autoctl with PG_AUTOCTL_MONITOR or PGDATA in the environment";
                row("pg_auto_failover:failover", &[], "pg_autoctl", &["perform", "failover"], needs)
            }
            Self::Rds => {
                let args = &["rds", "reboot-db-instance", "--db-instance-identifier", "{0}", "--force-failover"];
                row(
                    "rds:failover",
                    &["INSTANCE"],
                    "aws",
                    args,
                    "the AWS CLI with credentials and a region; a Multi-AZ instance",
                )
            }
            Self::RdsCluster => {
                let args = &["rds", "failover-db-cluster", "--db-cluster-identifier", "{0}"];
                row(
                    "aurora:failover",
                    &["CLUSTER"],
                    "aws",
                    args,
                    "the AWS CLI with credentials and a region; a cluster with a reader",
                )
            }
            Self::AlloyDb => {
                let args = &["alloydb", "instances", "failover", "{1}", "--cluster={0}", "--region={2}", "--quiet"];
                row(
                    "alloydb:failover",
                    &["CLUSTER", "INSTANCE", "REGION"],
                    "gcloud",
                    args,
                    "gcloud with an account and a project",
                )
            }
            Self::CloudSql => {
                let args = &["sql", "instances", "failover", "{0}", "--quiet"];
                row(
                    "cloudsql:failover",
                    &["INSTANCE"],
                    "gcloud",
                    args,
                    "gcloud with an account and a project; a regional instance",
                )
            }
            Self::AzureFlexible => {
                let args = &[
                    "postgres",
                    "flexible-server",
                    "restart",
                    "--resource-group",
                    "{0}",
                    "--name",
                    "{1}",
                    "--failover",
                    "Forced",
                ];
                let needs = "the Azure CLI with an account; a server with high availability";
                row("azure-flexible:failover", &["GROUP", "SERVER"], "az", args, needs)
            }
            Self::PolarDb => {
                let args = &["polardb", "FailoverDBCluster", "--DBClusterId", "{0}", "--TargetDBNodeId", "{1}"];
                row(
                    "polardb:failover",
                    &["CLUSTER", "NODE"],
                    "aliyun",
                    args,
                    "the Alibaba Cloud CLI with credentials; the node that takes over",
                )
            }
        }
    }

    /// Returns the name with what must be named: `rds:failover:INSTANCE`.
    #[must_use]
    pub fn form(self) -> String {
        let FailoverRow { name, parts, .. } = self.row();
        format!("{name}{}", joined(parts))
    }

    /// Returns the program that orders it.
    #[must_use]
    pub fn program(self) -> &'static str {
        self.row().program
    }

    /// Returns what it needs.
    #[must_use]
    pub fn needs(self) -> &'static str {
        self.row().needs
    }

    /// Returns program and arguments with these parts.
    fn argv(self, parts: &[&str]) -> Vec<String> {
        let FailoverRow { program, args, .. } = self.row();
        let filled = |arg: &&str| {
            parts
                .iter()
                .enumerate()
                .fold((*arg).to_owned(), |arg, (nth, part)| arg.replace(&format!("{{{nth}}}"), part))
        };
        std::iter::once(program.to_owned()).chain(args.iter().map(filled)).collect()
    }

    /// Returns program and arguments as one would type them, with the names of the parts.
    #[must_use]
    pub fn shown(self) -> String {
        self.argv(self.row().parts).join(" ")
    }

    /// Returns the failover that a text names, and program and arguments that order it; `None` if it names none.
    ///
    /// # Errors
    /// When parts are missing, or are no identifiers.
    pub(super) fn parse(text: &str) -> Option<Result<(Self, Vec<String>), String>> {
        let named = |kind: &&Self| {
            text.strip_prefix(kind.row().name).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        };
        let kind = *Self::ALL.iter().find(named)?;
        let FailoverRow { name, parts, .. } = kind.row();
        let given: Vec<&str> = text[name.len()..].split(':').skip(1).collect();
        if given.len() != parts.len() || !given.iter().all(|part| is_identifier(part)) {
            let what = if parts.is_empty() { "takes nothing after it" } else { "needs names after it" };
            return Some(Err(format!("'{text}' is no fault: {name} {what}, as in {}", kind.form())));
        }
        Some(Ok((kind, kind.argv(&given))))
    }
}

const PATRONI: &str = "patronictl with its configuration: PATRONICTL_CONFIG_FILE names it";

/// Returns the names after a name.
fn joined(parts: &[&str]) -> String {
    parts.iter().fold(String::new(), |mut all, part| {
        // A text takes every part.
        let _ = write!(all, ":{part}");
        all
    })
}

/// Returns true for a name that no program takes for an option.
pub(super) fn is_identifier(part: &str) -> bool {
    part.starts_with(|c: char| c.is_ascii_alphanumeric())
        && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failover_is_an_exact_command() {
        let lines: Vec<String> = FailoverKind::ALL.map(FailoverKind::shown).into();
        assert_eq!(
            lines,
            [
                "patronictl switchover --force",
                "patronictl failover --candidate MEMBER --force",
                "pg_autoctl perform failover",
                "aws rds reboot-db-instance --db-instance-identifier INSTANCE --force-failover",
                "aws rds failover-db-cluster --db-cluster-identifier CLUSTER",
                "gcloud alloydb instances failover INSTANCE --cluster=CLUSTER --region=REGION --quiet",
                "gcloud sql instances failover INSTANCE --quiet",
                "az postgres flexible-server restart --resource-group GROUP --name SERVER --failover Forced",
                "aliyun polardb FailoverDBCluster --DBClusterId CLUSTER --TargetDBNodeId NODE",
            ]
        );
    }

    #[test]
    fn names_are_filled_in_and_cannot_be_options() {
        let (kind, argv) = FailoverKind::parse("alloydb:failover:c1:i-1:us-central1").unwrap().unwrap();
        assert_eq!(kind, FailoverKind::AlloyDb);
        assert_eq!(argv[3..], ["failover", "i-1", "--cluster=c1", "--region=us-central1", "--quiet"]);
        for wrong in [
            "rds:failover",
            "rds:failover:",
            "rds:failover:--x",
            "rds:failover:a:b",
            "rds:failover:a b",
            "patroni:switchover:x",
        ] {
            let error = FailoverKind::parse(wrong).unwrap().unwrap_err();
            assert!(error.contains(", as in "), "{wrong}: {error}");
        }
        assert_eq!(FailoverKind::parse("rds:failoverx"), None);
        assert_eq!(FailoverKind::parse("./failover.sh"), None);
    }
}
