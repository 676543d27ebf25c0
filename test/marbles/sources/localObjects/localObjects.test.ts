/** Reading a node's own objects as an API server's: versions, tables of changes, watches. */
import { NEVER, type Observable, of, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import type { CountedEvent } from "../../../../src/core/apiEvent.ts";
import type { Pod } from "../../../../src/core/api.ts";
import { epochMs } from "../../../../src/core/ids.ts";
import { createEventObjects } from "../../../../src/sources/localObjects/eventObjects.ts";
import { createLocalObjects } from "../../../../src/sources/localObjects/localObjects.ts";
import type { Clock } from "../../../../src/ports/clock.ts";
import { marbles, TEST_EPOCH_MS } from "../../../support/marbles.ts";
import { podOf } from "../../../support/pods.ts";

const web = podOf({ name: "web", uid: "w1", labels: { app: "web" } });
const job = podOf({ name: "job", uid: "j1", namespace: "batch" });
const running: Pod = { ...web, status: { phase: "Running" } };
const again = podOf({ name: "web", uid: "w2", labels: { app: "web" } });

const counted = (name: string, count = 1, beganNs = 1n): CountedEvent => ({
  event: {
    object: { kind: "Pod", namespace: "demo", name, uid: `${name}-1`, fieldPath: "" },
    type: "Normal",
    reason: "Started",
    message: "Container started",
  },
  count,
  beganNs,
  lastAt: epochMs(TEST_EPOCH_MS),
});

/** A node whose pods a test sets. */
function nodeOf(clock: Clock, podsChanged$: Observable<unknown> = NEVER) {
  const node = { pods: [web] as readonly Pod[], looks: 0 };
  const events = createEventObjects("n", clock);
  const objects = createLocalObjects({
    queries: {
      shownPods: () => {
        node.looks += 1;
        return node.pods;
      },
      node: () => ({ metadata: { name: "n", uid: "n" } }),
    },
    podsChanged$,
    events,
    clock,
  });
  return { node, events, objects };
}

const named = (items: readonly { readonly metadata?: { readonly name?: string } }[]) =>
  items.map(({ metadata }) => metadata?.name);

describe("localObjects", () => {
  it(
    "lists the current objects of each resource",
    marbles(({ clock }) => {
      const { node, objects } = nodeOf(clock);
      node.pods = [web, job];
      const seen: unknown[] = [];
      objects.list("pods").subscribe(({ items }) => seen.push(named(items)));
      objects.list("namespaces").subscribe(({ items }) => seen.push(named(items)));
      objects.list("nodes").subscribe(({ items }) => seen.push(named(items)));
      expect(seen).toEqual([["job", "web"], ["batch", "default", "demo"], ["n"]]);
    }),
  );

  it.each([
    { selection: { namespace: "batch" }, names: ["job"] },
    { selection: { labelSelector: "app=web" }, names: ["web"] },
    { selection: { fieldSelector: "metadata.name!=web" }, names: ["job"] },
  ])("selects as an API server: $selection", ({ selection, names }) => {
    marbles(({ clock }) => {
      const { node, objects } = nodeOf(clock);
      node.pods = [web, job];
      const seen: unknown[] = [];
      objects.list("pods", selection).subscribe(({ items }) => seen.push(named(items)));
      expect(seen).toEqual([names]);
    })();
  });

  it(
    "reports an unknown object as NotFound",
    marbles(({ clock, expectObservable }) => {
      const expected = "#";

      const { objects } = nodeOf(clock);
      const error = expect.objectContaining({ code: "NotFound", message: 'pods "nope" not found' });
      expectObservable(objects.get("pods", { namespace: "demo", name: "nope" })).toBe(expected, undefined, error);
    }),
  );

  it(
    "changes the version of an object only when it changed",
    marbles(({ clock }) => {
      const { node, objects } = nodeOf(clock);
      const versions: unknown[] = [];
      const look = () =>
        objects
          .get("pods", { namespace: "demo", name: "web" })
          .subscribe(({ metadata }) => versions.push(metadata?.resourceVersion));
      look();
      node.pods = [{ ...web, metadata: { ...web.metadata } }];
      look();
      node.pods = [running];
      look();
      expect([versions[0] === versions[1], versions[1] === versions[2]]).toEqual([true, false]);
    }),
  );

  it(
    "sends a watch the changes since its version, then each change, in order",
    marbles(({ clock, at, flush }) => {
      const changed$ = new Subject<void>();
      const { node, objects } = nodeOf(clock, changed$);
      let resourceVersion = "";
      objects.list("pods").subscribe(({ metadata }) => (resourceVersion = metadata.resourceVersion));
      node.pods = [running];
      const lines: unknown[] = [];
      const subscription = objects.watch("pods", { resourceVersion }).subscribe(({ type, object }) => {
        const { metadata } = object as Pod;
        lines.push(`${clock.monotonicMs()} ${type} ${metadata.name} ${metadata.uid}`);
      });
      const set = (ms: number, pods: readonly Pod[]) =>
        at(ms, () => {
          node.pods = pods;
          changed$.next();
        });
      set(10, [running, job]);
      set(20, [job, again]);
      set(30, []);
      at(40, () => subscription.unsubscribe());
      set(50, [web]);
      flush();
      expect(lines).toEqual([
        "0 MODIFIED web w1",
        "10 ADDED job j1",
        "20 DELETED web w1",
        "20 ADDED web w2",
        "30 DELETED job j1",
        "30 DELETED web w2",
      ]);
      expect(changed$.observed).toBe(false);
    }),
  );

  it(
    "ends a watch of a version it no longer knows with 410",
    marbles(({ clock }) => {
      const { node, objects } = nodeOf(clock);
      let resourceVersion = "";
      objects.list("pods").subscribe(({ metadata }) => (resourceVersion = metadata.resourceVersion));
      for (let count = 0; count < 2_100; count += 1) {
        node.pods = [{ ...web, status: { phase: "Running", message: String(count) } }];
        objects.get("pods", { namespace: "demo", name: "web" }).subscribe();
      }
      const lines: unknown[] = [];
      objects.watch("pods", { resourceVersion }).subscribe({
        next: ({ type, object }) => lines.push([type, (object as { readonly code?: number }).code]),
        complete: () => lines.push("end"),
      });
      expect(lines).toEqual([["ERROR", 410], "end"]);
    }),
  );

  it(
    "reads nothing without watches",
    marbles(({ clock, at, flush }) => {
      const { node } = nodeOf(clock);
      const looks: number[] = [];
      at(60_000, () => looks.push(node.looks));
      flush();
      expect(looks).toEqual([0]);
    }),
  );

  it(
    "reads the node periodically with a watch",
    marbles(({ clock, flush }) => {
      const { node, objects } = nodeOf(clock);
      const looks: number[] = [];
      const subscription = objects.watch("nodes", { timeoutSeconds: 11 }).subscribe({
        complete: () => looks.push(node.looks),
      });
      flush();
      // The pods and their namespaces, twice within eleven seconds.
      expect([looks, subscription.closed]).toEqual([[4], true]);
    }),
  );

  it(
    "sends periodic bookmarks on a quiet watch that allows them",
    marbles(({ clock, expectObservable }) => {
      const expected = "30s b 29999ms b 9999ms |";

      const { objects } = nodeOf(clock);
      const bookmarks$ = objects.watch("namespaces", {
        resourceVersion: "4",
        allowWatchBookmarks: true,
        timeoutSeconds: 70,
      });
      const bookmark = { type: "BOOKMARK", object: { metadata: { resourceVersion: expect.any(String) } } };
      expectObservable(bookmarks$).toBe(expected, { b: bookmark });
    }),
  );
});

describe("events as objects", () => {
  it(
    "are one per series, kept for an hour after they happened last",
    marbles(({ clock, at, flush }) => {
      const events = createEventObjects("n", clock);
      const store = (...all: readonly CountedEvent[]) => events.store(of(...all)).subscribe();
      const shown = () => events.current().map(({ metadata, count }) => [metadata.name, count]);
      store(counted("web"), counted("job", 1, 2n));
      at(3_599_000, () => store(counted("web", 2)));
      flush();
      expect(shown()).toEqual([
        ["job.2", 1],
        ["web.1", 2],
      ]);
      at(1_000, () => {});
      flush();
      expect(shown()).toEqual([["web.1", 2]]);
    }),
  );

  it(
    "are at most a thousand, the newest",
    marbles(({ clock }) => {
      const events = createEventObjects("n", clock);
      for (let count = 1; count <= 1_001; count += 1) events.store(of(counted("web", 1, BigInt(count)))).subscribe();
      const current = events.current();
      expect([current.length, current[0]?.metadata.name]).toEqual([1_000, "web.2"]);
    }),
  );
});
