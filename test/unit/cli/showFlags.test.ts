import { describe, expect, it } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { memoryReaders } from "./memoryReaders.ts";

const run = (...argv: readonly string[]) => runProgram(argv, { version: "1.2.3", readers: memoryReaders({}) });
const HERE = { namespace: "default", pod: "web", server: "http://127.0.0.1:10255", format: "text" };

describe.each(["explain", "volumes"])("rxlet %s", (command) => {
  it.each([
    [["web"], {}],
    [["web", "-n", "demo"], { namespace: "demo" }],
    [["--namespace=demo", "web"], { namespace: "demo" }],
    [["demo/web"], { namespace: "demo" }],
    [["web", "--port", "1234"], { server: "http://127.0.0.1:1234" }],
    [["web", "--server", "http://node:10255/"], { server: "http://node:10255" }],
    [["web", "-o", "json"], { format: "json" }],
  ])("reads %j", async (argv, more) => {
    expect(await run(command, ...argv)).toEqual({ command, ...HERE, ...more });
  });

  it.each([
    [["a/b/c"], ['"a/b/c" is no name of a pod']],
    [["web", "other"], ['unexpected argument "other"']],
    [
      ["web", "--port=0", "--output=xml"],
      ["--port: must be between 1 and 65535, got 0", "--output: must be text or json, got xml"],
    ],
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
