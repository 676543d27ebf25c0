/** Thousands of odd requests from a seed: every one gets an answer, none finds a bug, and nobody is let in. */
import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { createPrng } from "../../../src/sim/prng.ts";
import { createAuthenticate } from "../../../src/server/auth/authenticate.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { realClock } from "../../support/realClock.ts";
import { testAppOptions, testKubeletApp } from "../../support/kubeletApp.ts";

const REQUESTS = 4_000;
const prng = createPrng("requests of strangers");
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "BREW"];
const ROOTS = [
  ...["/pods", "/runningpods/", "/healthz", "/metrics", "/stats", "/configz", "/flagz", "/statusz", "/logs/"],
  ...[
    "/exec",
    "/attach",
    "/portForward",
    "/run",
    "/containerLogs",
    "/checkpoint",
    "/debug/flags/v",
    "/debug/rxlet/pods",
  ],
  ...["/debug/pprof/", "//exec", "/exec/../pods", "/./logs/..", ""],
];
const PARTS = [
  "a",
  "",
  ".",
  "..",
  "%2e%2e",
  "%2f",
  "%00",
  "%",
  "%zz",
  "%ff",
  "é",
  "x".repeat(3_000),
  "'\"<>",
  "\\",
  ";",
  "*",
  ":p",
];
const KEYS = [
  "output",
  "input",
  "tty",
  "command",
  "port",
  "timeout",
  "query",
  "sinceTime",
  "boot",
  "exclude",
  "verbose",
  "cmd",
  "",
  "%",
];
const VALUES = ["1", "", "true", "-1", "99999999999999999999", "%00", "a,b", "../x", "é", "%", "{}"];

const pick = <T>(from: readonly T[]): T => from[prng.int(0, from.length - 1)] as T;
const several = <T>(most: number, make: () => T): readonly T[] => Array.from({ length: prng.int(0, most) }, make);
const oddPath = (): string => {
  const parts = several(5, () => pick(PARTS)).map((part) => `/${part}`);
  const query = several(4, () => `${pick(KEYS)}=${pick(VALUES)}`).join("&");
  // Profiles take their time, which this test has not.
  return `${pick(ROOTS)}${parts.join("")}${query === "" ? "" : `?${query}`}`.replace(
    /pprof\/+(profile|heap)/,
    "pprof/x",
  );
};

async function statuses(anonymous: boolean): Promise<ReadonlyMap<number, number>> {
  const { options, telemetry } = testAppOptions();
  const authenticate = createAuthenticate({
    anonymous,
    reviewer: undefined,
    clock: realClock,
    metrics: recordingTelemetry().metrics,
  });
  const { app } = testKubeletApp({ access: { ...options.access, authenticate }, telemetry });
  const counts = new Map<number, number>();
  for (let count = 0; count < REQUESTS; count += 1) {
    const request = new Request(`https://node${oddPath()}`, { method: pick(METHODS) });
    const { status, body } = await app.fetch(request, { incoming: { socket: new Socket() } });
    await body?.cancel();
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  const bugs = telemetry.lines.filter(({ message }) => message === "HTTP request failed");
  expect(bugs).toEqual([]);
  return counts;
}

describe("malformed requests", () => {
  it("all receive a response of a route", async () => {
    const found = await statuses(true);
    const known = [200, 301, 307, 400, 404, 405, 406, 413, 500];
    expect([...found.keys()].filter((status) => !known.includes(status))).toEqual([]);
    expect(found.get(404)).toBeGreaterThan(REQUESTS / 10);
  });

  it("receive no route's response without authentication", async () => {
    expect(await statuses(false)).toEqual(new Map([[401, REQUESTS]]));
  });
});
