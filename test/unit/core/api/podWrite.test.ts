import { describe, expect, it } from "vitest";
import { nextPodWrite, patchedObject, podWritePriority, type PodWriteView } from "../../../../src/core/api/podWrite.ts";
import type { ApiPod } from "../../../../src/core/api/apiPodObjects.ts";
import type { PodStatus } from "../../../../src/core/api.ts";
import { monotonicMs, podUid } from "../../../../src/core/ids.ts";
import { freshRecord } from "../../../../src/core/pod/podRecord.ts";
import type { PodRecord } from "../../../../src/core/pod/podRegistry.ts";
import { podOf } from "../../../support/pods.ts";

const READY: PodStatus = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
const OVER: PodStatus = { phase: "Succeeded" };
const DELETED = { deletionTimestamp: "2026-01-01T00:00:00Z" };

const apiObject = (status: PodStatus, metadata: ApiPod["metadata"] = {}): ApiPod => ({
  metadata: { name: "plain", namespace: "demo", uid: "uid-1", ...metadata },
  status,
});
const mirror = (hash: string, metadata: ApiPod["metadata"] = {}): ApiPod =>
  apiObject(
    { phase: "Pending" },
    { uid: "uid-mirror", annotations: { "kubernetes.io/config.mirror": hash }, ...metadata },
  );
const IDENTITY = { uid: podUid("uid-1"), name: "plain", namespace: "demo" };
const record = (more: Partial<PodRecord> = {}): PodRecord => ({
  ...freshRecord(IDENTITY),
  pod: podOf(),
  state: "syncing",
  ...more,
});
const staticRecord = (more: Partial<PodRecord> = {}): PodRecord =>
  record({ pod: podOf({ annotations: { "kubernetes.io/config.source": "file" } }), ...more });
const viewOf = (more: Partial<PodWriteView> & { readonly status?: PodStatus } = {}): PodWriteView => ({
  object: undefined,
  records: [record()],
  statusOf: () => more.status,
  firstStatusOf: () => undefined,
  synced: undefined,
  isReported: true,
  isSettled: true,
  now: monotonicMs(60_000),
  ...more,
});

/** `status Running`, `delete uid`, `createMirror`, `later 1000`, `none`. */
function short(view: PodWriteView): string {
  const write = nextPodWrite(view);
  switch (write.kind) {
    case "status":
      return `status ${JSON.stringify(write.patch)}`;
    case "delete":
      return `delete ${write.uid}`;
    case "later":
      return `later ${write.afterMs}`;
    default:
      return write.kind;
  }
}

describe("nextPodWrite for an API pod", () => {
  const finished = record({ state: "terminated", reclaimed: true });
  const patch = `status {"metadata":{"uid":"uid-1"},"status":{"conditions":[{"type":"Ready","status":"True"}],"phase":"Running"}}`;
  const toGo = apiObject(OVER, DELETED);
  const known = { objectUid: "uid-1", status: READY, mayRun: true };
  const leaving = { object: apiObject({ phase: "Pending" }, DELETED), records: [record({ state: "terminating" })] };
  it.each<[string, string, Parameters<typeof viewOf>[0]]>([
    ["writes a status the server does not have", patch, { object: apiObject({}), status: READY }],
    ["writes nothing the server has", "none", { object: apiObject(READY), status: READY }],
    ["writes nothing before there is a status", "none", { object: apiObject({}) }],
    ["writes nothing to a namesake", "none", { object: apiObject({}, { uid: "uid-2" }), status: READY }],
    ["writes nothing of a pod the server does not have", "none", { status: READY }],
    [
      "waits before it overwrites another client's status",
      "later 9000",
      { object: apiObject({}), status: READY, synced: { ...known, atMs: monotonicMs(59_000) } },
    ],
    [
      "then writes again",
      patch,
      { object: apiObject({}), status: READY, synced: { ...known, atMs: monotonicMs(50_000) } },
    ],
    [
      "does not wait with a newer status",
      patch,
      { object: apiObject({}), status: { ...READY }, synced: { ...known, atMs: monotonicMs(59_000) } },
    ],
    [
      "waits with a status of a deleted pod that still ends",
      "later 300",
      { ...leaving, status: { ...READY }, synced: { ...known, atMs: monotonicMs(59_300) } },
    ],
    ["then writes it", patch, { ...leaving, status: { ...READY }, synced: { ...known, atMs: monotonicMs(59_000) } }],
    [
      "does not wait with its last status",
      `status {"metadata":{"uid":"uid-1"},"status":{"phase":"Succeeded","conditions":[]}}`,
      { ...leaving, records: [finished], status: OVER, synced: { ...known, atMs: monotonicMs(59_999) } },
    ],
    [
      "does not wait for the status of a pod with the same name",
      patch,
      { ...leaving, status: { ...READY }, synced: { ...known, objectUid: "uid-2", atMs: monotonicMs(59_999) } },
    ],
    [
      "deletes the object of a finished pod that is to go",
      "delete uid-1",
      { object: toGo, records: [finished], status: OVER },
    ],
    [
      "writes the last status first",
      `status {"metadata":{"uid":"uid-1"},"status":{"phase":"Succeeded","conditions":[]}}`,
      { object: apiObject({ phase: "Running" }, DELETED), records: [finished], status: OVER },
    ],
    [
      "deletes no pod without a deletion timestamp",
      "none",
      { object: apiObject(OVER), records: [finished], status: OVER },
    ],
    [
      "keeps a pod that is terminating",
      "none",
      { object: toGo, records: [record({ state: "terminating" })], status: OVER },
    ],
    [
      "keeps a pod that still holds resources",
      "none",
      { object: toGo, records: [record({ state: "terminated" })], status: OVER },
    ],
    ["nor one of which it knows nothing", "none", { object: toGo, records: [], status: OVER }],
    [
      "deletes a rejected pod",
      "delete uid-1",
      { object: toGo, records: [record({ state: "rejected" })], status: OVER },
    ],
    [
      "deletes a pod again that nothing holds",
      "delete uid-1",
      {
        object: apiObject(OVER, { ...DELETED, deletionGracePeriodSeconds: 0, finalizers: [] }),
        records: [finished],
        status: OVER,
      },
    ],
    [
      "keeps a pod that only finalizers hold",
      "none",
      {
        object: apiObject(OVER, { ...DELETED, deletionGracePeriodSeconds: 0, finalizers: ["example.com/hold"] }),
        records: [finished],
        status: OVER,
      },
    ],
  ])("%s", (_, expected, view) => expect(short(viewOf(view))).toBe(expected));
});

describe("nextPodWrite for a static pod", () => {
  const records = [staticRecord()];
  const old = staticRecord({
    identity: { ...IDENTITY, uid: podUid("uid-0") },
    wanted: false,
    state: "terminating",
  });
  const orphan = { ...old, pod: undefined };
  it.each<[string, string, Parameters<typeof viewOf>[0]]>([
    ["creates its mirror", "createMirror", { records }],
    ["creates no mirror pod before the API server has listed its pods", "none", { records, isReported: false }],
    [
      "creates no mirror pod for a pod that waits for its name",
      "none",
      { records: [staticRecord({ state: "waiting" })] },
    ],
    ["creates no mirror pod for a rejected pod", "none", { records: [staticRecord({ state: "rejected" })] }],
    [
      "creates no mirror pod without a manifest",
      "none",
      { records: [staticRecord({ wanted: false, state: "terminating" })] },
    ],
    [
      "writes its status to the mirror",
      `status {"metadata":{"uid":"uid-mirror"},"status":{"conditions":[{"type":"Ready","status":"True"}],"phase":"Running"}}`,
      { object: mirror("uid-1"), records, status: READY },
    ],
    ["deletes an outdated mirror", "delete uid-mirror", { object: mirror("uid-0"), records, status: READY }],
    [
      "keeps the mirror while its pod ends",
      "none",
      { object: mirror("uid-0"), records: [old, staticRecord({ state: "waiting" })] },
    ],
    ["also of a pod only the runtime knows", "none", { object: mirror("uid-0"), records: [orphan] }],
    ["deletes a mirror without a pod", "delete uid-mirror", { object: mirror("uid-1"), records: [] }],
    ["not before the node knows all its pods", "none", { object: mirror("uid-1"), records: [], isSettled: false }],
    [
      "deletes a mirror that is being deleted",
      "delete uid-mirror",
      { object: mirror("uid-1", DELETED), records, status: READY },
    ],
    [
      "touches no pod of the API with its name",
      "none",
      { object: apiObject(READY, { uid: "uid-9" }), records, status: READY },
    ],
  ])("%s", (_, expected, view) => expect(short(viewOf(view))).toBe(expected));
});

describe("patchedObject", () => {
  const write = nextPodWrite(viewOf({ object: apiObject({ phase: "Pending" }), status: READY }));
  const patched = write.kind === "status" ? write.patched : {};
  const metadata = { name: "plain", namespace: "demo", uid: "uid-1", resourceVersion: "7" };

  it("combines the written status with metadata of the server", () => {
    const answer = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
    expect(patchedObject(patched, answer)).toEqual({ metadata, status: READY });
  });

  it("is the answer of a server that returns the whole object", () => {
    const answer = { kind: "Pod", metadata, status: { ...READY, message: "of another client" } };
    expect(patchedObject(patched, answer)).toBe(answer);
  });
});

describe("podWritePriority", () => {
  it.each<[string, number, Parameters<typeof viewOf>[0]]>([
    ["the end of a pod", 0, { object: apiObject(READY, DELETED), status: OVER }],
    ["a deletion", 1, { object: apiObject(OVER, DELETED), status: OVER }],
    ["a change of Ready", 2, { object: apiObject({}), status: READY }],
    ["anything else", 3, { object: apiObject(READY), status: { ...READY, message: "m" } }],
    ["a mirror to be made", 3, { records: [staticRecord()] }],
  ])("%s: %i", (_, expected, view) => expect(podWritePriority(viewOf(view))).toBe(expected));
});
