//! What a port does with what waits.

use serde::Deserialize;

/// What a port does with what waits.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DisciplineConfig {
    /// First come, first served.
    Fifo {},
    /// Four strict priorities, Sims first and through a token bucket.
    Dcsim {
        /// Packets that each queue of small packets holds.
        queue_packets: u32,
        /// Tokens that the bucket holds.
        bucket_packets: u32,
        /// Small packets that go with each data packet: the token interval is that of a data packet and so many small ones.
        token_factor: f64,
        /// What the data queue holds; none = infinite.
        data_buffer_bytes: Option<u64>,
    },
    /// Control first, then data by the number that it carries.
    StrictPriority {},
    /// The earliest packet of the flow with the least left.
    Pfabric {},
    /// Control first and in a buffer of its own.
    ControlFirst {
        /// What becomes of data that finds the buffer full.
        trimming: Trimming,
    },
}

/// Which data loses its payload where the buffer is full.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Trimming {
    /// None: it is dropped.
    Off,
    /// What arrives.
    Arriving,
    /// What arrives or what came last, evenly.
    Random,
}

/// The queue that decides whether a frame is marked.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum EcnAt {
    /// The queue as its last bit leaves, itself included.
    Dequeue,
    /// The queue that it finds, and itself.
    Enqueue,
}

/// A buffer that the ports of a switch share, with dynamic thresholds.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedBufferConfig {
    /// All of it.
    pub bytes: u64,
    /// A port's queue may be so many times what is free.
    pub alpha: f64,
}

/// Priority flow control (IEEE 802.1Qbb).
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PfcConfig {
    /// With more than this from one input, the switch pauses it.
    pub xoff_bytes: u64,
    /// With no more than this, it lets it go on.
    pub xon_bytes: u64,
    /// Room beyond `xoff_bytes` for what is under way when the pause begins.
    pub headroom_bytes: u64,
}
