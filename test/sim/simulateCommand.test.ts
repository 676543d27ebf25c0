import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { OtherKubelet } from "../../src/commands/simulate.ts";
import { noFaults } from "../../src/sim/faults/faultKinds.ts";
import { simulateSeed } from "../../src/sim/simulateSeed.ts";
import { fragileKubelet, hastyKubelet, untidyKubelet } from "../support/brokenKubelets.ts";
import { invocationOf, lineOf, simulated } from "../support/simulateCommand.ts";
import { temporaryDirectory } from "../support/temporaryDirectory.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const SMALL = ["--pods", "5", "--duration", "10m"];
/** Long enough, and with rates at which a hasty kubelet is caught. */
const LARGE = ["--pods", "10", "--duration", "1h"];
const HASTY = { createKubelet: hastyKubelet };
const UNTIDY = { createKubelet: untidyKubelet };
const FRAGILE = { createKubelet: fragileKubelet };
const LOSSY = JSON.stringify({ criReplyLost: 0.3, containerExits: 120 });

describe("rxlet simulate", () => {
  const directory = temporaryDirectory();

  it.each<[string, number, string, OtherKubelet | undefined, readonly string[]]>([
    ["a kubelet that keeps the rules", 0, "ok", undefined, SMALL],
    ["two containers of one name", 2, "a rule was broken", HASTY, LARGE],
    ["something left over", 3, "the desired state was not reached", UNTIDY, SMALL],
    ["a broken invariant", 4, "the kubelet ended", FRAGILE, SMALL],
  ])("answers %s with exit code %i: %s", async (_, code, outcome, other, size) => {
    const rates = `${directory()}/rates.json`;
    writeFileSync(rates, LOSSY);
    const result = await simulated([...size, "--seed", "5", "--shrink", "0", "--faults", rates], other);
    expect([result.code, lineOf(result.text, "outcome"), lineOf(result.text, "seed  ")]).toEqual([code, outcome, "5"]);
  });

  it("writes a failure, shrunk, to a file that repeats it", async () => {
    const [rates, replay] = [`${directory()}/rates.json`, `${directory()}/failure.json`];
    writeFileSync(rates, LOSSY);
    const options = [...LARGE, "--seed", "3", "--faults", rates, "--save-replay", replay];
    const first = await simulated(options, HASTY);
    const again = await simulated(["--replay", replay], HASTY);
    expect([first.code, again.code]).toEqual([2, 2]);
    const reported = (text: string) => text.slice(text.indexOf("\n\n")).replace(/replay written.*\n/, "");
    expect(reported(again.text)).toBe(reported(first.text));
    expect(first.text).toMatch(/\nreplay written to .*failure\.json\n$/);
    expect(JSON.parse(readFileSync(replay, "utf8"))).toMatchObject({ seed: "3", keptFaults: [expect.any(String)] });
  });

  it("prints the seed, the rule and the shrunk workload of a failure", async () => {
    const rates = `${directory()}/rates.json`;
    writeFileSync(rates, LOSSY);
    const args = [...LARGE, "--seed", "3", "--faults", rates];
    const { text } = await simulated([...args, "--shrink", "0"], HASTY);
    expect(text).toMatch(
      /^\d+\.\d{3} s {2}oneLiveInstance: demo\/\S+ started while [0-9a-f]{13} of the same name runs$/m,
    );
    expect(lineOf(text, "violations")).toBe("1");
    expect(text).toMatch(/\npods {9}(\S+ \((file|api|http)\)(, )?){10}\nfaults {7}all faults of the seed\n/);
    const shrunk = await simulated(args, HASTY);
    expect(shrunk.text).toMatch(
      /\npods {9}\S+ \((file|api|http)\)\nfaults {7}criReplyLost StartContainer demo\/\S+ \d+\n/,
    );
  });

  it("prints the last 200 lines of a failure, the newest last", async () => {
    const args = [...SMALL, "--seed", "5", "--faults", "none", "--shrink", "0"];
    const { text } = await simulated(args, UNTIDY);
    const [title, ...lines] = text.slice(text.indexOf("the last")).trimEnd().split("\n");
    const times = lines.map((line) => Number(line.slice(0, 11)));
    expect([title, lines.length, times]).toEqual(["the last 200 lines:", 200, times.toSorted((a, b) => a - b)]);
  });

  it("ends after the current run when the reader of its output is gone", () => {
    const command = `${process.execPath} ${MAIN} simulate --pods 1 --duration 1m --runs 0 | head -n 2`;
    const { stdout, status } = spawnSync("bash", ["-c", command], { encoding: "utf8", timeout: 60_000 });
    expect([stdout.trim().split("\n").length, status]).toEqual([2, 0]);
  });

  it("continues with the next seed for each run: increments numbers and appends a number to texts", async () => {
    const seeds = async (seed: string) => {
      const { text } = await simulated(["--pods", "1", "--duration", "1m", "--seed", seed, "--runs", "3"]);
      return text.trimEnd().split("\n");
    };
    const line = (seed: string) =>
      expect.stringMatching(
        `^seed ${seed} ok, \\d+m(\\d+s)? in \\d+\\.\\d s \\(\\d+ times real time\\), ` +
          "\\d+ events, \\d+ transitions, \\d+ faults, trace [0-9a-f]{16}$",
      );
    expect([await seeds("9"), await seeds("a")]).toEqual([
      [line("9"), line("10"), line("11")],
      [line("a"), line("a-1"), line("a-2")],
    ]);
  });

  it("stops at the first run that fails", async () => {
    const { code, text } = await simulated([...SMALL, "--faults", "none", "--runs", "0"], FRAGILE);
    expect([code, text.match(/^seed {9}/gm)?.length]).toEqual([4, 1]);
  });

  it("draws and prints a seed when none is given", async () => {
    const seeds = await Promise.all([1, 2].map(() => simulated(["--pods", "0", "--duration", "1s"])));
    const reported = seeds.map(({ text }) => lineOf(text, "seed  "));
    expect(reported).toEqual([expect.stringMatching(/^[0-9a-f]{8}$/), expect.stringMatching(/^[0-9a-f]{8}$/)]);
    expect(reported[0]).not.toBe(reported[1]);
  });

  it("writes a Chrome trace", async () => {
    const path = `${directory()}/trace.json`;
    const { code } = await simulated([...SMALL, "--seed", "1", "--trace", path]);
    const { traceEvents } = JSON.parse(readFileSync(path, "utf8")) as { readonly traceEvents: readonly unknown[] };
    expect([code, traceEvents.length > 100]).toEqual([0, true]);
  });

  it.each([
    ["--faults", "{", "fault rates: is not JSON"],
    ["--faults", '{"criFails": 2}', "fault rates: criFails must be a number from 0 to 1 (per call), got 2"],
    ["--faults", '{"flood": 1}', "fault rates: flood is no fault; there are criFails, "],
    ["--replay", '{"version": 0}', "replay: version is 0, this rxlet replays version 5"],
    ["--replay", JSON.stringify({ version: 5, seed: "1", pods: "3" }), "replay: pods must be a whole number"],
    [
      "--replay",
      JSON.stringify({ version: 5, seed: "1", pods: 1, durationMs: 1, workload: "calm" }),
      "replay: workload must be one of drawn, steady, cores, pinned",
    ],
    [
      "--replay",
      JSON.stringify({ version: 5, seed: "1", pods: 1, durationMs: 1, isCalm: true, rates: { ...noFaults(), x: 1 } }),
      "replay: fault rates: x is no fault",
    ],
  ])("rejects %s with a file of %s and names the file, the field and the reason", async (flag, content, why) => {
    const path = `${directory()}/given.json`;
    writeFileSync(path, content);
    const { error = "", text } = await simulated([flag, path]);
    expect([error.slice(0, path.length + 2 + why.length), text]).toEqual([`${path}: ${why}`, ""]);
  });

  it.each([
    ["--faults", "read"],
    ["--replay", "read"],
    ["--trace", "write"],
  ])("names the file of %s that it cannot %s", async (flag, action) => {
    const path = `${directory()}/none/file.json`;
    const { error } = await simulated(["--pods", "0", "--duration", "1s", flag, path]);
    expect(error).toBe(`cannot ${action} ${path}: ENOENT`);
  });

  it.each([
    [["--pods", "-1"], "--pods: must be between 0 and 1000, got -1"],
    [["--pods", "many"], '--pods: must be a whole number, got "many"'],
    [["--nodes", "0"], "--nodes: must be between 1 and 10000, got 0"],
    [["--threads", "-1"], "--threads: must be between 0 and 1024, got -1"],
    [["--workload", "calm"], '--workload: must be drawn, steady, cores, pinned or csi, got "calm"'],
    [["--duration", "0"], "--duration: must be more than 0"],
    [["--trace", "t.json", "--runs", "2"], "--trace: records one run, not several"],
    [["--replay", "r.json", "--runs", "0"], "--replay: repeats one run, not several"],
    [["--sed", "1"], "--sed"],
  ])("rejects %j", async (args, why) => {
    const invocation = await invocationOf(args);
    expect(invocation.command === "error" ? invocation.errors.join("\n") : invocation).toContain(why);
  });

  it("is the same run in another time zone, locale and directory", () => {
    const { traceHash } = simulateSeed({ seed: "zone", pods: 5, durationMs: 10 * 60_000 });
    const elsewhere = { ...process.env, TZ: "Pacific/Kiritimati", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" };
    const args = [MAIN, "simulate", "--seed", "zone", ...SMALL];
    const { status, stdout } = spawnSync(process.execPath, args, { env: elsewhere, cwd: tmpdir(), encoding: "utf8" });
    expect([status, lineOf(stdout, "trace")]).toEqual([0, traceHash]);
  });

  it("ends a process with 1 and a line on stderr for a file that cannot be used", () => {
    const args = [MAIN, "simulate", "--replay", "/nowhere/replay.json"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect([status, stdout, stderr]).toEqual([1, "", "rxlet: cannot read /nowhere/replay.json: ENOENT\n"]);
  });
});
