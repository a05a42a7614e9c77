//! Which parameters and which parts go together.

use crate::config::{BalancerConfig, Config, DisciplineConfig, TransportConfig, WindowConfig, WindowSize};
use crate::error::Error;
use crate::units::Ps;

/// Refuses parameters out of range, and a port discipline or balancer that the transport cannot work with.
///
/// # Errors
/// [`Error::Value`] names the field.
pub fn check(config: &Config) -> Result<(), Error> {
    check_parts(config)?;
    let most_ps = Ps::MAX / 8;
    let counts = |name: &'static str, got: u32| (name, u64::from(got), 1, u64::from(u32::MAX));
    let times = |name: &'static str, got: Ps| (name, got, 1, most_ps);
    let ranges = match config.transport {
        TransportConfig::Paced { load, .. } => {
            if !(1e-6..=1.0).contains(&load) {
                return Err(Error::value("transport.load", load, "1e-6 to 1"));
            }
            vec![]
        }
        TransportConfig::Dcsim { rtt_max_ps, wait_ps, data_timeout_ps, ack_every, ack_interval_ps, clock_drift_ppm, .. } => {
            if !(0.0..=1e5).contains(&clock_drift_ppm) {
                return Err(Error::value("transport.clock_drift_ppm", clock_drift_ppm, "0 to 100000"));
            }
            vec![
                times("rtt_max_ps", rtt_max_ps),
                ("wait_ps", wait_ps, 0, rtt_max_ps),
                times("data_timeout_ps", data_timeout_ps),
                counts("ack_every", ack_every),
                times("ack_interval_ps", ack_interval_ps),
            ]
        }
        TransportConfig::Pfabric { initial_window_packets, max_window_packets, slow_start_threshold_packets, rto_ps, .. } => {
            vec![
                counts("initial_window_packets", initial_window_packets),
                ("max_window_packets", max_window_packets.into(), initial_window_packets.into(), u32::MAX.into()),
                counts("slow_start_threshold_packets", slow_start_threshold_packets),
                times("rto_ps", rto_ps),
            ]
        }
        TransportConfig::Phost { window_packets, window_timeout_ps, resend_timeout_ps, token_lifetime_ps, retry_ps, .. } => vec![
            // Half of what a packet's field tells apart.
            ("window_packets", window_packets.into(), 1, 4095),
            times("window_timeout_ps", window_timeout_ps),
            times("resend_timeout_ps", resend_timeout_ps),
            times("token_lifetime_ps", token_lifetime_ps),
            times("retry_ps", retry_ps),
        ],
        TransportConfig::Dcpim { rounds, channels, round_ps, window_packets, resend_timeout_ps, retry_ps, .. } => vec![
            ("rounds", rounds.into(), 1, 64),
            ("channels", channels.into(), 1, 255),
            times("round_ps", round_ps),
            ("window_packets", window_packets.into(), 1, 4095),
            times("resend_timeout_ps", resend_timeout_ps),
            times("retry_ps", retry_ps),
        ],
        TransportConfig::ConstantWindow { .. }
        | TransportConfig::Dctcp { .. }
        | TransportConfig::Nscc { .. }
        | TransportConfig::Swift { .. }
        | TransportConfig::Mswift { .. } => check_window(config, &times)?,
    };
    for (name, got, least, most) in ranges {
        if got < least || got > most {
            return Err(Error::value(format!("transport.{name}"), got, format!("{least} to {most}")));
        }
    }
    Ok(())
}

/// A range of a whole number: its field, what was got, least, most.
type Range = (&'static str, u64, u64, u64);

fn check_window(config: &Config, times: &dyn Fn(&'static str, Ps) -> Range) -> Result<Vec<Range>, Error> {
    let Some(WindowConfig { max, initial, base_rtt, rto, ack_every_bytes }) = config.transport.window() else {
        return Ok(vec![]);
    };
    let mut ranges = vec![
        times("rto_ps", rto),
        times("base_rtt_ps", base_rtt.unwrap_or(1)),
        ("ack_every_bytes", ack_every_bytes, 1, u64::MAX / 2),
    ];
    for (name, size) in [("max_window", max), ("initial_window", initial)] {
        match size {
            WindowSize::Bytes(bytes) => ranges.push((name, bytes, 1, 1 << 50)),
            WindowSize::Bdp(bdps) if !(1e-6..=1e6).contains(&bdps) => {
                return Err(Error::value(format!("transport.{name}.bdp"), bdps, "1e-6 to 1e6"));
            }
            WindowSize::Bdp(_) => {}
        }
    }
    check_controller(config.transport, &mut ranges)?;
    Ok(ranges)
}

fn check_controller(transport: TransportConfig, ranges: &mut Vec<Range>) -> Result<(), Error> {
    let mut fractions: Vec<(&str, f64, f64, f64)> = vec![];
    match transport {
        TransportConfig::Dctcp { gain, initial_alpha, duplicate_acks, .. } => {
            ranges.push(("duplicate_acks", duplicate_acks.into(), 1, u32::MAX.into()));
            fractions.extend([("gain", gain, 0.0, 1.0), ("initial_alpha", initial_alpha, 0.0, 1.0)]);
        }
        TransportConfig::Nscc {
            target_ps,
            network_rtt_ps,
            adjust_ps,
            quick_adapt_shift,
            min_window_bytes,
            median_samples,
            proportional_bytes_per_us,
            fair_bytes,
            eta_bytes,
            fast_scale,
            decrease_gain,
            least_factor,
            delay_gain,
            ..
        } => {
            let longest = Ps::MAX / 8;
            ranges.extend([
                ("target_ps", target_ps, 1, longest),
                ("network_rtt_ps", network_rtt_ps, 1, longest),
                ("adjust_ps", adjust_ps, 1, longest),
                ("quick_adapt_shift", quick_adapt_shift.into(), 0, 63),
                ("min_window_bytes", min_window_bytes, 1, 1 << 50),
                ("median_samples", median_samples.into(), 0, 1 << 16),
            ]);
            fractions.extend([
                ("proportional_bytes_per_us", proportional_bytes_per_us, 0.0, 1e12),
                ("fair_bytes", fair_bytes, 0.0, 1e12),
                ("eta_bytes", eta_bytes, 0.0, 1e12),
                ("fast_scale", fast_scale, 0.0, 1e6),
                ("decrease_gain", decrease_gain, 0.0, 1.0),
                ("least_factor", least_factor, 0.0, 1.0),
                ("delay_gain", delay_gain, 0.0, 1.0),
            ]);
        }
        TransportConfig::Swift {
            increase_packets,
            decrease_gain,
            most_decrease,
            flow_scaling_from_packets,
            flow_scaling_to_packets,
            min_window_packets,
            reset_after_timeouts,
            ..
        }
        | TransportConfig::Mswift {
            increase_packets,
            decrease_gain,
            most_decrease,
            flow_scaling_from_packets,
            flow_scaling_to_packets,
            min_window_packets,
            reset_after_timeouts,
            ..
        } => {
            if let TransportConfig::Mswift { median_samples, .. } = transport {
                ranges.push(("median_samples", median_samples.into(), 1, 1 << 16));
            }
            ranges.push(("reset_after_timeouts", reset_after_timeouts.into(), 1, u32::MAX.into()));
            fractions.extend([
                ("increase_packets", increase_packets, 0.0, 1e6),
                ("decrease_gain", decrease_gain, 0.0, 1.0),
                ("most_decrease", most_decrease, 0.0, 1.0),
                ("flow_scaling_from_packets", flow_scaling_from_packets, 1e-6, 1e9),
                ("flow_scaling_to_packets", flow_scaling_to_packets, flow_scaling_from_packets * (1.0 + 1e-9), 1e9),
                ("min_window_packets", min_window_packets, 1e-6, 1e6),
            ]);
        }
        _ => {}
    }
    let wrong = fractions.into_iter().find(|&(_, got, least, most)| !(least..=most).contains(&got));
    wrong.map_or(Ok(()), |(name, got, least, most)| {
        Err(Error::value(format!("transport.{name}"), got, format!("{least} to {most}")))
    })
}

fn check_parts(config: &Config) -> Result<(), Error> {
    let (transport, kind) = (config.transport, config.transport.kind());
    let discipline = config.port.discipline;
    let (fits, wanted) = match transport {
        TransportConfig::Paced { .. } => (matches!(discipline, DisciplineConfig::Fifo {}), "fifo"),
        TransportConfig::ConstantWindow { .. }
        | TransportConfig::Dctcp { .. }
        | TransportConfig::Nscc { .. }
        | TransportConfig::Swift { .. }
        | TransportConfig::Mswift { .. } => {
            (matches!(discipline, DisciplineConfig::Fifo {} | DisciplineConfig::ControlFirst { .. }), "fifo or control-first")
        }
        TransportConfig::Dcsim { .. } => (matches!(discipline, DisciplineConfig::Dcsim { .. }), "dcsim"),
        TransportConfig::Pfabric { .. } => (matches!(discipline, DisciplineConfig::Pfabric {}), "pfabric"),
        TransportConfig::Phost { .. } | TransportConfig::Dcpim { .. } => {
            (matches!(discipline, DisciplineConfig::StrictPriority {}), "strict-priority")
        }
    };
    if !fits {
        return Err(Error::value("port.discipline.kind", "another", format!("{wanted}, beside transport {kind}")));
    }
    let balancers = std::iter::once(config.balancer).chain(config.deployments.iter().map(|deployment| deployment.balancer));
    for balancer in balancers {
        let (fits, wanted) = match transport {
            TransportConfig::Paced { .. }
            | TransportConfig::ConstantWindow { .. }
            | TransportConfig::Dctcp { .. }
            | TransportConfig::Nscc { .. }
            | TransportConfig::Swift { .. }
            | TransportConfig::Mswift { .. } => (true, ""),
            // The Data has to take the path of its Sim.
            TransportConfig::Dcsim { .. } => {
                (matches!(balancer, BalancerConfig::Rps { .. } | BalancerConfig::Drb {}), "rps or drb")
            }
            // The path field carries the priority.
            _ => {
                let writes_path = balancer.is_host_side() || matches!(balancer, BalancerConfig::Conga { .. });
                (!writes_path, "a scheme of switches other than conga")
            }
        };
        if !fits {
            return Err(Error::value("balancer.kind", balancer.kind(), format!("{wanted}, beside transport {kind}")));
        }
    }
    Ok(())
}
