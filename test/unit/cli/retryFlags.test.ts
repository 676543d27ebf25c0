import { describe, expect, it } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { memoryReaders } from "./memoryReaders.ts";

const run = (...argv: readonly string[]) =>
  runProgram(["retry", ...argv], { version: "1.2.3", readers: memoryReaders({}) });
const LOCAL = "https://127.0.0.1:10250";
const HERE = { command: "retry", namespace: "default", pod: "web", target: { kind: "dev", otherwise: LOCAL } };
const NOBODY = { certificateAuthority: "", insecure: false, clientCertificate: "", clientKey: "", tokenFile: "" };
const server = (url: string, access: Partial<typeof NOBODY> = {}) => ({
  target: { kind: "server", url, access: { ...NOBODY, ...access } },
});

describe("rxlet retry", () => {
  it.each([
    [["web"], {}],
    [["demo/web"], { namespace: "demo" }],
    [["web", "-n", "demo", "--server=https://node:10250/"], { namespace: "demo", ...server("https://node:10250") }],
    [["web", "--insecure-skip-tls-verify", "--token-file=/t"], server(LOCAL, { insecure: true, tokenFile: "/t" })],
    [
      ["web", "--certificate-authority=/ca", "--client-certificate=/c", "--client-key=/k"],
      server(LOCAL, { certificateAuthority: "/ca", clientCertificate: "/c", clientKey: "/k" }),
    ],
  ])("reads %j", async (argv, more) => {
    expect(await run(...argv)).toEqual({ ...HERE, ...more });
  });

  it.each([
    [[], ["retry needs the name of a pod: rxlet retry POD"]],
    [["a/b/c"], ['"a/b/c" is not the name of a pod']],
    [["web", "--server=http://node"], ["--server: must be a URL such as https://127.0.0.1:10250, got http://node"]],
    [["web", "--client-key=/k"], ["--client-key: has no effect without --client-certificate"]],
  ])("says what is wrong with %j", async (argv, errors) => {
    expect(await run(...argv)).toEqual({ command: "error", errors });
  });
});
