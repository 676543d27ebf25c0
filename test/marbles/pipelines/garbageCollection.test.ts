import { defer, NEVER, type Observable, of, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import type { PodStatus } from "../../../src/core/api.ts";
import { type PodUid, podUid } from "../../../src/core/ids.ts";
import { freshRecord } from "../../../src/core/pod/podRecord.ts";
import type { PodSource } from "../../../src/core/pod/sourceSnapshot.ts";
import { emptyRegistry, type PodRecord, type Registry } from "../../../src/core/pod/podRegistryTypes.ts";
import { listingOf } from "../../../src/core/runtime/runtimeListing.ts";
import { type RuntimeState, unknownRuntimeState } from "../../../src/core/runtime/runtimeState.ts";
import { createGarbageCollection } from "../../../src/pipelines/garbageCollection.ts";
import { createSimFiles } from "../../../src/sim/host/simFiles.ts";
import { createCell } from "../../../src/state/cell.ts";
import { createKeyedCell } from "../../../src/state/keyedCell.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";
import { podOf } from "../../support/pods.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const MINUTE_MS = 60_000;
const GIB = 2n ** 30n;
const refused = kubeletError("Unknown", "the runtime says no");
const imageOf = (id: string) => ({ id, repoTags: [`${id}:1`], repoDigests: [], size: GIB, pinned: id === "pinned" });

/** A settled node without pods, whose runtime has these images, and performs what `onCall` lets pass. */
function nodeWith(
  { clock }: Pick<Marbles, "clock">,
  {
    highPercent = 85,
    registry = {},
    runtimeState = unknownRuntimeState,
    sourcesSeen = ["file", "api"],
    isRestored = false,
  }: {
    highPercent?: number;
    registry?: Partial<Registry>;
    runtimeState?: RuntimeState;
    sourcesSeen?: readonly PodSource[];
    isRestored?: boolean;
  } = {},
) {
  const node = {
    calls: [] as string[],
    images: ["used", "pinned", "a", "b"].map(imageOf),
    availableGib: 50n,
    onCall: (_call: string): Observable<unknown> | undefined => undefined,
    telemetry: recordingTelemetry(),
  };
  const call = (text: string, answer: () => unknown) =>
    defer(() => {
      node.calls.push(`${clock.monotonicMs()} ${text}`);
      return node.onCall(text) ?? of(answer());
    });
  const ports = {
    clock,
    telemetry: node.telemetry,
    files: createSimFiles({ clock }),
    hostUsage: { fileSystem: () => of({ capacityBytes: 100n * GIB, availableBytes: node.availableGib * GIB }) },
    runtime: {
      listContainers: () => call("containers", () => ({ containers: [{ imageRef: "used", imageId: "", labels: {} }] })),
      listPodSandbox: () => of({ items: [] }),
    },
    images: {
      listImages: () => of({ images: node.images }),
      imageFsInfo: () => of({ imageFilesystems: [{ fsId: { mountpoint: "/" } }] }),
      removeImage: ({ image: { image: id } }: { readonly image: { readonly image: string } }) =>
        call(id, () => {
          node.images = node.images.filter((image) => image.id !== id);
          return {};
        }),
    },
  };
  const podStatuses = createKeyedCell<PodUid, PodStatus>();
  const collection = createGarbageCollection(
    ports as never,
    {
      nodeName: "node",
      directories: { rootDir: "/kubelet", podLogsDir: "/pods", containerLogsDir: "/links" },
      containerGc: { minAgeMs: 0, maxPerContainer: 1, maxTotal: -1 },
      imageGc: { highPercent, lowPercent: 80, minAgeMs: 2 * MINUTE_MS, maxAgeMs: 0 },
      sources: ["file", "api"],
    },
    {
      registry: createCell({ ...emptyRegistry, isSettled: true, ...registry }),
      listing: createCell(listingOf([], [])),
      podStatuses,
      restored: createCell(isRestored),
      runtimeState: createCell(runtimeState),
      sourcesSeen: createCell<ReadonlySet<PodSource>>(new Set(sourcesSeen)),
    },
  );
  const removals = (): readonly string[] => node.calls.filter((text) => !text.endsWith("containers"));
  return { node, podStatuses, ...collection, removals };
}

describe("reclaiming what no pod uses", () => {
  it(
    "removes all unused images whatever the disk usage, but none that is pinned or too young",
    marbles((m) => {
      const expected = "|";

      const { node, reclaim, removals } = nodeWith(m);
      m.expectObservable(reclaim.deleteUnusedImages()).toBe(expected);
      m.at(1_000, () => (node.images = [...node.images, imageOf("young")]));
      m.at(2_000, () => reclaim.deleteUnusedImages().subscribe());
      m.at(2 * MINUTE_MS + 1_999, () => reclaim.deleteUnusedImages().subscribe());
      m.at(2 * MINUTE_MS + 2_000, () => reclaim.deleteUnusedImages().subscribe());
      m.flush();
      expect(removals()).toEqual(["0 a", "0 b", `${2 * MINUTE_MS + 2_000} young`]);
    }),
  );

  it(
    "removes no image before the pods of all sources are known, for at most a minute",
    marbles((m) => {
      const expected = "|";

      const { reclaim, removals } = nodeWith(m, { registry: { isSettled: false } });
      m.expectObservable(reclaim.deleteUnusedImages()).toBe(expected);
      m.at(MINUTE_MS - 1, () => reclaim.deleteUnusedImages().subscribe());
      m.at(MINUTE_MS, () => reclaim.deleteUnusedImages().subscribe());
      m.flush();
      expect(removals()).toEqual([`${MINUTE_MS} a`, `${MINUTE_MS} b`]);
    }),
  );

  it.each<readonly [rule: string, sourcesSeen: readonly PodSource[], removed: readonly string[]]>([
    ["removes images while pods from disk take the place of those of the API server", ["file"], ["0 a", "0 b"]],
    ["removes none before another source has reported, too", [], []],
  ])("%s", (_, sourcesSeen, removed) => {
    marbles((m) => {
      const expected = "|";

      const { reclaim, removals } = nodeWith(m, { registry: { isSettled: false }, sourcesSeen, isRestored: true });
      m.expectObservable(reclaim.deleteUnusedImages()).toBe(expected);
      m.flush();
      expect(removals()).toEqual(removed);
    })();
  });

  it(
    "works although collection in rounds is switched off",
    marbles((m) => {
      const unsub = "          1s !";
      const expectedEvents = "";
      const expectedReclaim = "|";

      const { events$, reclaim, removals } = nodeWith(m, { highPercent: 100 });
      m.expectObservable(events$, unsub).toBe(expectedEvents);
      m.expectObservable(reclaim.deleteUnusedImages()).toBe(expectedReclaim);
      m.flush();
      expect(removals()).toEqual(["0 a", "0 b"]);
    }),
  );

  it(
    "waits for the round that runs",
    marbles((m) => {
      const unsub = "   1s !";
      const expected = "";

      const { node, events$, reclaim, removals } = nodeWith(m);
      node.availableGib = 5n;
      node.onCall = (text) => (text === "a" ? timer(5_000, m.clock.scheduler) : undefined);
      m.expectObservable(events$, unsub).toBe(expected);
      m.at(100, () => reclaim.deleteUnusedImages().subscribe());
      m.flush();
      expect(removals()).toEqual(["0 a", "1000 a", "6000 b"]);
    }),
  );

  it.each<[string, (text: string) => Observable<unknown> | undefined, string, string]>([
    ["fails", (text) => (text === "containers" ? throwError(() => refused) : undefined), "|", "the runtime says no"],
    [
      "keeps an image",
      (text) => (text === "a" ? throwError(() => refused) : undefined),
      "|",
      "errors in image deletion",
    ],
    ["hangs", (text) => (text === "a" ? NEVER : undefined), "30s |", "no end within 30000 ms"],
  ])("completes with a warning when the runtime %s", (_what, onCall, ends, message) => {
    marbles((m) => {
      const { node, reclaim } = nodeWith(m);
      node.onCall = onCall;
      m.expectObservable(reclaim.deleteUnusedImages()).toBe(ends);
      m.flush();
      expect(node.telemetry.lines.map(({ level }) => level)).toContain("warn");
      expect(JSON.stringify(node.telemetry.lines)).toContain(message);
    })();
  });

  it(
    "ends a request for containers that hangs, and the next one starts afresh",
    marbles((m) => {
      const expected = "30s |";

      const { node, reclaim } = nodeWith(m);
      node.onCall = () => NEVER;
      m.expectObservable(reclaim.deleteUnusedContainers()).toBe(expected);
      let endedAt = 0;
      m.at(31_000, () => {
        node.onCall = () => undefined;
        reclaim.deleteUnusedContainers().subscribe({ complete: () => (endedAt = m.clock.monotonicMs()) });
      });
      m.flush();
      expect([node.calls, endedAt]).toEqual([["0 containers", "31000 containers"], 31_000]);
    }),
  );
});

describe("the first round", () => {
  const uid = podUid("ended");
  const ended: PodRecord = {
    ...freshRecord({ uid, name: "ended", namespace: "ns" }),
    pod: podOf({ uid }),
    state: "syncing",
  };
  const runtimeState = { ...unknownRuntimeState, handlers: [] };

  it.each<[string, Partial<Registry>, number]>([
    ["at once on a node without pods", {}, 0],
    ["at the first status of the last pod", { records: new Map([[uid, ended]]) }, 5_000],
    ["at once when the pod without a status waits", { records: new Map([[uid, { ...ended, state: "waiting" }]]) }, 0],
    [
      "at once when nothing but the runtime knows the pod",
      { records: new Map([[uid, { ...ended, pod: undefined }]]) },
      0,
    ],
    ["a minute later when a source does not report", { isSettled: false }, MINUTE_MS],
  ])("begins %s", (_when, registry, atMs) => {
    marbles((m) => {
      const expected = "";

      const { node, podStatuses, events$ } = nodeWith(m, { registry, runtimeState, highPercent: 100 });
      m.at(5_000, () => podStatuses.set(uid, { phase: "Failed" }));
      m.expectObservable(events$, `${MINUTE_MS + 1}ms !`).toBe(expected);
      m.flush();
      expect(node.calls[0]).toBe(`${atMs} containers`);
    })();
  });
});
