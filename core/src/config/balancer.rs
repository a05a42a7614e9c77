//! Who chooses the path: the closed set of schemes and their parameters.

use crate::units::Ps;
use serde::Deserialize;

/// Who chooses the path.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum BalancerConfig {
    /// Hash per flow.
    Ecmp {
        /// Whether switches hash alike.
        salts: Salts,
    },
    /// One pointer a switch.
    SimpleRr {
        /// How ACKs are routed.
        acks: AckRouting,
        /// How many pointers there are.
        pointers: Pointers,
    },
    /// Join the shortest queue.
    Jsq {
        /// How ACKs are routed.
        acks: AckRouting,
    },
    /// Random switch queue.
    Rsq {},
    /// The shortest of a few random queues.
    Choice {
        /// Ports drawn for each packet.
        ports_sampled: u32,
    },
    /// The shortest of a few random queues and of the best seen last.
    Drill {
        /// Ports drawn for each packet.
        ports_sampled: u32,
        /// Best ports remembered from one packet to the next.
        ports_remembered: u32,
    },
    /// Adaptive routing on quantised queues.
    Ar {
        /// Buffer that the levels are fractions of.
        nominal_buffer_bytes: u64,
        /// Where levels 1, 2 and 3 begin.
        level_fractions: [f64; 3],
        /// How long a level is believed.
        refresh_ps: Ps,
        /// How ACKs are routed.
        acks: AckRouting,
    },
    /// Least congested path, by feedback.
    Conga {
        /// The rate estimate decays this often.
        dre_interval_ps: Ps,
        /// By this share.
        dre_gain: f64,
        /// A remote metric not heard of for so long counts as none.
        aging_ps: Ps,
    },
    /// Best local quality band.
    Dlb {
        /// Buffer that queue bands are fractions of.
        nominal_buffer_bytes: u64,
        /// How often quality is sampled.
        sample_interval_ps: Ps,
        /// Weight of a sample in the load average.
        load_gain: f64,
    },
    /// Best quality band of whole paths.
    Sglb {
        /// Buffer that queue bands are fractions of.
        nominal_buffer_bytes: u64,
        /// How often quality is sampled.
        sample_interval_ps: Ps,
        /// Weight of a sample in the load average.
        load_gain: f64,
        /// How often quality is advertised.
        advertise_interval_ps: Ps,
    },
    /// A random uplink for each burst of a flow.
    Flowlet {
        /// A pause of at least this begins another burst.
        gap_ps: Ps,
    },
    /// Random packet spraying from the host.
    Rps {
        /// Different entropy values.
        entropies: u32,
        /// Whether switches hash alike.
        salts: Salts,
    },
    /// Spraying that recycles what got through unmarked.
    Reps {
        /// Different entropy values.
        entropies: u32,
        /// Entropy values remembered a flow.
        slots: u32,
        /// Random packets after a thaw.
        explore_packets: u32,
        /// Whether a timeout freezes the set of values.
        freezing: Freezing,
        /// A packet not acknowledged for so long has timed out.
        rto_ps: Ps,
        /// How long a flow stays frozen at least.
        freeze_ps: Ps,
    },
    /// Digit-reversal bouncing.
    Drb {},
    /// Equal subflows, one on each path.
    Ethereal {
        /// What is split evenly.
        split: Split,
        /// A packet not acknowledged for so long moves its subflow to another path.
        rto_ps: Ps,
    },
    /// One pointer a destination switch.
    Ofan {
        /// In which order pointers walk over the uplinks.
        port_order: PortOrderKind,
        /// A pointer idle for so long starts at the least occupied uplink; none: pointers start at random.
        idle_reset_ps: Option<Ps>,
    },
    /// Ofan with one pointer set a pipe.
    Pofan {
        /// Down-facing ports that share a pipe.
        ports_per_pipe: u32,
        /// In which order pointers walk over the uplinks.
        port_order: PortOrderKind,
        /// A pointer idle for so long starts at the least occupied uplink; none: pointers start at random.
        idle_reset_ps: Option<Ps>,
    },
}

impl BalancerConfig {
    /// The scheme's name, as users write it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Ecmp { .. } => "ecmp",
            Self::SimpleRr { .. } => "simple-rr",
            Self::Jsq { .. } => "jsq",
            Self::Rsq {} => "rsq",
            Self::Choice { .. } => "choice",
            Self::Drill { .. } => "drill",
            Self::Ar { .. } => "ar",
            Self::Conga { .. } => "conga",
            Self::Dlb { .. } => "dlb",
            Self::Sglb { .. } => "sglb",
            Self::Flowlet { .. } => "flowlet",
            Self::Rps { .. } => "rps",
            Self::Reps { .. } => "reps",
            Self::Drb {} => "drb",
            Self::Ethereal { .. } => "ethereal",
            Self::Ofan { .. } => "ofan",
            Self::Pofan { .. } => "pofan",
        }
    }

    /// Whether hosts choose the path and switches follow what they wrote into the packet.
    pub fn is_host_side(&self) -> bool {
        matches!(self, Self::Rps { .. } | Self::Reps { .. } | Self::Drb {} | Self::Ethereal { .. })
    }
}

/// Whether switches hash alike.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Salts {
    /// Each switch has a salt of its own.
    PerSwitch,
    /// All switches have one salt.
    Shared,
}

/// How many pointers a switch rotates with.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Pointers {
    /// One.
    PerSwitch,
    /// One for each port that packets come in through.
    PerIngress,
}

/// How a switch routes ACKs.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum AckRouting {
    /// A random uplink.
    Random,
    /// As data.
    AsData,
}

/// What REPS does about a timeout.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Freezing {
    /// Repeats the values that it remembers.
    OnTimeout,
    /// Nothing.
    Off,
}

/// What Ethereal splits evenly over subflows.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// The message; each subflow ends with a frame of what is left.
    Bytes,
    /// The frames of the message.
    Packets,
}

/// In which order pointers walk over the uplinks.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum PortOrderKind {
    /// Each in an order of its own.
    Xor,
    /// All in the order of the ports.
    Identity,
}
