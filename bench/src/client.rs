//! A load of callers that costs little itself: one connection each, a ready-made request, answers read by length.

use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::process::Server;

/// What a run of callers found.
pub(crate) struct Measured {
    latencies: Vec<Duration>,
    lasted: Duration,
    cpu: Duration,
}

impl Measured {
    pub(crate) fn per_second(&self) -> f64 {
        self.latencies.len() as f64 / self.lasted.as_secs_f64()
    }

    pub(crate) fn percentile(&self, share: f64) -> Duration {
        let place =
            ((self.latencies.len() as f64 * share) as usize).min(self.latencies.len().saturating_sub(1));
        self.latencies.get(place).copied().unwrap_or_default()
    }

    pub(crate) fn cpu_per_call(&self) -> Duration {
        self.cpu / u32::try_from(self.latencies.len().max(1)).unwrap_or(u32::MAX)
    }
}

/// Calls the pure tool over REST for `lasting` after a short warm-up.
pub(crate) async fn run(server: &Server, callers: usize, lasting: Duration) -> anyhow::Result<Measured> {
    send(server, &server.request(), callers, lasting).await
}

/// Sends one request over and over for `lasting` after a short warm-up.
pub(crate) async fn send(
    server: &Server,
    request: &[u8],
    callers: usize,
    lasting: Duration,
) -> anyhow::Result<Measured> {
    call_for(server, request, callers, Duration::from_millis(500)).await?;
    let (cpu, began) = (server.cpu()?, Instant::now());
    let mut latencies = call_for(server, request, callers, lasting).await?;
    let (lasted, cpu) = (began.elapsed(), server.cpu()?.saturating_sub(cpu));
    latencies.sort_unstable();
    Ok(Measured { latencies, lasted, cpu })
}

/// Sends one request and gives the answer's body.
pub(crate) async fn once(server: &Server, request: &[u8]) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(&server.address).await?;
    let mut buffer = vec![0u8; 16 * 1024];
    stream.write_all(request).await?;
    let body = read_answer(&mut stream, &mut buffer).await?;
    Ok(String::from_utf8(buffer[body].to_vec())?)
}

async fn call_for(
    server: &Server,
    request: &[u8],
    callers: usize,
    lasting: Duration,
) -> anyhow::Result<Vec<Duration>> {
    let until = Instant::now() + lasting;
    let callers: Vec<_> = (0..callers)
        .map(|_| tokio::spawn(call_on(server.address.clone(), request.to_vec(), until)))
        .collect();
    let mut latencies = Vec::new();
    for caller in callers {
        latencies.extend(caller.await??);
    }
    Ok(latencies)
}

async fn call_on(address: String, request: Vec<u8>, until: Instant) -> anyhow::Result<Vec<Duration>> {
    let mut stream = TcpStream::connect(&address).await?;
    stream.set_nodelay(true)?;
    let (mut buffer, mut latencies) = (vec![0u8; 16 * 1024], Vec::with_capacity(16 * 1024));
    while Instant::now() < until {
        let began = Instant::now();
        stream.write_all(&request).await?;
        read_answer(&mut stream, &mut buffer).await?;
        latencies.push(began.elapsed());
    }
    Ok(latencies)
}

/// Reads one answer, and tells where its body is.
async fn read_answer(stream: &mut TcpStream, buffer: &mut [u8]) -> anyhow::Result<Range<usize>> {
    let mut filled = 0;
    loop {
        let read = stream.read(&mut buffer[filled..]).await?;
        if read == 0 {
            bail!("the server hung up");
        }
        filled += read;
        let text = &buffer[..filled];
        let Some(end) = text.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        if !text.starts_with(b"HTTP/1.1 200") {
            bail!("an unexpected answer: {}", String::from_utf8_lossy(text));
        }
        let headers = std::str::from_utf8(&text[..end])?.to_ascii_lowercase();
        let length = headers.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let length: usize = length.context("no length")?.trim().parse()?;
        if filled >= end + 4 + length {
            return Ok(end + 4..end + 4 + length);
        }
    }
}
