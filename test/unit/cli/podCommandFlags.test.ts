import { describe, expect, it } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { memoryReaders } from "./memoryReaders.ts";

const run = (...argv: readonly string[]) => runProgram(argv, { version: "1.2.3", readers: memoryReaders({}) });
const target = { kind: "dev", otherwise: "https://127.0.0.1:10250" };
const POD = { target, namespace: "default", pod: "web" };
const SERVER = "https://node:10250";
const wrong = (...errors: readonly unknown[]) => ({ command: "error", errors });

describe("rxlet get", () => {
  const all = {
    command: "get",
    target,
    namespace: "default",
    resource: "pods",
    name: undefined,
    watch: false,
    output: "table",
  };

  it.each([
    [["pods"], {}],
    [["po", "-w", "-o", "wide"], { watch: true, output: "wide" }],
    [["pods", "-A", "-ojson"], { namespace: undefined, output: "json" }],
    [["pods", "-Aw"], { namespace: undefined, watch: true }],
    [["pod", "web", "-n", "demo"], { namespace: "demo", name: "web" }],
    [["pod/web"], { name: "web" }],
    [["events"], { resource: "events" }],
    [["pods", "--socket=/run/x.sock"], { target: { kind: "socket", path: "/run/x.sock" } }],
    [["pods", "--dev=x"], { target: { ...target, dir: "x" } }],
  ])("reads %j", async (argv, more) => {
    expect(await run("get", ...argv)).toEqual({ ...all, ...more });
  });

  it.each([
    [[], "usage: rxlet get pods|events [NAME]; there is nothing else to get"],
    [["nodes"], "usage: rxlet get pods|events [NAME]; there is nothing else to get"],
    [["pods", "-o", "xml"], "--output: must be wide, name, json, yaml, got xml"],
    [["pods", "web", "-A"], "--all-namespaces: is of no use with a name"],
    [["pods", "--socket=/s", "--dev=x"], "--dev: has no effect with --socket"],
  ])("refuses %j", async (argv, error) => {
    expect(await run("get", ...argv)).toEqual(wrong(error));
  });
});

describe("rxlet logs", () => {
  const log = { command: "logs", ...POD, container: undefined, query: {} };

  it.each([
    [["web"], {}],
    [["pod/web"], {}],
    [["demo/web"], { namespace: "demo" }],
    [["web", "side"], { container: "side" }],
    [["web", "-c", "side", "-f"], { container: "side", query: { follow: "true" } }],
    [["web", "-fp", "--timestamps"], { query: { follow: "true", previous: "true", timestamps: "true" } }],
    [["web", "--tail=0"], { query: { tailLines: "0" } }],
    [["web", "--tail=20", "--limit-bytes=9"], { query: { tailLines: "20", limitBytes: "9" } }],
    [["web", "--since=1m30s"], { query: { sinceSeconds: "90" } }],
    [["web", "--since=100ms"], { query: { sinceSeconds: "1" } }],
    [["web", "--since-time=2026-01-01T00:00:00Z"], { query: { sinceTime: "2026-01-01T00:00:00Z" } }],
  ])("reads %j", async (argv, more) => {
    expect(await run("logs", ...argv)).toEqual({ ...log, ...more });
  });

  it.each([
    [[], ["the name of a pod is missing; usage: rxlet logs POD [CONTAINER]"]],
    [["web", "--tail=-2"], ["--tail: must be -1 or more, got -2"]],
    [["web", "--since=-1s"], ["--since: must not be negative"]],
    [["web", "--limit-bytes=-1"], ["--limit-bytes: must not be negative, got -1"]],
    [["web", "--since=1s", "--since-time=2026-01-01T00:00:00Z"], ["--since: cannot be used with --since-time"]],
    [["web", "--since-time=yesterday"], ["--since-time: must be a time such as 2026-01-31T12:00:00Z, got yesterday"]],
    [["web", "--server=http://node"], [`--server: must be a URL such as ${target.otherwise}, got http://node`]],
  ])("refuses %j", async (argv, errors) => {
    expect(await run("logs", ...argv)).toEqual(wrong(...errors));
  });
});

describe("rxlet exec", () => {
  const exec = { command: "exec", ...POD, container: undefined, stdin: false, tty: false };

  it.each([
    [["web", "--", "ls", "-la", "--help"], { words: ["ls", "-la", "--help"] }],
    [["-it", "web", "--", "sh"], { stdin: true, tty: true, words: ["sh"] }],
    [["-ti", "web", "-c", "side", "--", "sh"], { stdin: true, tty: true, container: "side", words: ["sh"] }],
    [["-i=false", "web", "--", "echo", "--"], { words: ["echo", "--"] }],
  ])("reads %j", async (argv, more) => {
    expect(await run("exec", ...argv)).toEqual({ ...exec, ...more });
  });

  it.each([[["web"]], [["web", "ls"]], [["web", "ls", "--", "ls"]], [["web", "--"]]])("refuses %j", async (argv) => {
    const usage = "usage: rxlet exec POD [-c CONTAINER] -- COMMAND [ARGS...]";
    expect(await run("exec", ...argv)).toEqual(wrong(`the command belongs behind --; ${usage}`));
  });
});

it("reads rxlet attach", async () => {
  const read = await run("attach", "demo/web", "-i", `--server=${SERVER}`, "--token-file=t");
  const access = { certificateAuthority: "", insecure: false, clientCertificate: "", clientKey: "", tokenFile: "t" };
  expect(read).toEqual({
    command: "attach",
    target: { kind: "server", url: SERVER, access },
    namespace: "demo",
    pod: "web",
    container: undefined,
    stdin: true,
    tty: false,
  });
});

describe("rxlet port-forward", () => {
  it("reads ports of both sides", async () => {
    expect(await run("port-forward", "web", "80", "8080:80", ":80", "--address=0.0.0.0")).toEqual({
      command: "port-forward",
      ...POD,
      address: "0.0.0.0",
      ports: [
        { local: 80, remote: 80 },
        { local: 8080, remote: 80 },
        { local: 0, remote: 80 },
      ],
    });
  });

  it.each(["0", "x", "80:", "70000", "1:2:3", "80:70000"])("refuses the port %s", async (port) => {
    expect(await run("port-forward", "web", port)).toEqual(wrong(`"${port}": must be a port, LOCAL:REMOTE or :REMOTE`));
  });

  it("wants one", async () => {
    const usage = "usage: rxlet port-forward POD [LOCAL:]REMOTE...";
    expect(await run("port-forward", "web")).toEqual(wrong(`a port is missing; ${usage}`));
  });
});
