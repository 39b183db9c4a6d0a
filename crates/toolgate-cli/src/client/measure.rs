//! How often, how many at once and how dear: what profiles and limits have in common.

use clap::Args;
use toolgate_api::BudgetView;

use super::amount::{budget, parse_budget};

/// The measures.
#[derive(Debug, Args)]
pub(super) struct MeasureArgs {
    /// Calls a minute.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Calls at the same time.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: Option<u32>,
    /// What calls may cost in an hour, a day or a month, such as 12.50/day.
    #[arg(long, value_name = "AMOUNT", value_parser = parse_budget)]
    cost: Option<BudgetView>,
    /// What happens when rate or cost is used up: the call is refused, or a person is asked. [default: stop]
    #[arg(long, value_name = "WHAT", value_parser = ["stop", "ask"])]
    on_overrun: Option<String>,
}

/// The measures of a document to write.
#[derive(Debug)]
pub(super) struct Measures<'a> {
    pub(super) rate: &'a mut Option<u32>,
    pub(super) concurrency: &'a mut Option<u32>,
    pub(super) cost: &'a mut Option<BudgetView>,
    pub(super) on_overrun: &'a mut Option<String>,
}

impl MeasureArgs {
    /// Writes what was given over what the document says.
    pub(super) fn write(self, measures: Measures<'_>) {
        *measures.rate = self.rate.or(*measures.rate);
        *measures.concurrency = self.concurrency.or(*measures.concurrency);
        *measures.cost = self.cost.or_else(|| measures.cost.take());
        *measures.on_overrun = self.on_overrun.or_else(|| measures.on_overrun.take());
    }
}

/// Calls a minute, in words.
pub(super) fn rate(rate: Option<u32>) -> Option<String> {
    rate.map(|calls| format!("{calls}/minute"))
}

/// Money, in words.
pub(super) fn cost(cost: Option<&BudgetView>) -> Option<String> {
    cost.map(budget)
}
