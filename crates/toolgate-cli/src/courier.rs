//! Messages on their way out, by the client that everything leaving the house goes through.

use std::time::Duration;

use anyhow::Context;
use async_trait::async_trait;
use toolgate_core::port::courier::{Courier, Parcel, Receipt, Undelivered};
use toolgate_egress::{EgressClient, EgressPolicy, Url, header};

/// Carries messages to the addresses the operator named, and nowhere else that is not public.
#[derive(Debug)]
pub(crate) struct EgressCourier(EgressClient);

impl EgressCourier {
    /// A courier to these addresses. What the operator named is allowed, be it in the house.
    pub(crate) fn to<'a>(urls: impl Iterator<Item = &'a str>) -> anyhow::Result<Self> {
        let mut policy = EgressPolicy::default();
        for url in urls {
            let url = Url::parse(url).context("a channel's address is not one")?;
            let (host, port) =
                (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(443));
            let allowed = format!("{host}:{port}").parse();
            policy.allow.push(allowed.map_err(|_| anyhow::anyhow!("a channel's address is not one"))?);
        }
        Ok(Self(EgressClient::new(policy)?))
    }
}

#[async_trait]
impl Courier for EgressCourier {
    async fn carry(&self, parcel: Parcel) -> Result<Receipt, Undelivered> {
        let undelivered = |why: &str| Undelivered(why.to_owned());
        let url = Url::parse(&parcel.url).map_err(|_| undelivered("the address is not one"))?;
        self.0.check_url(&url).map_err(|_| undelivered("the address may not be called"))?;
        // The client follows no redirect by itself.
        let mut request = self.0.http().post(url).timeout(parcel.within).body(parcel.body);
        for (name, value) in parcel.headers {
            request = request.header(name, value);
        }
        let answer = request.send().await.map_err(|cause| {
            undelivered(if cause.is_timeout() {
                "no answer came in time"
            } else if cause.is_connect() {
                "no connection could be made"
            } else {
                "the exchange broke off"
            })
        })?;
        // What else it says does not matter, so it is not read: a large answer costs nothing.
        let retry_after = answer.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = retry_after.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        Ok(Receipt { status: answer.status().as_u16(), retry_after })
    }
}
