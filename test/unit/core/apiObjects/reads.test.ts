import { beforeEach, describe, expect, it } from "vitest";
import type { ApiListQuery, ApiWatchOptions } from "../../../../src/core/api/apiRequests.ts";
import type { ApiResourceName } from "../../../../src/core/api/apiResources.ts";
import { getObject, listObjects, type ObjectWorld } from "../../../../src/core/apiObjects/reads.ts";
import { parseSelection } from "../../../../src/core/apiObjects/selectors.ts";
import { createStore } from "../../../../src/core/apiObjects/store.ts";
import { keyOf, refOf, type StoredObject } from "../../../../src/core/apiObjects/storedObject.ts";
import { createWatchCache, type WatchCache } from "../../../../src/core/apiObjects/watchCache.ts";
import { firstLines, lineOf, tooOldLine } from "../../../../src/core/apiObjects/watchLines.ts";

const WINDOW = 2;

/** A server's objects. The first write has revision 2. */
function createWorld(): ObjectWorld {
  const caches = new Map<ApiResourceName, WatchCache>();
  const cache = (resource: ApiResourceName): WatchCache => {
    const known = caches.get(resource) ?? createWatchCache(resource, WINDOW);
    caches.set(resource, known);
    return known;
  };
  const store = createStore((change) => cache(change.resource).record(change));
  return {
    store,
    cache,
    podsOn: (node) => [...store.all("pods").values()].filter((pod) => nodeOf(pod) === node),
  };
}

const nodeOf = (pod: StoredObject): unknown => (pod["spec"] as { nodeName?: unknown } | undefined)?.nodeName;
const pod = (name: string, node = "n1", namespace = "demo"): StoredObject => ({
  metadata: { name, namespace, uid: name, resourceVersion: "", creationTimestamp: "" },
  spec: { nodeName: node },
});

let world = createWorld();
beforeEach(() => {
  world = createWorld();
});
const put = (...pods: readonly StoredObject[]) => pods.map((each) => world.store.put("pods", each));
const list = (options: ApiListQuery = {}) => {
  const { metadata, items } = listObjects(world, "pods", options);
  return { ...metadata, items: items.map((item) => keyOf(refOf(item))) };
};

/** The code and message of a refusal. */
function refusal(read: () => unknown): string {
  try {
    read();
  } catch (thrown) {
    const { code, message } = thrown as { readonly code: string; readonly message: string };
    return `${code}: ${message}`;
  }
  return "none";
}

describe("getObject", () => {
  beforeEach(() => put(pod("a")));
  const get = (namespace: string | undefined, name: string, version?: string) =>
    getObject(world, "pods", namespace === undefined ? { name } : { namespace, name }, version).metadata
      .resourceVersion;

  it.each([undefined, "", "0", "1", "2"])("returns the newest version for version %j", (version) => {
    expect(get("demo", "a", version)).toBe("2");
  });

  it.each([
    ["demo", "a", "3", "DeadlineExceeded: Too large resource version: 3, current: 2"],
    ["demo", "a", "x", 'InvalidArgument: invalid resource version "x"'],
    ["demo", "b", "", 'NotFound: pods "b" not found'],
    ["other", "a", "", 'NotFound: pods "a" not found'],
    ["", "a", "", "InvalidArgument: namespace is required: an object is read by namespace and name"],
    [undefined, "a", "", "InvalidArgument: namespace is required: an object is read by namespace and name"],
  ])("refuses namespace %j, name %s, version %j", (namespace, name, version, message) => {
    expect(refusal(() => get(namespace, name, version))).toBe(message);
  });

  it("needs no namespace for a resource of the cluster", () => {
    world.store.put("nodes", { metadata: { name: "n1", uid: "n", resourceVersion: "", creationTimestamp: "" } });
    expect(getObject(world, "nodes", { name: "n1" }, undefined).metadata.name).toBe("n1");
  });
});

describe("listObjects", () => {
  beforeEach(() => put(pod("c"), pod("a"), pod("b", "n2")));

  it("sorts by namespace and name", () => {
    put(pod("z", "n1", "alpha"));
    expect(list()).toEqual({ resourceVersion: "5", items: ["alpha/z", "demo/a", "demo/b", "demo/c"] });
  });

  it.each<[ApiListQuery, readonly string[]]>([
    [{ fieldSelector: "spec.nodeName=n1" }, ["demo/a", "demo/c"]],
    [{ fieldSelector: "spec.nodeName!=n1" }, ["demo/b"]],
    [{ fieldSelector: "spec.nodeName=n1,metadata.name=a" }, ["demo/a"]],
    [{ fieldSelector: "spec.nodeName=n3" }, []],
    [{ namespace: "other" }, []],
  ])("selects %j", (options, items) => {
    expect(list(options)).toEqual({ resourceVersion: "4", items });
  });

  it("returns pages at one revision", () => {
    const first = list({ limit: 2 });
    expect(first).toMatchObject({ resourceVersion: "4", items: ["demo/a", "demo/b"], remainingItemCount: 1 });
    put(pod("d"));
    expect(list({ limit: 2, continue: first.continue ?? "" })).toEqual({ resourceVersion: "4", items: ["demo/c"] });
  });

  it("returns everything when the limit is the number of objects", () => {
    expect(list({ limit: 3 })).toEqual({ resourceVersion: "4", items: ["demo/a", "demo/b", "demo/c"] });
  });

  it("counts no remaining objects of a selection", () => {
    const page = list({ limit: 1, fieldSelector: "spec.nodeName=n1" });
    expect([page.items, page.remainingItemCount, page.continue === undefined]).toEqual([["demo/a"], undefined, false]);
  });

  it.each<[string, ApiListQuery, object]>([
    ["version 0 ignores the limit", { resourceVersion: "0", limit: 1 }, { resourceVersion: "4", items: 3 }],
    ["an older version without limit is the newest", { resourceVersion: "3" }, { resourceVersion: "4", items: 3 }],
    ["a limited list is exact", { resourceVersion: "3", limit: 9 }, { resourceVersion: "3", items: 2 }],
    [
      "a limited list is as wanted",
      { resourceVersion: "3", limit: 9, resourceVersionMatch: "NotOlderThan" },
      { resourceVersion: "4", items: 3 },
    ],
    ["Exact", { resourceVersion: "3", resourceVersionMatch: "Exact" }, { resourceVersion: "3", items: 2 }],
  ])("%s", (_, options, expected) => {
    const found = list(options);
    expect({ resourceVersion: found.resourceVersion, items: found.items.length }).toEqual(expected);
  });

  it.each<[ApiListQuery, string]>([
    [{ resourceVersion: "5" }, "DeadlineExceeded: Too large resource version: 5, current: 4"],
    [{ resourceVersion: "-1" }, 'InvalidArgument: invalid resource version "-1"'],
    [{ continue: "?" }, "InvalidArgument: continue key is not valid"],
    [
      { continue: btoa("{}"), resourceVersion: "3" },
      "InvalidArgument: specifying resource version is not allowed when using continue",
    ],
    [
      { resourceVersionMatch: "Exact" },
      "InvalidArgument: resourceVersionMatch is forbidden unless resourceVersion is provided",
    ],
  ])("refuses %j", (options, message) => {
    expect(refusal(() => list(options))).toBe(message);
  });

  it("refuses a version and a page that are no longer known", () => {
    const { continue: token = "" } = list({ limit: 1 });
    put(pod("d"), pod("e"), pod("f"), pod("g"));
    expect(refusal(() => list({ resourceVersion: "3", limit: 1 }))).toBe("Expired: The resourceVersion 3 is too old.");
    expect(refusal(() => list({ continue: token }))).toContain(
      "Expired: The provided continue parameter is too old to display a consistent list result.",
    );
  });
});

describe("the cache of a watch", () => {
  const change = (revision: number, object = pod(`p${revision}`), previous?: StoredObject) => ({
    revision,
    resource: "pods" as const,
    type: previous === undefined ? ("ADDED" as const) : ("MODIFIED" as const),
    object,
    previous,
  });
  const revisionsSince = (cache: WatchCache, revision: number) => cache.since(revision)?.map((each) => each.revision);

  it("drops the oldest changes at twice its window", () => {
    const cache = createWatchCache("pods", WINDOW);
    for (const revision of [1, 2, 3]) cache.record(change(revision));
    expect(revisionsSince(cache, 0)).toEqual([1, 2, 3]);
    cache.record(change(4));
    expect([1, 2, 3, 4, 5].map((revision) => revisionsSince(cache, revision))).toEqual([
      undefined,
      [3, 4],
      [4],
      [],
      [],
    ]);
  });

  it("forgets changes up to a revision", () => {
    const cache = createWatchCache("pods", 9);
    for (const revision of [1, 2, 3]) cache.record(change(revision));
    cache.forget(2);
    expect([1, 2].map((revision) => revisionsSince(cache, revision))).toEqual([undefined, [3]]);
    cache.forget(1);
    expect(revisionsSince(cache, 1)).toBeUndefined();
  });

  it("returns the objects of an earlier revision", () => {
    const cache = createWatchCache("pods", 9);
    const [older, newer, added] = [pod("a", "n1"), pod("a", "n2"), pod("b")];
    cache.record(change(2, newer, older));
    cache.record(change(3, added));
    const now = new Map([
      ["demo/a", newer],
      ["demo/b", added],
    ]);
    expect([...(cache.at(1, now) ?? [])]).toEqual([["demo/a", older]]);
    expect([...(cache.at(2, now) ?? [])]).toEqual([["demo/a", newer]]);
    expect(cache.at(3, now)).toBe(now);
    cache.forget(3);
    expect(cache.at(2, now)).toBeUndefined();
  });

  it.each([
    ["pods", { fieldSelector: "spec.nodeName=n1" }, "new on n1, moved to n2"],
    ["pods", { fieldSelector: "spec.nodeName=n2" }, "moved to n2, new on n2"],
    ["pods", { fieldSelector: "spec.nodeName=n3" }, ""],
    ["pods", {}, "new on n1, moved to n2, new on n2"],
    ["pods", { fieldSelector: "metadata.name=a" }, "new on n1, moved to n2, new on n2"],
    ["configmaps", { fieldSelector: "metadata.name=a" }, "new on n1, moved to n2"],
  ] as const)("calls listeners of %s with %j for changes that may concern them", (resource, selection, expected) => {
    const cache = createWatchCache(resource, 9);
    const seen: number[] = [];
    const stop = cache.listen(parseSelection(resource, selection), ({ revision }) => seen.push(revision));
    const record = () => {
      cache.record(change(1, pod("a", "n1")));
      cache.record(change(2, pod("a", "n2"), pod("a", "n1")));
      cache.record(change(3, pod("b", "n2")));
    };
    record();
    const names = ["", "new on n1", "moved to n2", "new on n2"];
    expect(seen.map((revision) => names[revision]).join(", ")).toBe(expected);
    const count = seen.length;
    stop();
    record();
    expect(seen).toHaveLength(count);
  });

  it("keeps the other listeners of a node when one stops", () => {
    const cache = createWatchCache("pods", 9);
    const selection = parseSelection("pods", { fieldSelector: "spec.nodeName=n1" });
    const seen: string[] = [];
    const stop = cache.listen(selection, () => seen.push("first"));
    cache.listen(selection, () => seen.push("second"));
    cache.record(change(1));
    stop();
    cache.record(change(2));
    expect(seen).toEqual(["first", "second", "second"]);
  });
});

describe("events of a watch", () => {
  const onN1 = parseSelection("pods", { fieldSelector: "spec.nodeName=n1" });
  const [here, there] = [pod("a", "n1"), pod("a", "n2")];
  it.each([
    ["an object is added", "ADDED", here, undefined, ["ADDED", here]],
    ["another object is added", "ADDED", there, undefined, undefined],
    ["an object changes", "MODIFIED", here, here, ["MODIFIED", here]],
    ["an object starts to match", "MODIFIED", here, there, ["ADDED", here]],
    [
      "an object no longer matches",
      "MODIFIED",
      there,
      here,
      ["DELETED", { ...here, metadata: { ...here.metadata, resourceVersion: "9" } }],
    ],
    ["an object is deleted", "DELETED", here, here, ["DELETED", here]],
    ["another object is deleted", "DELETED", there, there, undefined],
    ["another object changes", "MODIFIED", there, there, undefined],
  ] as const)("when %s", (_, type, object, previous, expected) => {
    const line = lineOf(onN1, { type, object, previous, revision: 9, resource: "pods" });
    expect(line === undefined ? undefined : [line.type, line.object]).toEqual(expected);
  });

  const first = (options: ApiWatchOptions) =>
    firstLines(world, "pods", parseSelection("pods", options), options)?.map(({ type, object }) =>
      type === "BOOKMARK" ? [type, object.metadata] : `${type} ${(object as StoredObject).metadata.name}`,
    );
  const END = ["BOOKMARK", { resourceVersion: "4", annotations: { "k8s.io/initial-events-end": "true" } }];

  it.each<[ApiWatchOptions, readonly unknown[] | undefined]>([
    [{}, ["ADDED a", "ADDED b", "ADDED c"]],
    [{ resourceVersion: "0" }, ["ADDED a", "ADDED b", "ADDED c"]],
    [{ fieldSelector: "spec.nodeName=n2" }, ["ADDED b"]],
    [{ resourceVersion: "3" }, ["ADDED b"]],
    [{ resourceVersion: "4" }, []],
    [{ resourceVersion: "3", fieldSelector: "spec.nodeName=n1" }, []],
    [{ sendInitialEvents: true }, ["ADDED a", "ADDED b", "ADDED c"]],
    [{ allowWatchBookmarks: true }, ["ADDED a", "ADDED b", "ADDED c"]],
    [{ sendInitialEvents: true, allowWatchBookmarks: true }, ["ADDED a", "ADDED b", "ADDED c", END]],
    [
      { sendInitialEvents: true, allowWatchBookmarks: true, resourceVersion: "3" },
      ["ADDED a", "ADDED b", "ADDED c", END],
    ],
  ])("that starts with %j", (options, expected) => {
    put(pod("c"), pod("a"), pod("b", "n2"));
    expect(first(options)).toEqual(expected);
  });

  it("that starts too early are an error", () => {
    put(pod("a"), pod("b"), pod("c"), pod("d"));
    expect(first({ resourceVersion: "2" })).toBeUndefined();
    const line = tooOldLine(world, { resourceVersion: "2" });
    expect([line.type, line.object]).toMatchObject([
      "ERROR",
      { code: 410, message: "too old resource version: 2 (5)" },
    ]);
  });
});
