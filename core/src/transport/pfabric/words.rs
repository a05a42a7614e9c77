//! What an ACK says: that a packet has come, and where the first hole is.
//!
//! The hole goes into the path field, as its distance from the packet and one more. A packet below the hole needs no word of its own: the ACK then names the
//! last packet below the hole, with 0 as the distance. Distances that do not fit are not told.

/// What a sender learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// Everything below this number has come.
    pub(super) below: u32,
    /// So has this packet, beyond the hole.
    pub(super) beyond: Option<u32>,
}

/// The number and the path field of an ACK for a packet, or for a probe, when everything below `below` has come.
pub(super) fn written(psn: Option<u32>, below: u32) -> (u32, u16) {
    match psn {
        Some(psn) if psn >= below => (psn, (psn - below + 1).min(u16::MAX.into()) as u16),
        _ => (below.wrapping_sub(1), 0),
    }
}

/// What these two fields say.
pub(super) fn read(psn: u32, code: u16) -> Told {
    match code {
        0 => Told { below: psn.wrapping_add(1), beyond: None },
        u16::MAX => Told { below: 0, beyond: Some(psn) },
        _ => Told { below: psn.wrapping_add(1).wrapping_sub(code.into()), beyond: Some(psn) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_was_written() {
        let told = |psn, below| {
            let (psn, code) = written(psn, below);
            read(psn, code)
        };
        // Below the hole, just below it, a probe: no packet beyond it.
        assert_eq!(told(Some(3), 10), Told { below: 10, beyond: None });
        assert_eq!(told(Some(9), 10), Told { below: 10, beyond: None });
        assert_eq!(told(None, 10), Told { below: 10, beyond: None });
        assert_eq!(told(None, 0), Told { below: 0, beyond: None }, "a probe before anything has come");
        assert_eq!(told(Some(11), 10), Told { below: 10, beyond: Some(11) });
        assert_eq!(told(Some(65_533), 0), Told { below: 0, beyond: Some(65_533) });
        let last = u32::MAX - 1;
        assert_eq!(told(Some(last), last - 65_533), Told { below: last - 65_533, beyond: Some(last) });
        // One further than the field can say.
        assert_eq!(told(Some(last), last - 65_534), Told { below: 0, beyond: Some(last) });
    }
}
