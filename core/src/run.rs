//! The straight line of one run.

use crate::config::{BalancerConfig, Config};
use crate::error::Error;
use crate::fabric::Fabric;
use crate::measure::{Output, Progress};
use crate::packet::FRAME_LIMIT;
use crate::port;
use crate::spreader;
use crate::transport;
use crate::units::{BytePace, Ps};
use crate::window::Engine;
use crate::workload::{MOST_LOGGED, Messages, Workload};

/// Runs one scenario. `watch` is called at window boundaries, at most about ten times a second; when it returns false the run stops.
///
/// # Errors
/// [`Error`] for bad input, and [`Error::Interrupted`] when `watch` says so.
pub fn run(config: &Config, messages: &Messages, watch: &mut (dyn FnMut(Progress) -> bool + Send)) -> Result<Output, Error> {
    check(config)?;
    spreader::check(config.balancer)?;
    transport::check(config)?;
    port::check(config)?;
    let fabric = Fabric::build(&config.fabric)?;
    check_shortest_frame(config, &fabric)?;
    let split = match config.balancer {
        BalancerConfig::Ethereal { split, .. } => Some(split),
        _ => None,
    };
    let mut workload = Workload::new(messages, &fabric, &config.frame, config.transport.acks(), split)?;
    if config.transport.window().is_some() {
        if let Some(flow) = workload.send.iter().position(|flow| flow.packets > MOST_LOGGED) {
            let what = format!("{} packets in message {}", workload.send[flow].packets, workload.row[flow]);
            return Err(Error::value("messages.bytes", what, format!("at most {MOST_LOGGED} packets under a congestion window")));
        }
        workload.log_arrivals();
    }
    Engine::new(config, fabric, workload)?.run(watch)
}

/// A frame that takes no time would have left before it was queued.
fn check_shortest_frame(config: &Config, fabric: &Fabric) -> Result<(), Error> {
    let fastest = fabric.rate_bps.iter().copied().max().and_then(BytePace::from_rate);
    let header = if config.frame.header_bytes == 0 { config.frame.payload_bytes } else { config.frame.header_bytes };
    for (field, bytes) in [("frame.header_bytes", header), ("frame.ack_bytes", config.frame.ack_bytes)] {
        if fastest.is_some_and(|pace| pace.time(bytes) == 0) {
            return Err(Error::value(field, bytes, "a frame that the fastest link sends in 1 ps or more"));
        }
    }
    Ok(())
}

fn check(config: &Config) -> Result<(), Error> {
    let frame = &config.frame;
    let data_frame = u64::from(frame.payload_bytes) + u64::from(frame.header_bytes);
    let ranges = [
        ("frame.payload_bytes", u64::from(frame.payload_bytes), 1, u64::from(FRAME_LIMIT) - 1),
        ("frame.header_bytes", u64::from(frame.header_bytes), 0, u64::from(FRAME_LIMIT) - 1),
        ("frame.payload_bytes + frame.header_bytes", data_frame, 1, u64::from(FRAME_LIMIT) - 1),
        ("frame.ack_bytes", u64::from(frame.ack_bytes), 1, u64::from(FRAME_LIMIT) - 1),
        ("frame.gap_bytes", u64::from(frame.gap_bytes), 0, u64::from(FRAME_LIMIT) - 1),
        ("threads", u64::from(config.threads), 1, 1024),
        ("measure.interval_ps", config.measure.interval_ps.unwrap_or(1), 1, Ps::MAX / 2),
        ("measure.most_rows", config.measure.most_rows.unwrap_or(2).into(), 2, u64::from(u32::MAX)),
        ("time_limit_ps", config.time_limit_ps, 1, Ps::MAX / 2),
        ("port.buffer_bytes", config.port.buffer_bytes.unwrap_or(data_frame), data_frame, u64::MAX),
    ];
    for (field, got, least, most) in ranges {
        if got < least || got > most {
            return Err(Error::value(field, got, format!("{least} to {most}")));
        }
    }
    Ok(())
}
