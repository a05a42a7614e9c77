//! What hosts do: the closed set of transports and their parameters.

use crate::units::Ps;
use serde::Deserialize;

/// What hosts do.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TransportConfig {
    /// Fixed rate, no window, no recovery.
    Paced {
        /// Share of the line rate, in (0, 1].
        load: f64,
        /// Whether data is acknowledged.
        acks: Acks,
        /// Whether hosts start at random within one packet time.
        start_jitter: StartJitter,
    },
    /// A Sim first, data where it got through.
    Dcsim {
        /// Bound on the round trip of a Sim, after which it counts as lost.
        rtt_max_ps: Ps,
        /// A Data is due so long after its Sim was sent, though not before the Sim-Ack is there.
        wait_ps: Ps,
        /// A Data that is not acknowledged for so long counts as lost.
        data_timeout_ps: Ps,
        /// A Data-Ack at the latest after so many Datas.
        ack_every: u32,
        /// And at the latest so long after a Data.
        ack_interval_ps: Ps,
        /// Flows of fewer packets are sent without Sims.
        direct_below_packets: u32,
        /// Largest drift of a host's clock.
        clock_drift_ppm: f64,
        /// How drifts are drawn.
        clock_drift: ClockDrift,
        /// Whether hosts start at random within one packet time.
        start_jitter: StartJitter,
    },
    /// Windows, and ports that send what has the least left.
    Pfabric {
        /// Window at first.
        initial_window_packets: u32,
        /// Largest window.
        max_window_packets: u32,
        /// Where slow start ends at first.
        slow_start_threshold_packets: u32,
        /// A packet that is not acknowledged for so long counts as lost.
        rto_ps: Ps,
        /// Consecutive timeouts after which a flow sends probes only; 0 = never.
        probe_after_timeouts: u32,
        /// Whether hosts hand a packet to the NIC only when there is room.
        nic_backpressure: bool,
        /// Whether hosts start at random within one packet time.
        start_jitter: StartJitter,
    },
    /// Receivers hand out tokens.
    Phost {
        /// Flows of no more packets are sent at once; the others begin with a request.
        free_tokens: u32,
        /// Tokens in flight.
        window_packets: u32,
        /// How long a receiver waits when they are.
        window_timeout_ps: Ps,
        /// How long it waits when all have been granted, before it grants again.
        resend_timeout_ps: Ps,
        /// How long a token is good for.
        token_lifetime_ps: Ps,
        /// A sender that has heard nothing for so long asks again.
        retry_ps: Ps,
        /// Whether hosts start at random within one packet time.
        start_jitter: StartJitter,
    },
    /// Senders and receivers are matched in rounds.
    Dcpim {
        /// Rounds of a matching.
        rounds: u32,
        /// Channels of a host.
        channels: u32,
        /// Length of a round.
        round_ps: Ps,
        /// Flows of no more packets are sent at once.
        short_packets: u32,
        /// Tokens in flight, for all channels of a host.
        window_packets: u32,
        /// How long a receiver waits for a packet that it has granted, before it grants it again.
        resend_timeout_ps: Ps,
        /// A sender that has heard nothing for so long asks again.
        retry_ps: Ps,
        /// Whether hosts start at random within one packet time.
        start_jitter: StartJitter,
    },
    /// A window that stays as it is.
    ConstantWindow {
        /// Largest window of a flow.
        max_window: WindowSize,
        /// Its first window.
        initial_window: WindowSize,
        /// RTT of an idle fabric; none: that of the flow's own pair of hosts.
        base_rtt_ps: Option<Ps>,
        /// A packet that is not acknowledged for so long counts as lost.
        rto_ps: Ps,
        /// An ACK at the latest after so many bytes of data.
        ack_every_bytes: u64,
        /// Whether hosts start at random within one packet time.
        start_jitter: StartJitter,
    },
    /// TCP's recovery, and a window that gives way in proportion to marks.
    Dctcp {
        /// Largest window of a flow.
        max_window: WindowSize,
        /// Its first window.
        initial_window: WindowSize,
        /// RTT of an idle fabric; none: that of the flow's own pair of hosts.
        base_rtt_ps: Option<Ps>,
        /// A packet that is not acknowledged for so long counts as lost.
        rto_ps: Ps,
        /// An ACK at the latest after so many bytes of data.
        ack_every_bytes: u64,
        /// Weight of a window's marks in their average.
        gain: f64,
        /// That average at first.
        initial_alpha: f64,
        /// ACKs without progress that mean a loss.
        duplicate_acks: u32,
        /// Whether the number of a flow's paths is added to them.
        counts_paths: bool,
        /// Whether a window without marks is reduced too, while the average is above zero.
        reduces_unmarked: bool,
        /// Whether hosts start at random within one packet time.
        start_jitter: StartJitter,
    },
    /// By marks and delay, in four quadrants.
    Nscc {
        /// Largest window of a flow.
        max_window: WindowSize,
        /// Its first window.
        initial_window: WindowSize,
        /// RTT of an idle fabric; none: that of the flow's own pair of hosts.
        base_rtt_ps: Option<Ps>,
        /// A packet that is not acknowledged for so long counts as lost.
        rto_ps: Ps,
        /// An ACK at the latest after so many bytes of data.
        ack_every_bytes: u64,
        /// RTT of the longest path in an idle fabric.
        network_rtt_ps: Ps,
        /// Target of the queueing delay.
        target_ps: Ps,
        /// Proportional increase.
        proportional_bytes_per_us: f64,
        /// Fair increase.
        fair_bytes: f64,
        /// Increase an adjustment period, always.
        eta_bytes: f64,
        /// Fast increase, a byte acknowledged.
        fast_scale: f64,
        /// Delay below which the increase may be fast.
        fast_below_ps: Ps,
        /// Gain of the multiplicative decrease.
        decrease_gain: f64,
        /// Least factor of one decrease.
        least_factor: f64,
        /// Weight of a sample in the average delay.
        delay_gain: f64,
        /// Longest time between adjustments.
        adjust_ps: Ps,
        /// Most bytes between adjustments.
        adjust_bytes: u64,
        /// Delay above which the window is set to what has got through.
        quick_adapt_above_ps: Ps,
        /// It is, where less than the largest window shifted right by this has got through.
        quick_adapt_shift: u32,
        /// Least window.
        min_window_bytes: u64,
        /// Delay samples of which the median counts; 0: the latest sample.
        median_samples: u32,
        /// Whether hosts start at random within one packet time.
        start_jitter: StartJitter,
    },
    /// By delay.
    Swift {
        /// Largest window of a flow.
        max_window: WindowSize,
        /// Its first window.
        initial_window: WindowSize,
        /// RTT of an idle fabric; none: that of the flow's own pair of hosts.
        base_rtt_ps: Option<Ps>,
        /// A packet that is not acknowledged for so long counts as lost.
        rto_ps: Ps,
        /// An ACK at the latest after so many bytes of data.
        ack_every_bytes: u64,
        /// Packets an RTT by which the window grows below the target.
        increase_packets: f64,
        /// How strongly the window gives way to the excess over the target.
        decrease_gain: f64,
        /// Largest share of the window that one decrease takes.
        most_decrease: f64,
        /// Target beyond the base RTT.
        base_target_ps: Ps,
        /// What each link adds to it.
        hop_target_ps: Ps,
        /// Most that small windows add to it.
        flow_scaling_ps: Ps,
        /// Window up to which they add all of it.
        flow_scaling_from_packets: f64,
        /// Window from which they add nothing.
        flow_scaling_to_packets: f64,
        /// Least window.
        min_window_packets: f64,
        /// Timeouts in a row after which the window is the least.
        reset_after_timeouts: u32,
        /// Whether hosts start at random within one packet time.
        start_jitter: StartJitter,
    },
    /// By the median of delays.
    Mswift {
        /// Largest window of a flow.
        max_window: WindowSize,
        /// Its first window.
        initial_window: WindowSize,
        /// RTT of an idle fabric; none: that of the flow's own pair of hosts.
        base_rtt_ps: Option<Ps>,
        /// A packet that is not acknowledged for so long counts as lost.
        rto_ps: Ps,
        /// An ACK at the latest after so many bytes of data.
        ack_every_bytes: u64,
        /// Packets an RTT by which the window grows below the target.
        increase_packets: f64,
        /// How strongly the window gives way to the excess over the target.
        decrease_gain: f64,
        /// Largest share of the window that one decrease takes.
        most_decrease: f64,
        /// Target beyond the base RTT.
        base_target_ps: Ps,
        /// What each link adds to it.
        hop_target_ps: Ps,
        /// Most that small windows add to it.
        flow_scaling_ps: Ps,
        /// Window up to which they add all of it.
        flow_scaling_from_packets: f64,
        /// Window from which they add nothing.
        flow_scaling_to_packets: f64,
        /// Least window.
        min_window_packets: f64,
        /// Timeouts in a row after which the window is the least.
        reset_after_timeouts: u32,
        /// Most delay samples of which the median counts.
        median_samples: u32,
        /// Whether a decrease forgets them.
        flushes_on_decrease: bool,
        /// Whether hosts start at random within one packet time.
        start_jitter: StartJitter,
    },
}

/// What the transports with a congestion window have in common.
#[derive(Clone, Copy, Debug)]
pub struct WindowConfig {
    /// Largest window of a flow.
    pub max: WindowSize,
    /// Its first window.
    pub initial: WindowSize,
    /// RTT of an idle fabric; none: that of the flow's own pair of hosts.
    pub base_rtt: Option<Ps>,
    /// A packet that is not acknowledged for so long counts as lost.
    pub rto: Ps,
    /// An ACK at the latest after so many bytes of data.
    pub ack_every_bytes: u64,
}

/// Size of a window.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowSize {
    /// In what the host's link carries in the flow's base RTT.
    Bdp(f64),
    /// As such.
    Bytes(u64),
}

impl TransportConfig {
    /// Whether hosts start at random within one packet time.
    pub fn start_jitter(self) -> StartJitter {
        let (Self::Paced { start_jitter, .. }
        | Self::Dcsim { start_jitter, .. }
        | Self::Pfabric { start_jitter, .. }
        | Self::Phost { start_jitter, .. }
        | Self::Dcpim { start_jitter, .. }
        | Self::ConstantWindow { start_jitter, .. }
        | Self::Dctcp { start_jitter, .. }
        | Self::Nscc { start_jitter, .. }
        | Self::Swift { start_jitter, .. }
        | Self::Mswift { start_jitter, .. }) = self;
        start_jitter
    }

    /// Whether senders learn of what has arrived.
    pub fn acks(self) -> Acks {
        if let Self::Paced { acks, .. } = self { acks } else { Acks::PerPacket }
    }

    /// Whether the path field of a packet carries its priority.
    pub fn writes_priority(self) -> bool {
        matches!(self, Self::Pfabric { .. } | Self::Phost { .. } | Self::Dcpim { .. })
    }

    /// What the transports with a congestion window have in common; none of the others has one.
    pub fn window(self) -> Option<WindowConfig> {
        match self {
            Self::ConstantWindow { max_window, initial_window, base_rtt_ps, rto_ps, ack_every_bytes, .. }
            | Self::Dctcp { max_window, initial_window, base_rtt_ps, rto_ps, ack_every_bytes, .. }
            | Self::Nscc { max_window, initial_window, base_rtt_ps, rto_ps, ack_every_bytes, .. }
            | Self::Swift { max_window, initial_window, base_rtt_ps, rto_ps, ack_every_bytes, .. }
            | Self::Mswift { max_window, initial_window, base_rtt_ps, rto_ps, ack_every_bytes, .. } => Some(WindowConfig {
                max: max_window,
                initial: initial_window,
                base_rtt: base_rtt_ps,
                rto: rto_ps,
                ack_every_bytes,
            }),
            _ => None,
        }
    }

    /// Its name.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Paced { .. } => "paced",
            Self::Dcsim { .. } => "dcsim",
            Self::Pfabric { .. } => "pfabric",
            Self::Phost { .. } => "phost",
            Self::Dcpim { .. } => "dcpim",
            Self::ConstantWindow { .. } => "constant-window",
            Self::Dctcp { .. } => "dctcp",
            Self::Nscc { .. } => "nscc",
            Self::Swift { .. } => "swift",
            Self::Mswift { .. } => "mswift",
        }
    }
}

/// Whether data is acknowledged.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Acks {
    /// One ACK a data packet.
    PerPacket,
    /// No ACKs: a message is complete when its receiver has it.
    Off,
}

/// Whether hosts start at random within one packet time.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum StartJitter {
    /// Uniform over one pacing interval, per host.
    Uniform,
    /// All hosts start on the dot.
    None,
}

/// How the drifts of hosts' clocks are drawn.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ClockDrift {
    /// Uniform between the extremes.
    Uniform,
    /// One extreme or the other.
    Extreme,
}
