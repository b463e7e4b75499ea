//! The same select-only transactions by tokio-postgres on one thread, as its documentation has it: a client is a task.
//!
//!     tokio-probe DSN CLIENTS SECONDS SCALE

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::task::LocalSet;
use tokio_postgres::NoTls;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dsn, clients, seconds, scale] = arguments.as_slice() else {
        return Err("tokio-probe DSN CLIENTS SECONDS SCALE".into());
    };
    let time = Duration::from_secs_f64(seconds.parse()?);
    let done = tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(drive(
        dsn,
        clients.parse()?,
        time,
        scale.parse()?,
    ))?;
    println!("{done}");
    Ok(())
}

/// How many transactions all clients made in that time, which begins when all are connected.
async fn drive(dsn: &str, clients: u32, time: Duration, scale: u32) -> Result<u64, Failure> {
    let mut config: tokio_postgres::Config = dsn.parse()?;
    if let Ok(password) = std::env::var("PGPASSWORD") {
        config.password(password);
    }
    let tasks = LocalSet::new();
    let done = Rc::new(Cell::new(0));
    tasks
        .run_until(async {
            let mut ready = Vec::new();
            for _ in 0..clients {
                let (client, connection) = config.connect(NoTls).await?;
                tokio::task::spawn_local(connection);
                let statement = client.prepare("SELECT abalance FROM pgbench_accounts WHERE aid = $1").await?;
                ready.push((client, statement));
            }
            let end = Instant::now() + time;
            let mut drivers = Vec::new();
            for (n, (client, statement)) in (1u32..).zip(ready) {
                let done = Rc::clone(&done);
                drivers.push(tokio::task::spawn_local(async move {
                    let mut state = n.wrapping_mul(2_654_435_761);
                    while Instant::now() < end {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        let account = (state % (scale * 100_000) + 1).cast_signed();
                        client.query_one(&statement, &[&account]).await?;
                        done.set(done.get() + 1);
                    }
                    Ok::<_, tokio_postgres::Error>(())
                }));
            }
            for driver in drivers {
                driver.await??;
            }
            Ok::<_, Failure>(())
        })
        .await?;
    Ok(done.get())
}
