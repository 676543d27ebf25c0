import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSimThreads } from "../../src/commands/simThreads.ts";
import { simulateDealt, simulateSeed, type SimulateOptions, type SimProgress } from "../../src/sim/simulateSeed.ts";
import { restlessKubelet } from "../support/brokenKubelets.ts";
import { lineOf, simulated } from "../support/simulateCommand.ts";
import { temporaryDirectory } from "../support/temporaryDirectory.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const RESTLESS = {
  createKubelet: restlessKubelet,
  threadProgram: new URL("../support/restlessThread.ts", import.meta.url),
};
/** Two nodes fail in the turn from 10 to 20 minutes: the second, and before it, on another thread, the third. */
const FAILING = { seed: "35", pods: 2, nodes: 3 };

/** A run and how far it was said to be, meanwhile. */
async function reported<Result>(options: SimulateOptions, run: (options: SimulateOptions) => Result | Promise<Result>) {
  const progress: SimProgress[] = [];
  const result = await run({ ...options, onProgress: (state) => progress.push(state) });
  return { result, progress };
}

describe("createSimThreads", () => {
  it("gives consecutive fleets the same run and progress as a single thread", async () => {
    const threads = createSimThreads(2);
    onTestFinished(() => threads.close());
    for (const seed of ["one", "other"]) {
      const options = { seed, pods: 1, durationMs: 21 * 60_000, nodes: 3 };
      const alone = await reported(options, simulateSeed);
      expect(await reported(options, (each) => simulateDealt(each, threads))).toEqual(alone);
      expect([alone.result.outcome, alone.progress.length > 2]).toEqual(["ok", true]);
    }
  });

  it("reports the failed node with the lowest number, not the earliest failure", async () => {
    const threads = createSimThreads(2, RESTLESS.threadProgram);
    onTestFinished(() => threads.close());
    const options = { ...FAILING, createKubelet: restlessKubelet };
    const alone = await reported(options, simulateSeed);
    expect(await reported(options, (each) => simulateDealt(each, threads))).toEqual(alone);
    const { outcome, seed, violations } = alone.result;
    expect([outcome, seed, violations[0]?.atMs]).toEqual(["crash", "35/1", expect.closeTo(1_024_797.7, 0)]);
  });
});

describe("rxlet simulate --threads", () => {
  const directory = temporaryDirectory();

  it.each([
    ["that goes well", 0, "3", "11m", undefined],
    ["that fails, shrunk", 4, "35/1", "30m", RESTLESS],
  ])("prints the same for a fleet %s on one thread and on two", async (_, code, seed, duration, other) => {
    const { nodes, pods } = FAILING;
    const args = [`--nodes=${nodes}`, `--pods=${pods}`, `--duration=${duration}`, "--shrink=20"];
    const onThreads = async (threads: number) => {
      const replay = `${directory()}/${threads}.json`;
      const options = [...args, `--seed=${seed.split("/")[0]}`, `--threads=${threads}`, `--save-replay=${replay}`];
      const said = await simulated(options, other);
      const text = said.text.replaceAll(replay, "FILE").replaceAll(/\d+ times real time/g, "");
      return { ...said, text, replay: code === 0 ? "" : readFileSync(replay, "utf8") };
    };
    const alone = await onThreads(1);
    expect(await onThreads(2)).toEqual(alone);
    expect([alone.code, lineOf(alone.text, "seed  ")]).toEqual([code, seed]);
  });

  it("ends with the error of a thread that threw or exited", async () => {
    const endings = ['throw new Error("no more")', "process.exit(3)"].map(async (program) => {
      const threadProgram = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
      return simulated(["--nodes=2", "--threads=2"], { createKubelet: restlessKubelet, threadProgram });
    });
    expect(await Promise.all(endings)).toEqual([
      { error: "a thread of simulated nodes is gone: no more", text: "" },
      { error: "a thread of simulated nodes is gone: it ended with code 3", text: "" },
    ]);
  });

  it("traces all nodes of a fleet", async () => {
    const path = `${directory()}/trace.json`;
    await simulated(["--nodes=2", "--threads=2", "--pods=1", "--duration=1m", `--trace=${path}`]);
    const { traceEvents } = JSON.parse(readFileSync(path, "utf8")) as { readonly traceEvents: { pid: number }[] };
    expect([...new Set(traceEvents.map(({ pid }) => pid))].sort()).toEqual([1, 2]);
  });

  it("ends on a signal while its threads run", async () => {
    const args = [MAIN, "simulate", "--nodes=2", "--threads=2", "--pods=1", "--duration=1m", "--runs=0"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    const ended = once(child, "exit");
    child.kill("SIGINT");
    expect(await ended).toEqual([null, "SIGINT"]);
  });
});
