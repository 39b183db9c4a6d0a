//! Logs, traces and metrics.

use std::io::IsTerminal;

use anyhow::Context;
use clap::ValueEnum;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

/// How logs look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// What has to be put away at the end.
#[derive(Debug)]
pub(crate) struct Telemetry {
    /// Renders `/metrics`.
    pub(crate) metrics: PrometheusHandle,
    traces: Option<SdkTracerProvider>,
}

impl Telemetry {
    /// Sends what is left of the traces. Blocks: not to be called on a worker thread.
    pub(crate) fn finish(self) {
        if let Some(traces) = self.traces
            && let Err(cause) = traces.shutdown()
        {
            tracing::warn!(error = %cause, "the last traces were not sent");
        }
    }
}

/// What is logged. The MCP library writes down what servers say, as much of it as they like; only who names it wants that.
fn filter(told: Option<&str>) -> EnvFilter {
    let told = told.filter(|told| EnvFilter::try_new(told).is_ok()).unwrap_or("info");
    match told.contains("rmcp") {
        true => EnvFilter::new(told),
        false => EnvFilter::new(format!("{told},rmcp=off")),
    }
}

/// Logs to stderr, metrics to `/metrics`, and traces to the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names, if any.
pub(crate) fn start(format: LogFormat) -> anyhow::Result<Telemetry> {
    let told = std::env::var("TOOLGATE_LOG").ok();
    let logs = match format {
        LogFormat::Text => tracing_subscriber::fmt::layer()
            .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
            .with_writer(std::io::stderr)
            .boxed(),
        LogFormat::Json => {
            tracing_subscriber::fmt::layer().json().flatten_event(true).with_writer(std::io::stderr).boxed()
        }
    };
    let traces = traces()?;
    let spans = traces.as_ref().map(|provider| {
        tracing_opentelemetry::layer().with_tracer(provider.tracer("toolgate")).with_filter(filter(None))
    });
    tracing_subscriber::registry().with(spans).with(logs.with_filter(filter(told.as_deref()))).init();
    Ok(Telemetry { metrics: metrics()?, traces })
}

fn traces() -> anyhow::Result<Option<SdkTracerProvider>> {
    let named = |name| std::env::var(name).is_ok_and(|value: String| !value.is_empty());
    if !named("OTEL_EXPORTER_OTLP_ENDPOINT") && !named("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
        return Ok(None);
    }
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .build()
        .context("traces can't be sent to the collector named in the environment")?;
    let resource = Resource::builder().with_service_name("toolgate").build();
    Ok(Some(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build()))
}

fn metrics() -> anyhow::Result<PrometheusHandle> {
    let seconds =
        [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.25, 1.0, 5.0, 30.0];
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &seconds)
        .context("metric buckets")?
        .install_recorder()
        .context("metrics")?;
    metrics::describe_counter!("toolgate_calls_total", "Calls, by tool and how they ended.");
    metrics::describe_histogram!("toolgate_gate_seconds", "Time a call spent in the gate itself.");
    metrics::describe_histogram!("toolgate_tool_seconds", "Time a call spent in its tool.");
    Ok(handle)
}
