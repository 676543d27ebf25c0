import { map, type Observable } from "rxjs";
import { describe, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import type { SourceSnapshot } from "../../../../src/core/pod/sourceSnapshot.ts";
import { restorePods } from "../../../../src/pipelines/offline/restorePods.ts";
import { type Marbles, type MarbleSource, marbles } from "../../../support/marbles.ts";
import { podOf } from "../../../support/pods.ts";

const WAIT_MS = 5;
const SNAPSHOTS: Readonly<Record<string, SourceSnapshot>> = {
  a: { source: "api", pods: [podOf({ uid: "1" })], problems: [] },
  e: { source: "api", pods: [], problems: [] },
  f: { source: "file", pods: [podOf({ uid: "2" })], problems: [] },
};
const DISK: Readonly<Record<string, readonly Pod[]>> = { d: [podOf({ uid: "1" })], n: [] };

const shown = ({ source, pods, restored }: SourceSnapshot): string =>
  `${source} ${pods.length}${restored === true ? " from disk" : ""}`;
const SHOWN = { a: "api 1", e: "api 0", f: "file 1", d: "api 1 from disk" };

/** The snapshots, behind a disk with pods. */
const restored = (snapshots$: MarbleSource<SourceSnapshot>, disk$: Observable<readonly Pod[]>, { clock }: Marbles) =>
  snapshots$.pipe(restorePods({ waitMs: WAIT_MS, clock, pods$: disk$ }), map(shown));

describe("restorePods", () => {
  it(
    "gives the pods on disk when the API server does not answer in time, and then those of the server",
    marbles((m) => {
      const snapshots = "f---------a--e";
      const disk = "     -d";
      const unsub = "    14ms !";
      const expected = " f-----d---a--e";

      const result$ = restored(m.hot(snapshots, SNAPSHOTS), m.cold(disk, DISK), m);
      m.expectObservable(result$, unsub).toBe(expected, SHOWN);
    }),
  );

  it(
    "leaves the disk alone when the server answers in time, with or without pods",
    marbles((m) => {
      const snapshots = "f--e";
      const disk = "     d";
      const unsub = "    10ms !";
      const expected = " f--e";

      const result$ = restored(m.hot(snapshots, SNAPSHOTS), m.cold(disk, DISK), m);
      m.expectObservable(result$, unsub).toBe(expected, SHOWN);
    }),
  );

  it(
    "waits for a slow disk, unless the server answers before it",
    marbles((m) => {
      const disk = "            -------d";
      const unsub = "           20ms !";
      const late = "            f";
      const answered = "        f-------a";
      const expectedLate = "    f-----------d";
      const expectedAnswered = "f-------a";

      const result$ = restored(m.hot(late, SNAPSHOTS), m.cold(disk, DISK), m);
      m.expectObservable(result$, unsub).toBe(expectedLate, SHOWN);
      const answered$ = restored(m.hot(answered, SNAPSHOTS), m.cold(disk, DISK), m);
      m.expectObservable(answered$, unsub).toBe(expectedAnswered, SHOWN);
    }),
  );

  it(
    "emits nothing for a disk without pods",
    marbles((m) => {
      const snapshots = "f--------a";
      const disk = "     n";
      const unsub = "    10ms !";
      const expected = " f--------a";

      const result$ = restored(m.hot(snapshots, SNAPSHOTS), m.cold(disk, DISK), m);
      m.expectObservable(result$, unsub).toBe(expected, SHOWN);
    }),
  );
});
