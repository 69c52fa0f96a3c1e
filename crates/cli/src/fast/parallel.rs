//! Work on several threads with its results in order and a bounded number of them waiting. Knows nothing of what the
//! work is.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Gives batches of `items` to `threads` workers, which `worker` makes, and `take` each result in the order of the items,
/// until it returns false or an error. At most [`WAITING`] batches for each worker are in memory.
pub(super) fn in_order<T, R, W, E>(
    threads: usize,
    items: impl Iterator<Item = T>,
    worker: impl Fn() -> W + Sync,
    mut take: impl FnMut(R) -> Result<bool, E>,
) -> Result<(), E>
where
    T: Send,
    R: Send,
    W: FnMut(Vec<T>) -> R,
{
    let mut items = items.fuse();
    thread::scope(|scope| {
        let lanes: Vec<_> = (0..threads.max(1))
            .map(|_| {
                let (batches, to_work) = sync_channel(WAITING);
                let (done, results) = sync_channel(WAITING);
                let worker = &worker;
                scope.spawn(move || work(&mut worker(), &to_work, &done));
                (batches, results)
            })
            .collect();
        let mut given = 0_usize;
        let mut taken = 0_usize;
        loop {
            while given - taken < WAITING * lanes.len() {
                let batch: Vec<T> = items.by_ref().take(BATCH).collect();
                let lane = lanes.get(given % lanes.len());
                // A lane ends only with its worker, and that with a panic, which the scope passes on.
                if batch.is_empty() || lane.is_none_or(|(batches, _)| batches.send(batch).is_err())
                {
                    break;
                }
                given += 1;
            }
            if taken == given {
                return Ok(());
            }
            let lane = lanes.get(taken % lanes.len());
            let Some(result) = lane.and_then(|(_, results)| results.recv().ok()) else {
                return Ok(());
            };
            taken += 1;
            if !take(result)? {
                return Ok(());
            }
        }
    })
}

/// Does what comes until nobody gives or takes any more.
fn work<T, R>(
    worker: &mut impl FnMut(Vec<T>) -> R,
    batches: &Receiver<Vec<T>>,
    done: &SyncSender<R>,
) {
    while let Ok(batch) = batches.recv() {
        if done.send(worker(batch)).is_err() {
            return;
        }
    }
}

/// Items that a worker is given at once: enough that handing over costs nothing beside the work.
const BATCH: usize = 128;
/// Batches for each worker, done ones included.
const WAITING: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_stop_when_asked() {
        for threads in [1, 2, 5] {
            let mut sums = Vec::new();
            let taken: Result<(), ()> = in_order(
                threads,
                0..10_000_u64,
                || |batch: Vec<u64>| batch,
                |batch| {
                    sums.extend(batch);
                    Ok(sums.len() < 5_000)
                },
            );
            assert_eq!(taken, Ok(()));
            assert!(sums.len() >= 5_000 && sums.len() < 5_000 + BATCH);
            assert!(sums.iter().copied().eq(0..sums.len() as u64));
        }
    }

    #[test]
    fn an_error_ends_it() {
        let taken = in_order(
            2,
            0..10_000,
            || |batch: Vec<u32>| batch.len(),
            Err::<bool, _>,
        );
        assert_eq!(taken, Err(BATCH));
    }
}
