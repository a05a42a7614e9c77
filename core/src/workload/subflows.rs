//! How Ethereal divides a host's messages over the paths: subflows of equal size, so many on every path.
//!
//! *Source*: Addanki et al., "Ethereal: divide and conquer network load balancing in large-scale distributed training"; Ofan paper, section 3.4
//! and appendix E. Of f equal messages of one host to one edge switch, with s paths, s * floor(f / s) go whole, as many on each path; each of the r that are left is
//! split into s / gcd(r, s) subflows, which puts r / gcd(r, s) subflows on each path. One message alone is split over all paths.

use super::Messages;
use crate::config::{FrameConfig, Split};
use crate::fabric::Fabric;
use std::collections::BTreeMap;

/// The division of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subflows {
    /// Subflows; at least one.
    pub count: u32,
    /// Paths of the pair: equal subflows lie on consecutive ones.
    pub paths: u32,
    /// Path of the first subflow, counted from where the group begins.
    pub offset: u32,
    /// Number of the group of equal messages among all groups; each begins on a path of its own.
    pub group: u32,
    /// Payload of every subflow, but for the first `larger`, which have a byte more. Nothing when frames are dealt out instead.
    share: Option<(u64, u32)>,
    payload: u32,
    header: u32,
}

impl Subflows {
    /// Frames of the message, if its bytes are split.
    pub fn packets(&self) -> Option<u64> {
        let (share, larger) = self.share?;
        let frames = |bytes: u64| bytes.div_ceil(u64::from(self.payload));
        let all = frames(share + 1) * u64::from(larger) + frames(share) * u64::from(self.count - larger);
        Some(all.max(1))
    }

    /// Size of the packet numbered `psn`, which belongs to subflow `psn % count`; nothing when frames are dealt out whole.
    #[inline(always)]
    pub fn frame_bytes(&self, psn: u32) -> Option<u32> {
        let (share, larger) = self.share?;
        let bytes = share + u64::from(psn % self.count < larger);
        let rest = bytes - u64::from(psn / self.count) * u64::from(self.payload);
        Some(self.header + rest.min(u64::from(self.payload)) as u32)
    }
}

/// Divides all messages; `row` gives the row of each flow, flows being sorted by sending host.
pub(super) fn divide(messages: &Messages, row: &[u32], fabric: &Fabric, frame: &FrameConfig, split: Split) -> Vec<Subflows> {
    let mut groups: BTreeMap<(u32, u32, u64), Vec<usize>> = BTreeMap::new();
    for (flow, &row) in row.iter().enumerate() {
        let (src, dst, bytes) = (messages.src[row as usize], messages.dst[row as usize], messages.bytes[row as usize]);
        groups.entry((src, fabric.edge_of(dst), bytes)).or_default().push(flow);
    }
    let nothing = Subflows {
        count: 1,
        paths: 1,
        offset: 0,
        group: 0,
        share: None,
        payload: frame.payload_bytes,
        header: frame.header_bytes,
    };
    let mut divided = vec![nothing; row.len()];
    for (group, ((src, edge, bytes), flows)) in groups.into_iter().enumerate() {
        let paths = fabric.paths_between(fabric.edge_of(src), edge);
        let whole = flows.len() as u32 / paths * paths;
        let rest = flows.len() as u32 - whole;
        for (place, flow) in (0..).zip(flows) {
            let (count, offset) = if place < whole {
                (1, place % paths)
            } else {
                let count = paths / gcd(rest, paths);
                (count, (place - whole) * count % paths)
            };
            let count = u64::from(count).min(bytes.max(1)) as u32;
            // What carries nothing travels whole, as everywhere.
            let share =
                (split == Split::Bytes && bytes > 0).then(|| (bytes / u64::from(count), (bytes % u64::from(count)) as u32));
            divided[flow] = Subflows { count, paths, offset, group: group as u32, share, ..nothing };
        }
    }
    divided
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: u32, bytes: u64) -> Subflows {
        let share = Some((bytes / u64::from(count), (bytes % u64::from(count)) as u32));
        Subflows { count, paths: count, offset: 0, group: 0, share, payload: 4096, header: 62 }
    }

    /// 1 MiB over 36 paths: 29,127 bytes each and 4 left over, so 7 full frames and one of 455 or 456 bytes in each subflow.
    #[test]
    fn a_mebibyte_over_36_paths() {
        let subflows = of(36, 1 << 20);
        assert_eq!(subflows.packets(), Some(288));
        assert_eq!(subflows.frame_bytes(0), Some(4158));
        assert_eq!((subflows.frame_bytes(36 * 7), subflows.frame_bytes(36 * 7 + 4)), (Some(62 + 456), Some(62 + 455)));
    }

    /// Whatever is split, the frames carry the message and none of them nothing.
    #[test]
    fn frames_carry_the_message() {
        for count in [1, 2, 7, 36] {
            for bytes in [1, 36, 4095, 4096, 4097, 7 * 4096, 7 * 4096 + 3, 1_000_003] {
                if u64::from(count) > bytes {
                    continue;
                }
                let subflows = of(count, bytes);
                let frames: Vec<u32> =
                    (0..subflows.packets().unwrap() as u32).map(|psn| subflows.frame_bytes(psn).unwrap()).collect();
                assert_eq!(frames.iter().map(|&frame| u64::from(frame - 62)).sum::<u64>(), bytes, "{count} x {bytes}");
                assert!(frames.iter().all(|&frame| frame > 62 && frame <= 4158));
            }
        }
        assert_eq!((of(1, 0).packets(), of(1, 0).frame_bytes(0)), (Some(1), Some(62)));
    }
}
