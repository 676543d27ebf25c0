/**
 * The whole surface of upstream's kubelet 1.36: each setting, gate, metric, event and path works, is rejected, or has a
 * reason why it has no effect. The lists of upstream are in test/unit/core/config/upstreamFacts.ts and in scripts/; the
 * tests of the tables compare names and types.
 */
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { NOT_YET, statedMetrics } from "../../../scripts/generateMetrics.ts";
import { logFiles, OPERATIONS } from "../../../scripts/generateOperations.ts";
import { ABSENT_EVENTS, UPSTREAM_EVENTS } from "../../../scripts/upstreamEvents.ts";
import { KUBELET_FLAGS } from "../../../src/cli/flags.ts";
import { GATE_EFFECTS } from "../../../src/cli/gateEffects.ts";
import type { ConfigField } from "../../../src/core/config/configField.ts";
import { CONFIG_FIELDS } from "../../../src/core/config/configFields.ts";
import { createNodeLogs } from "../../../src/sources/nodeLogs.ts";
import { NO_PODS, testKubeletApp } from "../../support/kubeletApp.ts";
import { UPSTREAM_ENDPOINTS } from "./upstreamEndpoints.ts";

const LEAST_REASON = 12;

const root = fileURLToPath(new URL("../../../", import.meta.url));
const filesOf = (pattern: string): readonly string[] => globSync(pattern, { cwd: root });
const textOf = (file: string): string => readFileSync(`${root}${file}`, "utf8");

describe("every configuration field and flag", () => {
  it("has an effect, or a reason", () => {
    const rows = Object.entries<ConfigField>(CONFIG_FIELDS).filter(([, { type }]) => type !== "object");
    const idle = rows.filter(([, { effective, idle: why }]) => effective === false && why === undefined);
    expect(idle.map(([path]) => path)).toEqual([]);
    const flags = KUBELET_FLAGS.filter(({ effective, idle: why }) => !effective && why === undefined);
    expect(flags.map(({ name }) => name)).toEqual([]);
  });

  it("gives its reason in words", () => {
    const reasons = [...Object.values<ConfigField>(CONFIG_FIELDS), ...KUBELET_FLAGS].flatMap(({ idle }) => idle ?? []);
    expect(reasons.length).toBeGreaterThan(0);
    expect(reasons.filter((why) => why.length < LEAST_REASON || /\byet\b/.test(why))).toEqual([]);
  });
});

it("no gate of a feature that is missing promises it", () => {
  const promised = [...GATE_EFFECTS].filter(([, effect]) => effect.kind === "fixed" && /\byet\b/.test(effect.why));
  expect(promised.map(([name]) => name)).toEqual([]);
});

it("every metric that upstream exposes or declares is present, or has a reason", () => {
  const { exposed, declared } = statedMetrics();
  const states = [...exposed, ...declared].filter(({ name }) => !name.startsWith("go_"));
  expect(states.length).toBeGreaterThan(290);
  expect(states.filter(({ state }) => state === NOT_YET || /not fed/.test(state)).map(({ name }) => name)).toEqual([]);
});

describe("every event of upstream", () => {
  const source = filesOf("src/**/*.ts").map(textOf).join("\n");
  /** Reasons that code puts together. */
  const COMPOSED = new Map([
    ["ResizeDeferred", "`Resize${reason}`"],
    ["ResizeInfeasible", "`Resize${reason}`"],
    ["OutOfcpu", "`OutOf${first.name}`"],
  ]);
  const isRecorded = (reason: string): boolean =>
    source.includes(COMPOSED.get(reason) ?? `"${reason}"`) || source.includes(`reason: ${reason}`);

  it("is recorded by code that spells it, or has a reason why not", () => {
    expect(UPSTREAM_EVENTS.filter((reason) => !isRecorded(reason) && !ABSENT_EVENTS.has(reason))).toEqual([]);
  });

  it("is not called absent when it is recorded", () => {
    expect(
      [...ABSENT_EVENTS.keys()].filter((reason) => isRecorded(reason) || !UPSTREAM_EVENTS.includes(reason)),
    ).toEqual([]);
  });
});

describe("every path of upstream's server", () => {
  it.each(UPSTREAM_ENDPOINTS)("is served: %s %s", async (method, path) => {
    const checks = ["ping", "log", "syncloop", "device-plugin"].map((name) => ({ name, problem: undefined }));
    const { app } = testKubeletApp({ queries: { ...NO_PODS, health: () => checks }, nodeLogs: createNodeLogs(root) });
    const ask = (at: string, by: string) => app.request(at, { method: by }, { incoming: { socket: {} } });
    const unknown = await ask("/nowhere", "GET");
    const answer = await ask(path, method);
    expect(answer.status).not.toBe(405);
    expect([answer.status, await answer.text()]).not.toEqual([404, await unknown.text()]);
  });
});

describe("the file of a line with a verbosity", () => {
  it("is the one that writes it", () => {
    const misnamed = filesOf("src/**/*.ts").flatMap((file) => {
      const name = file.replace(/^.*\/|\.ts$/g, "");
      const calls = [...textOf(file).matchAll(/\blog\.(?:debug|verbose)\(\s*(?:"(\w+)")?/g)];
      return calls.filter(([, given]) => given !== name).map(([call]) => `${file}: ${call}`);
    });
    expect(misnamed).toEqual([]);
  });

  it("is in the documentation", () => {
    const written = readFileSync(OPERATIONS, "utf8");
    expect(logFiles().size).toBeGreaterThan(10);
    expect([...logFiles().keys()].filter((file) => !written.includes(`\`${file}\``))).toEqual([]);
  });
});
