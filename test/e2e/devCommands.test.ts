/** The commands of rxlet that reach into pods, against a running `rxlet dev`. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitFor } from "../support/waitFor.ts";
import { createDevUser, type DevNode, type DevUser, finished } from "./devNode.ts";
import { manifest, script, UNTIL_TERM } from "./manifests.ts";

const HOST = { image: "rxlet.dev/host" };
const TICKS = "n=0; while :; do echo tick $n; n=$((n+1)); sleep 0.2; done";

describe("commands beside rxlet dev", () => {
  let user: DevUser;
  let dev: DevNode;

  beforeAll(async () => {
    user = await createDevUser();
    const env = [{ name: "GREETING", value: "hello" }];
    dev = await user.start("pods", {
      "web.json": manifest("web", {
        containers: [
          // The two pipes have no order but that of their readers: the second line comes when the first one is surely read.
          script("main", `echo first; sleep 1; echo second >&2; ${UNTIL_TERM}`, { ...HOST, env }),
          script("side", UNTIL_TERM, HOST),
        ],
      }),
      "ticker.json": manifest("ticker", { containers: [script("main", TICKS, HOST)] }),
    });
    for (const name of ["web", "ticker"]) await dev.until(name, "Running", ({ status }) => status?.phase === "Running");
    const isWritten = async () => (await user.run(["logs", "web-laptop"])).out.includes("second");
    await waitFor("both lines of the log", isWritten);
  });
  afterAll(() => user.close());

  const listening = (child: ChildProcess): (() => string) => {
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (part: Buffer) => (said += String(part)));
    return () => said;
  };
  const interrupted = async (child: ChildProcess): Promise<unknown> => {
    const exit = once(child, "exit");
    child.kill("SIGINT");
    return (await exit)[0];
  };
  const DEFAULTED = 'Defaulted container "main" out of: main, side\n';

  it("lists pods", async () => {
    const { out, code } = await user.run(["get", "pods", "-A"]);
    expect([out.split("\n").map((line) => line.replaceAll(/ +/g, " ")), code]).toEqual([
      [
        "NAMESPACE NAME READY STATUS RESTARTS AGE",
        expect.stringMatching(/^default ticker-laptop 1\/1 Running 0 \d+s$/),
        expect.stringMatching(/^default web-laptop 2\/2 Running 0 \d+s$/),
        "",
      ],
      0,
    ]);
    const one = JSON.parse((await user.run(["get", "pod/web-laptop", "-o", "json"])).out) as { readonly kind: string };
    expect(one).toMatchObject({ kind: "Pod", metadata: { name: "web-laptop" }, status: { phase: "Running" } });
    expect(await user.run(["get", "pods", "-n", "empty"])).toEqual({
      out: "",
      err: "No resources found in empty namespace.\n",
      code: 0,
    });
  });

  it("watches pods", async () => {
    const watch = user.spawn(["get", "pods", "-w"]);
    const said = listening(watch);
    await waitFor("the list", () => said().includes("web-laptop"));
    await dev.put("late.json", manifest("late", { containers: [script("main", UNTIL_TERM, HOST)] }));
    await waitFor("the watch to show it running", () => /late-laptop +1\/1 +Running/.test(said()));
    expect(said().match(/NAME/g)).toHaveLength(1);
    await rm(join(dev.manifests, "late.json"));
    expect(await interrupted(watch)).toBe(0);
  });

  it("prints a log, of one stream after the other", async () => {
    expect(await user.run(["logs", "web-laptop"])).toEqual({ out: "first\nsecond\n", err: DEFAULTED, code: 0 });
    expect(await user.run(["logs", "web-laptop", "main", "--tail=1", "--timestamps"])).toEqual({
      out: expect.stringMatching(/^\d{4}-\d\d-\d\dT\S+Z second\n$/),
      err: "",
      code: 0,
    });
  });

  it("follows a log until it is interrupted", async () => {
    const logs = user.spawn(["logs", "-f", "ticker-laptop", "--tail=1"]);
    const said = listening(logs);
    await waitFor("three lines", () => said().split("\n").length > 3);
    expect(await interrupted(logs)).toBe(0);
    expect(said()).toMatch(/^tick \d+\n/);
  });

  it("ends when nobody reads what it follows", async () => {
    const { TMPDIR, XDG_RUNTIME_DIR } = user.env;
    const command = `"$@" logs -f web-laptop -c main | head -1`;
    const shell = spawn("sh", ["-c", command, "sh", process.execPath, ...user.main], {
      env: { ...process.env, TMPDIR, XDG_RUNTIME_DIR, KUBECONFIG: "" },
      stdio: ["pipe", "pipe", "pipe"],
    });
    expect(await finished(shell)).toEqual({ out: "first\n", err: "", code: 0 });
  });

  it.each([
    [["logs", "web"], 'rxlet: no pod "default/web" on this node; did you mean default/web-laptop?\n'],
    [["exec", "nope", "--", "ls"], expect.stringMatching(/^rxlet: no pod "default\/nope" on this node; its pods are /)],
    [["logs", "web-laptop", "x"], "rxlet: container x not found in pod web-laptop; it has main, side\n"],
    [["logs", "web-laptop", "main", "-p"], expect.stringContaining("previous terminated container")],
    [
      ["exec", "web-laptop", "-c", "main", "--", "no-such-program"],
      expect.stringContaining("executable file not found"),
    ],
  ])("says what is wrong with %j", async (args, err) => {
    expect(await user.run(args)).toEqual({ out: "", err, code: 1 });
  });

  it("says why a pod was rejected", async () => {
    await dev.put("typo.json", manifest("typo", { containers: [{ name: "Bad Name", image: "i" }] }));
    const { err } = await waitFor("the refusal", async () => {
      const run = await user.run(["logs", "typo-laptop"]);
      return run.err.includes("was rejected") && run;
    });
    expect(err).toContain("typo.json");
    await rm(join(dev.manifests, "typo.json"));
  });

  it("execs with environment, input, both outputs and exit code", async () => {
    const command = ["sh", "-c", "read x; echo $GREETING $x; echo err >&2; exit 3"];
    expect(await user.run(["exec", "-i", "web-laptop", "-c", "main", "--", ...command], "you\n")).toEqual({
      out: "hello you\n",
      err: "err\ncommand terminated with exit code 3\n",
      code: 3,
    });
  });

  it("copies bytes in to their end and out as they are", async () => {
    const bytes = randomBytes(2_000_000).toString("base64");
    const { out, code } = await user.run(["exec", "-i", "web-laptop", "-c", "main", "--", "cat"], bytes);
    expect([out === bytes, code]).toEqual([true, 0]);
  });

  it("attaches", async () => {
    const attach = user.spawn(["attach", "ticker-laptop"]);
    const said = listening(attach);
    await waitFor("output", () => /^tick \d+\n/.test(said()));
    await interrupted(attach);
  });

  it("forwards ports", async () => {
    const http = createServer((request, answer) => answer.end(`hello ${request.url}`));
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    const { port } = http.address() as AddressInfo;
    const forward = user.spawn(["port-forward", "web-laptop", `:${port}`]);
    const said = listening(forward);
    const local = await waitFor("it to listen", () => /from 127\.0\.0\.1:(\d+) -> /.exec(said())?.[1]);
    const paths = Array.from({ length: 20 }, (_, index) => `/${index}`);
    const get = async (path: string) => (await fetch(`http://127.0.0.1:${local}${path}`)).text();
    expect(await Promise.all(paths.map(get))).toEqual(paths.map((path) => `hello ${path}`));
    expect(said()).toContain(`Handling connection for ${local}\n`);
    expect(await interrupted(forward)).toBe(0);
    http.close();
    http.closeAllConnections();
  });

  it("ends with the node", async () => {
    const children = [
      ["logs", "-f", "ticker-laptop"],
      ["attach", "ticker-laptop"],
    ].map((args) => user.spawn(args));
    const texts = children.map(listening);
    await waitFor("both to say something", () => texts.every((said) => said() !== ""));
    const exits = children.map((child) => once(child, "exit"));
    expect(await dev.stop()).toBe(0);
    await Promise.all(exits);
    expect(await user.leftovers()).toEqual([]);
  });
});
