use super::destination::{Destination, Grant, Pace};
use super::source::{Released, Source};
use crate::transport::flows::Flows;
use crate::units::NEVER;
use crate::workload::ReceiveFlow;

/// A token every 10, and times to tell apart.
const PACE: Pace = Pace { interval: 10, free_tokens: 2, window: 3, window_timeout: 1000, resend_timeout: 300 };
const BITS: u32 = 13;

/// Flows of so many packets each, and what has come of them.
struct Bench {
    destination: Destination,
    flows: Flows,
    receive: Vec<ReceiveFlow>,
    /// Number of each flow's next token that has not been used.
    used: Vec<u16>,
}

impl Bench {
    fn new(packets: &[u32]) -> Self {
        let flow = |&packets| ReceiveFlow { address: 0, send_slot: 0, packets, received: 0, first_at: NEVER, last_at: NEVER };
        Self {
            destination: Destination::new(packets.len(), PACE),
            flows: Flows::new(0, packets.len()),
            receive: packets.iter().map(flow).collect(),
            used: vec![0; packets.len()],
        }
    }

    fn rts(&mut self, own: usize, now: u64) {
        self.destination.begin(own, self.receive[own].packets, now);
    }

    /// The data for the flow's next token comes.
    fn data(&mut self, own: usize, psn: u32, now: u64) {
        let flow = &mut self.receive[own];
        self.flows.note_arrival(own, psn, 0, now, flow);
        let low = self.used[own] % (1 << BITS);
        self.used[own] += 1;
        self.destination.note(own, low, BITS, flow.packets - flow.received);
    }

    /// The next token: when, for whom, and for which packet.
    fn token(&mut self) -> Option<(u64, usize, u32)> {
        loop {
            let now = self.destination.next_at();
            if now == NEVER {
                return None;
            }
            if let Some(Grant { own, psn, .. }) = self.destination.grant(now, &self.flows, &self.receive) {
                return Some((now, own, psn));
            }
        }
    }

    fn tokens(&mut self, count: usize) -> Vec<(u64, usize, u32)> {
        (0..count).filter_map(|_| self.token()).collect()
    }
}

/// Who has the least missing has the tokens until its window is full; among equals who has had none for longest, since its RTS at first.
#[test]
fn least_missing_first_then_who_has_waited_longest() {
    let mut bench = Bench::new(&[9, 8, 8]);
    (0..3).for_each(|own| bench.rts(own, 100));
    assert_eq!(bench.tokens(4), [(100, 1, 0), (110, 1, 1), (120, 2, 0), (130, 1, 2)]);
    assert_eq!(bench.tokens(1), [(140, 2, 1)], "three are on their way of the other");
    bench.data(0, 5, 141);
    bench.data(0, 6, 141);
    assert_eq!(bench.tokens(3), [(150, 0, 0), (160, 0, 1), (170, 0, 2)], "7 are missing, and 8 of the others");
    assert_eq!(bench.tokens(1), [(180, 2, 2)], "its window is full, for what came had no token");
}

/// Three tokens, then none for 1000, although data has come meanwhile; unless a new flow wakes the clock.
#[test]
fn a_full_window_stops_the_clock() {
    let mut bench = Bench::new(&[20, 20]);
    bench.rts(0, 0);
    assert_eq!(bench.tokens(3), [(0, 0, 0), (10, 0, 1), (20, 0, 2)]);
    assert_eq!(bench.destination.grant(30, &bench.flows, &bench.receive), None);
    bench.data(0, 0, 50);
    bench.data(0, 1, 60);
    assert_eq!(bench.destination.next_at(), 1020);
    assert_eq!(bench.tokens(2), [(1020, 0, 3), (1030, 0, 4)], "two have come, and make room");
    assert_eq!(bench.token(), Some((2030, 0, 5)), "none has come: one token, to find out");
    assert_eq!(bench.destination.grant(2040, &bench.flows, &bench.receive), None);
    bench.rts(1, 2500);
    assert_eq!(bench.tokens(3), [(2500, 1, 0), (2510, 1, 1), (2520, 1, 2)]);
}

/// Of four packets the second is lost: its turn comes again 300 after the last token; what has come meanwhile has none.
#[test]
fn what_is_missing_is_granted_again() {
    let mut bench = Bench::new(&[4]);
    bench.rts(0, 0);
    assert_eq!(bench.tokens(3).len(), 3);
    (0..2).for_each(|_| bench.rts(0, 25));
    bench.data(0, 0, 26);
    assert_eq!(bench.token(), Some((30, 0, 3)), "RTSs that come again change nothing");
    bench.data(0, 2, 50);
    bench.data(0, 3, 60);
    assert_eq!(bench.token(), Some((330, 0, 1)));
    assert_eq!(bench.token(), Some((630, 0, 1)), "and again");
    bench.data(0, 1, 700);
    assert_eq!(bench.token(), None);
}

/// Two free tokens: the receiver waits 2 T for each, and grants what has not come by then.
#[test]
fn free_tokens_come_first() {
    let mut bench = Bench::new(&[2]);
    bench.rts(0, 5);
    bench.data(0, 1, 6);
    assert_eq!(bench.token(), Some((45, 0, 0)));
}

/// A window that moves over 20,000 tokens, of whose numbers data brings 13 bits back.
#[test]
fn numbers_go_round() {
    let mut bench = Bench::new(&[u32::MAX]);
    bench.rts(0, 0);
    for psn in 0..20_000 {
        assert_eq!(bench.token(), Some((u64::from(psn) * 10, 0, psn)));
        bench.data(0, psn, u64::from(psn) * 10 + 5);
    }
    bench.used[0] -= 3;
    bench.data(0, 19_997, 200_000);
    assert_eq!(bench.tokens(3).len(), 3, "an old number does not move it back");
    assert_eq!(bench.destination.grant(bench.destination.next_at(), &bench.flows, &bench.receive), None);
}

fn released(own: usize, psn: u32, low: u16) -> Option<Released> {
    Some(Released { own, psn, low, is_first: true })
}

/// Tokens are good for 15, the last moment included.
#[test]
fn tokens_expire_and_least_left_goes_first() {
    let mut source = Source::new([9, 8].into_iter(), 500, 15);
    (0..2).for_each(|own| source.begin(own, false, 10, 0));
    source.add(0, 0, 0, 100);
    source.add(0, 1, 1, 110);
    source.add(1, 0, 0, 110);
    assert_eq!((source.ready_at(), source.release(112)), (110, released(1, 0, 0)));
    assert_eq!((source.release(116), source.expired), (released(0, 1, 1), 1));
    assert_eq!((source.release(117), source.ready_at()), (None, NEVER));
    source.add(0, 1, 2, 200);
    assert_eq!(source.release(215).map(|data| data.is_first), Some(false));
    source.add(0, 2, 3, 300);
    assert_eq!((source.release(316), source.expired), (None, 2));
}

/// Three free tokens are good for 3 T and the lifetime of a token.
#[test]
fn free_tokens_expire_together() {
    let mut source = Source::new([3].into_iter(), 500, 15);
    source.begin(0, true, 10, 100);
    assert_eq!((source.release(100), source.release(145)), (released(0, 0, 0), released(0, 1, 1)));
    assert_eq!((source.release(146), source.expired), (None, 0));
    source.add(0, 2, 2, 200);
    source.end(0);
    source.add(0, 2, 3, 201);
    assert_eq!((source.ready_at(), source.release(202)), (NEVER, None), "a flow that is over needs nothing");
}

/// Every 500 while nothing is heard; a token puts it off.
#[test]
fn unheard_receivers_are_asked_again() {
    let mut source = Source::new([3, 3].into_iter(), 500, 15);
    (0..2).for_each(|own| source.begin(own, false, 10, 0));
    source.add(1, 0, 0, 200);
    assert_eq!((source.retry_at(), source.unheard(500), source.unheard(500)), (500, Some(0), None));
    assert_eq!((source.retry_at(), source.unheard(700), source.unheard(700)), (700, Some(1), None));
    source.end(0);
    assert_eq!((source.unheard(1199), source.unheard(1200), source.retry_at()), (None, Some(1), 1700));
}
