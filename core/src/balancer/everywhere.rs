//! The state of every switch at the start of a run.

use super::SwitchBalancer;
use super::{ar, choice, conga, dlb, drill, ecmp, flowlet, jsq, ofan, pinned, rsq, sglb, simple_rr};
use crate::config::{BalancerConfig, Deployment, Salts};
use crate::error::Error;
use crate::fabric::Fabric;
use crate::workload::Workload;
use std::collections::HashSet;

/// The scheme's state at every switch of the fabric, from the first edge on, drawn from the run's streams. `path_is_entropy`: whether hashing sees the path
/// field.
///
/// # Errors
/// [`Error::Value`] when a parameter is out of range, a deployment names no switch that chooses or one twice, or two schemes cannot share a fabric.
pub fn everywhere(
    config: BalancerConfig,
    deployments: &[Deployment],
    path_is_entropy: bool,
    fabric: &Fabric,
    workload: &Workload,
    seed: u64,
) -> Result<Vec<SwitchBalancer>, Error> {
    check_together(config, deployments)?;
    let mut kinds = Vec::with_capacity(deployments.len() + 1);
    kinds.push(Kind::new(config, "balancer", fabric, workload)?);
    let mut kind_of = vec![0; fabric.switches.len()];
    for (row, deployment) in deployments.iter().enumerate() {
        let field = format!("deployments[{row}]");
        kinds.push(Kind::new(deployment.balancer, &format!("{field}.balancer"), fabric, workload)?);
        for name in &deployment.switches {
            let node = fabric.find_node(name, &format!("{field}.switches"))?;
            let slot = node.checked_sub(fabric.hosts()).map(|place| place as usize);
            match slot {
                Some(place) if fabric.switches[place].up > 0 && kind_of[place] == 0 => kind_of[place] = row + 1,
                _ => {
                    let allowed = "edge (leaf) and aggregation switches, each once";
                    return Err(Error::value(format!("{field}.switches"), name, allowed));
                }
            }
        }
    }
    // What a core takes part in, though it never chooses.
    let of_cores = kinds.iter().position(|kind| matches!(kind, Kind::Conga(_) | Kind::Sglb(_)));
    Ok((fabric.hosts()..fabric.tiers[3].end)
        .zip(kind_of)
        .map(|(node, kind)| match of_cores {
            _ if fabric.switch(node).up > 0 => kinds[kind].at(path_is_entropy, fabric, node, seed),
            Some(kind) => kinds[kind].at(path_is_entropy, fabric, node, seed),
            None => SwitchBalancer::Pinned(pinned::Pinned::new(fabric, node)),
        })
        .collect())
}

/// Refuses schemes that would write over each other's fields or sense each other's feedback.
fn check_together(config: BalancerConfig, deployments: &[Deployment]) -> Result<(), Error> {
    let all = || std::iter::once(config).chain(deployments.iter().map(|deployment| deployment.balancer));
    for (row, deployment) in deployments.iter().enumerate() {
        let field = format!("deployments[{row}].balancer.kind");
        if deployment.balancer.is_host_side() {
            return Err(Error::value(field, deployment.balancer.kind(), "a scheme that runs on switches"));
        }
    }
    let kinds: HashSet<_> = all().map(|one| one.kind()).collect();
    // Both need the cores, and CONGA needs the path field, in which hosts and hashing see entropy.
    let conflicts = all().any(|one| one.is_host_side()) || kinds.contains("ecmp") || kinds.contains("sglb");
    if kinds.contains("conga") && kinds.len() > 1 && conflicts {
        return Err(Error::value("deployments", "conga", "conga beside schemes that run on switches, but not ecmp or sglb"));
    }
    if all().filter(|one| matches!(one, BalancerConfig::Conga { .. } | BalancerConfig::Sglb { .. })).count() > 1 {
        return Err(Error::value("deployments", "conga or sglb twice", "one of the schemes that cores take part in, once"));
    }
    Ok(())
}

/// A scheme with what its switches share.
enum Kind {
    Plain(BalancerConfig),
    Ofan(ofan::Plans),
    Ar(ar::Levels),
    Dlb(dlb::Quality),
    Conga(conga::Shared),
    Sglb(sglb::Shared),
}

impl Kind {
    fn new(config: BalancerConfig, field: &str, fabric: &Fabric, workload: &Workload) -> Result<Self, Error> {
        let at_least_one = |name: &str, got: u64| {
            if got > 0 { Ok(()) } else { Err(Error::value(format!("{field}.{name}"), got, "at least 1")) }
        };
        Ok(match config {
            BalancerConfig::Pofan { ports_per_pipe, port_order, idle_reset_ps } => {
                at_least_one("ports_per_pipe", ports_per_pipe.into())?;
                Self::Ofan(ofan::Plans::new(ports_per_pipe, port_order, idle_reset_ps))
            }
            BalancerConfig::Ofan { port_order, idle_reset_ps } => {
                Self::Ofan(ofan::Plans::new(u32::MAX, port_order, idle_reset_ps))
            }
            BalancerConfig::Ar { nominal_buffer_bytes, level_fractions, refresh_ps, acks } => {
                Self::Ar(ar::Levels::new(nominal_buffer_bytes, level_fractions, refresh_ps, acks, field)?)
            }
            BalancerConfig::Dlb { nominal_buffer_bytes, sample_interval_ps, load_gain } => {
                Self::Dlb(dlb::Quality::new(nominal_buffer_bytes, sample_interval_ps, load_gain, field)?)
            }
            BalancerConfig::Sglb { nominal_buffer_bytes, sample_interval_ps, load_gain, advertise_interval_ps } => {
                let quality = dlb::Quality::new(nominal_buffer_bytes, sample_interval_ps, load_gain, field)?;
                Self::Sglb(sglb::Shared::new(fabric, quality, advertise_interval_ps, field)?)
            }
            BalancerConfig::Conga { dre_interval_ps, dre_gain, aging_ps } => {
                Self::Conga(conga::Shared::new(workload, (dre_interval_ps, dre_gain, aging_ps), field)?)
            }
            BalancerConfig::Choice { ports_sampled } | BalancerConfig::Drill { ports_sampled, .. } => {
                at_least_one("ports_sampled", ports_sampled.into())?;
                Self::Plain(config)
            }
            _ => Self::Plain(config),
        })
    }

    fn at(&mut self, path_is_entropy: bool, fabric: &Fabric, node: u32, seed: u64) -> SwitchBalancer {
        match self {
            Self::Ofan(plans) => plans.ofan(fabric, node, seed),
            Self::Ar(levels) => SwitchBalancer::Ar(ar::Ar::new(*levels, fabric, node, seed)),
            Self::Dlb(quality) => SwitchBalancer::Dlb(dlb::Dlb::new(*quality, fabric, node, seed)),
            Self::Conga(shared) => SwitchBalancer::Conga(conga::Conga::new(shared, fabric, node, seed)),
            Self::Sglb(shared) => SwitchBalancer::Sglb(sglb::Sglb::new(shared, fabric, node, seed)),
            Self::Plain(config) => match *config {
                BalancerConfig::SimpleRr { acks, pointers } => {
                    SwitchBalancer::SimpleRr(simple_rr::SimpleRr::new(acks, pointers, fabric, node, seed))
                }
                BalancerConfig::Jsq { acks } => SwitchBalancer::Jsq(jsq::Jsq::new(acks, node, seed)),
                BalancerConfig::Rsq {} => SwitchBalancer::Rsq(rsq::Rsq::new(node, seed)),
                BalancerConfig::Choice { ports_sampled } => {
                    SwitchBalancer::Choice(choice::Choice::new(ports_sampled, node, seed))
                }
                BalancerConfig::Drill { ports_sampled, ports_remembered } => {
                    SwitchBalancer::Drill(drill::Drill::new(ports_sampled, ports_remembered, fabric, node, seed))
                }
                BalancerConfig::Flowlet { gap_ps } => SwitchBalancer::Flowlet(flowlet::Flowlet::new(gap_ps, node, seed)),
                BalancerConfig::Drb {} | BalancerConfig::Ethereal { .. } => {
                    SwitchBalancer::Pinned(pinned::Pinned::new(fabric, node))
                }
                BalancerConfig::Ecmp { salts } | BalancerConfig::Rps { salts, .. } => {
                    SwitchBalancer::Ecmp(ecmp::Ecmp::new(salts, path_is_entropy, node, seed))
                }
                // Hosts spray by entropy, switches hash it; the others have a kind of their own.
                _ => SwitchBalancer::Ecmp(ecmp::Ecmp::new(Salts::PerSwitch, path_is_entropy, node, seed)),
            },
        }
    }
}
