//! The published documents, typed a second time: what their commands, tables and outputs say, run by run. Tests check
//! that the recipes say the same. Typed from the documents, never from the recipes.

use super::{Expanded, Recipe, RecipeRun, all, expand};

/// A line for each run: recipe, size, variant or `-`; the server's CPUs and GB; clients, jobs, loaders, protocol,
/// pgbench's `-v` or `-n`; seconds of the window and of the ramp; the share in the cache; parameters of data and
/// script.
const RUNS: &str = "
alloydb/tpcc-full              16vcpu - | 16 128 | 256  -    10 - - | 3600 600 | 100% | warehouses=576
alloydb/tpcc-full              64vcpu - | 64 512 | 1024 -    64 - - | 3600 600 | 100% | warehouses=2304
alloydb/tpcc-partial           16vcpu - | 16 128 | 256  -    10 - - | 3600 600 | 30%  | warehouses=3200
alloydb/tpcc-partial           64vcpu - | 64 512 | 1024 -    64 - - | 3600 600 | 30%  | warehouses=12800
alloydb/tpcc-full-2023         16vcpu - | 16 128 | 256  -    10 - - | 3600 600 | 100% | warehouses=576
alloydb/tpcc-full-2023         64vcpu - | 64 512 | 1024 -    64 - - | 3600 600 | 100% | warehouses=2304
alloydb/tpcc-partial-2023      16vcpu - | 16 128 | 256  -    10 - - | 3600 600 | 30%  | warehouses=3200
alloydb/tpcc-partial-2023      64vcpu - | 64 512 | 1024 -    64 - - | 3600 600 | 30%  | warehouses=12800
alloydb/tpcb-full              2vcpu  - | 2  16  | 48   48   - prepared - | 3900 0 | 100% | scale=500
alloydb/tpcb-full              4vcpu  - | 4  32  | 96   96   - prepared - | 3900 0 | 100% | scale=1000
alloydb/tpcb-full              8vcpu  - | 8  64  | 192  192  - prepared - | 3900 0 | 100% | scale=2000
alloydb/tpcb-full              16vcpu - | 16 128 | 384  384  - prepared - | 3900 0 | 100% | scale=4000
alloydb/tpcb-full              32vcpu - | 32 256 | 768  768  - prepared - | 3900 0 | 100% | scale=8000
alloydb/tpcb-full              64vcpu - | 64 512 | 1536 1536 - prepared - | 3900 0 | 100% | scale=16000
alloydb/tpcb-partial           2vcpu  - | 2  16  | 32   32   - prepared - | 3900 0 | - | scale=6250
alloydb/tpcb-partial           4vcpu  - | 4  32  | 64   64   - prepared - | 3900 0 | - | scale=12500
alloydb/tpcb-partial           8vcpu  - | 8  64  | 128  128  - prepared - | 3900 0 | - | scale=25000
alloydb/tpcb-partial           16vcpu - | 16 128 | 384  384  - prepared - | 3900 0 | - | scale=50000
alloydb/tpcb-partial           32vcpu - | 32 256 | 512  512  - prepared - | 3900 0 | - | scale=100000
alloydb/tpcb-partial           64vcpu - | 64 512 | 1024 1024 - prepared - | 3900 0 | - | scale=200000
alloydb/tpcb-full-2023         16vcpu - | 16 128 | 256  256  - simple - | 3900 0 | 100% | scale=4000
alloydb/tpcb-partial-2023      16vcpu - | 16 128 | 256  256  - simple - | 3900 0 | - | scale=50000
alloydb/index-insert           16vcpu - | 16 128 | 256  256  - simple - | 3900 0 | - | delta_max=500000000 keys=1000000000 scale=25000
alloydb/index-insert-2023      16vcpu - | 16 128 | 256  256  - simple - | 3900 0 | - | delta_max=50000000 keys=100000000 scale=25000
alloydb/select-only            64vcpu - | 64 512 | 256  256  - simple - | 3900 0 | 100% | scale=15000
cloudsql/tpcc-full             16vcpu - | 16 104 | 256  -    10 - - | 3600 600 | 100% | warehouses=576
cloudsql/tpcc-partial          16vcpu - | 16 104 | 256  -    10 - - | 3600 600 | 30%  | warehouses=3200
cloudsql/tpcb-full             16vcpu - | 16 104 | 384  384  - prepared - | 3900 0 | 100% | scale=4000
cloudsql/tpcb-partial          16vcpu - | 16 104 | 384  384  - prepared - | 3900 0 | - | scale=50000
cloudsql/index-insert          16vcpu - | 16 104 | 256  256  - simple - | 3900 0 | - | delta_max=500000000 keys=1000000000 scale=25000
cloudsql/select-only           16vcpu - | 16 104 | 256  256  - simple - | 3900 0 | 100% | scale=15000
polardb/ro polar.o.x8.12xlarge 100M | 88 710 | 256 128 - prepared -v | 120 0 | - | range=100000000 scale=10000
polardb/ro polar.o.x8.12xlarge 500M | 88 710 | 256 128 - prepared -n | 120 0 | - | range=500000000 scale=10000
polardb/ro polar.o.x8.12xlarge 1B   | 88 710 | 256 128 - prepared -n | 120 0 | - | range=1000000000 scale=10000
polardb/ro polar.o.x8.8xlarge  100M | 64 512 | 256 128 - prepared -v | 120 0 | - | range=100000000 scale=10000
polardb/ro polar.o.x8.8xlarge  500M | 64 512 | 256 128 - prepared -n | 120 0 | - | range=500000000 scale=10000
polardb/ro polar.o.x8.8xlarge  1B   | 64 512 | 256 128 - prepared -n | 120 0 | - | range=1000000000 scale=10000
polardb/ro polar.o.x8.4xlarge  100M | 32 256 | 128 128 - prepared -v | 120 0 | - | range=100000000 scale=10000
polardb/ro polar.o.x8.4xlarge  500M | 32 256 | 128 128 - prepared -n | 120 0 | - | range=500000000 scale=10000
polardb/ro polar.o.x8.4xlarge  1B   | 32 256 | 128 128 - prepared -n | 120 0 | - | range=1000000000 scale=10000
polardb/ro polar.o.x8.2xlarge  100M | 16 128 | 64  64  - prepared -v | 120 0 | - | range=100000000 scale=10000
polardb/ro polar.o.x8.2xlarge  500M | 16 128 | 64  64  - prepared -n | 120 0 | - | range=500000000 scale=10000
polardb/ro polar.o.x8.2xlarge  1B   | 16 128 | 64  64  - prepared -n | 120 0 | - | range=1000000000 scale=10000
polardb/ro polar.o.x8.xlarge   100M | 8  64  | 64  32  - prepared -v | 120 0 | - | range=100000000 scale=10000
polardb/ro polar.o.x8.xlarge   500M | 8  64  | 64  32  - prepared -n | 120 0 | - | range=500000000 scale=10000
polardb/ro polar.o.x8.xlarge   1B   | 8  64  | 64  32  - prepared -n | 120 0 | - | range=1000000000 scale=10000
polardb/ro polar.o.x4.xlarge   100M | 8  32  | 64  32  - prepared -v | 120 0 | - | range=100000000 scale=10000
polardb/ro polar.o.x4.xlarge   500M | 8  32  | 64  32  - prepared -n | 120 0 | - | range=500000000 scale=10000
polardb/ro polar.o.x4.xlarge   1B   | 8  32  | 64  32  - prepared -n | 120 0 | - | range=1000000000 scale=10000
polardb/ro polar.o.x4.large    50M  | 4  16  | 32  32  - prepared -v | 120 0 | - | range=50000000 scale=5000
polardb/ro polar.o.x4.large    100M | 4  16  | 32  32  - prepared -n | 120 0 | - | range=100000000 scale=5000
polardb/ro polar.o.x4.medium   50M  | 2  8   | 16  32  - prepared -v | 120 0 | - | range=50000000 scale=1000
polardb/ro polar.o.x4.medium   100M | 2  8   | 16  32  - prepared -n | 120 0 | - | range=100000000 scale=1000
polardb/rw polar.o.x8.12xlarge 100M | 88 710 | 256 256 - prepared -v | 120 0 | - | range=100000000 scale=10000
polardb/rw polar.o.x8.12xlarge 500M | 88 710 | 256 256 - prepared -n | 120 0 | - | range=500000000 scale=10000
polardb/rw polar.o.x8.12xlarge 1B   | 88 710 | 256 256 - prepared -n | 120 0 | - | range=1000000000 scale=10000
polardb/rw polar.o.x8.8xlarge  100M | 64 512 | 256 256 - prepared -v | 120 0 | - | range=100000000 scale=10000
polardb/rw polar.o.x8.8xlarge  500M | 64 512 | 256 256 - prepared -n | 120 0 | - | range=500000000 scale=10000
polardb/rw polar.o.x8.8xlarge  1B   | 64 512 | 256 256 - prepared -n | 120 0 | - | range=1000000000 scale=10000
polardb/rw polar.o.x8.4xlarge  100M | 32 256 | 128 128 - prepared -v | 120 0 | - | range=100000000 scale=10000
polardb/rw polar.o.x8.4xlarge  500M | 32 256 | 128 128 - prepared -n | 120 0 | - | range=500000000 scale=10000
polardb/rw polar.o.x8.4xlarge  1B   | 32 256 | 128 128 - prepared -n | 120 0 | - | range=1000000000 scale=10000
polardb/rw polar.o.x8.2xlarge  100M | 16 128 | 64  64  - prepared -v | 120 0 | - | range=100000000 scale=10000
polardb/rw polar.o.x8.2xlarge  500M | 16 128 | 64  64  - prepared -n | 120 0 | - | range=500000000 scale=10000
polardb/rw polar.o.x8.2xlarge  1B   | 16 128 | 64  64  - prepared -n | 120 0 | - | range=1000000000 scale=10000
polardb/rw polar.o.x8.xlarge   100M | 8  64  | 64  64  - prepared -v | 120 0 | - | range=100000000 scale=10000
polardb/rw polar.o.x8.xlarge   500M | 8  64  | 64  64  - prepared -n | 120 0 | - | range=500000000 scale=10000
polardb/rw polar.o.x8.xlarge   1B   | 8  64  | 64  64  - prepared -n | 120 0 | - | range=1000000000 scale=10000
polardb/rw polar.o.x4.xlarge   100M | 8  32  | 32  32  - prepared -v | 120 0 | - | range=100000000 scale=10000
polardb/rw polar.o.x4.xlarge   500M | 8  32  | 32  32  - prepared -n | 120 0 | - | range=500000000 scale=10000
polardb/rw polar.o.x4.xlarge   1B   | 8  32  | 32  32  - prepared -n | 120 0 | - | range=1000000000 scale=10000
polardb/rw polar.o.x4.large    50M  | 4  16  | 16  16  - prepared -v | 120 0 | - | range=50000000 scale=5000
polardb/rw polar.o.x4.large    100M | 4  16  | 16  16  - prepared -n | 120 0 | - | range=100000000 scale=5000
polardb/rw polar.o.x4.medium   50M  | 2  8   | 8   8   - prepared -v | 120 0 | - | range=50000000 scale=1000
polardb/rw polar.o.x4.medium   100M | 2  8   | 8   8   - prepared -n | 120 0 | - | range=100000000 scale=1000
pgphriday/sensor-1 2cpu scale-1  | 2 - | 4 1 - simple -n | 30 0 | - | scale=1
pgphriday/sensor-1 2cpu scale-50 | 2 - | 1 1 - simple -n | 30 0 | - | scale=50
pgphriday/sensor-2 2cpu -        | 2 - | 4 1 - simple -n | 30 0 | - | scale=1
citus/tproc-c-250  c4+2w8    - | 20  - | 250  - - - - | 3600 600 | - | warehouses=1000
citus/tproc-c-5000 c64+20w32 - | 704 - | 5000 - - - - | 3600 600 | - | warehouses=5000
citus/ch-250       c8+2w8    - | 24  - | 250  - 100 - - | 3600 180 | - | all-warehouses=true call=procedure profile=hammerdb query-form=citus streams=1 warehouses=1000
citus/ch-queries   c8+2w8    - | 24  - | 250  - 100 - - | 7200 180 | - | all-warehouses=true call=procedure profile=hammerdb query-form=citus streams=1 transactions=false warehouses=1000
citus/ycsb-a c16+2w16 - | 48 - | 248 - - - - | 600 60 | - | records=10000 shard-count=4
citus/ycsb-b c16+2w16 - | 48 - | 248 - - - - | 600 60 | - | records=10000 shard-count=4
citus/ycsb-c c16+2w16 - | 48 - | 248 - - - - | 600 60 | - | records=10000 shard-count=4
citus/ycsb-d c16+2w16 - | 48 - | 248 - - - - | 600 60 | - | records=10000 shard-count=4
citus/ycsb-e c16+2w16 - | 48 - | 248 - - - - | 600 60 | - | records=10000 shard-count=4
citus/ycsb-f c16+2w16 - | 48 - | 248 - - - - | 600 60 | - | records=10000 shard-count=4
apsaradb/oltp-read-write any - | 1 - | 64 64 20 prepared - | 180 0 | - | scale=10000000 tables=64
planetscale/oltp-read-only 4vcpu - | 4 32 | 64 - 2 prepared - | 300 0 | - | scale=130000000 tables=10
hammerdb/tproc-h-1 sf1       - | 1 -   | - - - - -    | - 0      | - | indexes=hammerdb refresh=false scale=1 streams=0
";

/// The figures of the runs that have some: `grep NOPM` of HammerDB's output and the guide's conversion to TPS;
/// pgbench's TPS without connecting, as the guide rounds it, mean latency, its deviation, CPU use; the paper's QPS.
const FIGURES: &str = "
alloydb/tpcc-full         16vcpu - | nopm=428316 tpm=974264 tps=16238 server_cpu_percent=90
alloydb/tpcc-full         64vcpu - | nopm=716138 tpm=1665438 tps=27757
alloydb/tpcc-partial      16vcpu - | nopm=252970 tpm=582385 tps=9706
alloydb/tpcc-partial      64vcpu - | nopm=589598 tpm=1371160 tps=22853
alloydb/tpcc-full-2023    16vcpu - | nopm=428316 tpm=974264 tps=16238 server_cpu_percent=90
alloydb/tpcc-full-2023    64vcpu - | nopm=716138 tpm=1665438 tps=27757
alloydb/tpcc-partial-2023 16vcpu - | nopm=252970 tpm=582385 tps=9706
alloydb/tpcc-partial-2023 64vcpu - | nopm=589598 tpm=1371160 tps=22853
alloydb/tpcb-full         16vcpu - | tps=21750 latency_ms_mean=17.654 latency_ms_stddev=6.963 server_cpu_percent=94
alloydb/tpcb-partial      16vcpu - | tps=17460 latency_ms_mean=21.992 latency_ms_stddev=29.272 server_cpu_percent=96
alloydb/tpcb-full-2023    16vcpu - | tps=20359 latency_ms_mean=12.573 latency_ms_stddev=13.625 server_cpu_percent=96
alloydb/tpcb-partial-2023 16vcpu - | tps=14060 latency_ms_mean=18.21 server_cpu_percent=94
alloydb/index-insert      16vcpu - | tps=51742 latency_ms_mean=4.947 latency_ms_stddev=3.488 server_cpu_percent=88
alloydb/index-insert-2023 16vcpu - | tps=51742 latency_ms_mean=4.947 latency_ms_stddev=3.488 server_cpu_percent=88
alloydb/select-only       64vcpu - | tps=467583 latency_ms_mean=0.547 latency_ms_stddev=0.267 server_cpu_percent=95
polardb/ro polar.o.x8.12xlarge 100M | qps=630650.4
polardb/ro polar.o.x8.12xlarge 500M | qps=601262.24
polardb/ro polar.o.x8.12xlarge 1B   | qps=589405.79
polardb/ro polar.o.x8.8xlarge  100M | qps=592064.65
polardb/ro polar.o.x8.8xlarge  500M | qps=554777.11
polardb/ro polar.o.x8.8xlarge  1B   | qps=508404.07
polardb/ro polar.o.x8.4xlarge  100M | qps=522182.92
polardb/ro polar.o.x8.4xlarge  500M | qps=509372.85
polardb/ro polar.o.x8.4xlarge  1B   | qps=489349.72
polardb/ro polar.o.x8.2xlarge  100M | qps=263893.72
polardb/ro polar.o.x8.2xlarge  500M | qps=250221.62
polardb/ro polar.o.x8.2xlarge  1B   | qps=239832.62
polardb/ro polar.o.x8.xlarge   100M | qps=142836.56
polardb/ro polar.o.x8.xlarge   500M | qps=133931.69
polardb/ro polar.o.x8.xlarge   1B   | qps=124151.02
polardb/ro polar.o.x4.xlarge   100M | qps=126748.07
polardb/ro polar.o.x4.xlarge   500M | qps=113432.32
polardb/ro polar.o.x4.xlarge   1B   | qps=104232.84
polardb/ro polar.o.x4.large    50M  | qps=76238.89
polardb/ro polar.o.x4.large    100M | qps=69892.83
polardb/ro polar.o.x4.medium   50M  | qps=28320.7
polardb/ro polar.o.x4.medium   100M | qps=30792.19
polardb/rw polar.o.x8.12xlarge 100M | qps=263746.37
polardb/rw polar.o.x8.12xlarge 500M | qps=247352.76
polardb/rw polar.o.x8.12xlarge 1B   | qps=218788.92
polardb/rw polar.o.x8.8xlarge  100M | qps=227352.23
polardb/rw polar.o.x8.8xlarge  500M | qps=213343.13
polardb/rw polar.o.x8.8xlarge  1B   | qps=203331.35
polardb/rw polar.o.x8.4xlarge  100M | qps=213212.34
polardb/rw polar.o.x8.4xlarge  500M | qps=203322.34
polardb/rw polar.o.x8.4xlarge  1B   | qps=198531.37
polardb/rw polar.o.x8.2xlarge  100M | qps=152863.27
polardb/rw polar.o.x8.2xlarge  500M | qps=129238.26
polardb/rw polar.o.x8.2xlarge  1B   | qps=106212.82
polardb/rw polar.o.x8.xlarge   100M | qps=69725.29
polardb/rw polar.o.x8.xlarge   500M | qps=55927.65
polardb/rw polar.o.x8.xlarge   1B   | qps=50786.21
polardb/rw polar.o.x4.xlarge   100M | qps=59738.33
polardb/rw polar.o.x4.xlarge   500M | qps=48372.25
polardb/rw polar.o.x4.xlarge   1B   | qps=49763.64
polardb/rw polar.o.x4.large    50M  | qps=47388.27
polardb/rw polar.o.x4.large    100M | qps=43638.85
polardb/rw polar.o.x4.medium   50M  | qps=18152.63
polardb/rw polar.o.x4.medium   100M | qps=19111.15
pgphriday/sensor-1 2cpu scale-1  | tps=1080.246903 latency_ms_mean=3.701
pgphriday/sensor-1 2cpu scale-50 | tps=306.636514 latency_ms_mean=3.261
pgphriday/sensor-2 2cpu -        | tps=1736.124362 latency_ms_mean=2.304
citus/tproc-c-5000 c64+20w32 -   | nopm=2000000
";

/// What else a document says about all runs of a recipe: its date, the server's version, its settings, and whether its
/// routines are functions (HammerDB makes procedures only with `pg_storedprocs`, which no document sets).
const DOCUMENTS: &[(&str, &str, &str)] = &[
    ("alloydb/*-2023", "May 2023", "14.4"),
    ("alloydb/*", "undated", "PostgreSQL 15"),
    ("cloudsql/*", "undated", "PostgreSQL 14"),
    ("polardb/*", "7 August 2024", "PostgreSQL 11"),
    ("pgphriday/*", "September 2016, by the times in its log", "9.6"),
    ("citus/ch-*", "2022", "HammerDB 4.4"),
    ("citus/ycsb-*", "2022", "YCSB 0.17.0"),
    ("citus/*", "12 March 2022", "PostgreSQL 14, Citus 10.2"),
    ("apsaradb/*", "20 June 2025", "sysbench 1.0.12"),
    ("planetscale/*", "1 July 2025", "sysbench 1.0.2"),
    ("hammerdb/*", "version 6.0, 2026", "HammerDB 6.0"),
];

/// Settings of the server that a document asks for.
const SETTINGS: &[(&str, &str)] = &[
    ("hammerdb/*", "max_parallel_workers_per_gather=2"),
    ("polardb/*", "enable_bitmapscan=off enable_hashjoin=off enable_mergejoin=off log_statement=none"),
    ("citus/ch-*", "citus.enable_repartition_joins=on"),
    (
        "citus/tproc-c-5000",
        "citus.max_shared_pool_size=12000 max_connections=12000 max_prepared_transactions=12100 \
         pg_stat_statements.track=none superuser_reserved_connections=3 work_mem=16MB",
    ),
];

/// Parameters that no document gives a number for; [`DOCUMENTS`] and the notes check them.
const OF_TPROC_C: [(&str, &str); 3] = [("profile", "hammerdb"), ("all-warehouses", "true"), ("call", "function")];

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => name.starts_with(before) && name.ends_with(after),
        None => pattern == name,
    }
}

/// Returns a table's lines with single spaces.
fn lines(table: &str) -> Vec<String> {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    table.lines().map(words).filter(|line| !line.is_empty()).collect()
}

/// Returns every run of every recipe.
fn runs() -> Vec<(&'static Recipe, String, Expanded)> {
    let mut runs = Vec::new();
    for recipe in all() {
        for size in &recipe.sizes {
            let variants: Vec<_> = size.variants.iter().map(|variant| Some(variant.name.as_str())).collect();
            for variant in if variants.is_empty() { vec![None] } else { variants } {
                let request = RecipeRun { size: Some(&size.name), variant, ..RecipeRun::default() };
                let head = format!("{} {} {}", recipe.name, size.name, variant.unwrap_or("-"));
                runs.push((recipe, head, expand(recipe, &request).unwrap()));
            }
        }
    }
    runs
}

fn or_none<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

#[test]
fn runs_have_the_parameters_of_their_documents() {
    let mut reported = Vec::new();
    for (recipe, head, run) in runs() {
        let size = recipe.sizes.iter().find(|size| size.name == run.recipe.size).unwrap();
        let mut params = run.params.clone();
        if recipe.workload == "tproc-c" {
            for (name, value) in OF_TPROC_C {
                assert_eq!(params.remove(name).as_deref(), Some(value), "{head}: {name}");
            }
            let partitions = params.remove("partitions");
            assert_eq!(partitions.as_deref(), (!head.starts_with("citus/")).then_some("0"), "{head}");
        }
        let params: Vec<_> = params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let memory = size.memory.map(|memory| memory.0 >> 30);
        let cached = run.recipe.cached.map(|share| format!("{}%", (share * 100.0).round()));
        reported.push(format!(
            "{head} | {} {} | {} {} {} {} {} | {} {} | {} | {}",
            size.vcpus,
            or_none(memory),
            or_none(run.clients),
            or_none(run.threads),
            or_none(run.loaders),
            or_none(run.mode.map(|mode| mode.name())),
            if run.no_vacuum { "-n" } else { "-" },
            or_none(run.time_s),
            run.ramp_s,
            or_none(cached),
            params.join(" ")
        ));
    }
    // -v adds VACUUM ANALYZE of accounts, which the load does here.
    same(lines(&RUNS.replace(" -v ", " - ")), reported);
}

#[test]
fn runs_have_the_figures_of_their_documents() {
    let mut reported = Vec::new();
    for (recipe, head, _) in runs() {
        let (size, variant) = (head.split(' ').nth(1).unwrap(), head.split(' ').nth(2).unwrap());
        let size = recipe.sizes.iter().find(|other| other.name == size).unwrap();
        let own = size.variants.iter().find(|other| other.name == variant).map_or(&size.published, |v| &v.published);
        let figures: Vec<_> = own.list().iter().map(|figure| format!("{}={}", figure.metric, figure.value)).collect();
        if !figures.is_empty() {
            reported.push(format!("{head} | {}", figures.join(" ")));
        }
    }
    same(lines(FIGURES), reported);
}

#[test]
fn recipes_have_the_dates_versions_and_settings_of_their_documents() {
    for recipe in all() {
        let (_, date, version) = DOCUMENTS.iter().find(|(pattern, ..)| matches(pattern, &recipe.name)).unwrap();
        assert_eq!(recipe.source.date, *date, "{}", recipe.name);
        let machines = recipe.sizes.iter().map(|size| &size.machine);
        let said: Vec<_> = recipe.notes.iter().chain(machines).map(String::as_str).collect();
        assert!(said.join("\n").contains(version), "{} says nothing of {version}", recipe.name);
        let settings: Vec<_> = recipe.settings.iter().map(|(name, value)| format!("{name}={}", value.0)).collect();
        let expected = SETTINGS.iter().find(|(pattern, _)| matches(pattern, &recipe.name)).map_or("", |(_, text)| text);
        assert_eq!(settings.join(" "), expected, "{}", recipe.name);
        let without =
            ["pgphriday/", "hammerdb/", "citus/tproc-c-250", "citus/ch-", "citus/ycsb-", "apsaradb/", "planetscale/"];
        assert_eq!(recipe.steps.restart, !without.iter().any(|name| recipe.name.starts_with(name)));
    }
}

/// Only the machine table of the web edition for TPC-B is a guide's own rule.
#[test]
fn a_rule_is_the_guides_only_where_the_guide_has_one() {
    for recipe in all() {
        let Some(fit) = &recipe.fit else { continue };
        let has_one = matches!(recipe.name.as_str(), "alloydb/tpcb-full" | "alloydb/tpcb-partial");
        assert_eq!(fit.rule.starts_with("the guide's"), has_one, "{}: {}", recipe.name, fit.rule);
        assert!(
            has_one || fit.rule.starts_with("pgdyno's rule") || fit.grows.is_empty(),
            "{}: {}",
            recipe.name,
            fit.rule
        );
    }
}

#[track_caller]
fn same(mut expected: Vec<String>, mut reported: Vec<String>) {
    expected.sort();
    reported.sort();
    let only = |these: &[String], those: &[String], mark: &str| {
        these.iter().filter(|line| !those.contains(line)).map(|line| format!("{mark} {line}\n")).collect::<String>()
    };
    let differences = only(&expected, &reported, "document:") + &only(&reported, &expected, "recipe:  ");
    assert!(differences.is_empty(), "\n{differences}");
    assert_eq!(expected.len(), reported.len());
}
