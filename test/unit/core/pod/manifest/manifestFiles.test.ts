import { describe, expect, it } from "vitest";
import { type MonotonicMs, monotonicMs, podFullName } from "../../../../../src/core/ids.ts";
import {
  applyLook,
  filesToRead,
  type ManifestEntry,
  type ManifestFiles,
  type ManifestListing,
  NO_MANIFEST_FILES,
} from "../../../../../src/core/pod/manifest/manifestFiles.ts";
import { NO_READING } from "../../../../../src/core/pod/manifest/readManifest.ts";
import { podOf } from "../../../../support/pods.ts";

const SETTLE = { contentMs: 1000, removalMs: 2000, longestMs: 5000, versionMs: 100 };
type Reading = typeof NO_READING;

const entry = (path: string, version = "1"): ManifestEntry => ({ path, kind: "file", version });
const found = (...entries: readonly ManifestEntry[]): ManifestListing => ({ kind: "found", entries });
const ofPod = (name: string): Partial<Reading> => ({ pods: [podOf({ name, uid: name })] });
const CONFIG_MAP = {
  kind: "ConfigMap",
  metadata: { name: "c", namespace: "demo" },
} as unknown as Reading["objects"][number];

/** The file source after scans; `reads` maps paths to their content. */
function source() {
  let files: ManifestFiles = NO_MANIFEST_FILES;
  let wakeAt: MonotonicMs | undefined;
  const self = {
    look(now: number, listing: ManifestListing, reads: Readonly<Record<string, Partial<Reading>>> = {}) {
      const read = Object.entries(reads).map(([path, reading]) => ({
        path,
        content: `${Object.keys(reading).join()} ${names(reading)}`,
        reading: { ...NO_READING, ...reading },
      }));
      ({ files, wakeAt } = applyLook(
        files,
        { path: "/m", listing, reads: read, notes: [], now: monotonicMs(now) },
        SETTLE,
      ));
      return self;
    },
    pods: () => files.snapshot?.pods.map(({ metadata }) => metadata.name).join(" "),
    problems: () => files.snapshot?.problems.map(({ origin, line, reason }) => `${origin}:${line} ${reason}`),
    wakeAt: () => wakeAt,
    toRead: (now: number, listing: ManifestListing) => filesToRead(files, listing, monotonicMs(now), SETTLE).join(" "),
  };
  return self;
}
const names = ({ pods = [] }: Partial<Reading>): string => pods.map(({ metadata }) => metadata.name).join();

describe("files to read", () => {
  it.each([
    ["a new file", 10, entry("b"), "b"],
    ["a file of another version", 10, entry("a", "2"), "a"],
    ["no directory", 10, { ...entry("b"), kind: "directory" as const }, ""],
    ["no file whose version may still be the same after a change", 99, entry("a"), ""],
    ["a file again once another change would show", 100, entry("a"), "a"],
  ])("are %s", (_, now, listed, paths) => {
    const files = source().look(0, found(entry("a")), { a: ofPod("web") });
    expect(files.toRead(now, found(listed))).toBe(paths);
  });

  it.each([
    [99, "a"],
    [100, ""],
  ])("exclude those that were read when a change would have shown: read at %d", (readAt, paths) => {
    const files = source()
      .look(0, found(entry("a")), { a: ofPod("web") })
      .look(readAt, found(entry("a")), { a: ofPod("web") });
    expect(files.toRead(1000, found(entry("a")))).toBe(paths);
  });

  it.each<ManifestListing>([{ kind: "missing" }, { kind: "unreadable", reason: "x" }])("are none of %j", (listing) => {
    expect(
      source()
        .look(0, found(entry("a")), { a: ofPod("web") })
        .toRead(1000, listing),
    ).toBe("");
  });
});

describe("a missing file", () => {
  it("keeps its pods for the removal time", () => {
    const files = source().look(0, found(entry("a")), { a: ofPod("web") });
    files.look(1000, found());
    expect([files.pods(), files.wakeAt()]).toEqual(["web", 3000]);
    expect(files.look(2999, found()).pods()).toBe("web");
    expect([files.look(3000, found()).pods(), files.wakeAt()]).toEqual(["", undefined]);
  });

  it.each<[string, Partial<Reading>, MonotonicMs | undefined]>([
    ["a pod and an object", { ...ofPod("web"), objects: [CONFIG_MAP] }, monotonicMs(3000)],
    ["an object alone", { objects: [CONFIG_MAP] }, monotonicMs(3000)],
    ["neither", {}, undefined],
  ])("with %s is kept until %s", (_, reading, until) => {
    expect(
      source()
        .look(0, found(entry("a")), { a: reading })
        .look(1000, found())
        .wakeAt(),
    ).toBe(until);
  });

  it("that came back before the removal time is not removed", () => {
    const files = source().look(0, found(entry("a")), { a: ofPod("web") });
    files.look(1000, found()).look(2000, found(entry("a")));
    expect([files.wakeAt(), files.look(9000, found(entry("a"))).pods()]).toEqual([undefined, "web"]);
  });

  it.each([
    ["delays the pods of a new file", ofPod("old"), "old", "new"],
    ["without pods delays none", { objects: [CONFIG_MAP] }, "new", "new"],
  ])("%s", (_, before, during, afterwards) => {
    const files = source().look(0, found(entry("a")), { a: before });
    expect(files.look(1000, found(entry("b")), { b: ofPod("new") }).pods()).toBe(during);
    expect(files.look(3000, found(entry("b")), { b: ofPod("new") }).pods()).toBe(afterwards);
  });
});

describe("a file that lost its pod", () => {
  const failed = { failed: new Set([podFullName("web", "demo")]) };
  const half = (): ReturnType<typeof source> => source().look(0, found(entry("a")), { a: ofPod("web") });

  it("is accepted at the end of the content time", () => {
    const files = half().look(1000, found(entry("a", "2")), { a: {} });
    expect([files.pods(), files.wakeAt()]).toEqual(["web", 2000]);
    expect(files.look(1999, found(entry("a", "2")), { a: {} }).pods()).toBe("web");
    expect(files.look(2000, found(entry("a", "2")), { a: {} }).pods()).toBe("");
  });

  it("is read again while it is held", () => {
    const files = half().look(1000, found(entry("a", "2")), { a: {} });
    expect(files.toRead(1001, found(entry("a", "2")))).toBe("a");
  });

  it("is held at most for the longest time while it keeps changing", () => {
    const files = half();
    const changed = (now: number, name: string) =>
      files.look(now, found(entry("a", name)), { a: { ...failed, ...ofPod(name) } }).pods();
    expect([1000, 1900, 2800, 3700, 4600, 5500, 5999].map((now) => changed(now, `p${now}`))).toEqual(
      Array(7).fill("web"),
    );
    expect(changed(6000, "p6000")).toBe("p6000 web");
  });

  it("is accepted at once in the first scan", () => {
    expect(
      source()
        .look(0, found(entry("a")), { a: { ...failed, ...ofPod("other") } })
        .pods(),
    ).toBe("other");
  });
});

it("a clash keeps its lines when the same content is read again", () => {
  const web = (uid: string, line: number): Partial<Reading> => ({
    pods: [podOf({ name: "web", namespace: "demo", uid })],
    lines: new Map([[podFullName("web", "demo"), [line]]]),
  });
  const reads = { "/m/a": web("u-a", 4), "/m/b": web("u-b", 9) };
  const files = found(entry("/m/a"), entry("/m/b"));
  const problems = ["/m/b:9 pod demo/web is already defined in a:4, which is the one used"];
  const first = source().look(0, files, reads);
  expect(first.problems()).toEqual(problems);
  expect(first.look(100, files, reads).problems()).toEqual(problems);
});
