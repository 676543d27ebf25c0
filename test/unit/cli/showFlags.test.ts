import { describe, expect, it } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { memoryReaders } from "./memoryReaders.ts";

const run = (...argv: readonly string[]) =>
  runProgram(["explain", ...argv], { version: "1.2.3", readers: memoryReaders({}) });
const HERE = { command: "explain", namespace: "default", pod: "web", server: "http://127.0.0.1:10255", format: "text" };

describe("rxlet explain", () => {
  it.each([
    [["web"], {}],
    [["web", "-n", "demo"], { namespace: "demo" }],
    [["--namespace=demo", "web"], { namespace: "demo" }],
    [["demo/web"], { namespace: "demo" }],
    [["web", "--port", "1234"], { server: "http://127.0.0.1:1234" }],
    [["web", "--server", "http://node:10255/"], { server: "http://node:10255" }],
    [["web", "-o", "json"], { format: "json" }],
  ])("reads %j", async (argv, more) => {
    expect(await run(...argv)).toEqual({ ...HERE, ...more });
  });

  it.each([
    [[], ["explain needs the name of a pod: rxlet explain POD"]],
    [["a/b/c"], ['"a/b/c" is no name of a pod']],
    [["web", "other"], ['unexpected argument "other"']],
    [
      ["web", "--port=0", "--output=xml"],
      ["--port: must be between 1 and 65535, got 0", "--output: must be text or json, got xml"],
    ],
    [["web", "--server=node"], ["--server: must be a URL such as http://127.0.0.1:10255, got node"]],
  ])("says what is wrong with %j", async (argv, errors) => {
    expect(await run(...argv)).toEqual({ command: "error", errors });
  });
});
