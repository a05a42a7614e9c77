//! Which parameters of ports go together, and their ranges.

use crate::config::{Config, DisciplineConfig, Trimming};
use crate::error::Error;

/// Refuses parameters of ports out of range, and what does not go together.
///
/// # Errors
/// [`Error::Value`] names the field.
pub fn check(config: &Config) -> Result<(), Error> {
    check_marks(config)?;
    check_dcsim(config)?;
    check_shared_buffer(config)?;
    check_pfc(config)
}

/// What a data frame takes.
fn data_frame(config: &Config) -> u64 {
    u64::from(config.frame.header_bytes) + u64::from(config.frame.payload_bytes)
}

/// Refuses a field that is set, unless it may be.
fn check_null(field: &'static str, is_set: bool, may_be: bool, beside: &str) -> Result<(), Error> {
    if is_set && !may_be { Err(Error::value(field, "a value", format!("null, {beside}"))) } else { Ok(()) }
}

fn check_marks(config: &Config) -> Result<(), Error> {
    let port = &config.port;
    let marks = matches!(port.discipline, DisciplineConfig::Fifo {} | DisciplineConfig::ControlFirst { .. });
    let beside = "but in ports whose discipline is fifo or control-first";
    check_null("port.ecn_threshold_bytes", port.ecn_threshold_bytes.is_some(), marks, beside)?;
    let Some(full) = port.ecn_full_bytes else { return Ok(()) };
    match port.ecn_threshold_bytes {
        Some(threshold) if full >= threshold => Ok(()),
        Some(threshold) => Err(Error::value("port.ecn_full_bytes", full, format!("ecn_threshold_bytes, {threshold}, or more"))),
        None => Err(Error::value("port.ecn_full_bytes", full, "null, where ecn_threshold_bytes is null")),
    }
}

fn check_shared_buffer(config: &Config) -> Result<(), Error> {
    let Some(shared) = config.port.shared_buffer else { return Ok(()) };
    let is_fifo = matches!(config.port.discipline, DisciplineConfig::Fifo {});
    check_null("port.shared_buffer", true, is_fifo, "but in ports whose discipline is fifo")?;
    check_null("port.buffer_bytes", config.port.buffer_bytes.is_some(), false, "beside shared_buffer")?;
    check_null("port.pfc", config.port.pfc.is_some(), false, "beside shared_buffer")?;
    let least = data_frame(config).max(config.frame.ack_bytes.into());
    if shared.bytes < least || shared.bytes > 1 << 50 {
        return Err(Error::value("port.shared_buffer.bytes", shared.bytes, format!("{least} to 2^50")));
    }
    if !(1e-6..=1e6).contains(&shared.alpha) || shared.alpha * (shared.bytes as f64) < least as f64 {
        let allowed = format!("1e-6 to 1e6, and so that alpha times bytes is a frame, {least}, or more");
        return Err(Error::value("port.shared_buffer.alpha", shared.alpha, allowed));
    }
    Ok(())
}

fn check_pfc(config: &Config) -> Result<(), Error> {
    let Some(pfc) = config.port.pfc else { return Ok(()) };
    check_null(
        "port.pfc",
        true,
        config.transport.window().is_some(),
        "beside a transport without windows, whose hosts do not stop",
    )?;
    check_null("port.buffer_bytes", config.port.buffer_bytes.is_some(), false, "beside pfc")?;
    if config.port.discipline == (DisciplineConfig::ControlFirst { trimming: Trimming::Arriving })
        || config.port.discipline == (DisciplineConfig::ControlFirst { trimming: Trimming::Random })
    {
        return Err(Error::value("port.discipline.trimming", "another", "off, beside pfc"));
    }
    let frame = data_frame(config).max(config.frame.ack_bytes.into());
    let ranges = [
        ("port.pfc.xoff_bytes", pfc.xoff_bytes, 0, 1 << 50),
        ("port.pfc.xon_bytes", pfc.xon_bytes, 0, pfc.xoff_bytes),
        ("port.pfc.headroom_bytes", pfc.headroom_bytes, frame.saturating_sub(pfc.xoff_bytes), 1 << 50),
    ];
    check_ranges(ranges)
}

fn check_dcsim(config: &Config) -> Result<(), Error> {
    let DisciplineConfig::Dcsim { queue_packets, bucket_packets, token_factor, data_buffer_bytes } = config.port.discipline
    else {
        return Ok(());
    };
    check_ranges([
        ("port.discipline.queue_packets", u64::from(queue_packets), 1, 1 << 20),
        ("port.discipline.bucket_packets", u64::from(bucket_packets), 1, 1 << 20),
        ("port.discipline.data_buffer_bytes", data_buffer_bytes.unwrap_or(u64::MAX), data_frame(config), u64::MAX),
    ])?;
    if !(0.0..=1e6).contains(&token_factor) {
        return Err(Error::value("port.discipline.token_factor", token_factor, "0 to 1e6"));
    }
    Ok(())
}

fn check_ranges<const N: usize>(ranges: [(&'static str, u64, u64, u64); N]) -> Result<(), Error> {
    for (field, got, least, most) in ranges {
        if got < least || got > most {
            return Err(Error::value(field, got, format!("{least} to {most}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
