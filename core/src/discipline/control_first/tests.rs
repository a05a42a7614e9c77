use super::*;
use crate::rng::Purpose;

const LARGE: u32 = 1000;
const SMALL: u32 = 100;

/// At 8 Gb/s, where a byte takes a nanosecond, with room for two data frames and forty ACKs. `seed` is that of what is drawn.
fn queues(trimming: Trimming, seed: u64) -> ControlFirst {
    let pace = BytePace::from_rate(8_000_000_000).unwrap();
    let rules = Rules { buffer_bytes: 2 * u64::from(LARGE), trimming, trimmed_bytes: SMALL, is_fifo: false, pace };
    ControlFirst::new(rules, None, Stream::new(seed, Purpose::Trim, 0))
}

fn packet(kind: Kind, psn: u32, bytes: u32) -> Packet {
    Packet::new(kind, 5, psn, 77, 1234, bytes)
}

/// Adds packets at `at`; the numbers of those dropped.
fn add(queues: &mut ControlFirst, at: Ps, packets: &[Packet]) -> Vec<u32> {
    let mut dropped = Vec::new();
    for &packet in packets {
        queues.add(Slot { at, packet }, &mut |victim| dropped.push(victim.packet.psn()));
    }
    dropped
}

fn data(psns: impl IntoIterator<Item = u32>) -> Vec<Packet> {
    psns.into_iter().map(|psn| packet(Kind::Data, psn, LARGE)).collect()
}

fn acks(psns: impl IntoIterator<Item = u32>) -> Vec<Packet> {
    psns.into_iter().map(|psn| packet(Kind::Ack, psn, SMALL)).collect()
}

fn drain(queues: &mut ControlFirst) -> Vec<(Kind, u32)> {
    std::iter::from_fn(|| queues.take(0)).map(|slot| (slot.packet.kind(), slot.packet.psn())).collect()
}

#[test]
fn control_goes_first() {
    let mut queues = queues(Trimming::Off, 1);
    assert!(add(&mut queues, 0, &[data(0..1), acks(1..2), data(2..3), acks(3..4)].concat()).is_empty());
    assert_eq!((queues.waiting_bytes(), queues.next_start(70)), (2200, 70));
    assert_eq!(drain(&mut queues), [(Kind::Ack, 1), (Kind::Ack, 3), (Kind::Data, 0), (Kind::Data, 2)]);
    assert_eq!((queues.waiting_bytes(), queues.next_start(70)), (0, NEVER));
}

/// Two data frames and forty ACKs fit, the frame being sent among them until its last bit has left: 1,000 ns after its start.
#[test]
fn each_has_a_buffer_of_its_own_in_which_the_frame_in_service_counts() {
    let mut queues = queues(Trimming::Off, 1);
    assert_eq!(add(&mut queues, 0, &data(0..3)), [2]);
    assert!(queues.take(0).is_some());
    assert_eq!(add(&mut queues, 999_999, &data(3..4)), [3]);
    assert!(add(&mut queues, 1_000_000, &data(4..5)).is_empty());
    assert_eq!(add(&mut queues, 1_000_000, &acks(0..41)), [40], "4,000 bytes");
    assert_eq!(queues.take(1_020_000).map(|slot| slot.packet.kind()), Some(Kind::Ack));
    assert_eq!(add(&mut queues, 1_119_999, &acks(41..42)), [41]);
    assert!(add(&mut queues, 1_120_000, &acks(42..43)).is_empty());
    assert_eq!(queues.tally().trims, 0);
}

/// The third data frame loses its payload: what is left is a control frame that keeps all that hosts go by, and is the first to leave.
#[test]
fn what_arrives_is_trimmed() {
    let mut queues = queues(Trimming::Arriving, 1);
    assert!(add(&mut queues, 500, &data(0..3)).is_empty());
    let header = queues.take(600).unwrap();
    assert_eq!((header.at, header.packet), (500, packet(Kind::Trimmed, 2, SMALL)));
    assert_eq!(drain(&mut queues), [(Kind::Data, 0), (Kind::Data, 1)]);
    let QueueTally { trims, trimmed_byte_ps, .. } = queues.tally();
    assert_eq!((trims, trimmed_byte_ps), (1, 0), "it has not waited as data");
}

/// Where the control queue is full too, the packet is dropped whole.
#[test]
fn without_room_for_its_header_a_packet_is_dropped() {
    for trimming in [Trimming::Arriving, Trimming::Random] {
        let mut queues = queues(trimming, 1);
        assert!(add(&mut queues, 0, &[acks(0..40), data(40..42)].concat()).is_empty());
        let dropped = add(&mut queues, 0, &data(42..43));
        assert!(dropped == [42] || dropped == [41]);
        assert_eq!((queues.tally().trims, queues.waiting_bytes()), (0, 6000));
    }
}

/// One data frame is being sent, one waits and one arrives: it or the one that waits is trimmed, each in half of the cases (10,000 cases: five standard deviations are
/// 250). The one that had waited for 300 ps has been in the queue as data so long.
#[test]
fn what_arrives_or_what_came_last_is_trimmed_evenly() {
    let mut arriving = 0;
    for seed in 0..10_000 {
        let mut queues = queues(Trimming::Random, seed);
        add(&mut queues, 0, &data(0..1));
        assert!(queues.take(0).is_some());
        add(&mut queues, 100, &data(1..2));
        assert!(add(&mut queues, 400, &data(2..3)).is_empty());
        let left = drain(&mut queues);
        let is_arriving = left == [(Kind::Trimmed, 2), (Kind::Data, 1)];
        assert!(is_arriving || left == [(Kind::Trimmed, 1), (Kind::Data, 2)]);
        assert_eq!(queues.tally().trimmed_byte_ps, if is_arriving { 0 } else { 300 * 1000 });
        arriving += i32::from(is_arriving);
    }
    assert!((arriving - 5000).abs() < 250, "{arriving} of 10,000");
}

/// A last packet that is too short to make room stays.
#[test]
fn what_makes_no_room_is_not_trimmed() {
    for seed in 0..20 {
        let mut queues = queues(Trimming::Random, seed);
        let (long, short) = (packet(Kind::Data, 1, 900), packet(Kind::Data, 2, 99));
        add(&mut queues, 0, &[data(0..1), vec![long, short], data(3..4)].concat());
        let wanted = [(Kind::Trimmed, 3), (Kind::Data, 0), (Kind::Data, 1), (Kind::Data, 2)];
        assert_eq!(drain(&mut queues), wanted, "999 bytes are missing, and 99 would go");
    }
}

/// Where both wait in one queue, ACKs count as data does, and leave when their turn comes.
#[test]
fn one_queue_for_both() {
    let pace = BytePace::from_rate(8_000_000_000).unwrap();
    let rules = Rules { buffer_bytes: u64::MAX, trimming: Trimming::Off, trimmed_bytes: SMALL, is_fifo: true, pace };
    let mut queues = ControlFirst::new(rules, None, Stream::new(1, Purpose::Trim, 0));
    add(&mut queues, 0, &[data(0..1), acks(1..2), data(2..3)].concat());
    assert_eq!(queues.next_start_within(&|_| 900, 70), 900, "ACKs wait for the end of a pause too");
    assert_eq!(drain(&mut queues), [(Kind::Data, 0), (Kind::Ack, 1), (Kind::Data, 2)]);
}

/// A pause is for data.
#[test]
fn control_leaves_during_a_pause() {
    let mut queues = queues(Trimming::Off, 1);
    add(&mut queues, 0, &data(0..1));
    assert_eq!(queues.next_start_within(&|_| 900, 70), 900);
    add(&mut queues, 0, &acks(1..2));
    assert_eq!(queues.next_start_within(&|_| 900, 70), 70);
}
