//! Peak memory of a piece of work, counted in the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes allocated by this thread, and their peak since [`peak`] began. Negative where this thread frees memory of others.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(bytes: isize) {
    // An ending thread may free memory after its thread-locals are gone.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        let now = now + bytes;
        held.set((now, most.max(now)));
    });
}

/// Returns the most bytes that `work` holds at once on this thread.
pub(crate) fn peak(work: impl FnOnce()) -> usize {
    let (before, _) = HELD.get();
    HELD.set((before, before));
    work();
    usize::try_from(HELD.get().1 - before).unwrap_or(0)
}

/// The system's allocator, counting.
struct Counted;

#[global_allocator]
static COUNTED: Counted = Counted;

// SAFETY: every call is passed unchanged to the system's allocator. Counting neither allocates nor unwinds: the cell is
// const-initialized and has no destructor.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::peak;

    #[test]
    fn what_is_held_at_once_is_counted_and_what_was_given_back_is_not() {
        let held = peak(|| {
            for _ in 0..100 {
                drop(std::hint::black_box(vec![1_u8; 10_000]));
            }
        });
        assert!((10_000..20_000).contains(&held), "{held}");
    }
}
