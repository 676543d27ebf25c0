/** The requests of the pod writer in time: objects that a request did not find, and mirror pods that go in haste. */
import { EMPTY, ignoreElements, merge, Subject, tap } from "rxjs";
import { describe, it } from "vitest";
import type { ApiPod } from "../../../../src/core/api/apiPodObjects.ts";
import type { Pod } from "../../../../src/core/api.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { mirrorPod } from "../../../../src/core/pod/mirrorPod.ts";
import type { PodRecord } from "../../../../src/core/pod/podRegistryTypes.ts";
import { podWriter } from "../../../../src/pipelines/cluster/podWriter.ts";
import { createNodeState } from "../../../../src/state/nodeState.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const NOT_FOUND = kubeletError("NotFound", "default backend - 404");
const UID = podUid("u-1");
const NAMES = { namespace: "demo", name: "web" };
const POD = { metadata: { ...NAMES, uid: UID }, spec: { containers: [] } } as unknown as Pod;
const STATIC_POD: Pod = {
  ...POD,
  metadata: { ...POD.metadata, annotations: { "kubernetes.io/config.source": "file" } },
};

const recordOf = (pod: Pod) => ({ identity: { uid: UID, ...NAMES }, pod, state: "syncing", wanted: true }) as PodRecord;
const objectAt = (resourceVersion: string): ApiPod => ({ ...POD, metadata: { ...POD.metadata, resourceVersion } });
const mirrorAt = (resourceVersion: string): ApiPod => {
  const mirror = mirrorPod(STATIC_POD, { name: "n1", uid: "n-1" });
  return { ...mirror, metadata: { ...mirror.metadata, uid: "m-1", resourceVersion }, status: { phase: "Running" } };
};

/** The objects of the name that the watch reports, and up to which version. */
interface Reported {
  readonly version: string;
  readonly object?: ApiPod;
}

interface Course {
  readonly pod?: Pod;
  /** Reports of the watch, by their letters. */
  readonly watch: string;
  readonly reports: Readonly<Record<string, Reported>>;
  /** The instant at which the node drops its record of the pod. */
  readonly dropped?: number;
  /** Answers to the requests in order; `a` is the object of the same index. */
  readonly answers: readonly (readonly [string, ApiPod?])[];
}

/** Runs a pod writer; returns its requests: (p)atch, (d)elete, (c)reate, (g)et. */
function requests({ hot, cold, at, clock }: Marbles, { pod = POD, watch, reports, dropped, answers }: Course) {
  const state = createNodeState();
  state.podStatuses.set(UID, { phase: "Running" });
  state.sourcesSeen.set(new Set(["api"]));
  state.node.set({ metadata: { name: "n1", uid: "n-1" } });
  const setRecords = (...records: readonly PodRecord[]): void => {
    const byUid = new Map(records.map((record) => [UID, record]));
    state.registry.set({ ...state.registry.value, records: byUid, isSettled: true });
  };
  setRecords(recordOf(pod));
  if (dropped !== undefined) at(dropped, () => setRecords());
  const asked$ = new Subject<string>();
  let next = 0;
  const request = (letter: string) => () => {
    asked$.next(letter);
    const [diagram = "-", object] = answers[next++] ?? [];
    return cold(diagram, { a: object }, NOT_FOUND);
  };
  const pods = { patch: request("p"), delete: request("d"), create: request("c"), get: request("g") };
  const podTurn = () => EMPTY;
  const api = { pods, podTurn, returns$: new Subject() } as unknown as Parameters<typeof podWriter>[0];
  const ports = { clock, rng: fixedRng(0), telemetry: recordingTelemetry() } as Parameters<typeof podWriter>[1];
  const watch$ = hot(watch, reports).pipe(
    tap(({ version, object }) =>
      state.apiPodObjects.set({ byName: new Map(object === undefined ? [] : [["demo/web", object]]), version }),
    ),
    ignoreElements(),
  );
  const config = { nodeName: "n1" } as Parameters<typeof podWriter>[2];
  return merge(asked$, podWriter(api, ports, config, state), watch$);
}

/** The requests of a course in its first 30 s. */
const rule = (course: Course & { readonly expected: string }) =>
  marbles((helpers) => {
    const unsub = "- 30s !";

    helpers.expectObservable(requests(helpers, course), unsub).toBe(course.expected);
  });

describe("a pod that a request did not find", () => {
  const missed = ["-#"] as const;
  const written = ["-(a|)", { ...objectAt("9"), status: { phase: "Running" } }] as const;
  const reports = {
    a: { version: "7", object: objectAt("7") },
    b: { version: "8", object: objectAt("8") },
    c: { version: "8" },
  };

  it(
    "is written again every ten seconds while the watch still has it",
    rule({
      watch: "   a",
      expected: "p 10s p 10s p",
      answers: [missed, missed, written],
      reports,
    }),
  );

  it(
    "is written again at once with its next version",
    rule({
      watch: "   a---b",
      expected: "p---p",
      answers: [missed, written],
      reports,
    }),
  );

  it(
    "gets no further request once the watch says that it has gone",
    rule({
      watch: "   a---c",
      expected: "p----",
      answers: [missed],
      reports,
    }),
  );
});

it(
  "a mirror pod whose static pod goes before the watch has reported it is deleted once",
  rule({
    pod: STATIC_POD,
    dropped: 3,
    watch: "   a---------b---c",
    expected: "c--d",
    answers: [
      ["       --(a|)", mirrorAt("9")],
      ["       --(a|)", {}],
    ],
    reports: { a: { version: "7" }, b: { version: "9", object: mirrorAt("9") }, c: { version: "10" } },
  }),
);
