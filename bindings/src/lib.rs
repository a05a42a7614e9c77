//! The door between Python and the core: one function, whose contract stands in README.md beside this crate.

use fabricsim_core::config::TransportConfig;
use fabricsim_core::{Config, Counts, Error, LANES, Messages, Output, Progress, Sample, Tier, WindowRow, count_names};
use numpy::{Element, IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The extension module `fabricsim._core`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::run;

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::PyModuleMethods;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Run one scenario; see bindings/README.md for the columns. Releases the interpreter lock.
#[pyfunction]
fn run<'py>(
    py: Python<'py>,
    config_json: &str,
    messages: &Bound<'py, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let config = Config::from_json(config_json).map_err(to_python)?;
    let messages = read_messages(messages)?;
    let mut raised = None;
    let mut watch = |seen: Progress| {
        let outcome = Python::attach(|py| {
            py.check_signals()?;
            match &progress {
                Some(call) => call.call1(py, (seen.at, seen.finished, seen.total)).map(|_| ()),
                None => Ok(()),
            }
        });
        outcome.map_err(|error| raised = Some(error)).is_ok()
    };
    let result = py.detach(|| fabricsim_core::run(&config, &messages, &mut watch));
    match (result, raised) {
        (_, Some(error)) => Err(error),
        (Err(error), None) => Err(to_python(error)),
        (Ok(output), None) => write_output(py, &config, output),
    }
}

fn to_python(error: Error) -> PyErr {
    match error {
        Error::Interrupted | Error::Internal(_) => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

fn read_messages(columns: &Bound<'_, PyDict>) -> PyResult<Messages> {
    const KNOWN: [&str; 15] = [
        "src",
        "dst",
        "bytes",
        "start_ps",
        "rank",
        "collective",
        "dep_message",
        "dep_on",
        "dep_event",
        "trigger_count",
        "fire_trigger",
        "fire_message",
        "fire_event",
        "target_trigger",
        "target_message",
    ];
    for key in columns.keys() {
        let key: String = key.extract()?;
        if !KNOWN.contains(&key.as_str()) {
            return Err(PyValueError::new_err(format!("messages: got column {key}; allowed: {}", KNOWN.join(", "))));
        }
    }
    Ok(Messages {
        src: column(columns, "src", "uint32")?,
        dst: column(columns, "dst", "uint32")?,
        bytes: column(columns, "bytes", "uint64")?,
        start: column(columns, "start_ps", "uint64")?,
        rank: column(columns, "rank", "uint32")?,
        collective: column(columns, "collective", "uint32")?,
        dependents: column(columns, "dep_message", "uint32")?,
        dependencies: column(columns, "dep_on", "uint32")?,
        dependency_events: column(columns, "dep_event", "uint8")?,
        trigger_counts: column(columns, "trigger_count", "uint32")?,
        activated: column(columns, "fire_trigger", "uint32")?,
        activators: column(columns, "fire_message", "uint32")?,
        activation_events: column(columns, "fire_event", "uint8")?,
        triggers_of_targets: column(columns, "target_trigger", "uint32")?,
        targets: column(columns, "target_message", "uint32")?,
    })
}

fn column<T: Element + Copy>(columns: &Bound<'_, PyDict>, name: &str, dtype: &str) -> PyResult<Vec<T>> {
    let wrong =
        || PyValueError::new_err(format!("messages.{name}: got no such array; allowed: a one-dimensional array of {dtype}"));
    let array = columns.get_item(name)?.ok_or_else(wrong)?;
    let array: PyReadonlyArray1<'_, T> = array.extract().map_err(|_| wrong())?;
    Ok(array.as_array().to_vec())
}

fn write_output<'py>(py: Python<'py>, config: &Config, output: Output) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("status", output.status.name())?;
    result.set_item("ports", write_ports(py, &output)?)?;
    result.set_item("totals", write_totals(py, &output)?)?;
    result.set_item("series", write_series(py, &output.series)?)?;
    result.set_item("windows", write_windows(py, &output.windows)?)?;
    result.set_item("transport", write_counts(py, config, &output.counts)?)?;
    let flows = PyDict::new(py);
    flows.set_item("packets_count", output.flows.packets.into_pyarray(py))?;
    flows.set_item("started_at_ps", output.flows.started_at.into_pyarray(py))?;
    flows.set_item("first_delivered_at_ps", output.flows.first_delivered_at.into_pyarray(py))?;
    flows.set_item("last_delivered_at_ps", output.flows.last_delivered_at.into_pyarray(py))?;
    flows.set_item("last_acked_at_ps", output.flows.last_acked_at.into_pyarray(py))?;
    flows.set_item("delivered_packets_count", output.flows.delivered_packets.into_pyarray(py))?;
    flows.set_item("acked_packets_count", output.flows.acked_packets.into_pyarray(py))?;
    flows.set_item("retransmitted_packets_count", output.flows.retransmitted_packets.into_pyarray(py))?;
    flows.set_item("reordered_packets_count", output.flows.reordered_packets.into_pyarray(py))?;
    flows.set_item("delay_ps", output.flows.delay.into_pyarray(py))?;
    result.set_item("flows", flows)?;
    let trace = PyDict::new(py);
    let rows = &output.trace;
    trace.set_item("at_ps", collect(py, rows.iter().map(|row| row.at)))?;
    trace.set_item("link", collect(py, rows.iter().map(|row| row.link)))?;
    trace.set_item("flow", collect(py, rows.iter().map(|row| row.message)))?;
    trace.set_item("psn", collect(py, rows.iter().map(|row| row.psn)))?;
    trace.set_item("kind", collect(py, rows.iter().map(|row| row.kind)))?;
    result.set_item("trace", trace)?;
    Ok(result)
}

fn collect<T: Element>(py: Python<'_>, values: impl Iterator<Item = T>) -> Bound<'_, PyAny> {
    values.collect::<Vec<_>>().into_pyarray(py).into_any()
}

fn write_ports<'py>(py: Python<'py>, output: &Output) -> PyResult<Bound<'py, PyDict>> {
    let fabric = &output.fabric;
    let end = |node: u32| {
        let tier: Tier = fabric.tier_of(node);
        (tier as u8, node - fabric.tiers[tier as usize].start)
    };
    let from = || fabric.port_node.iter().map(|&node| end(node));
    let to = || fabric.peer.iter().map(|&peer| end(fabric.port_node[peer as usize]));
    let tallies = || output.tallies.iter();
    let ports = PyDict::new(py);
    ports.set_item("from_tier", collect(py, from().map(|(tier, _)| tier)))?;
    ports.set_item("from_index", collect(py, from().map(|(_, index)| index)))?;
    ports.set_item("to_tier", collect(py, to().map(|(tier, _)| tier)))?;
    ports.set_item("to_index", collect(py, to().map(|(_, index)| index)))?;
    ports.set_item("rate_bps", collect(py, fabric.rate_bps.iter().copied()))?;
    ports.set_item("latency_ps", collect(py, fabric.latency.iter().copied()))?;
    ports.set_item("data_bytes", collect(py, tallies().map(|tally| tally.bytes[0])))?;
    ports.set_item("control_bytes", collect(py, tallies().map(|tally| tally.bytes[1])))?;
    ports.set_item("data_frames_count", collect(py, tallies().map(|tally| tally.frames[0])))?;
    ports.set_item("control_frames_count", collect(py, tallies().map(|tally| tally.frames[1])))?;
    ports.set_item("max_queue_bytes", collect(py, tallies().map(|tally| tally.max_queue_bytes)))?;
    ports.set_item("queue_byte_ps", collect(py, tallies().map(|tally| tally.queue_byte_ps as f64)))?;
    ports.set_item("dropped_data_count", collect(py, tallies().map(|tally| tally.drops[0])))?;
    ports.set_item("dropped_control_count", collect(py, tallies().map(|tally| tally.drops[1])))?;
    ports.set_item("marked_count", collect(py, tallies().map(|tally| tally.marks)))?;
    ports.set_item("lost_data_count", collect(py, tallies().map(|tally| tally.lost[0])))?;
    ports.set_item("lost_control_count", collect(py, tallies().map(|tally| tally.lost[1])))?;
    ports.set_item("trimmed_count", collect(py, tallies().map(|tally| tally.trims)))?;
    ports.set_item("paused_ps", collect(py, tallies().map(|tally| tally.paused)))?;
    for (place, name) in LANES.into_iter().enumerate().filter(|_| !output.lanes.is_empty()) {
        let lane = || output.lanes.iter().map(|lanes| lanes[place]);
        // Data has these columns in all ports.
        if name != "data" {
            ports.set_item(format!("{name}_frames_count"), collect(py, lane().map(|lane| lane.frames)))?;
            ports.set_item(format!("dropped_{name}_count"), collect(py, lane().map(|lane| lane.drops)))?;
        }
        ports.set_item(format!("max_waiting_{name}_packets"), collect(py, lane().map(|lane| lane.max_waiting)))?;
    }
    Ok(ports)
}

fn write_series<'py>(py: Python<'py>, rows: &[Sample]) -> PyResult<Bound<'py, PyDict>> {
    let series = PyDict::new(py);
    let column = |name: &str, value: fn(&Sample) -> u64| series.set_item(name, collect(py, rows.iter().map(value)));
    column("end_ps", |row| row.at)?;
    column("delivered_data_bytes", |row| row.hosts.delivered_bytes)?;
    column("delivered_packets_count", |row| row.hosts.delivered_packets)?;
    column("reordered_packets_count", |row| row.hosts.reordered)?;
    column("sent_data_packets_count", |row| row.hosts.sent_data)?;
    column("dropped_data_count", |row| row.drops[0])?;
    column("dropped_control_count", |row| row.drops[1])?;
    column("port_data_frames_count", |row| row.port_frames[0])?;
    column("port_control_frames_count", |row| row.port_frames[1])?;
    column("port_sim_frames_count", |row| row.port_sims)?;
    column("port_data_waiting_packets", |row| row.port_waiting[0])?;
    column("port_sim_waiting_packets", |row| row.port_waiting[1])?;
    column("marked_count", |row| row.marks)?;
    column("queued_bytes", |row| row.queued_bytes)?;
    column("max_queue_bytes", |row| row.max_queue_bytes)?;
    column("window_bytes", |row| row.window_bytes)?;
    column("in_flight_bytes", |row| row.in_flight_bytes)?;
    Ok(series)
}

fn write_windows<'py>(py: Python<'py>, rows: &[WindowRow]) -> PyResult<Bound<'py, PyDict>> {
    let windows = PyDict::new(py);
    windows.set_item("end_ps", collect(py, rows.iter().map(|row| row.at)))?;
    windows.set_item("message", collect(py, rows.iter().map(|row| row.message)))?;
    windows.set_item("window_bytes", collect(py, rows.iter().map(|row| row.window_bytes)))?;
    windows.set_item("in_flight_bytes", collect(py, rows.iter().map(|row| row.in_flight_bytes)))?;
    windows.set_item("acked_packets_count", collect(py, rows.iter().map(|row| row.acked_packets)))?;
    Ok(windows)
}

fn write_counts<'py>(py: Python<'py>, config: &Config, counts: &Counts) -> PyResult<Bound<'py, PyDict>> {
    let written = PyDict::new(py);
    if matches!(config.transport, TransportConfig::Paced { .. }) {
        return Ok(written);
    }
    written.set_item("duplicates_count", counts.duplicates)?;
    written.set_item("data_timeouts_count", counts.data_timeouts)?;
    let (names, largest) = count_names(config.transport);
    for (name, count) in names.iter().zip(counts.own) {
        written.set_item(name, count)?;
    }
    if let Some(name) = largest {
        written.set_item(name, counts.largest)?;
    }
    Ok(written)
}

fn write_totals<'py>(py: Python<'py>, output: &Output) -> PyResult<Bound<'py, PyDict>> {
    let totals = PyDict::new(py);
    totals.set_item("end_at_ps", output.end_at)?;
    totals.set_item("window_ps", output.window)?;
    totals.set_item("windows_count", output.windows_count)?;
    totals.set_item("packet_hops_count", output.packet_hops_count)?;
    totals.set_item("unroutable_data_count", output.unroutable[0])?;
    totals.set_item("unroutable_control_count", output.unroutable[1])?;
    totals.set_item("peak_rings_bytes", output.rings_bytes)?;
    totals.set_item("threads", output.threads)?;
    Ok(totals)
}
