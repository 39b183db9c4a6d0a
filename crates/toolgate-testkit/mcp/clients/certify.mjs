// Runs the protocol's own checks of authorization servers and plays the person at the browser: reads the address the
// checks print, lets the application in, and follows the way back. Takes a plan as JSON and prints what the checks said:
// { suite, url, client_id, resource, port, invite, password }.
import { spawn } from "node:child_process";

const plan = JSON.parse(process.argv[2]);
let cookie = "";
async function visit(path, form) {
  const answer = await fetch(new URL(path, plan.url), {
    method: form ? "POST" : "GET",
    redirect: "manual",
    headers: { cookie, ...(form && { origin: plan.url, "content-type": "application/x-www-form-urlencoded" }) },
    body: form && new URLSearchParams(form).toString(),
  });
  for (const set of answer.headers.getSetCookie()) cookie = set.split(";")[0];
  return answer;
}
async function consent(url) {
  const token = new URL(plan.invite).searchParams.get("token");
  await visit("/invite", { token, title: "Ada", password: plan.password });
  const page = await (await visit(url.pathname + url.search)).text();
  const field = (name) => page.match(new RegExp(`name="${name}" value="([^"]*)"`))[1].replaceAll("&amp;", "&");
  const form = { csrf: field("csrf"), request: field("request"), scope: "tools", decision: "allow" };
  await fetch((await visit("/oauth/authorize", form)).headers.get("location"));
}

const { suite, url, client_id, resource, port } = plan;
const args = [suite, "authorization", "--url", url, "--client-id", client_id, "--resource", resource, "--port", port];
const checks = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
let said = "";
checks.stdout.on("data", (part) => {
  const known = said.includes("Waiting up to");
  said += part;
  if (!known && said.includes("Waiting up to")) consent(new URL(said.match(/^http\S+\/oauth\/authorize\?\S+$/m)[0]));
});
checks.on("close", (code) => {
  console.log(said);
  process.exitCode = code;
});
