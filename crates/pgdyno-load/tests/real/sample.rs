//! A workload of three tables: one large enough to be split among four loaders.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pgdyno_workload::{
    Capabilities, Changed, Check, CheckCost, CopyBuf, DataSet, Expect, Maker, Meta, Param, ParamKind, Params,
    Partitions, Rng, Routine, Routines, RowCount, RowSource, SqlData, Table, When,
};

const ROWS_PER_CHUNK: u64 = 1_000;
const CHUNKS_PER_SCALE: u64 = 100;

static META: Meta = Meta {
    id: "sample",
    summary: "three tables",
    version: 1,
    dataset: "sample",
    scale_name: "scale",
    scale_query: Some("select count(*) / 100000 from big"),
    is_key_range: false,
    params: &[
        Param { name: "scale", help: "", default: "1", kind: ParamKind::Integer(1, 1000), when: When::Load },
        Param { name: "seed", help: "", default: "1", kind: ParamKind::Integer(0, 1000), when: When::Load },
        Param { name: "mood", help: "", default: "1", kind: ParamKind::Integer(0, 1000), when: When::Run },
    ],
};

/// Called with the number of each chunk of the large table before it is written.
pub(crate) type Hook = Arc<dyn Fn(u64) + Send + Sync>;

/// The workload; its tables are `big`, `small` and `journal`, its routine `sample_sum`.
pub(crate) struct Sample {
    params: Params,
    on_chunk: Hook,
    /// Chunks of the large table that were written so far.
    pub(crate) written: Arc<AtomicU64>,
}

impl Sample {
    pub(crate) fn new(given: &[(&'static str, &str)]) -> Self {
        Self::with_hook(given, Arc::new(|_| {}))
    }

    pub(crate) fn with_hook(given: &[(&'static str, &str)], on_chunk: Hook) -> Self {
        let params = Params::new(META.id, META.params, given.iter().copied()).unwrap();
        Self { params, on_chunk, written: Arc::default() }
    }
}

struct Big {
    scale: u64,
    seed: u64,
    on_chunk: Hook,
    written: Arc<AtomicU64>,
}

impl RowSource for Big {
    fn chunks(&self) -> u64 {
        self.scale * CHUNKS_PER_SCALE
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        (self.on_chunk)(chunk);
        let mut rng = Rng::derive(self.seed, "big", &[chunk]);
        for row in chunk * ROWS_PER_CHUNK..(chunk + 1) * ROWS_PER_CHUNK {
            out.int(row as i64 + 1).int(rng.uniform(1, 10)).text("a\tb\\c\nd").end_row();
        }
        // Two seeds that are no good: a row that is there already, and two that were not announced.
        let too_many: &[i64] = match (self.seed, chunk) {
            (13, 50) => &[1],
            (14, 50) => &[-1, -2],
            _ => &[],
        };
        for id in too_many {
            out.int(*id).int(1).text("a\tb\\c\nd").end_row();
        }
        self.written.fetch_add(1, Ordering::Relaxed);
    }
}

struct Small;

impl RowSource for Small {
    fn chunks(&self) -> u64 {
        1
    }

    fn write(&self, _: u64, out: &mut CopyBuf) {
        for row in 1..=10 {
            out.int(row).null().end_row();
        }
    }
}

impl DataSet for Sample {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn scale(&self) -> u64 {
        self.params.integer("scale").unsigned_abs()
    }

    fn tables(&self, _: &Capabilities) -> Vec<Table> {
        let rows = self.scale() * CHUNKS_PER_SCALE * ROWS_PER_CHUNK;
        let big = Big {
            scale: self.scale(),
            seed: self.params.integer("seed").unsigned_abs(),
            on_chunk: Arc::clone(&self.on_chunk),
            written: Arc::clone(&self.written),
        };
        vec![
            Table {
                name: "journal",
                ddl: "create table journal (at timestamptz, what text)".to_owned(),
                indexes: Vec::new(),
                foreign_keys: Vec::new(),
                partitions: Partitions::None,
                distribution: None,
                binary: Vec::new(),
                rows: RowCount::Exact(0),
                grows: true,
                bytes: 0,
                source: None,
            },
            Table {
                name: "big",
                ddl: "create table big (id bigint not null, small_id int not null, note text)".to_owned(),
                indexes: vec![
                    "alter table big add primary key (id)".to_owned(),
                    "create index big_small on big (small_id)".to_owned(),
                ],
                partitions: Partitions::None,
                distribution: None,
                binary: Vec::new(),
                foreign_keys: vec!["alter table big add foreign key (small_id) references small".to_owned()],
                rows: RowCount::Between(rows, rows + 1),
                grows: false,
                bytes: rows * 80,
                source: Some(Box::new(big)),
            },
            Table {
                name: "small",
                ddl: "create table small (id int not null, total bigint)".to_owned(),
                indexes: vec!["alter table small add primary key (id)".to_owned()],
                foreign_keys: Vec::new(),
                partitions: Partitions::None,
                distribution: None,
                binary: Vec::new(),
                rows: RowCount::Exact(10),
                grows: false,
                bytes: 8192,
                source: Some(Box::new(Small)),
            },
        ]
    }

    fn sql_data(&self) -> Option<&SqlData> {
        None
    }

    fn routines(&self, _: &Capabilities) -> Routines {
        let routine = Routine {
            signature: "sample_sum(bigint, char, numeric[])",
            ddl: "create or replace function sample_sum(a bigint, b char, c numeric[] default null) returns bigint \
                  language sql as 'select a' -- a comment at the end"
                .to_owned(),
            distribution: None,
            read_only_call: None,
        };
        Routines { schema: None, list: vec![routine] }
    }

    fn other_maker(&self) -> Option<&'static Maker> {
        None
    }

    fn checks(&self) -> Vec<Check> {
        let check = |name, condition, sql: &str, expect| Check {
            name,
            condition,
            sql: sql.to_owned().into(),
            parts: None,
            screen: None,
            expect,
            cost: CheckCost::Cheap,
        };
        vec![
            check(
                "notes",
                "every note is the same",
                "select id, note from big where note <> E'a\\tb\\\\c\\nd'",
                Expect::NoRow,
            ),
            check(
                "totals",
                "totals stay",
                "select coalesce(sum(total), 0) as totals from small",
                Expect::UnchangedByRun,
            ),
        ]
    }

    fn changed(&self, _: &str) -> Changed {
        Changed { checks: self.checks(), repair: None }
    }

    fn before_run(&self) -> &'static [&'static str] {
        &[]
    }

    fn bytes(&self) -> u64 {
        self.scale() * 8_000_000
    }
}
