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
}
