/** The daemon's log in two streams, through a buffer, and with more lines of single files. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { waitFor } from "../support/waitFor.ts";
import { startRuntime, temporaryDir } from "./embeddedRuntimeSetup.ts";

interface Started {
  readonly daemon: Daemon;
  /** Lines of standard output, and those of standard error. */
  readonly lines: () => Promise<{ readonly output: readonly string[]; readonly errors: readonly string[] }>;
}

async function start(logging: Readonly<Record<string, unknown>>, args: readonly string[] = []): Promise<Started> {
  const folder = temporaryDir();
  const { socketPath } = await startRuntime(folder);
  const outputFile = join(folder, "output.log");
  const featureGates = { LoggingAlphaOptions: true };
  const config = { logging, featureGates };
  const daemon = await startDaemon({ folder, endpoint: `unix://${socketPath}`, config, args, outputFile });
  onTestFinished(() => daemon.kill());
  const linesOf = async (text: Promise<string>) => (await text).split("\n").filter((line) => line !== "");
  return {
    daemon,
    lines: async () => ({ output: await linesOf(readFile(outputFile, "utf8")), errors: await linesOf(daemon.log()) }),
  };
}

const STARTING = /"Starting kubelet"/;

describe("split streams", () => {
  it("have text that begins with I on standard output, and the rest on standard error", async () => {
    // A deprecated flag is a warning.
    const { lines } = await start({ format: "text", options: { text: { splitStream: true } } }, ["--max-pods=7"]);
    const { output, errors } = await lines();
    expect([output.some((line) => STARTING.test(line)), output.filter((line) => !line.startsWith("I"))]).toEqual([
      true,
      [],
    ]);
    expect([
      errors.some((line) => /deprecated flags/.test(line)),
      errors.filter((line) => line.startsWith("I")),
    ]).toEqual([true, []]);
  });

  it("write a buffer at intervals", async () => {
    const { lines } = await start({
      ...{ format: "json", flushFrequency: "100ms" },
      options: { json: { splitStream: true, infoBufferSize: "16Mi" } },
    });
    await waitFor("the buffer to be written", async () => (await lines()).output.some((line) => STARTING.test(line)));
    expect((await lines()).errors.filter((line) => STARTING.test(line))).toEqual([]);
  });

  it("write a buffer when the daemon is stopped", async () => {
    const { daemon, lines } = await start({
      ...{ format: "json", flushFrequency: "1h" },
      options: { json: { splitStream: true, infoBufferSize: "16Mi" } },
    });
    expect((await lines()).output).toEqual([]);
    await daemon.kill("SIGTERM");
    expect((await lines()).output.some((line) => STARTING.test(line))).toBe(true);
  });
});

it("vmodule writes the lines of its files alone, with their place", async () => {
  const { lines } = await start({ format: "text", vmodule: [{ filePattern: "cri[M-N]etric?", verbosity: 5 }] });
  const found = await waitFor("a request to the runtime", async () =>
    (await lines()).errors.find((line) => line.includes('"Runtime called"')),
  );
  expect(found).toMatch(/^I\d{4} \S+ +\d+ criMetrics\] "Runtime called" method=/);
  const places = (await lines()).errors.flatMap((line) => /^I\S+ \S+ +\d+ (\w+)\]/.exec(line)?.[1] ?? []);
  expect([...new Set(places)].filter((place) => !["criMetrics", "rxlet", "events"].includes(place))).toEqual([]);
});
