import { describe, expect, it } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { memoryReaders } from "./memoryReaders.ts";

const run = (...argv: readonly string[]) => runProgram(argv, { version: "1.2.3", readers: memoryReaders({}) });
const NOBODY = { certificateAuthority: "", insecure: false, clientCertificate: "", clientKey: "", tokenFile: "" };
const FOUND = { kind: "dev", otherwise: "http://127.0.0.1:10255" };
const HERE = { namespace: "default", pod: "web", target: FOUND, format: "text" };
const server = (url: string, access: Partial<typeof NOBODY> = {}) => ({
  target: { kind: "server", url, access: { ...NOBODY, ...access } },
});
const SECURE = "https://node:10250";

describe.each(["explain", "volumes"])("rxlet %s", (command) => {
  it.each([
    [["web"], {}],
    [["web", "-n", "demo"], { namespace: "demo" }],
    [["--namespace=demo", "web"], { namespace: "demo" }],
    [["demo/web"], { namespace: "demo" }],
    [["web", "--port", "1234"], server("http://127.0.0.1:1234")],
    [["web", "--server", "http://node:10255/"], server("http://node:10255")],
    [["web", "-o", "json"], { format: "json" }],
    [["web", "--dev", "pods"], { target: { ...FOUND, dir: "pods" } }],
    [["web", "--port=10255"], server("http://127.0.0.1:10255")],
    [["web", "--token-file=t"], server("https://127.0.0.1:10250", { tokenFile: "t" })],
    [["web", `--server=${SECURE}`, "--token-file=t"], server(SECURE, { tokenFile: "t" })],
    [
      ["web", "--server", SECURE, "--client-certificate=c", "--client-key=k", "--insecure-skip-tls-verify"],
      server(SECURE, { clientCertificate: "c", clientKey: "k", insecure: true }),
    ],
  ])("reads %j", async (argv, more) => {
    expect(await run(command, ...argv)).toEqual({ command, ...HERE, ...more });
  });

  it.each([
    [["a/b/c"], ['"a/b/c" is not the name of a pod']],
    [
      ["web", "--port=0", "--output=xml"],
      ["--port: must be between 1 and 65535, got 0", "--output: must be text or json, got xml"],
    ],
    [
      ["web", "--port=10255", "--token-file=t"],
      ["--token-file: has no effect with http://127.0.0.1:10255, give an https --server"],
    ],
    [["web", "--server=http://node:10255", "--dev=pods"], ["--dev: has no effect with a server"]],
    [["web", `--server=${SECURE}`, "--client-key=k"], ["--client-key: has no effect without --client-certificate"]],
    [["web", "--server=node"], ["--server: must be a URL such as http://127.0.0.1:10255, got node"]],
  ])("says what is wrong with %j", async (argv, errors) => {
    expect(await run(command, ...argv)).toEqual({ command: "error", errors });
  });
});

it("explains a pod, but shows the volumes of the whole node too", async () => {
  expect(await run("explain")).toEqual({
    command: "error",
    errors: ["explain needs the name of a pod: rxlet explain POD"],
  });
  const { pod: _pod, ...node } = HERE;
  expect(await run("volumes")).toEqual({ command: "volumes", ...node });
});

it.each(["pressure", "resources"])("shows the %s of the node", async (command) => {
  const { pod: _pod, namespace: _namespace, ...node } = HERE;
  expect(await run(command, "-o", "json")).toEqual({ command, ...node, format: "json" });
  expect(await run(command, "web")).toMatchObject({ command: "error" });
});
