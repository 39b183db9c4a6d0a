import type { Page } from "playwright-core";

/** A page, or a state of one, that has to be right in every theme and width. */
export type Look = { name: string; path: string; ready: (page: Page) => Promise<unknown> };

/** What every new page adds a line to. `{call}` is a run that succeeded, `{pending}` one that waits for a person. */
export const looks: Look[] = [
  { name: "library", path: "/", ready: (page) => page.getByRole("link", { name: "ROI calculator" }).waitFor() },
  { name: "library, nothing found", path: "/?q=zzzzzz", ready: (page) => page.getByText("No tool fits").waitFor() },
  { name: "tool", path: "/tools/core__calculate_roi", ready: (page) => page.getByLabel("Initial cost").waitFor() },
  { name: "tool with result", path: "/tools/core__calculate_roi?call={call}", ready: (page) => page.getByRole("figure").first().waitFor() },
  { name: "tool that waits", path: "/tools/fixture__always_ask?call={pending}", ready: (page) => page.getByText("to decide before it runs").waitFor() },
  { name: "tool that is not there", path: "/tools/core__nothing", ready: (page) => page.getByText("This tool can't be shown").waitFor() },
  { name: "history", path: "/tools/core__calculate_roi?tab=history", ready: (page) => page.getByRole("table", { name: "Runs" }).waitFor() },
  { name: "schema", path: "/tools/core__calculate_roi?tab=schema", ready: (page) => page.getByRole("region", { name: "Input schema" }).waitFor() },
  { name: "access", path: "/tools/core__calculate_roi?tab=access", ready: (page) => page.getByText("decided by").waitFor() },
  { name: "usage", path: "/tools/core__calculate_roi?tab=usage", ready: (page) => page.getByText("Runs in 30 days").waitFor() },
  { name: "runs", path: "/runs", ready: (page) => page.getByRole("table", { name: "Runs" }).waitFor() },
  { name: "runs, none", path: "/runs?status=expired", ready: (page) => page.getByText("No runs here").waitFor() },
  { name: "run drawer", path: "/runs?run={call}", ready: (page) => page.getByRole("region", { name: "Output" }).waitFor() },
  { name: "approvals, none", path: "/approvals", ready: (page) => page.getByText("Nothing waits for you").waitFor() },
  { name: "approvals", path: "/approvals?tab=group", ready: (page) => page.getByRole("link", { name: "Always ask" }).waitFor() },
  { name: "approval drawer", path: "/approvals?id={pending}", ready: (page) => page.getByRole("button", { name: "Approve and run" }).waitFor() },
  { name: "standing grants, none", path: "/grants", ready: (page) => page.getByText("There are no standing grants").waitFor() },
  { name: "organisations, one", path: "/organisations", ready: (page) => page.getByText("You are here").waitFor() },
  { name: "tenant links, none", path: "/tenant-links", ready: (page) => page.getByText("Nobody is linked").waitFor() },
  { name: "tenants, one", path: "/tenants", ready: (page) => page.getByRole("region", { name: "Tenants" }).waitFor() },
  { name: "nowhere", path: "/nowhere", ready: (page) => page.getByText("There is nothing here").waitFor() },
];
