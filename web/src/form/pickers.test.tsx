import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { beforeEach, expect, test, vi } from "vitest";

import { ApiProblem } from "@/api/error";
import { queryClient } from "@/api/queries";

import { ToolForm } from "./tool-form";

type Query = { q?: string; id?: string[]; cursor?: string };
type Asked = { params?: { path?: { type?: string; id?: string }; query?: Query } };

const people = [
  { id: "user:u1", title: "Ada Lovelace" },
  { id: "user:u2", title: "Adam Smith", detail: "economist" },
  { id: "user:u3", title: "<img src=x onerror=alert(1)>\u202Eevil" },
];
const server = vi.hoisted(() => ({ asked: [] as [string, unknown][], broken: false, upload: undefined as unknown }));

vi.mock("@/api/client", () => ({
  api: {
    GET: (path: string, asked: Asked = {}) => {
      server.asked.push([path, asked.params]);
      return answer(path, asked);
    },
  },
  unwrap: async (given: Promise<unknown>) => given,
  readSignIn: async () => ({ csrf_token: "token" }),
  problemOf: (response: Response, body: { error?: { code: string; message: string } }) =>
    new ApiProblem(response.status, body?.error?.code ?? "", body?.error?.message ?? "no"),
}));

async function answer(path: string, { params }: Asked): Promise<unknown> {
  const query = params?.query ?? {};
  if (server.broken) throw new ApiProblem(503, "store_unavailable", "the record can't be reached now");
  switch (path) {
    case "/api/v1/entities":
      return { types: [{ name: "user", title: "people" }] };
    case "/api/v1/entities/{type}":
      return query.id
        ? { items: people.filter((one) => query.id!.includes(one.id)) }
        : { items: people.filter((one) => one.title.toLowerCase().includes((query.q ?? "").toLowerCase())) };
    case "/api/v1/files":
      return { files: [], max_bytes: 1000 };
    case "/api/v1/files/{id}":
      if (params?.path?.id === KEPT) return kept;
      throw new ApiProblem(404, "not_found", "there is no file with this id");
    default:
      throw new Error(path);
  }
}

const KEPT = `fil_${"0".repeat(32)}`;
const kept = { id: KEPT, name: "q3.csv", media_type: "text/csv", size: 1234 };

/** A server that takes files, as far as the browser sees it. */
class FakeRequest {
  static all: FakeRequest[] = [];
  upload: { onprogress?: (event: unknown) => void } = {};
  status = 0;
  responseText = "";
  onload?: () => void;
  onabort?: () => void;
  url = "";
  headers: Record<string, string> = {};
  open(_method: string, url: string) {
    this.url = url;
  }
  setRequestHeader(name: string, value: string) {
    this.headers[name] = value;
  }
  send() {
    FakeRequest.all.push(this);
  }
  abort() {
    this.onabort?.();
  }
  end(status: number, body: unknown) {
    this.status = status;
    this.responseText = JSON.stringify(body);
    this.onload?.();
  }
}

beforeEach(() => {
  queryClient.clear();
  server.asked = [];
  server.broken = false;
  FakeRequest.all = [];
  vi.stubGlobal("XMLHttpRequest", FakeRequest);
});

function show(schema: unknown, first: unknown = {}, disabled = false) {
  const sent = vi.fn();
  function Page() {
    const [value, setValue] = useState<unknown>(first);
    return (
      <ToolForm schema={schema} value={value} onChange={setValue} onSubmit={sent} disabled={disabled}>
        <button type="submit">Run</button>
      </ToolForm>
    );
  }
  const page = render(<Page />);
  return { sent, run: () => userEvent.click(screen.getByRole("button", { name: "Run" })), ...page };
}

const object = (properties: object, required: string[] = []) => ({ type: "object", properties, required });
const person = { type: "string", "x-entity-type": "user" };
const csv = { type: "string", format: "file", "x-accept": ["text/csv"] };

test("a name is looked for, chosen by keyboard, and its id is sent", async () => {
  const { sent, run } = show(object({ owner: { ...person, description: "Who answers for it." } }, ["owner"]));
  const field = screen.getByRole("combobox", { name: "Owner" });
  expect(document.getElementById(field.getAttribute("aria-describedby")!)?.textContent).toBe("Who answers for it.");
  field.focus();
  await userEvent.keyboard("a");
  const search = await screen.findByPlaceholderText("Search by name or id");
  await userEvent.type(search, "dam");
  await waitFor(() => expect(screen.getAllByRole("option")).toHaveLength(1));
  expect(screen.getByRole("option").textContent).toContain("economist");
  await userEvent.keyboard("{Enter}");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(screen.getByRole("combobox", { name: "Owner" }).textContent).toContain("Adam Smith");
  await run();
  expect(sent).toHaveBeenLastCalledWith({ owner: "user:u2" });
  await userEvent.click(screen.getByRole("button", { name: "Clear Owner" }));
  await run();
  expect(screen.getByRole("alert").textContent).toContain("Owner: Fill this in.");
  expect(screen.getByRole("combobox", { name: "Owner" }).getAttribute("aria-invalid")).toBe("true");
});

test("ids that are there already get their names, or are told to be unknown", async () => {
  show(object({ owner: { ...person }, deputy: { ...person } }), { owner: "user:u1", deputy: "user:gone" });
  await waitFor(() => expect(screen.getByRole("combobox", { name: /^Owner/ }).textContent).toContain("Ada Lovelace"));
  await waitFor(() => expect(screen.getByRole("combobox", { name: /^Deputy/ }).textContent).toContain("not found"));
});

test("several are chips that can be taken out", async () => {
  const { sent, run } = show(object({ team: { type: "array", items: person } }), { team: ["user:u1"] });
  await screen.findByRole("button", { name: "Remove Ada Lovelace" });
  await userEvent.click(screen.getByRole("combobox", { name: /^Team/ }));
  await userEvent.click(await screen.findByRole("option", { name: /Adam Smith/ }));
  await userEvent.keyboard("{Escape}");
  await run();
  expect(sent).toHaveBeenLastCalledWith({ team: ["user:u1", "user:u2"] });
  await userEvent.click(screen.getByRole("button", { name: "Remove Ada Lovelace" }));
  expect(document.activeElement).toBe(screen.getByRole("combobox", { name: /^Team/ }));
  await userEvent.keyboard("{Backspace}");
  await run();
  expect(sent).toHaveBeenLastCalledWith({});
});

test("what can't be looked through is plain text", async () => {
  const { sent, run } = show(object({ ship: { type: "string", "x-entity-type": "ship" }, fleet: { type: "array", items: { type: "string", "x-entity-type": "ship" } } }));
  await userEvent.type(await screen.findByRole("textbox", { name: /^Ship/ }), "s1");
  await userEvent.click(screen.getByRole("button", { name: "Add item" }));
  await userEvent.keyboard("s2");
  await run();
  expect(sent).toHaveBeenLastCalledWith({ ship: "s1", fleet: ["s2"] });
});

test("a widget that is named wins, and one that nobody knows breaks nothing", async () => {
  show(object({ note: { ...person, "x-widget": "textarea" }, other: { type: "string", "x-widget": "hologram" } }));
  expect((await screen.findByRole("textbox", { name: /^Note/ })).tagName).toBe("TEXTAREA");
  expect(screen.getByRole("textbox", { name: /^Other/ })).toBeDefined();
});

test("nothing opens while the form is off", async () => {
  show(object({ owner: person, report: csv }), { owner: "user:u1", report: KEPT }, true);
  const field = await screen.findByRole<HTMLButtonElement>("combobox", { name: /^Owner/ });
  expect(field.disabled).toBe(true);
  expect(screen.queryByRole("button", { name: /Clear|Remove/ })).toBeNull();
  expect(await screen.findByRole("link", { name: "q3.csv" })).toBeDefined();
  expect(document.querySelector("input[type=file]")).toBeNull();
});

test("a search that fails says so and can be tried again; hostile names are names", async () => {
  show(object({ owner: person }));
  await screen.findByRole("combobox", { name: /^Owner/ });
  await waitFor(() => expect(server.asked).toHaveLength(1));
  server.broken = true;
  queryClient.setDefaultOptions({ queries: { retry: false } });
  await userEvent.click(screen.getByRole("combobox", { name: /^Owner/ }));
  await screen.findByText("The record can't be reached now.");
  server.broken = false;
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  const evil = await screen.findByRole("option", { name: /<img src=x/ });
  expect(evil.textContent).toContain("‹U+202E›");
  expect(document.querySelector("img")).toBeNull();
});

const aFile = (name: string, size = 5) => new File(["x".repeat(size)], name, { type: "text/csv" });

test("a file is uploaded at once, and only its id is in the data", async () => {
  const { sent, run } = show(object({ report: csv }, ["report"]));
  const input = screen.getByLabelText<HTMLInputElement>("Report");
  expect(input.accept).toBe("text/csv");
  await userEvent.upload(input, aFile("q3 & more.csv"));
  await waitFor(() => expect(FakeRequest.all).toHaveLength(1));
  const [request] = FakeRequest.all;
  expect(request!.url).toBe("/api/v1/files?name=q3+%26+more.csv&accept=text%2Fcsv");
  expect(request!.headers).toEqual({ "content-type": "text/csv", "x-toolgate-csrf": "token" });
  request!.upload.onprogress?.({ lengthComputable: true, loaded: 2, total: 5 });
  await waitFor(() => expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("40"));
  await run();
  expect(sent).not.toHaveBeenCalled();
  request!.end(201, kept);
  expect((await screen.findByRole("link", { name: "q3.csv" })).getAttribute("href")).toBe(`/api/v1/files/${KEPT}/content`);
  await run();
  expect(sent).toHaveBeenLastCalledWith({ report: KEPT });
  await userEvent.click(screen.getByRole("button", { name: "Remove q3.csv" }));
  expect(screen.queryByRole("link", { name: "q3.csv" })).toBeNull();
});

test("what is too large is not sent, what fails can be tried again, what is cancelled is gone", async () => {
  const { sent, run } = show(object({ reports: { type: "array", items: csv } }));
  const input = screen.getByLabelText<HTMLInputElement>(/^Reports/);
  await waitFor(() => expect(screen.getByText(/up to 1,000 bytes/)).toBeDefined());
  await userEvent.upload(input, [aFile("big.csv", 1001), aFile("a.csv"), aFile("b.csv")]);
  await waitFor(() => expect(FakeRequest.all).toHaveLength(2));
  const list = screen.getByRole("list", { name: "Files for Reports" });
  expect(within(list).getByText(/larger than 1,000 bytes/)).toBeDefined();
  FakeRequest.all[0]!.end(429, { error: { code: "rate_limited", message: "too many files at once" } });
  await within(list).findByText(/Too many files at once/);
  await userEvent.click(within(list).getByRole("button", { name: "Cancel b.csv" }));
  expect(within(list).queryByText("b.csv")).toBeNull();
  await userEvent.click(within(list).getByRole("button", { name: "Try a.csv again" }));
  await waitFor(() => expect(FakeRequest.all).toHaveLength(3));
  FakeRequest.all[2]!.end(201, kept);
  await screen.findByRole("link", { name: "q3.csv" });
  await userEvent.click(within(list).getByRole("button", { name: "Remove big.csv" }));
  await run();
  expect(sent).toHaveBeenLastCalledWith({ reports: [KEPT] });
});

test("a file that is gone is said to be, and can be taken out", async () => {
  const gone = `fil_${"f".repeat(32)}`;
  show(object({ report: csv }), { report: gone });
  await screen.findByText("It is not there any more, or not yours to use.");
  await userEvent.click(screen.getByRole("button", { name: `Remove ${gone}` }));
  expect(screen.queryByText(/not there any more/)).toBeNull();
});
