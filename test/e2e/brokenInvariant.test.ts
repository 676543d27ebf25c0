/** Bugs in a running process: a broken invariant ends it with a code of its own wherever it is, all others are survived. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { ContainerState } from "../../src/gen/cri.ts";
import { startDaemon } from "../support/daemon.ts";
import { temporaryDirectory } from "../support/temporaryDirectory.ts";
import { waitFor } from "../support/waitFor.ts";
import { startRuntime } from "./embeddedRuntimeSetup.ts";

const PROGRAM = fileURLToPath(new URL("../support/brokenProgram.ts", import.meta.url));
const DAEMON = fileURLToPath(new URL("../support/brokenDaemon.ts", import.meta.url));
const WAIT_MS = 90_000;

const pod = (name: string, more: object = {}, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: "main", image: "rxlet.dev/host", command: ["sleep", "600"], ...more }],
    ...spec,
  },
});

describe("a broken invariant ends the daemon with 70, and its containers run on, in", () => {
  it.each([
    ["a step of a pod worker", "Container started", pod("breaks")],
    ["a probe", "Probe passed", pod("breaks", { readinessProbe: { exec: { command: ["true"] }, periodSeconds: 1 } })],
    [
      "a volume worker",
      "Cannot set up a volume",
      pod(
        "breaks",
        { volumeMounts: [{ name: "v", mountPath: "/v" }] },
        { volumes: [{ name: "v", hostPath: { path: "/nowhere/at/all", type: "Directory" } }] },
      ),
    ],
  ])("%s", async (_, line, manifest) => {
    const { dir, socketPath, client } = await startRuntime();
    const daemon = await startDaemon({
      folder: join(dir, "node"),
      endpoint: `unix://${socketPath}`,
      main: DAEMON,
      env: { RXLET_BREAKS_AT: line },
    });
    onTestFinished(() => daemon.kill());
    // Where the line is written at the first container, there is none before it.
    if (line !== "Container started") {
      await daemon.put("steady.json", pod("steady"));
      await daemon.until("steady", ({ status }) => status?.phase === "Running", "Running");
    }
    await daemon.put("breaks.json", manifest);
    expect(await waitFor("the daemon to end", () => daemon.exitCode ?? undefined, WAIT_MS)).toBe(70);
    expect(await daemon.log()).toContain(`rxlet: InvariantError: ${line}\n    at invariant`);
    const { containers } = await client.call("listContainers", {});
    expect(containers.map(({ state }) => state)).toContain(ContainerState.CONTAINER_RUNNING);
  });
});

describe("a process", () => {
  const folder = temporaryDirectory();
  const run = async (what: string) => {
    const child = spawn(process.execPath, [PROGRAM, what], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, TMPDIR: folder() },
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let out = "";
    let said = "";
    child.stdout.on("data", (text: Buffer) => (out += text.toString()));
    child.stderr.on("data", (text: Buffer) => (said += text.toString()));
    const [code] = (await once(child, "close")) as [number | null];
    return { code, out, said };
  };

  it.each([
    "a server route",
    "a promise of a sink",
    "a promise whose failure is ignored",
    "a callback of gRPC",
    "a timer",
  ])("ends with 70 when an invariant is broken in %s", async (where) => {
    const { code, said } = await run(where);
    expect([code, said]).toEqual([
      70,
      expect.stringMatching(/^rxlet: InvariantError: broken by the test\n {4}at invariant/m),
    ]);
  });

  it.each([
    ["an exception", "exception", "TypeError: a bug"],
    ["a rejection", "rejection", "SyntaxError: "],
  ])("survives %s that no code handles, logs it with its stack and counts it", async (what, kind, error) => {
    const { code, out, said } = await run(what);
    expect([code, out]).toEqual([0, `rxlet_unhandled_errors_total{kind="${kind}"} 1`]);
    expect(said).toContain(`"An error that no code handles; the kubelet keeps running" kind="${kind}"`);
    expect(said).toContain(`\t${error}`);
    expect(said).toMatch(/^\t {4}at /m);
  });
});
