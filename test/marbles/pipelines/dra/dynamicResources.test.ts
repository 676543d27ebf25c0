/** Claims of pods: the checkpoint before each request to a driver, the order of waits, and drivers that fail or hang. */
import { EMPTY, map, type Observable, of } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { type ClaimInfos, NO_CLAIMS, type ResourceClaim } from "../../../../src/core/dra/claimInfo.ts";
import { decodeClaims, encodeClaims } from "../../../../src/core/dra/claimsFile.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { valueOf } from "../../../../src/core/result.ts";
import { NodePrepareResourcesResponse, NodeUnprepareResourcesResponse } from "../../../../src/gen/dra.ts";
import { createDynamicResources } from "../../../../src/pipelines/dra/dynamicResources.ts";
import type { ApiLanes } from "../../../../src/ports/apiServer.ts";
import type { DraDriver, DraDriverMap } from "../../../../src/ports/draDrivers.ts";
import type { Files } from "../../../../src/ports/files.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const claiming = (uid: string, ...claims: readonly string[]): Pod =>
  podOf({
    uid,
    name: uid,
    spec: {
      containers: [containerOf()],
      resourceClaims: claims.map((name) => ({ name, resourceClaimName: name })),
    },
  });

/** A claim of every pod here, for these drivers. */
const claimOf = (name: string, drivers: readonly string[]): ResourceClaim => ({
  metadata: { namespace: "demo", name, uid: `uid-of-${name}` },
  spec: {},
  status: {
    reservedFor: ["p1", "p2"].map((uid) => ({ resource: "pods", name: uid, uid })),
    allocation: { devices: { results: drivers.map((driver) => ({ driver, device: "d", pool: "p", request: "r" })) } },
  },
});

interface Setup {
  /** Drivers by claim; default: `a`. */
  readonly drivers?: Readonly<Record<string, readonly string[]>>;
  /** Answers of drivers to prepare and unprepare, by driver. */
  readonly calls?: Readonly<Record<string, string>>;
  readonly write?: string;
  readonly file?: string;
}

/** Resources whose reads of the API server take no time; each write of the file is kept. */
function made(
  { cold, clock }: Marbles,
  { drivers: driversOf = {}, calls = { a: "--x|" }, write = "-|", file }: Setup = {},
) {
  const failing = "    #";
  const missingFile = "#";

  const telemetry = recordingTelemetry();
  const claims = createCell<ClaimInfos>(NO_CLAIMS);
  const log: string[] = [];
  const note = (what: string): unknown => log.push(`${clock.monotonicMs()} ${what}`);
  const answered = <T>(
    driver: string,
    rpc: string,
    names: readonly { readonly name: string; readonly uid: string }[],
    answer: T,
  ) => {
    note(`${rpc} ${driver} ${names.map(({ name }) => name).join(" ")}`);
    return cold<T>(calls[driver] ?? failing, { x: answer }, kubeletError("Unavailable", "gone"));
  };
  const driverOf = (name: string): readonly [string, DraDriver] => [
    name,
    {
      name,
      isConnected: true,
      prepare: (asked) =>
        answered(
          name,
          "prepare",
          asked,
          NodePrepareResourcesResponse.fromPartial({
            claims: Object.fromEntries(
              asked.map(({ uid }) => [uid, { devices: [{ cdiDeviceIds: [`${name}/${uid}`] }] }]),
            ),
          }),
        ),
      unprepare: (asked) =>
        answered(
          name,
          "unprepare",
          asked,
          NodeUnprepareResourcesResponse.fromPartial({
            claims: Object.fromEntries(asked.map(({ uid }) => [uid, { error: "" }])),
          }),
        ),
      health$: EMPTY,
    },
  ];
  const drivers = createCell<DraDriverMap>(new Map(Object.keys(calls).map(driverOf)));
  const objects = {
    get: (_: string, { name }: { readonly name: string }) => of(claimOf(name, driversOf[name] ?? ["a"])),
  };
  const files = {
    readTail: () => (file === undefined ? cold(missingFile, {}, kubeletError("NotFound", "no file")) : of(file)),
    replaceFile: (_: string, content: string) => {
      const infos = [...valueOf(decodeClaims(content)).values()];
      note(`write ${infos.map(({ name, podUids }) => `${name}:${[...podUids].join("+")}`).join(" ")}`);
      return cold<void>(write, {}, kubeletError("Io", "disk full"));
    },
  } as unknown as Files;
  const resources = createDynamicResources(
    { api: { objects } as unknown as ApiLanes, clock, telemetry, files },
    {
      directories: { rootDir: "/k", podLogsDir: "/l", containerLogsDir: "/c" },
      draGates: { extendedResources: true, health: false, healthMessages: false },
    },
    drivers,
    claims,
  );
  const said = (result$: ReturnType<typeof resources.prepare>): Observable<string> =>
    result$.pipe(map((result) => (result.ok ? "ok" : result.error.message)));
  return {
    resources,
    drivers,
    log,
    telemetry,
    prepare: (pod: Pod) => said(resources.prepare(pod)),
    unprepare: (uid: string, pod?: Pod) => said(resources.unprepare(podUid(uid), pod)),
  };
}

const OK = { o: "ok" };

describe("preparing claims", () => {
  it(
    "notes the pod on disk before a driver is asked, and its devices before the pod goes on",
    marbles((t) => {
      const expected = "-----(o|)";

      const { prepare, log, resources, telemetry } = made(t);
      const pod = claiming("p1", "c");
      // A write, the driver, and a write.
      t.expectObservable(prepare(pod)).toBe(expected, OK);
      t.flush();
      expect(log).toEqual(["0 write c:p1", "1 prepare a c", "4 write c:p1"]);
      expect(resources.isKnown(pod)).toBe(true);
      const series = 'dra_operations_duration_seconds{operation_name="PrepareResources",is_error="false"}';
      expect(telemetry.observations.get(series)).toEqual([0.005]);
    }),
  );

  it(
    "asks all drivers at once, and fails with the first that does",
    marbles((t) => {
      const expected = "-------(f|)";

      const { prepare, log } = made(t, { drivers: { c: ["a", "b"] }, calls: { a: "---#", b: "-----x|" } });
      t.expectObservable(prepare(claiming("p1", "c"))).toBe(expected, {
        f: "prepare dynamic resources: NodePrepareResources: gone",
      });
      t.flush();
      expect(log).toEqual(["0 write c:p1", "1 prepare a c", "1 prepare b c"]);
    }),
  );

  it(
    "notes nothing for a driver that is not there",
    marbles((t) => {
      const expected = "(f|)";

      const { prepare, log, resources } = made(t, { drivers: { c: ["a", "away"] } });
      t.expectObservable(prepare(claiming("p1", "c"))).toBe(expected, {
        f: "prepare dynamic resources: DRA driver away is not registered",
      });
      t.flush();
      expect([log, resources.mayHold(podUid("p1"), undefined)]).toEqual([[], false]);
    }),
  );

  it(
    "asks no driver while the note cannot be written",
    marbles((t) => {
      const expected = "-(f|)";

      const { prepare, log } = made(t, { write: "-#" });
      t.expectObservable(prepare(claiming("p1", "c"))).toBe(expected, {
        f: "prepare dynamic resources: checkpoint ResourceClaim state: disk full",
      });
      t.flush();
      expect(log).toEqual(["0 write c:p1"]);
    }),
  );

  it(
    "shares a claim: the second pod waits for the first, and asks no driver",
    marbles((t) => {
      const expectedFirst = " -----(o|)";
      const expectedSecond = "------(o|)";

      const { prepare, log } = made(t);
      t.expectObservable(prepare(claiming("p1", "c"))).toBe(expectedFirst, OK);
      t.expectObservable(prepare(claiming("p2", "c"))).toBe(expectedSecond, OK);
      t.flush();
      expect(log).toEqual(["0 write c:p1", "1 prepare a c", "4 write c:p1", "5 write c:p1+p2"]);
    }),
  );

  it(
    "lets no pod wait for the driver of another one's claims",
    marbles((t) => {
      const unsub = "        --------------!";
      const expectedSlow = " --------------";
      const expectedQuick = "------(o|)";

      const { prepare } = made(t, { drivers: { x: ["slow"], y: ["a"] }, calls: { slow: "-", a: "--x|" } });
      t.expectObservable(prepare(claiming("p1", "x")), unsub).toBe(expectedSlow);
      t.expectObservable(prepare(claiming("p2", "y"))).toBe(expectedQuick, OK);
    }),
  );

  it(
    "is no deadlock of two pods that name the same claims in another order",
    marbles((t) => {
      const expectedFirst = " -----(o|)";
      const expectedSecond = "------(o|)";

      const { prepare } = made(t);
      t.expectObservable(prepare(claiming("p1", "c", "d"))).toBe(expectedFirst, OK);
      t.expectObservable(prepare(claiming("p2", "d", "c"))).toBe(expectedSecond, OK);
    }),
  );

  it(
    "keeps the note of a pod that stops waiting, so that its claims are unprepared",
    marbles((t) => {
      const unsub = "             --!";
      const expectedCancelled = " --";
      const expectedUnprepared = "9ms (o|)";

      const { prepare, unprepare, log } = made(t, { calls: { a: "----x|" } });
      t.expectObservable(prepare(claiming("p1", "c")), unsub).toBe(expectedCancelled);
      t.at(3, () => t.expectObservable(unprepare("p1")).toBe(expectedUnprepared, OK));
      t.flush();
      expect(log).toEqual(["0 write c:p1", "1 prepare a c", "3 unprepare a c", "8 write "]);
    }),
  );
});

describe("unpreparing claims", () => {
  const both = (t: Marbles, setup: Setup = {}) => {
    const table = made(t, { write: "|", ...setup });
    table.prepare(claiming("p1", "c")).subscribe({});
    table.prepare(claiming("p2", "c")).subscribe({});
    return table;
  };

  it(
    "asks the driver when the last pod has ended",
    marbles((t) => {
      const expectedFirst = "10ms (o|)";
      const expectedLast = " 23ms (o|)";

      const { unprepare, log, resources } = both(t);
      t.at(10, () => t.expectObservable(unprepare("p1")).toBe(expectedFirst, OK));
      t.at(20, () => t.expectObservable(unprepare("p2")).toBe(expectedLast, OK));
      t.flush();
      expect(log.slice(-3)).toEqual(["10 write c:p2", "20 unprepare a c", "23 write "]);
      expect(resources.mayHold(podUid("p2"), undefined)).toBe(false);
    }),
  );

  it(
    "keeps a claim whose driver is away, until it is back",
    marbles((t) => {
      const expectedAway = "20ms (f|)";
      const expectedBack = "33ms (o|)";

      const { unprepare, drivers, resources } = both(t);
      const known = drivers.value;
      t.at(10, () => unprepare("p1").subscribe({}));
      t.at(20, () => {
        drivers.set(new Map());
        t.expectObservable(unprepare("p2")).toBe(expectedAway, {
          f: "unprepare dynamic resources: DRA driver a is not registered",
        });
      });
      t.at(30, () => {
        expect(resources.mayHold(podUid("p2"), undefined)).toBe(true);
        drivers.set(known);
        t.expectObservable(unprepare("p2")).toBe(expectedBack, OK);
      });
      t.flush();
      expect(resources.mayHold(podUid("p2"), undefined)).toBe(false);
    }),
  );

  it(
    "does not let a new pod have a claim that is just given back",
    marbles((t) => {
      const expectedUnprepared = "13ms (o|)";
      const expectedPrepared = "  16ms (o|)";

      const { prepare, unprepare, log } = made(t, { write: "|" });
      prepare(claiming("p1", "c")).subscribe({});
      t.at(10, () => t.expectObservable(unprepare("p1")).toBe(expectedUnprepared, OK));
      t.at(11, () => t.expectObservable(prepare(claiming("p2", "c"))).toBe(expectedPrepared, OK));
      t.flush();
      expect(log.slice(-5)).toEqual([
        "10 unprepare a c",
        "13 write ",
        "13 write c:p2",
        "13 prepare a c",
        "16 write c:p2",
      ]);
    }),
  );

  it(
    "costs nothing for a pod without claims",
    marbles((t) => {
      const expected = "(o|)";

      const { unprepare, log, telemetry } = made(t);
      t.expectObservable(unprepare("p1")).toBe(expected, OK);
      t.flush();
      expect([log, telemetry.observations.size]).toEqual([[], 0]);
    }),
  );
});

describe("the claims of an earlier kubelet", () => {
  const earlier = encodeClaims(
    new Map([
      [
        "demo/c",
        {
          namespace: "demo",
          name: "c",
          uid: "uid-of-c",
          podUids: new Set(["p1"]),
          drivers: new Map([["a", [{ poolName: "p", deviceName: "d", requestNames: [], cdiDeviceIds: ["v/c=1"] }]]]),
          isPrepared: true,
        },
      ],
    ]),
  );

  it(
    "give containers their devices, and are prepared once more before a new sandbox",
    marbles((t) => {
      const expected = "----(o|)";

      const { resources, prepare, log } = made(t, { file: earlier });
      const pod = claiming("p1", "c");
      resources.load().subscribe({});
      expect(resources.isKnown(pod)).toBe(true);
      const container = containerOf({ resources: { claims: [{ name: "c" }] } });
      expect(resources.devicesOf(pod, container)).toEqual({ ok: true, value: ["v/c=1"] });
      t.expectObservable(prepare(pod)).toBe(expected, OK);
      t.flush();
      expect(log).toEqual(["0 prepare a c", "3 write c:p1"]);
    }),
  );

  it(
    "are read from the API server if the file is damaged",
    marbles((t) => {
      const expected = "----(o|)";

      const { resources, unprepare, log, telemetry } = made(t, { file: earlier.slice(1) });
      const pod = claiming("p1", "c");
      resources.load().subscribe({});
      expect([resources.isKnown(pod), resources.mayHold(podUid("p1"), pod)]).toEqual([false, true]);
      t.expectObservable(unprepare("p1", pod)).toBe(expected, OK);
      t.flush();
      expect(log).toEqual(["0 unprepare a c", "3 write "]);
      expect(telemetry.lines.map(({ message }) => message)).toEqual([
        "Cannot read the claims of earlier pods; drivers are asked again",
      ]);
    }),
  );
});
