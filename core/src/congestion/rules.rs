//! The controllers' rules, as the configuration has them.

use super::swift::FlowScaling;
use super::{dctcp, mswift, nscc, swift};
use crate::config::TransportConfig;

/// NSCC's, under NSCC.
pub fn nscc(config: TransportConfig) -> Option<nscc::Rules> {
    let TransportConfig::Nscc {
        network_rtt_ps,
        target_ps,
        proportional_bytes_per_us,
        fair_bytes,
        eta_bytes,
        fast_scale,
        fast_below_ps,
        decrease_gain,
        least_factor,
        delay_gain,
        adjust_ps,
        adjust_bytes,
        quick_adapt_above_ps,
        quick_adapt_shift,
        min_window_bytes,
        median_samples,
        ..
    } = config
    else {
        return None;
    };
    Some(nscc::Rules {
        network_rtt: network_rtt_ps,
        target: target_ps,
        proportional_bytes_per_us,
        fair_bytes,
        eta_bytes,
        fast_scale,
        fast_below: fast_below_ps,
        decrease_gain,
        least_factor,
        delay_gain,
        adjust: adjust_ps,
        adjust_bytes,
        quick_adapt_above: quick_adapt_above_ps,
        quick_adapt_shift,
        min_window: min_window_bytes,
        median_samples,
    })
}

/// Swift's, under Swift and MSwift.
pub fn swift(config: TransportConfig) -> Option<swift::Rules> {
    let (TransportConfig::Swift {
        increase_packets,
        decrease_gain,
        most_decrease,
        base_target_ps,
        hop_target_ps,
        flow_scaling_ps,
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
        base_target_ps,
        hop_target_ps,
        flow_scaling_ps,
        flow_scaling_from_packets,
        flow_scaling_to_packets,
        min_window_packets,
        reset_after_timeouts,
        ..
    }) = config
    else {
        return None;
    };
    Some(swift::Rules {
        increase_packets,
        decrease_gain,
        most_decrease,
        base_target: base_target_ps,
        hop_target: hop_target_ps,
        flow_scaling: FlowScaling::new(flow_scaling_ps, flow_scaling_from_packets, flow_scaling_to_packets),
        min_window_packets,
        reset_after_timeouts,
    })
}

/// MSwift's, under MSwift.
pub fn mswift(config: TransportConfig) -> Option<mswift::Rules> {
    let TransportConfig::Mswift { median_samples, flushes_on_decrease, .. } = config else { return None };
    Some(mswift::Rules { swift: swift(config)?, median_samples, flushes_on_decrease })
}

/// DCTCP's, under DCTCP.
pub fn dctcp(config: TransportConfig) -> Option<dctcp::Rules> {
    let TransportConfig::Dctcp { gain, initial_alpha, reduces_unmarked, .. } = config else { return None };
    Some(dctcp::Rules { gain, initial_alpha, reduces_unmarked })
}
