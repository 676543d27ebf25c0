import { expect, it } from "vitest";
import { createStore, type StoreChange } from "../../../../src/core/apiObjects/store.ts";
import type { StoredObject } from "../../../../src/core/apiObjects/storedObject.ts";

const podNamed = (name: string): StoredObject =>
  ({ metadata: { name, namespace: "demo", uid: name, creationTimestamp: "" } }) as unknown as StoredObject;

it("each write has the next revision, which its object and its change carry", () => {
  const changes: StoreChange[] = [];
  const store = createStore((change) => void changes.push(change));
  const versions = [store.revision];
  const web = store.put("pods", podNamed("web"));
  const again = store.put("pods", web);
  versions.push(store.revision);
  const removed = store.remove("pods", again);
  expect([versions, store.revision]).toEqual([[1, 3], 4]);
  expect([web, again, removed].map(({ metadata }) => metadata.resourceVersion)).toEqual(["2", "3", "4"]);
  expect(changes).toEqual([
    { revision: 2, resource: "pods", type: "ADDED", object: web, previous: undefined },
    { revision: 3, resource: "pods", type: "MODIFIED", object: again, previous: web },
    { revision: 4, resource: "pods", type: "DELETED", object: removed, previous: again },
  ]);
});

it("objects are found by resource and key, in the order of their creation", () => {
  const store = createStore(() => {});
  const [a, b] = [store.put("pods", podNamed("a")), store.put("pods", podNamed("b"))];
  expect([store.get("pods", "demo/a"), store.get("services", "demo/a")]).toEqual([a, undefined]);
  expect([...store.all("pods").values()]).toEqual([a, b]);
  store.remove("pods", a);
  expect([...store.all("pods").values()]).toEqual([b]);
});

it("the last state of a removed object may be another one", () => {
  const store = createStore(() => {});
  const a = store.put("pods", podNamed("a"));
  expect(store.remove("pods", a, podNamed("last")).metadata).toMatchObject({ name: "last", resourceVersion: "3" });
});
