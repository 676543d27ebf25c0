import { map, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import type { ManifestObject } from "../../../src/core/configObjects.ts";
import type { PodUpdate } from "../../../src/core/pod/podUpdate.ts";
import type { PodSource, SourceSnapshot } from "../../../src/core/pod/sourceSnapshot.ts";
import { mergePodConfig } from "../../../src/pipelines/mergePodConfig.ts";
import { marbles } from "../../support/marbles.ts";
import { podOf } from "../../support/pods.ts";

const snapshot = (source: PodSource, ...uids: readonly string[]): SourceSnapshot => ({
  source,
  pods: uids.map((uid) => podOf({ uid, name: uid })),
  problems: [],
});
const notReady = (source: PodSource): SourceSnapshot => ({ ...snapshot(source), ready: false });

/** An update in short: `ADD a,b`. */
const short = ({ op, source, pods }: PodUpdate): string =>
  `${source} ${op} ${pods.map(({ metadata }) => metadata.uid).join(",")}`;

describe("mergePodConfig", () => {
  it(
    "turns each snapshot into what changed since the one before of the same source",
    marbles(({ hot, expectObservable }) => {
      const snapshots = "-a-b-c-d-a-|";
      const expected = " -a-b-c-d-e-|";

      const snapshots$ = hot(snapshots, {
        a: snapshot("file", "x", "y"),
        b: snapshot("file", "x"),
        c: snapshot("http", "z"),
        d: snapshot("http", "z"),
      });
      const result$ = mergePodConfig(snapshots$).pipe(map(({ updates }) => updates.map(short)));
      expectObservable(result$).toBe(expected, {
        a: ["file ADD x,y"],
        b: ["file REMOVE y"],
        c: ["http ADD z"],
        d: [],
        e: ["file ADD y"],
      });
    }),
  );

  it(
    "counts a source as seen from its first snapshot on, also an empty one",
    marbles(({ hot, expectObservable }) => {
      const snapshots = "-a-b|";
      const expected = " -a-b|";

      const snapshots$ = hot(snapshots, { a: snapshot("http"), b: snapshot("file") });
      const result$ = mergePodConfig(snapshots$).pipe(map(({ seen }) => [...seen]));
      expectObservable(result$).toBe(expected, { a: ["http"], b: ["http", "file"] });
    }),
  );

  it(
    "neither counts a source that is not ready as seen, nor removes its pods",
    marbles(({ hot, expectObservable }) => {
      const snapshots = "-a-b-a|";
      const expected = " -a-b-c|";

      const snapshots$ = hot(snapshots, { a: notReady("file"), b: snapshot("file", "x") });
      const result$ = mergePodConfig(snapshots$).pipe(
        map(({ updates, seen }) => ({ updates: updates.map(short), seen: [...seen] })),
      );
      expectObservable(result$).toBe(expected, {
        a: { updates: [], seen: [] },
        b: { updates: ["file ADD x"], seen: ["file"] },
        c: { updates: [], seen: ["file"] },
      });
    }),
  );

  it(
    "gives pods from disk as a RESTORE of a source that is not seen yet, and its first state after them as a SET",
    marbles(({ hot, expectObservable }) => {
      const snapshots = "-r-a-b-r|";
      const expected = " -r-a-b-c|";

      const snapshots$ = hot(snapshots, {
        r: { ...snapshot("api", "x", "y"), restored: true as const },
        a: snapshot("api", "y", "z"),
        b: snapshot("api", "z"),
      });
      const result$ = mergePodConfig(snapshots$).pipe(
        map(({ updates, seen }) => ({ updates: updates.map(short), seen: [...seen] })),
      );
      expectObservable(result$).toBe(expected, {
        r: { updates: ["api RESTORE x,y"], seen: [] },
        a: { updates: ["api SET y,z"], seen: ["api"] },
        b: { updates: ["api REMOVE y"], seen: ["api"] },
        c: { updates: [], seen: ["api"] },
      });
    }),
  );

  it(
    "gives the whole state of a source after a gap as a SET, also without a difference",
    marbles(({ hot, expectObservable }) => {
      const snapshots = "-a-g-e|";
      const expected = " -a-g-e|";

      const snapshots$ = hot(snapshots, {
        a: snapshot("api", "x"),
        g: { ...snapshot("api", "x"), afterGap: true as const },
        e: { ...snapshot("api"), afterGap: true as const },
      });
      const result$ = mergePodConfig(snapshots$).pipe(map(({ updates }) => updates.map(short)));
      expectObservable(result$).toBe(expected, { a: ["api ADD x"], g: ["api SET x"], e: ["api SET "] });
    }),
  );

  it(
    "adds the overhead of its RuntimeClass to a pod, whichever came first, and takes it from none",
    marbles(({ hot, expectObservable }) => {
      const snapshots = "-a-b-c-d-e-|";
      const expected = " -a-b-c-d-e-|";

      const heavy = (source: PodSource, uid: string, overhead?: Record<string, string>) =>
        podOf({
          uid,
          name: uid,
          annotations: { "kubernetes.io/config.source": source },
          spec: { runtimeClassName: "kata", ...(overhead === undefined ? {} : { overhead }) },
        });
      const kata = (cpu: string): ManifestObject => ({
        kind: "RuntimeClass",
        metadata: { name: "kata" },
        handler: "kata",
        overhead: { podFixed: { cpu } },
      });
      const from = (source: PodSource, uids: readonly string[], ...objects: readonly ManifestObject[]) => ({
        ...snapshot(source),
        pods: [
          ...uids.map((uid) => heavy(source, uid)),
          ...(source === "http" ? [heavy(source, "own", { cpu: "2" })] : []),
        ],
        objects,
      });
      const snapshots$ = hot(snapshots, {
        a: from("http", ["x"]),
        b: from("file", ["y"], kata("1")),
        c: from("file", ["y", "z"], kata("3")),
        d: from("file", ["y", "z"]),
        e: { ...snapshot("api"), pods: [heavy("api", "w")] },
      });
      const shown = ({ op, pods }: PodUpdate) =>
        `${op} ${pods.map(({ metadata, spec }) => `${metadata.uid}=${spec.overhead?.["cpu"] ?? "none"}`).join(",")}`;
      const result$ = mergePodConfig(snapshots$).pipe(map(({ updates }) => updates.map(shown)));
      expectObservable(result$).toBe(expected, {
        a: ["ADD x=none,own=2"],
        b: ["ADD y=1", "UPDATE x=1"],
        c: ["ADD z=3"],
        d: [],
        e: ["ADD w=none"],
      });
    }),
  );

  it(
    "passes an error of its source on",
    marbles(({ hot, expectObservable }) => {
      const snapshots = "--#";
      const expected = " --#";

      expectObservable(mergePodConfig(hot(snapshots))).toBe(expected);
    }),
  );

  it(
    "unsubscribes from its source on unsubscribe",
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const snapshots = "    ----";
      const snapshotsSubs = "^-!";
      const unsub = "        --!";
      const expected = "     ---";

      const snapshots$ = hot<SourceSnapshot>(snapshots);
      expectObservable(mergePodConfig(snapshots$), unsub).toBe(expected);
      expectSubscriptions(snapshots$).toBe(snapshotsSubs);
    }),
  );

  it("compares with the snapshot before, also when that is still being handled", () => {
    const snapshots = new Subject<SourceSnapshot>();
    const seen: string[][] = [];
    mergePodConfig(snapshots).subscribe({
      next: ({ updates }) => {
        seen.push(updates.map(short));
        if (seen.length === 1) snapshots.next(snapshot("file", "x", "y"));
      },
    });
    snapshots.next(snapshot("file", "x"));
    snapshots.next(snapshot("file"));
    expect(seen).toEqual([["file ADD x"], ["file ADD y"], ["file REMOVE x,y"]]);
  });
});
