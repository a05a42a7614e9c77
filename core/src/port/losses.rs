//! Random losses of a link: bit errors, or what a test wants to see survived.

use crate::config::LossConfig;
use crate::error::Error;
use crate::packet::Packet;
use crate::rng::{Purpose, Stream};

const MILLION: u32 = 1_000_000;
/// Names of the kinds of packets, by the door's number.
const NAMES: [&str; 13] =
    ["data", "ack", "sim", "sim-ack", "data-ack", "rts", "token", "request", "grant", "accept", "probe", "trimmed", "nack"];

/// How often which packet is lost.
#[derive(Clone, Copy, Debug)]
pub struct LossRates([u32; NAMES.len()]);

impl LossRates {
    /// Reads the configuration; nothing when nothing is lost.
    ///
    /// # Errors
    /// [`Error::Value`] for an unknown or repeated kind, and for more than a million in a million.
    pub fn new(losses: &[LossConfig]) -> Result<Option<Self>, Error> {
        let mut rates = [None; NAMES.len()];
        for (row, loss) in losses.iter().enumerate() {
            let place = NAMES.iter().position(|&name| name == loss.packet);
            let Some(rate) = place.map(|place| &mut rates[place]).filter(|rate| rate.is_none()) else {
                let allowed = format!("{}, each once", NAMES.join(", "));
                return Err(Error::value(format!("fabric.losses[{row}].packet"), &loss.packet, allowed));
            };
            if loss.ppm > MILLION {
                return Err(Error::value(format!("fabric.losses[{row}].ppm"), loss.ppm, format!("0 to {MILLION}")));
            }
            *rate = Some(loss.ppm);
        }
        let rates = rates.map(Option::unwrap_or_default);
        Ok(rates.iter().any(|&ppm| ppm > 0).then_some(Self(rates)))
    }
}

/// The losses of one link.
#[derive(Debug)]
pub struct Losses {
    rates: LossRates,
    stream: Stream,
}

impl Losses {
    /// Those of the link that a port feeds.
    pub fn new(rates: LossRates, port: usize, seed: u64) -> Self {
        Self { rates, stream: Stream::new(seed, Purpose::Loss, port as u64) }
    }

    /// Whether this packet is lost.
    pub fn hit(&mut self, packet: Packet) -> bool {
        let ppm = self.rates.0[usize::from(packet.kind().number())];
        ppm > 0 && self.stream.below(u64::from(MILLION)) < u64::from(ppm)
    }
}
