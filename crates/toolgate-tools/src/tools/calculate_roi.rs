//! Return on an investment.
//!
//! Money is in one currency of the caller's choice. The initial cost is paid at once (year 0); each year's benefit and
//! running cost fall at the end of that year.
//!
//! - cash flow: `c[0] = -initial_cost`, `c[t] = benefit[t] - running_cost[t]`
//! - present value: `c[t] / (1 + r)^t`, with `r = discount_rate_percent / 100`; NPV is their sum
//! - ROI: `(benefits - costs) / costs`, over all years, not discounted; null when nothing is spent
//! - payback: the first moment when the running total of the cash flows is no longer negative, even within a year,
//!   as if the year's flow came evenly; null when the years end before. Discounted payback: the same over the present
//!   values. 0 when there is no initial cost
//! - IRR: the rate from -99 % to 1,000 % at which NPV is zero, by bisection; null outside that range, and when the flows
//!   don't turn just once from cost to gain (then there is no such rate, or there are several)
//!
//! Rounding, at the very end: money and percent 2 decimals, years 2, discount factors 6.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::contract::SectionKind;
use toolgate_native::{NativeTool, Promise, Tool, ToolContext, ToolFailure};

use crate::number::{counted, readable, round, whole};
use crate::section::{columns, figures, lines};

pub(crate) fn tool() -> NativeTool {
    NativeTool::of(CalculateRoi)
}

/// An investment and what it brings. All amounts in one currency.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = example())]
struct Input {
    /// What is paid at the start.
    #[schemars(range(min = 0.0, max = 1e12))]
    initial_cost: f64,
    /// What each year brings and costs, from year 1 on.
    #[schemars(length(min = 1, max = 50))]
    years: Vec<Year>,
    /// How many years to look at. The last year listed repeats until then; fewer than listed changes nothing.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(range(min = 0, max = 50))]
    horizon_years: u32,
    /// The yearly return that money would bring elsewhere, in percent.
    #[serde(default = "usual_rate")]
    #[schemars(range(min = 0.0, max = 100.0))]
    discount_rate_percent: f64,
}

/// One year.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Year {
    /// What the year brings: money earned or saved.
    #[schemars(range(min = 0.0, max = 1e12))]
    benefit: f64,
    /// What the year costs: licences, operation, support.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1e12))]
    running_cost: f64,
}

fn usual_rate() -> f64 {
    10.0
}

fn example() -> Value {
    json!({
        "initial_cost": 100_000,
        "years": [{ "benefit": 40_000, "running_cost": 10_000 }, { "benefit": 60_000, "running_cost": 10_000 }],
        "horizon_years": 4,
        "discount_rate_percent": 8
    })
}

/// What the investment is worth.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The figures to decide by.
    summary: Summary,
    /// Year by year, from year 0, the start.
    years: Vec<Row>,
}

/// The figures to decide by.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Summary {
    /// The result in a sentence or two.
    text: String,
    /// Net present value.
    npv: f64,
    /// Net benefit as a share of all costs, in percent; null when nothing is spent.
    roi_percent: Option<f64>,
    /// Years until the money is back; null when that is never within the years looked at.
    payback_years: Option<f64>,
    /// The same, counting later money for less.
    discounted_payback_years: Option<f64>,
    /// The yearly return of the investment itself, in percent; null when there is none or more than one.
    irr_percent: Option<f64>,
    /// All benefits.
    total_benefit: f64,
    /// All costs, the initial one too.
    total_cost: f64,
    /// All benefits less all costs.
    net_benefit: f64,
}

/// One year in figures.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Row {
    /// The year; 0 is the start.
    year: u32,
    /// What it brings.
    benefit: f64,
    /// What it costs.
    cost: f64,
    /// Benefit less cost.
    cash_flow: f64,
    /// All cash flows until then.
    cumulative: f64,
    /// What one unit of this year's money is worth today.
    discount_factor: f64,
    /// This year's cash flow in today's money.
    present_value: f64,
    /// All present values until then; in the last year, the NPV.
    cumulative_present_value: f64,
}

struct CalculateRoi;

impl Tool for CalculateRoi {
    type Input = Input;
    type Output = Output;

    fn promise() -> Promise {
        Promise::read("core__calculate_roi", "ROI calculator")
            .describe(
                "Works out net present value, payback (plain and discounted), ROI and internal rate of return of one \
                 investment, year by year. Use it when someone has, or can estimate, an initial cost and yearly \
                 benefits, and asks whether it is worth it. Don't do this arithmetic yourself. Don't use it to compare \
                 things without money values (core__quick_score) or before the benefit is known: work out saved hours \
                 and their value first with core__calculate_time_savings. For equal years give one year and \
                 `horizon_years`. Ask for the discount rate if the person's organisation has one; say so when you \
                 used the default of 10 %.",
            )
            .category("analysis", "calculator")
            .shows(&["summary", "years"])
            .section_with(
                "summary",
                "Summary",
                SectionKind::Summary,
                figures(&[
                    ("npv", "Net present value", "money"),
                    ("roi_percent", "ROI", "percent"),
                    ("payback_years", "Payback in years", "number"),
                    ("irr_percent", "Internal rate of return", "percent"),
                ]),
            )
            .section_with(
                "years",
                "Money over time",
                SectionKind::Chart,
                lines(
                    ("year", "Year"),
                    &[
                        ("cumulative", "Cumulative cash flow", "money"),
                        ("cumulative_present_value", "In today's money", "money"),
                    ],
                ),
            )
            .section_with(
                "years",
                "Year by year",
                SectionKind::Table,
                columns(&[
                    ("year", "Year", "integer"),
                    ("benefit", "Benefit", "money"),
                    ("cost", "Cost", "money"),
                    ("cash_flow", "Cash flow", "money"),
                    ("cumulative", "Cumulative", "money"),
                    ("present_value", "Present value", "money"),
                    ("cumulative_present_value", "Cumulative present value", "money"),
                ]),
            )
    }

    async fn run(&self, input: Input, _context: &ToolContext) -> Result<Output, ToolFailure> {
        Ok(calculate(input))
    }
}

fn calculate(input: Input) -> Output {
    let rate = input.discount_rate_percent / 100.0;
    let start = Year { benefit: 0.0, running_cost: input.initial_cost };
    let last = input.years.last().cloned().into_iter().cycle();
    let listed = input.years.len();
    let horizon = listed.max(input.horizon_years as usize);
    let years: Vec<Year> =
        std::iter::once(start).chain(input.years.into_iter().chain(last).take(horizon)).collect();

    let flows: Vec<f64> = years.iter().map(|year| year.benefit - year.running_cost).collect();
    let factors: Vec<f64> = (0..).take(flows.len()).map(|year| (1.0 + rate).powi(-year)).collect();
    let values: Vec<f64> = flows.iter().zip(&factors).map(|(flow, factor)| flow * factor).collect();

    let mut rows = Vec::with_capacity(years.len());
    let (mut cumulative, mut cumulative_value) = (0.0, 0.0);
    for (index, year) in years.iter().enumerate() {
        cumulative += flows[index];
        cumulative_value += values[index];
        rows.push(Row {
            year: index as u32,
            benefit: round(year.benefit, 2),
            cost: round(year.running_cost, 2),
            cash_flow: round(flows[index], 2),
            cumulative: round(cumulative, 2),
            discount_factor: round(factors[index], 6),
            present_value: round(values[index], 2),
            cumulative_present_value: round(cumulative_value, 2),
        });
    }

    let total_benefit: f64 = years.iter().map(|year| year.benefit).sum();
    let total_cost: f64 = years.iter().map(|year| year.running_cost).sum();
    let mut summary = Summary {
        text: String::new(),
        npv: round(cumulative_value, 2),
        roi_percent: (total_cost > 0.0).then(|| round((total_benefit - total_cost) / total_cost * 100.0, 2)),
        payback_years: payback(&flows),
        discounted_payback_years: payback(&values),
        irr_percent: internal_rate(&flows),
        total_benefit: round(total_benefit, 2),
        total_cost: round(total_cost, 2),
        net_benefit: round(total_benefit - total_cost, 2),
    };
    summary.text = describe(&summary, horizon, input.discount_rate_percent);
    Output { summary, years: rows }
}

/// When the running total first stops being negative, in years.
fn payback(flows: &[f64]) -> Option<f64> {
    // Sums of decimals miss zero by a hair; a billionth of the largest flow is nobody's money.
    let dust = 1e-9 * flows.iter().fold(0.0, |largest: f64, flow| largest.max(flow.abs()));
    let mut total = 0.0;
    for (year, flow) in flows.iter().enumerate() {
        let missing = -total;
        total += flow;
        if total >= -dust {
            let within = if year == 0 { 0.0 } else { (missing / flow).clamp(0.0, 1.0) };
            return Some(round(year.saturating_sub(1) as f64 + within, 2));
        }
    }
    None
}

/// The rate, in percent, at which the flows are worth nothing today.
fn internal_rate(flows: &[f64]) -> Option<f64> {
    let gains: Vec<bool> = flows.iter().filter(|flow| **flow != 0.0).map(|flow| *flow > 0.0).collect();
    let turns = gains.windows(2).filter(|pair| pair[0] != pair[1]).count();
    if turns != 1 || gains.first() == Some(&true) {
        return None;
    }
    let worth = |rate: f64| {
        flows.iter().zip(0..).map(|(flow, year): (&f64, i32)| flow * (1.0 + rate).powi(-year)).sum::<f64>()
    };
    // With one turn from cost to gain the worth falls through zero just once on the way from low to high.
    let (mut low, mut high) = (-0.99, 10.0);
    if worth(low) < 0.0 || worth(high) > 0.0 {
        return None;
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if worth(middle) > 0.0 { low = middle } else { high = middle }
    }
    Some(round(low * 100.0, 2))
}

fn describe(summary: &Summary, horizon: usize, rate: f64) -> String {
    let verdict = if summary.npv > 0.0 {
        "It earns more than that rate"
    } else if summary.npv < 0.0 {
        "It earns less than that rate"
    } else {
        "It earns just that rate"
    };
    let back = match summary.payback_years {
        Some(years) => format!("the money is back after {} years", readable(years)),
        None => "the money does not come back within that time".to_owned(),
    };
    format!(
        "Net present value {} over {} at {} %. {verdict}; {back}.",
        readable(summary.npv),
        counted(horizon, "year", "years"),
        readable(rate),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_promises;

    fn roi(initial_cost: f64, net: &[f64], rate: f64) -> Output {
        let years =
            net.iter().map(|flow| Year { benefit: flow.max(0.0), running_cost: (-flow).max(0.0) }).collect();
        calculate(Input { initial_cost, years, horizon_years: 0, discount_rate_percent: rate })
    }

    #[test]
    fn an_investment_worked_by_hand() {
        //  year     flow   / 1.1^t      present value    cumulative     cumulative present value
        //  0    -100,000   1            -100,000.00       -100,000      -100,000.00
        //  1      30,000   1.1            27,272.73        -70,000       -72,727.27
        //  2      40,000   1.21           33,057.85        -30,000       -39,669.42
        //  3      50,000   1.331          37,565.74         20,000        -2,103.68
        //  4      20,000   1.4641         13,660.27         40,000        11,556.59
        let output = roi(100_000.0, &[30_000.0, 40_000.0, 50_000.0, 20_000.0], 10.0);
        let summary = &output.summary;
        assert_eq!(summary.npv, 11_556.59);
        // 40,000 / 100,000.
        assert_eq!(summary.roi_percent, Some(40.0));
        // 2 years, then 30,000 of 50,000.
        assert_eq!(summary.payback_years, Some(2.6));
        // 3 years, then 2,103.68 of 13,660.27 = 0.154.
        assert_eq!(summary.discounted_payback_years, Some(3.15));
        let values: Vec<f64> = output.years.iter().map(|row| row.cumulative_present_value).collect();
        assert_eq!(values, [-100_000.0, -72_727.27, -39_669.42, -2_103.68, 11_556.59]);
        assert_eq!(output.years[3].discount_factor, 0.751315);
        assert_eq!(
            summary.text,
            "Net present value 11,556.59 over 4 years at 10 %. It earns more than that rate; the money is back after \
             2.6 years."
        );
    }

    #[test]
    fn running_costs_count_as_costs() {
        let years =
            vec![Year { benefit: 90.0, running_cost: 30.0 }, Year { benefit: 90.0, running_cost: 30.0 }];
        let input = Input { initial_cost: 60.0, years, horizon_years: 0, discount_rate_percent: 0.0 };
        let summary = calculate(input).summary;
        // (180 - 120) / 120.
        assert_eq!(
            (summary.total_benefit, summary.total_cost, summary.roi_percent),
            (180.0, 120.0, Some(50.0))
        );
        assert_eq!((summary.npv, summary.payback_years), (60.0, Some(1.0)));
    }

    #[test]
    fn the_last_year_repeats_until_the_horizon() {
        let years =
            vec![Year { benefit: 10.0, running_cost: 0.0 }, Year { benefit: 50.0, running_cost: 0.0 }];
        let long =
            Input { initial_cost: 100.0, years: years.clone(), horizon_years: 4, discount_rate_percent: 0.0 };
        let benefits: Vec<f64> = calculate(long).years.iter().map(|row| row.benefit).collect();
        assert_eq!(benefits, [0.0, 10.0, 50.0, 50.0, 50.0]);
        let short = Input { initial_cost: 100.0, years, horizon_years: 1, discount_rate_percent: 0.0 };
        assert_eq!(calculate(short).years.len(), 3);
    }

    #[test]
    fn internal_rates_worked_by_hand() {
        let rate = |flows: &[f64]| internal_rate(flows);
        // -100 + 110 / 1.1 = 0.
        assert_eq!(rate(&[-100.0, 110.0]), Some(10.0));
        // -100 + 60 / 1.13066 + 60 / 1.13066^2 = -100 + 53.07 + 46.93.
        assert_eq!(rate(&[-100.0, 60.0, 60.0]), Some(13.07));
        // Half is lost: -100 + 50 / 0.5 = 0.
        assert_eq!(rate(&[-100.0, 50.0]), Some(-50.0));
        // No cost, no gain, two turns (10 % and 20 % both fit), over 1,000 %.
        for flows in [&[0.0, 50.0][..], &[-100.0, 0.0], &[-100.0, 230.0, -132.0], &[-1.0, 100.0]] {
            assert_eq!(rate(flows), None, "{flows:?}");
        }
    }

    #[test]
    fn what_never_pays_back_says_so() {
        let summary = roi(100.0, &[10.0, 10.0], 10.0).summary;
        assert_eq!((summary.payback_years, summary.discounted_payback_years), (None, None));
        assert!(summary.text.ends_with("the money does not come back within that time."));
        // Paid back in plain money at the very end, but not in today's.
        let summary = roi(100.0, &[50.0, 50.0], 10.0).summary;
        assert_eq!((summary.payback_years, summary.discounted_payback_years), (Some(2.0), None));
        // 0.1 three times is not 0.3 to a computer.
        assert_eq!(roi(0.3, &[0.1, 0.1, 0.1], 0.0).summary.payback_years, Some(3.0));
    }

    #[test]
    fn nothing_spent_has_no_roi() {
        let summary = roi(0.0, &[10.0], 10.0).summary;
        assert_eq!((summary.roi_percent, summary.irr_percent), (None, None));
        assert_eq!(summary.payback_years, Some(0.0));
    }

    #[test]
    fn whatever_the_schema_takes_is_answered() {
        check_promises(tool(), |input: Input| Ok(calculate(input)));
    }
}
