//! Strict mirror of the Python models: no defaults, unknown fields refused. The contract stands in bindings/README.md.

mod balancer;
mod discipline;
mod transport;

use crate::{error::Error, units::Ps};
pub use balancer::{AckRouting, BalancerConfig, Freezing, Pointers, PortOrderKind, Salts, Split};
pub use discipline::{DisciplineConfig, EcnAt, PfcConfig, SharedBufferConfig, Trimming};
use serde::Deserialize;
pub use transport::{Acks, ClockDrift, StartJitter, TransportConfig, WindowConfig, WindowSize};

/// One run, as the door receives it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Run seed; every random stream derives from it.
    pub seed: u64,
    /// Worker threads, at least 1. The result does not depend on it.
    pub threads: u32,
    /// Simulated time at which an unfinished run is given up.
    pub time_limit_ps: Ps,
    /// The switches and links.
    pub fabric: FabricConfig,
    /// Frame sizes.
    pub frame: FrameConfig,
    /// Egress ports of switches.
    pub port: PortConfig,
    /// Who chooses the path.
    pub balancer: BalancerConfig,
    /// Switches that run another balancer.
    pub deployments: Vec<Deployment>,
    /// What hosts do.
    pub transport: TransportConfig,
    /// What is recorded.
    pub measure: MeasureConfig,
}

impl Config {
    /// Reads the door's JSON text.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|error| Error::Config(error.to_string()))
    }
}

/// A kind of link.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Bit/s in each direction.
    pub rate_bps: u64,
    /// Propagation and fixed processing of the switch it enters.
    pub latency_ps: Ps,
}

/// A link that works more slowly than its kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DegradedLink {
    /// Both ends, by node name.
    pub link: (String, String),
    /// Bit/s in each direction.
    pub rate_bps: u64,
}

/// A link that goes down or comes up in mid-run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkEvent {
    /// When.
    pub at_ps: Ps,
    /// Both ends, by node name.
    pub link: (String, String),
    /// What becomes of it.
    pub state: LinkState,
}

/// Packets of one kind that links lose at random.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossConfig {
    /// Kind of packet, by name.
    pub packet: String,
    /// So many of a million.
    pub ppm: u32,
}

/// Whether a link works.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum LinkState {
    /// It does not.
    Down,
    /// It does.
    Up,
}

/// Switches that run another balancer than the rest.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deployment {
    /// By node name.
    pub switches: Vec<String>,
    /// What they run.
    pub balancer: BalancerConfig,
}

/// The fabric's kind and dimensions.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FabricConfig {
    /// Three levels: pods of edge and aggregation switches under cores; core (j, c) is wired to aggregation switch j of every pod.
    FatTree {
        /// Pods.
        pods: u32,
        /// Edge switches a pod.
        edges_per_pod: u32,
        /// Hosts an edge switch.
        hosts_per_edge: u32,
        /// Aggregation switches a pod = uplinks of an edge switch.
        aggs_per_pod: u32,
        /// Cores an aggregation switch = its uplinks.
        cores_per_agg: u32,
        /// Host to edge.
        host_link: LinkConfig,
        /// Edge to aggregation.
        edge_agg_link: LinkConfig,
        /// Aggregation to core.
        agg_core_link: LinkConfig,
        /// Links that are down from the start.
        links_down: Vec<(String, String)>,
        /// Links that are slower from the start.
        links_degraded: Vec<DegradedLink>,
        /// Links that change in mid-run.
        link_events: Vec<LinkEvent>,
        /// From an event to the moment from which all switches route around it.
        reconvergence_delay_ps: Ps,
        /// Packets that links lose at random.
        losses: Vec<LossConfig>,
    },
    /// Two levels: every leaf is wired to every spine.
    LeafSpine {
        /// Leaf switches.
        leaves: u32,
        /// Hosts a leaf.
        hosts_per_leaf: u32,
        /// Spine switches = uplinks of a leaf.
        spines: u32,
        /// Host to leaf.
        host_link: LinkConfig,
        /// Leaf to spine.
        leaf_spine_link: LinkConfig,
        /// Links that are down from the start.
        links_down: Vec<(String, String)>,
        /// Links that are slower from the start.
        links_degraded: Vec<DegradedLink>,
        /// Links that change in mid-run.
        link_events: Vec<LinkEvent>,
        /// From an event to the moment from which all switches route around it.
        reconvergence_delay_ps: Ps,
        /// Packets that links lose at random.
        losses: Vec<LossConfig>,
    },
}

impl FabricConfig {
    /// Packets that links lose at random.
    pub fn losses(&self) -> &[LossConfig] {
        let (Self::FatTree { losses, .. } | Self::LeafSpine { losses, .. }) = self;
        losses
    }
}

/// Sizes on the wire.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameConfig {
    /// Payload of a full data frame.
    pub payload_bytes: u32,
    /// Header of a data frame.
    pub header_bytes: u32,
    /// An ACK, whole.
    pub ack_bytes: u32,
    /// Inter-frame gap and preamble: occupies the link, never a queue.
    pub gap_bytes: u32,
    /// What the last frame of a message carries.
    pub last_frame: LastFrame,
}

/// What the last frame of a message carries.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum LastFrame {
    /// A whole payload (the Ofan paper counts packets).
    Full,
    /// The rest of the message.
    Short,
}

/// Egress ports of switches.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortConfig {
    /// Drop-tail above this many bytes; none = infinite.
    pub buffer_bytes: Option<u64>,
    /// Mark data at a queue of more than this many bytes; none = no marking.
    pub ecn_threshold_bytes: Option<u64>,
    /// From this many bytes on all data is marked, between the two a share that rises from none to all; none = the threshold.
    pub ecn_full_bytes: Option<u64>,
    /// Which queue counts.
    pub ecn_at: EcnAt,
    /// The ports of a switch share a buffer; none = each has its own.
    pub shared_buffer: Option<SharedBufferConfig>,
    /// Switches pause their neighbours; none = they do not.
    pub pfc: Option<PfcConfig>,
    /// What they do with what waits.
    pub discipline: DisciplineConfig,
}

/// What is recorded besides the flows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasureConfig {
    /// Queue maxima and integrals per port.
    pub queues: bool,
    /// Every packet's every reception.
    pub trace: bool,
    /// Length of the intervals of the time series; none = no series.
    pub interval_ps: Option<Ps>,
    /// Most rows of a series: when they are full, each two become one; none = as many as there are.
    pub most_rows: Option<u32>,
    /// The link whose queue the series show, by its ends, the sending one first.
    pub watched_port: Option<(String, String)>,
    /// Rows of the messages whose windows are recorded.
    pub watched_messages: Option<Vec<u32>>,
}
