import { map, NEVER, type Observable, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import type { ManifestListing } from "../../../src/core/pod/manifest/manifestFiles.ts";
import type { SourceSnapshot } from "../../../src/core/pod/sourceSnapshot.ts";
import { filePodSource } from "../../../src/sources/filePodSource.ts";
import { podYaml, problemLines, testDigest } from "../../support/manifests.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";
import { type VirtualManifests, virtualManifests } from "../../support/virtualManifests.ts";

/** A snapshot as text: `name@image` of each pod, then problems; `not ready` in front when it is not. */
const summary = (snapshot: SourceSnapshot): string => {
  const pods = snapshot.pods.map(
    (pod) => `${pod.metadata.name.replace("-node-1", "")}@${pod.spec.containers[0]?.image}`,
  );
  const ready = snapshot.ready === false ? ["not ready"] : [];
  const problems = snapshot.problems.map(
    (problem) => `${problem.origin}: ${problemLines({ problems: [problem] }).join("")}`,
  );
  return [...ready, ...pods, ...problems].join(" | ");
};

const source = (directory: VirtualManifests, { clock }: Pick<Marbles, "clock">): Observable<string> =>
  filePodSource({ path: "/m", directory, nodeName: "node-1", resyncPeriodMs: 20_000, clock, digest: testDigest }).pipe(
    map(summary),
  );

const BROKEN = "apiVersion: v1\nkind: Pod\nmetadata: {name: a\n";
const BROKEN_PROBLEM =
  "/m/a.yaml: 4: is not valid YAML: Flow map in block collection must be sufficiently indented and end with a }";

interface Rule {
  /** Prepares the directory. */
  readonly before?: (directory: VirtualManifests) => void;
  /** Changes of the directory by frame. */
  readonly edits?: Readonly<Record<number, (directory: VirtualManifests) => void>>;
  readonly unsub?: string;
  readonly expected: string;
  readonly values: Readonly<Record<string, string>>;
  readonly counts?: Partial<VirtualManifests["counts"]>;
}

/** Edits a directory and expects snapshots. */
function rule({ before = () => {}, edits = {}, unsub = "----------- 60s !", expected, values, counts }: Rule) {
  return marbles((helpers) => {
    const directory = virtualManifests();
    before(directory);
    for (const [ms, edit] of Object.entries(edits)) helpers.at(Number(ms), () => edit(directory));
    helpers.expectObservable(source(directory, helpers), unsub).toBe(expected, values);
    helpers.flush();
    if (counts !== undefined) expect(directory.counts).toEqual({ ...directory.counts, ...counts });
  });
}

const withA = (directory: VirtualManifests) => directory.write("a.yaml", podYaml("a", "app:1"), { hint: false });

describe("filePodSource", () => {
  it(
    "emits an empty directory at once",
    rule({
      expected: "e",
      values: { e: "" },
    }),
  );
  it(
    "reports a missing path as no pods, with a warning",
    rule({
      before: (m) => m.list$(of({ kind: "missing" })),
      expected: "e",
      values: { e: "/m: warning does not exist; no pods come from it" },
    }),
  );
  it(
    "reads new, changed and renamed files in the frame of the hint",
    rule({
      before: withA,
      edits: {
        5: (m) => m.write("a.yaml", podYaml("a", "app:2")),
        9: (m) => m.write("b.yaml", podYaml("b", "app:1")),
      },
      expected: "x----y---z",
      values: { x: "a@app:1", y: "a@app:2", z: "a@app:2 | b@app:1" },
    }),
  );
  it(
    "emits nothing for a file change without semantic difference",
    rule({
      before: withA,
      edits: { 5: (m) => m.hint(), 9: (m) => m.write("a.yaml", `# comment\n${podYaml("a", "app:1")}`) },
      expected: "x",
      values: { x: "a@app:1" },
    }),
  );
  it(
    "waits 20 ms for the replacement of a removed file, then removes its pods",
    rule({
      before: withA,
      edits: {
        5: (m) => m.remove("a.yaml"),
        15: (m) => m.write("a.yaml", podYaml("a", "app:2")),
        50: (m) => m.remove("a.yaml"),
      },
      expected: "x 14ms y 54ms z",
      values: { x: "a@app:1", y: "a@app:2", z: "" },
    }),
  );
  it(
    "keeps the last good pod of a broken file and reports it once, after 200 ms",
    rule({
      before: withA,
      edits: { 5: (m) => m.write("a.yaml", BROKEN), 400: (m) => m.hint() },
      expected: "x 204ms y",
      values: { x: "a@app:1", y: `a@app:1 | ${BROKEN_PROBLEM}` },
    }),
  );
  it(
    "reports a file that is broken from the start at once, and recovers at once",
    rule({
      before: (m) => m.write("a.yaml", BROKEN, { hint: false }),
      edits: { 5: (m) => m.write("a.yaml", podYaml("a", "app:1")) },
      expected: "x----y",
      values: { x: BROKEN_PROBLEM, y: "a@app:1" },
    }),
  );
  it(
    "never sees a file that is truncated and then written",
    rule({
      before: withA,
      edits: {
        5: (m) => m.write("a.yaml", ""),
        6: (m) => m.write("a.yaml", podYaml("a", "app:2").slice(0, 40)),
        60: (m) => m.write("a.yaml", podYaml("a", "app:2")),
      },
      expected: "x 59ms y",
      values: { x: "a@app:1", y: "a@app:2" },
    }),
  );
  it(
    "restarts the wait with each partial write, up to 2 s",
    rule({
      before: withA,
      edits: Object.fromEntries(
        Array.from({ length: 30 }, (_, index) => [
          10 + index * 150,
          (m: VirtualManifests) => m.write("a.yaml", `${"#".repeat(index)}\n${BROKEN}`),
        ]),
      ),
      unsub: "   4100ms !",
      expected: "x 2109ms y",
      values: { x: "a@app:1", y: `a@app:1 | ${BROKEN_PROBLEM.replace("4:", "5:")}` },
    }),
  );
  it(
    "believes an emptied file after 200 ms",
    rule({
      before: withA,
      edits: { 5: (m) => m.write("a.yaml", "# nothing any more\n") },
      expected: "x 204ms y",
      values: { x: "a@app:1", y: "" },
    }),
  );
  it(
    "uses the valid documents of a file and keeps the last good pod of the invalid one",
    rule({
      before: (m) => m.write("a.yaml", `${podYaml("a", "app:1")}---\n${podYaml("b", "app:1")}`, { hint: false }),
      edits: { 5: (m) => m.write("a.yaml", `${podYaml("a", "app:2")}---\n${podYaml("b", '""')}`) },
      expected: "x 204ms y",
      values: {
        x: "a@app:1 | b@app:1",
        y: "a@app:2 | b@app:1 | /m/a.yaml: 17 spec.containers[0].image: Required value",
      },
    }),
  );
  it(
    "prefers the first file of two with one pod, and the other when that is gone",
    rule({
      before: (m) => m.write("b.yaml", podYaml("x", "app:2"), { hint: false }),
      edits: { 5: (m) => m.write("a.yaml", podYaml("x", "app:1")), 50: (m) => m.remove("a.yaml") },
      expected: "x----y 64ms x",
      values: {
        x: "x@app:2",
        y: "x@app:1 | /m/b.yaml: 4: pod default/x-node-1 is already defined in a.yaml:4, which is the one used",
      },
    }),
  );
  it(
    "notes what is no file",
    rule({
      before: (m) => m.place("sub", "directory"),
      edits: { 5: (m) => m.place("pipe", "other"), 9: (m) => m.place("link", "unreadable") },
      expected: "x----y---z",
      values: {
        x: "/m/sub: warning is a directory; only the files directly in the manifest directory are read",
        y: "/m/pipe: warning is neither a file nor a directory; it is ignored | /m/sub: warning is a directory; only the files directly in the manifest directory are read",
        z: "/m/link: warning cannot be examined | /m/pipe: warning is neither a file nor a directory; it is ignored | /m/sub: warning is a directory; only the files directly in the manifest directory are read",
      },
    }),
  );
  it(
    "refuses binary files and other encodings",
    rule({
      before: (m) => {
        m.write("a", "\u0000\u0001", { hint: false });
        m.write("b", new Uint8Array([0xff, 0xfe, 0x41]), { hint: false });
      },
      expected: "x",
      values: { x: "/m/a: is a binary file: it holds a NUL character | /m/b: 1: is not UTF-8 text" },
    }),
  );
  it(
    "finds changes without hints by its resync",
    rule({
      before: withA,
      edits: { 5: (m) => m.write("a.yaml", podYaml("a", "app:2"), { hint: false }) },
      expected: "x 19999ms y",
      values: { x: "a@app:1", y: "a@app:2" },
    }),
  );
  it(
    "finds an edit that keeps size and times of the file by its resync",
    rule({
      before: (m) => m.write("a.yaml", podYaml("a", "app:1"), { hint: false, version: "same" }),
      edits: { 5: (m) => m.write("a.yaml", podYaml("a", "app:2"), { hint: false, version: "same" }) },
      unsub: "   30s !",
      expected: "x 19999ms y",
      values: { x: "a@app:1", y: "a@app:2" },
    }),
  );
  it(
    "reads an unchanged file twice at most, over all listings",
    rule({
      before: withA,
      unsub: "   100001ms !",
      expected: "x",
      values: { x: "a@app:1" },
      counts: { lists: 6, reads: 2, watches: 1 },
    }),
  );
  it(
    "keeps the pods of a file that became unreadable, and reads it again at every listing",
    rule({
      before: withA,
      edits: {
        5: (m) => {
          m.failRead("a.yaml", "cannot be read: EACCES");
          m.write("a.yaml", podYaml("a", "app:2"));
        },
        300: (m) => m.failRead("a.yaml", undefined),
      },
      unsub: "   30s !",
      expected: "x 204ms y 19999ms z",
      values: { x: "a@app:1", y: "a@app:1 | /m/a.yaml: cannot be read: EACCES", z: "a@app:2" },
    }),
  );
  it(
    "reports a read that hangs and keeps the pods",
    rule({
      before: withA,
      edits: {
        5: (m) => {
          m.failRead("a.yaml", "hangs");
          m.write("a.yaml", podYaml("a", "app:2"));
        },
        10_010: (m) => m.failRead("a.yaml", undefined),
      },
      unsub: "   15s !",
      expected: "x 10204ms y",
      values: { x: "a@app:1", y: "a@app:2" },
    }),
  );
  it(
    "is not ready, and reports the error, while the path cannot be listed",
    rule({
      before: (m) => {
        withA(m);
        m.list$(throwError(() => kubeletError("Io", "cannot be read: EACCES")));
      },
      edits: { 5: (m) => m.list$(undefined) },
      unsub: "   30s !",
      expected: "x 19999ms y",
      values: { x: "not ready | /m: cannot be read: EACCES", y: "a@app:1" },
    }),
  );
  it(
    "keeps every pod while the path does not respond, and reports it",
    rule({
      before: withA,
      edits: {
        5: (m) => {
          m.list$(NEVER);
          m.hint();
        },
      },
      unsub: "   11s !",
      expected: "x 10004ms y",
      values: { x: "a@app:1", y: "a@app:1 | /m: listing /m took longer than 10000 ms" },
    }),
  );
  it(
    "reports a broken watch, lists again at once and by resync, and restarts the watch after a resync period",
    rule({
      before: withA,
      edits: {
        5: (m) => m.loseWatch("no more watches"),
        30_000: (m) => m.write("a.yaml", podYaml("a", "app:2")),
      },
      unsub: "   35s !",
      expected: "x----y 29994ms z",
      values: {
        x: "a@app:1",
        y: "a@app:1 | /m: warning cannot be watched (no more watches); it is read every 20 s instead",
        z: "a@app:2",
      },
      counts: { watches: 2 },
    }),
  );
});

describe("a file that was removed and created again between two listings", () => {
  it(
    "ends and restarts only its own pod",
    marbles((helpers) => {
      const unsub = "   20ms !";
      const expected = "x----(yx)";

      const directory = virtualManifests();
      withA(directory);
      directory.write("b.yaml", podYaml("b"), { hint: false });
      let remade = false;
      const list = () =>
        directory.list().pipe(
          map((listing): ManifestListing => {
            if (!remade || listing.kind !== "found") return listing;
            const entries = listing.entries.map((each) =>
              each.path === "/m/a.yaml" ? { ...each, remade: true as const } : each,
            );
            return { kind: "found", entries };
          }),
        );
      helpers.at(5, () => {
        remade = true;
        directory.write("a.yaml", podYaml("a", "app:1"));
      });
      helpers
        .expectObservable(source({ ...directory, list }, helpers), unsub)
        .toBe(expected, { x: "a@app:1 | b@app:1", y: "b@app:1" });
    }),
  );
});

describe("the end of the source", () => {
  it(
    "cancels the running listing and closes the watch",
    marbles((helpers) => {
      const changes = "    --x-----";
      const changesSubs = "^--!";
      const listing = "    ----x";
      const listingSubs = "^--!";
      const unsub = "      ---!";
      const expected = "   ---";

      const changes$ = helpers.hot(changes);
      const listing$ = helpers.cold<ManifestListing>(listing);
      const directory = { ...virtualManifests(), changes$, list: () => listing$ };
      helpers.expectObservable(source(directory, helpers), unsub).toBe(expected);
      helpers.expectSubscriptions(changes$).toBe(changesSubs);
      helpers.expectSubscriptions(listing$).toBe(listingSubs);
    }),
  );
  it(
    "lists once more for all hints during a listing",
    marbles((helpers) => {
      const changes = "          -x-xx-------";
      const listing = "          -----(x|)";
      const firstListingSubs = " ^----!";
      const secondListingSubs = "-----^----!";
      const unsub = "            20ms !";
      const expected = "         -----x";

      const changes$ = helpers.hot(changes);
      const listing$ = helpers.cold<ManifestListing>(listing, { x: { kind: "missing" } });
      const directory = { ...virtualManifests(), changes$, list: () => listing$ };
      helpers
        .expectObservable(source(directory, helpers), unsub)
        .toBe(expected, { x: "/m: warning does not exist; no pods come from it" });
      helpers.expectSubscriptions(listing$).toBe(firstListingSubs, secondListingSubs);
    }),
  );
});

/** A directory and the snapshots of the source that reads it. */
function snapshotsOf({ clock }: Marbles) {
  const directory = virtualManifests();
  const snapshots: SourceSnapshot[] = [];
  const options = { path: "/m", directory, nodeName: "node-1", resyncPeriodMs: 20_000, clock, digest: testDigest };
  const seen$ = filePodSource(options).pipe(map((snapshot) => snapshots.push(snapshot)));
  return { directory, snapshots, seen$ };
}

describe("what a snapshot keeps", () => {
  it(
    "the pod objects of files that did not change",
    marbles((helpers) => {
      const unsub = "   100ms !";
      const expected = "x----y";

      const { directory, seen$, snapshots } = snapshotsOf(helpers);
      directory.write("a.yaml", podYaml("a"), { hint: false });
      directory.write("b.yaml", podYaml("b"), { hint: false });
      helpers.at(5, () => directory.write("b.yaml", podYaml("b", "app:2")));
      helpers.expectObservable(seen$, unsub).toBe(expected, { x: 1, y: 2 });
      helpers.flush();
      const [first, second] = snapshots;
      expect(second?.pods[0]).toBe(first?.pods[0]);
    }),
  );
  it(
    "the moment a stated UID was first seen",
    marbles((helpers) => {
      const unsub = "   100ms !";
      const expected = "x----y";

      const { directory, seen$, snapshots } = snapshotsOf(helpers);
      const stated = podYaml("b").replace("metadata:\n", "metadata:\n  uid: mine\n");
      directory.write("b.yaml", stated, { hint: false });
      helpers.at(5, () => directory.write("b.yaml", stated.replace("app:1", "app:2")));
      helpers.expectObservable(seen$, unsub).toBe(expected, { x: 1, y: 2 });
      helpers.flush();
      const [first, second] = snapshots;
      expect(second?.pods[0]?.spec.containers[0]?.image).toBe("app:2");
      expect(second?.pods[0]?.metadata.annotations).toEqual(first?.pods[0]?.metadata.annotations);
    }),
  );
  it(
    "problem objects until the file's content changes, with the UID of the pod that runs on",
    marbles((helpers) => {
      const unsub = "   500ms !";
      const expected = "x 204ms y 94ms z";

      const { directory, seen$, snapshots } = snapshotsOf(helpers);
      directory.write("a.yaml", podYaml("a"), { hint: false });
      helpers.at(5, () => directory.write("a.yaml", podYaml("a", '""')));
      helpers.at(300, () => directory.write("b.yaml", podYaml("b")));
      helpers.expectObservable(seen$, unsub).toBe(expected, { x: 1, y: 2, z: 3 });
      helpers.flush();
      const [first, second, third] = snapshots;
      expect(second?.problems[0]?.pod?.uid).toBe(first?.pods[0]?.metadata.uid);
      expect(third?.problems[0]).toBe(second?.problems[0]);
    }),
  );
});
