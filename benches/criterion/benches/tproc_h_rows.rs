//! CPU time of the driver for the rows of tproc-h, by what it is spent on: the least that a load can cost with tpchgen's rows, and what
//! pgdyno adds. One thread, each step several times; the least of them counts.
//!
//!     cargo bench --bench tproc_h_rows [-- SCALE]

use std::hint::black_box;
use std::io::{IoSlice, Read, Write};
use std::os::unix::net::UnixStream;

use pgdyno_workload::{Capabilities, CopyBuf, Table};
use pgdyno_workloads::registry;
use rustix::time::{ClockId, clock_gettime};
use tpchgen::distribution::Distributions;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, OrderGenerator, PartGenerator, PartSuppGenerator, SupplierGenerator,
};
use tpchgen::text::TextPool;

/// Size of a message, as the load has it.
const MESSAGE_BYTES: usize = 64 * 1024;
const TIMES: usize = 3;

/// Returns the CPU time of this thread for `work` in seconds, the least of some, and what it returned.
fn least<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let cpu = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let mut once = || {
        let before = cpu();
        let done = work();
        (cpu() - before, done)
    };
    (1..TIMES).fold(once(), |best, _| {
        let next = once();
        if next.0 < best.0 { next } else { best }
    })
}

/// Makes all rows by tpchgen, and drops them, so many at a time. Their comments are looked at, as somebody who sends them must: each is
/// anywhere in 300 MB of text.
fn generate(scale: f64, batch: usize) -> u64 {
    looked_at(PartGenerator::new(scale, 1, 1).iter(), batch, |row| row.p_comment)
        + looked_at(SupplierGenerator::new(scale, 1, 1).iter(), batch, |row| &row.s_comment)
        + looked_at(PartSuppGenerator::new(scale, 1, 1).iter(), batch, |row| row.ps_comment)
        + looked_at(CustomerGenerator::new(scale, 1, 1).iter(), batch, |row| row.c_comment)
        + looked_at(OrderGenerator::new(scale, 1, 1).iter(), batch, |row| row.o_comment)
        + looked_at(LineItemGenerator::new(scale, 1, 1).iter(), batch, |row| row.l_comment)
}

fn looked_at<T>(mut rows: impl Iterator<Item = T>, batch: usize, comment: impl Fn(&T) -> &str) -> u64 {
    let (mut kept, mut number) = (Vec::with_capacity(batch), 0);
    loop {
        kept.extend(rows.by_ref().take(batch));
        if kept.is_empty() {
            return number;
        }
        let look = |row: &T| comment(row).as_bytes().iter().step_by(64).fold(0_u8, |sum, byte| sum ^ byte);
        black_box(black_box(&kept).iter().fold(0, |sum, row| sum ^ look(row)));
        number += kept.len() as u64;
        kept.clear();
    }
}

/// Makes all rows as a load does, and drops them. Returns rows and bytes.
fn write(tables: &[Table]) -> (u64, u64) {
    let mut out = CopyBuf::new();
    let (mut rows, mut bytes) = (0, 0);
    for table in tables {
        let source = table.source.as_ref().expect("a table with rows");
        out.start(&table.binary);
        for chunk in 0..source.chunks() {
            source.write(chunk, &mut out);
            rows += out.rows();
            bytes += black_box(out.bytes()).len() as u64;
            out.clear();
        }
    }
    (rows, bytes)
}

/// Sends so many bytes to a thread that reads them as a backend does.
fn send(bytes: u64) {
    let (mut here, mut there) = UnixStream::pair().expect("a pair of sockets");
    let reader = std::thread::spawn(move || {
        let mut buffer = [0; 8192];
        while there.read(&mut buffer).is_ok_and(|read| read > 0) {}
    });
    let (header, message) = ([b'd', 0, 1, 0, 4], vec![b'x'; MESSAGE_BYTES]);
    for _ in 0..bytes / MESSAGE_BYTES as u64 {
        let sent = here.write_vectored(&[IoSlice::new(&header), IoSlice::new(&message)]).expect("a reader");
        here.write_all(&message[sent.saturating_sub(header.len())..]).expect("a reader");
    }
    drop(here);
    reader.join().expect("a reader");
}

fn main() {
    let scale = std::env::args().nth(1).and_then(|word| word.parse::<f64>().ok()).unwrap_or(1.0);
    let workload = registry::build("tproc-h", [("scale", &*scale.to_string())]).expect("a scale factor");
    let tables = workload.data[0].tables(&Capabilities::default());

    let (pool_s, pool) = least(|| TextPool::new(TextPool::get_or_init_default().size(), Distributions::static_default()));
    drop(pool);
    let (single_s, rows) = least(|| generate(scale, 1));
    let (generate_s, _) = least(|| generate(scale, 32));
    let (write_s, (written, bytes)) = least(|| write(&tables));
    let (send_s, ()) = least(|| send(bytes));

    println!("scale factor {scale}: {rows} rows of the six large tables, {written} of all, {bytes} bytes of binary COPY");
    let of_row = |seconds: f64| format!("{seconds:7.3} s  {:6.1} ns a row", seconds * 1e9 / written as f64);
    println!("  tpchgen: the text for comments, once   {}", of_row(pool_s));
    println!("  tpchgen: rows, looked at one by one    {}", of_row(single_s));
    println!("  tpchgen: rows, looked at 32 at a time  {}", of_row(generate_s));
    println!("  kernel: bytes sent, Unix socket        {}", of_row(send_s));
    println!("  least for a load by tpchgen            {}", of_row(pool_s + generate_s + send_s));
    println!("  pgdyno: rows in COPY's binary format   {}", of_row(write_s));
    println!("  pgdyno: text, rows and sending         {}", of_row(pool_s + write_s + send_s));
}
