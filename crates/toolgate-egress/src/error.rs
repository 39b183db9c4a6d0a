//! Why a request had no usable answer.

/// Why a request had no usable answer. No message or cause holds more of the address than its host.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EgressError {
    /// It is no address that can be called.
    #[error("this is no http or https address without a user name in it")]
    Address,
    /// It leads to a place that is not public.
    #[error("`{host}` is not a public address")]
    Refused {
        /// Its host.
        host: String,
    },
    /// It would go unencrypted.
    #[error("`{host}` may be called by https alone")]
    Insecure {
        /// Its host.
        host: String,
    },
    /// A header can't be sent.
    #[error("a header holds what a header can't hold")]
    Header,
    /// The body can't be written as JSON.
    #[error("the body can't be written as JSON")]
    Body,
    /// There is nobody there.
    #[error("`{host}` can't be reached")]
    Unreachable {
        /// Its host.
        host: String,
        /// The fault underneath.
        #[source]
        cause: Option<reqwest::Error>,
    },
    /// It took too long.
    #[error("`{host}` did not answer in time")]
    Timeout {
        /// Its host.
        host: String,
    },
    /// It sent too much.
    #[error("`{host}` sent more than {most} bytes")]
    TooLarge {
        /// Its host.
        host: String,
        /// How much is read at most.
        most: usize,
    },
    /// It sent the request on, too often or to where it may not go with what it holds.
    #[error("`{host}` sent the request on where it can't follow")]
    Redirect {
        /// Its host.
        host: String,
    },
    /// The exchange broke.
    #[error("the exchange with `{host}` broke")]
    Failed {
        /// Its host.
        host: String,
        /// The fault underneath.
        #[source]
        cause: Option<reqwest::Error>,
    },
    /// There is nothing to know honest servers by.
    #[error("the client for outgoing requests has no certificates to trust")]
    Trust(#[source] rustls::Error),
    /// The client could not be made.
    #[error("the client for outgoing requests could not be made")]
    Client(#[source] reqwest::Error),
}

impl EgressError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Address | Self::Header | Self::Body => "egress.address",
            Self::Refused { .. } => "egress.refused",
            Self::Insecure { .. } => "egress.insecure",
            Self::Unreachable { .. } => "egress.unreachable",
            Self::Timeout { .. } => "egress.timeout",
            Self::TooLarge { .. } => "egress.too_large",
            Self::Redirect { .. } => "egress.redirect",
            Self::Failed { .. } | Self::Trust(_) | Self::Client(_) => "egress.failed",
        }
    }

    /// What would help.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Address | Self::Header | Self::Body => "look at the address and what is sent",
            Self::Refused { .. } => {
                "the operator can name it under `allow` in the `[egress]` part of the config"
            }
            Self::Insecure { .. } => {
                "use https, or have the operator name the host under `allow` in the `[egress]` part of the config"
            }
            Self::Unreachable { .. }
            | Self::Timeout { .. }
            | Self::Failed { .. }
            | Self::Trust(_)
            | Self::Client(_) => "try again later, or look at whether the service is up",
            Self::TooLarge { .. } => "ask for less at once",
            Self::Redirect { .. } => "give the address the service really has",
        }
    }

    /// Whether the same request may work later.
    #[must_use]
    pub const fn passes(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Timeout { .. } | Self::Failed { .. })
    }
}
