//! A link: the FIFO ring between the port that feeds it (one producer) and the node it enters (one consumer).
//!
//! The producer pushes slots in order of arrival and *publishes* the new end once a window; the consumer takes what arrives before the window's
//! end and publishes how far it got. Within a window the two never want the same slot: whatever is pushed at time `t` arrives at `t + latency` or later,
//! which is past the window's end, while the consumer stops at the first slot that arrives past it. That is why no lock is needed, and why it does not
//! matter which of the two is handled first.
//!
//! A full ring is replaced by one of twice the size. The consumer may be reading the old one at that moment, so the old one is *retired*: its memory
//! stays until the producer's next window, which begins after a barrier.

mod arena;

use crate::packet::Slot;
use arena::Ring;
pub use arena::{ALIGNMENT, Arena};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// How many pushes ahead a ring's memory is fetched.
const PUSHES_AHEAD: u32 = 8;

/// What the producer has published of a link.
#[derive(Debug, Default)]
pub struct Link {
    end: AtomicU32,
    /// Address of the ring, with log2 of its size in the low bits.
    tagged: AtomicPtr<Slot>,
}

/// The producer's end of a link. Its memory belongs to the arena of the producer's thread.
#[derive(Debug)]
#[repr(C)]
pub struct Producer {
    slots: *mut Slot,
    mask: u32,
    /// Number of the next slot to be pushed (wraps).
    end: u32,
    /// Where `end` may go before [`Producer::make_room`] is needed again.
    limit: u32,
    published_end: u32,
}

// SAFETY: a producer is used by one thread at a time, the one whose arena its slots lie in.
unsafe impl Send for Producer {}

impl Default for Producer {
    fn default() -> Self {
        Self { slots: std::ptr::null_mut(), mask: 0, end: 0, limit: 0, published_end: 0 }
    }
}

impl Producer {
    /// Whether the next push needs [`Producer::make_room`] first.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.end == self.limit
    }

    /// Number of the next slot to be pushed (wraps).
    #[inline(always)]
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Slots of the ring.
    pub fn size(&self) -> u32 {
        self.mask + 1
    }

    /// Appends a slot. The ring must not be full.
    #[inline(always)]
    pub fn push(&mut self, slot: Slot) {
        debug_assert!(!self.is_full());
        // SAFETY: there is room, so the index lies within the ring and no consumer reads it: consumers read below the published end only, and the slot
        // that was here before lies below what both the consumer and the port's own cursor still need.
        unsafe { self.slots.add((self.end & self.mask) as usize).write(slot) }
        // The line that the ring will reach some pushes later: by then it is here.
        prefetch_for_write(self.slots.wrapping_add((self.end.wrapping_add(PUSHES_AHEAD) & self.mask) as usize));
        self.end = self.end.wrapping_add(1);
    }

    /// A slot that the port has said it still needs, before the end.
    #[inline(always)]
    pub fn slot(&self, number: u32) -> &Slot {
        debug_assert!(self.end.wrapping_sub(number) <= self.mask + 1 && number != self.end);
        // SAFETY: pushed by this producer and not overwritten, see `push`; only this producer writes slots.
        unsafe { &*self.slots.add((number & self.mask) as usize) }
    }

    /// Sets Congestion Experienced on a slot that has not left the window yet.
    #[inline(always)]
    pub fn mark(&mut self, number: u32) {
        debug_assert!(self.end.wrapping_sub(number) <= self.mask + 1 && number != self.end);
        // SAFETY: as in `slot`; the packet is marked in the window in which it leaves the port, at whose end it has not yet arrived anywhere, so the
        // consumer, which reads no further than the first slot beyond the window, may look at its time but never at its packet.
        unsafe { (*self.slots.add((number & self.mask) as usize)).packet.mark() }
    }

    /// Takes back the last `count` slots pushed, none of which has arrived anywhere. Between windows only: then no consumer is looking.
    pub fn take_back(&mut self, count: u32, link: &Link) {
        self.end = self.end.wrapping_sub(count);
        self.publish(link);
    }

    /// Frees or adds space. `needed_from` is the first slot that the port itself still needs; `consumed` is how far the consumer got.
    /// The first ring has 2^`first_bits` slots (at least 8).
    #[cold]
    pub fn make_room(&mut self, needed_from: u32, consumed: u32, first_bits: u32, arena: &mut Arena) {
        let kept = self.end.wrapping_sub(needed_from).max(self.end.wrapping_sub(consumed));
        let old = (!self.slots.is_null()).then(|| Ring { slots: self.slots, size_bits: (self.mask + 1).trailing_zeros() });
        // A ring that is nearly full with what is needed would ask for room at every other push.
        if old.is_none_or(|ring| kept > 31 << ring.size_bits >> 5) {
            let new = arena.ring(old.map_or(first_bits.max(3), |ring| ring.size_bits + 1));
            let mask = (1 << new.size_bits) - 1;
            for back in 1..=kept {
                let number = self.end.wrapping_sub(back);
                // SAFETY: the new ring is larger than what is kept, and nobody else knows of it yet.
                unsafe { new.slots.add((number & mask) as usize).write(*self.slot(number)) }
            }
            (self.slots, self.mask) = (new.slots, mask);
            if let Some(old) = old {
                arena.retire(old);
            }
        }
        self.limit = self.end.wrapping_add(self.mask + 1 - kept);
    }

    /// Lets the consumer see everything pushed so far.
    #[inline(always)]
    pub fn publish(&mut self, link: &Link) {
        if self.published_end != self.end {
            self.published_end = self.end;
            let tag = (self.mask + 1).trailing_zeros() as usize;
            link.tagged.store(self.slots.map_addr(|address| address | tag), Ordering::Relaxed);
            link.end.store(self.end, Ordering::Release);
        }
    }
}

/// The consumer's view of a link during one window.
pub struct Incoming {
    slots: *const Slot,
    mask: u32,
    end: u32,
    next: u32,
}

impl Incoming {
    /// What has been published, from slot `next` on.
    #[inline(always)]
    pub fn open(link: &Link, next: u32) -> Self {
        let end = link.end.load(Ordering::Acquire);
        let tagged = link.tagged.load(Ordering::Relaxed);
        let size_bits = tagged.addr() & (ALIGNMENT - 1);
        Self { slots: tagged.map_addr(|address| address & !(ALIGNMENT - 1)), mask: (1 << size_bits) - 1, end, next }
    }

    /// When the next packet arrives, if one has been published.
    #[inline(always)]
    pub fn next_at(&self) -> Option<u64> {
        // SAFETY: below the published end and not yet consumed, so the slot is written and the producer leaves its time alone.
        (self.next != self.end).then(|| unsafe { (*self.slots.add((self.next & self.mask) as usize)).at })
    }

    /// Takes the next packet if it arrives before `until`.
    #[inline(always)]
    pub fn take_before(&mut self, until: u64) -> Option<Slot> {
        if self.next_at()? >= until {
            return None;
        }
        // SAFETY: as in `next_at`; packets that arrive in this window were finished in an earlier one.
        let slot = unsafe { self.slots.add((self.next & self.mask) as usize).read() };
        self.next = self.next.wrapping_add(1);
        Some(slot)
    }

    /// Takes the packets that arrive before `until`, `most` at the most.
    #[inline(always)]
    pub fn drain_before(&mut self, until: u64, most: usize, mut handle: impl FnMut(&Slot)) {
        let (mut next, mask, slots) = (self.next, self.mask, self.slots);
        let end = next.wrapping_add(self.available().min(most) as u32);
        while next != end {
            // SAFETY: as in `take_before`; the reference ends before the slot is given back.
            let slot = unsafe { &*slots.add((next & mask) as usize) };
            if slot.at >= until {
                break;
            }
            handle(slot);
            next = next.wrapping_add(1);
        }
        self.next = next;
    }

    /// Slots published and not taken.
    #[inline(always)]
    pub fn available(&self) -> usize {
        self.end.wrapping_sub(self.next) as usize
    }

    /// Brings what a window is likely to take into the cache.
    #[inline(always)]
    pub fn prefetch_slots(&self) {
        const SLOTS: u32 = 32;
        let first = self.next & self.mask;
        let count = self.end.wrapping_sub(self.next).min(SLOTS).min(self.mask + 1 - first);
        let start = self.slots.wrapping_add(first as usize).cast::<u8>();
        for offset in (0..count as usize * size_of::<Slot>()).step_by(ALIGNMENT) {
            prefetch(start.wrapping_add(offset));
        }
    }

    /// Number of the next slot to take.
    #[inline(always)]
    pub fn position(&self) -> u32 {
        self.next
    }
}

/// Fetches the cache line of an address that will be read.
#[inline(always)]
pub fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect but on the cache, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Fetches the cache line of an address that will be written.
#[inline(always)]
pub fn prefetch_for_write<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as in `prefetch`.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_ET0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Kind, Packet};

    fn slot(at: u64) -> Slot {
        Slot { at, packet: Packet::new(Kind::Data, at as u32, 0, 0, 0, 64) }
    }

    /// Pushes and takes in an irregular rhythm across several growths and many turns of the ring: order and content survive.
    #[test]
    fn first_in_first_out_through_growth() {
        let (link, mut producer, mut consumed) = (Link::default(), Producer::default(), 0);
        let (mut arena, mut pushed, mut taken) = (Arena::default(), 0u64, 0u64);
        for round in 0..400u64 {
            for _ in 0..(round * 7) % 97 {
                if producer.is_full() {
                    producer.make_room(consumed, consumed, 4, &mut arena);
                }
                producer.push(slot(pushed));
                pushed += 1;
            }
            producer.publish(&link);
            let mut incoming = Incoming::open(&link, consumed);
            for _ in 0..(round * 5) % 89 {
                let Some(got) = incoming.take_before(u64::MAX) else { break };
                assert_eq!((got.at, got.packet.flow()), (taken, taken as u32));
                taken += 1;
            }
            consumed = incoming.position();
        }
        assert!(producer.mask > 200 && taken > 10_000, "grown to {}, {taken} packets", producer.mask);
        assert!(producer.mask < 8192, "the ring grows with what is in it, not with what passed: {}", producer.mask);
    }

    #[test]
    fn an_empty_link_has_nothing() {
        let incoming = Incoming::open(&Link::default(), 0);
        assert_eq!(incoming.next_at(), None);
    }

    #[test]
    fn nothing_is_taken_at_or_after_the_window_end() {
        let (link, mut producer, mut arena) = (Link::default(), Producer::default(), Arena::default());
        producer.make_room(0, 0, 4, &mut arena);
        producer.push(slot(10));
        producer.push(slot(20));
        producer.publish(&link);
        let mut incoming = Incoming::open(&link, 0);
        assert_eq!(incoming.take_before(20).map(|slot| slot.at), Some(10));
        assert!(incoming.take_before(20).is_none());
        assert_eq!((incoming.position(), incoming.next_at()), (1, Some(20)));
    }
}
