//! Where rings live: large pieces of memory that one thread cuts up, hands out by size class and takes back, and that all go at once when it is done.
//!
//! At large scale every access to a ring is to memory that has not been touched for a window; rings side by side in huge pages spare the processor most
//! look-ups of addresses.

use crate::packet::Slot;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};

/// Rings begin on cache lines; the free low bits of a published address carry the size.
pub const ALIGNMENT: usize = 64;
const HUGE_PAGE: usize = 2 << 20;
const SMALLEST_PIECE: usize = 256 << 10;
const LARGEST_PIECE: usize = 32 << 20;

/// A ring's memory: 2^`size_bits` slots.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    /// First slot.
    pub slots: *mut Slot,
    /// log2 of the number of slots.
    pub size_bits: u32,
}

/// The memory of one thread's rings.
#[derive(Debug, Default)]
pub struct Arena {
    pieces: Vec<Piece>,
    unused: usize,
    /// Rings taken back, by size.
    free: [Vec<Ring>; 32],
    /// Rings replaced in this window, which consumers may still be reading.
    retired: Vec<Ring>,
}

#[derive(Debug)]
struct Piece {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: the memory is plain data that whoever holds the piece may use and free from any thread.
unsafe impl Send for Arena {}

impl Arena {
    /// A ring of 2^`size_bits` slots, whose content is whatever was there before.
    pub fn ring(&mut self, size_bits: u32) -> Ring {
        if let Some(ring) = self.free[size_bits as usize].pop() {
            return ring;
        }
        let bytes = size_of::<Slot>() << size_bits;
        if self.unused < bytes {
            let wanted = self.bytes().clamp(SMALLEST_PIECE, LARGEST_PIECE).max(bytes);
            self.pieces.push(Piece::new(wanted));
            self.unused = wanted;
        }
        let piece = &self.pieces[self.pieces.len() - 1];
        // SAFETY: `unused` bytes at the end of the last piece have not been handed out. Every ring has a multiple of 8 slots, 192 bytes, so all stay aligned.
        let slots = unsafe { piece.start.add(piece.layout.size() - self.unused) }.cast();
        self.unused -= bytes;
        Ring { slots, size_bits }
    }

    /// Takes a ring back at the end of the window.
    pub fn retire(&mut self, ring: Ring) {
        self.retired.push(ring);
    }

    /// A new window: nobody reads the rings replaced in the last one any more.
    pub fn begin_window(&mut self) {
        for ring in self.retired.drain(..) {
            self.free[ring.size_bits as usize].push(ring);
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.layout.size()).sum()
    }
}

impl Piece {
    fn new(bytes: usize) -> Self {
        let alignment = if bytes >= HUGE_PAGE { HUGE_PAGE } else { ALIGNMENT };
        let layout = Layout::from_size_align(bytes, alignment).expect("a piece is far smaller than the address space");
        // SAFETY: the layout has a size above zero.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        #[cfg(target_os = "linux")]
        if bytes >= HUGE_PAGE {
            // SAFETY: the range is ours. The call is advice; whether the kernel takes it does not matter.
            unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
        }
        Self { start, layout }
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with the same layout, freed once.
        unsafe { dealloc(self.start, self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_do_not_overlap_and_come_back_after_the_window() {
        let mut arena = Arena::default();
        let mut rings: Vec<Ring> = (0..3000).map(|i| arena.ring(3 + i % 9)).collect();
        rings.sort_by_key(|ring| ring.slots);
        for pair in rings.windows(2) {
            assert!(pair[0].slots.wrapping_add(1 << pair[0].size_bits) <= pair[1].slots);
        }
        assert!(rings.iter().all(|ring| ring.slots.addr() % ALIGNMENT == 0));
        let held = arena.bytes();
        let (old, bits) = (rings[0].slots, rings[0].size_bits);
        arena.retire(rings[0]);
        assert_ne!(arena.ring(bits).slots, old, "still being read in this window");
        arena.begin_window();
        assert_eq!(arena.ring(bits).slots, old);
        assert_eq!(arena.bytes(), held);
    }
}
