import { EMPTY, NEVER, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { cpuPolicy } from "../../../../src/core/cpu/cpuPolicy.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { freshRecord } from "../../../../src/core/pod/podRecord.ts";
import { emptyRegistry } from "../../../../src/core/pod/podRegistry.ts";
import { nodeHardware } from "../../../../src/core/topology/nodeHardware.ts";
import { readHardwareState, writeHardwareState } from "../../../../src/pipelines/node/hardwareState.ts";
import { createNodeState } from "../../../../src/state/nodeState.ts";
import { machineOf } from "../../../support/cpuMachines.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const machine = machineOf({ sockets: 1, nodesPerSocket: 1, coresPerCache: 4, threads: 1 });
const NO_OPTIONS = { fullCores: false, acrossNodes: false, bySocket: false, acrossCores: false, alignsByCache: false };
const TOPOLOGY = { name: "none", scope: "container", topology: { nodes: 1, distances: undefined } } as const;
const CPUS = "/root/cpu_manager_state";
const MEMORY = "/root/memory_manager_state";
const uid = podUid("uid-1");

/** A node of four CPUs with the static CPU policy. A file that is `stuck` is never read; writes fail while `isBroken`. */
function nodeWithFiles({ clock }: Pick<Marbles, "clock">, content: Readonly<Record<string, string>> = {}) {
  const cpus = cpuPolicy(machine, { ...NO_OPTIONS, strictReservation: false }, 1, []);
  const state = createNodeState();
  const telemetry = recordingTelemetry();
  const node = { isBroken: false };
  const writes: string[] = [];
  const files = {
    readTail: (path: string) => {
      const text = content[path];
      if (text === "stuck") return NEVER;
      return text === undefined ? throwError(() => kubeletError("NotFound", "no file")) : of(text);
    },
    kindOf: (path: string) => of(content[path] === undefined ? undefined : "File"),
    replaceFile: (path: string, text: string) => {
      if (path === CPUS) writes.push(`${clock.monotonicMs()} ${text}`);
      return node.isBroken ? throwError(() => kubeletError("Io", "disk full")) : EMPTY;
    },
  };
  const config = {
    directories: { rootDir: "/root" },
    hardware: nodeHardware({ cpus, memory: undefined }, machine.nodes, TOPOLOGY, {
      liftsCpuQuota: true,
      reconcilePeriodMs: 1,
    }),
    hardwareState: { podLevel: false },
  };
  const ports = { clock, telemetry, files } as never;
  return {
    node,
    state,
    writes,
    telemetry,
    inherited$: readHardwareState(ports, config as never),
    writing$: writeHardwareState(ports, config as never, state),
    ofNone$: writeHardwareState(ports, { ...config, hardwareState: undefined } as never, state),
  };
}

const STATE = '{"policyName":"static","defaultCpuSet":"0,3","entries":{"uid-1":{"main":"1-2"}},"checksum":0}';
const INHERITED = new Map([[uid, new Map([["main", { cpus: [1, 2] }]])]]);

describe("readHardwareState", () => {
  it(
    "emits what another kubelet gave to pods",
    marbles((m) => {
      const { inherited$, telemetry } = nodeWithFiles(m, { [CPUS]: STATE });
      const expected = "(r|)";
      m.expectObservable(inherited$).toBe(expected, { r: INHERITED });
      m.flush();
      expect(telemetry.lines).toEqual([]);
    }),
  );

  it.each([
    ["cannot be used; it is written anew", "", { reason: "it is empty" }],
    ["cannot be used; it is written anew", "{}", { reason: "its entries are none of the policies none and static" }],
    [
      "is from another setup; pods keep what still suits",
      '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}',
      { change: "the policy was none and is static now" },
    ],
  ])("says that a file %s", (message, text, fields) =>
    marbles((m) => {
      const expected = "(r|)";

      const { inherited$, telemetry } = nodeWithFiles(m, { [CPUS]: text });
      m.expectObservable(inherited$).toBe(expected, { r: new Map() });
      m.flush();
      expect(telemetry.lines).toEqual([
        {
          level: "warn",
          message: `The state file of the hardware ${message}`.replace(
            "The state file of the hardware cannot",
            "A state file of the hardware cannot",
          ),
          fields: { path: CPUS, ...fields },
        },
      ]);
    })(),
  );

  it(
    "waits no longer than five seconds for a disk",
    marbles((m) => {
      const expected = "5s (r|)";

      const { inherited$, telemetry } = nodeWithFiles(m, { [CPUS]: STATE, [MEMORY]: "stuck" });
      m.expectObservable(inherited$).toBe(expected, { r: INHERITED });
      m.flush();
      expect(telemetry.lines.map(({ message }) => message)).toEqual(["Cannot read a state file of the hardware"]);
    }),
  );
});

describe("writeHardwareState", () => {
  const holding = (cpus: readonly number[]) => ({
    ...emptyRegistry,
    isSettled: true,
    records: new Map([
      [uid, { ...freshRecord({ uid, name: "a", namespace: "demo" }), hardware: new Map([["main", { cpus }]]) }],
    ]),
  });

  it(
    "writes each change once, and nothing before the registry knows what pods of before have",
    marbles((m) => {
      const unsub = "   4s !";
      const expected = "";

      const { writing$, writes, state } = nodeWithFiles(m, { [CPUS]: STATE });
      m.at(1_000, () => state.registry.set(holding([1, 2])));
      m.at(2_000, () => state.registry.set(holding([1, 2])));
      m.at(3_000, () => state.registry.set({ ...emptyRegistry, isSettled: true }));
      m.expectObservable(writing$, unsub).toBe(expected);
      m.flush();
      expect(writes).toEqual([
        '1000 {"policyName":"static","defaultCpuSet":"0,3","entries":{"uid-1":{"main":"1-2"}},"checksum":3182780036}',
        '3000 {"policyName":"static","defaultCpuSet":"0-3","checksum":611748604}',
      ]);
    }),
  );

  it(
    "writes a missing file at once",
    marbles((m) => {
      const unsub = "   4s !";
      const expected = "";

      const { writing$, writes, state } = nodeWithFiles(m);
      m.at(1_000, () => state.registry.set({ ...emptyRegistry, isSettled: true }));
      m.expectObservable(writing$, unsub).toBe(expected);
      m.flush();
      expect(writes).toEqual(['0 {"policyName":"static","defaultCpuSet":"0-3","checksum":611748604}']);
    }),
  );

  it(
    "repeats a failed write after ten seconds",
    marbles((m) => {
      const unsub = "   25s !";
      const expected = "";

      const { node, writing$, writes, telemetry, state } = nodeWithFiles(m, { [CPUS]: STATE });
      node.isBroken = true;
      m.at(1_000, () => state.registry.set({ ...emptyRegistry, isSettled: true }));
      m.at(5_000, () => (node.isBroken = false));
      m.expectObservable(writing$, unsub).toBe(expected);
      m.flush();
      expect(writes.map((line) => line.split(" ")[0])).toEqual(["1000", "10000"]);
      expect(telemetry.lines.filter(({ fields }) => fields["path"] === CPUS)).toHaveLength(1);
    }),
  );

  it(
    "writes nothing on a node without such files",
    marbles((m) => {
      const expected = "|";
      m.expectObservable(nodeWithFiles(m).ofNone$).toBe(expected);
    }),
  );
});
