import { describe, expect, it } from "vitest";
import { changedPods, emptyListing, inspectedPrints, listingOf } from "../../../../src/core/runtime/runtimeListing.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { emptyRuntimeStatus, type PodRuntimeStatus } from "../../../../src/core/runtime/podRuntimeStatus.ts";
import { Container, ContainerState, PodSandbox, PodSandboxState } from "../../../../src/gen/cri.ts";

const { SANDBOX_READY, SANDBOX_NOTREADY } = PodSandboxState;
const { CONTAINER_CREATED, CONTAINER_RUNNING, CONTAINER_EXITED, CONTAINER_UNKNOWN } = ContainerState;

const labelsOf = (uid: string) => ({
  "io.kubernetes.pod.uid": uid,
  "io.kubernetes.pod.name": `pod-${uid}`,
  "io.kubernetes.pod.namespace": "demo",
});
const sandbox = (id: string, uid: string, state: PodSandboxState = SANDBOX_READY) =>
  PodSandbox.create({ id, state, labels: labelsOf(uid) });
const container = (id: string, uid: string, state: ContainerState = CONTAINER_RUNNING) =>
  Container.create({ id, state, labels: labelsOf(uid) });

/** The pod as an inspection returns it, with the parts that fingerprints cover. */
const statusOf = (
  uid: string,
  sandboxes: readonly { readonly id: string; readonly ready: boolean }[],
  containers: readonly { readonly id: string; readonly state: string }[],
) => ({ ...emptyRuntimeStatus(podUid(uid), uid, "demo", 1), sandboxes, containers }) as unknown as PodRuntimeStatus;

describe("listingOf", () => {
  it("groups by pod, maps every ID to its pod, and prints states in a fixed order", () => {
    const listing = listingOf(
      [sandbox("s2", "a", SANDBOX_NOTREADY), sandbox("s1", "a"), sandbox("s3", "b")],
      [container("c2", "a", CONTAINER_EXITED), container("c1", "a")],
    );
    expect([...listing.pods.values()]).toEqual([
      { podUid: "a", name: "pod-a", namespace: "demo", running: true, print: "c1=1 c2=2 s1=0 s2=1" },
      { podUid: "b", name: "pod-b", namespace: "demo", running: true, print: "s3=0" },
    ]);
    expect(Object.fromEntries(listing.owners)).toEqual({ s1: "a", s2: "a", s3: "b", c1: "a", c2: "a" });
  });

  const liveness: readonly (readonly [string, readonly PodSandbox[], readonly Container[], boolean])[] = [
    ["a ready sandbox", [sandbox("s", "a")], [], true],
    ["a stopped sandbox", [sandbox("s", "a", SANDBOX_NOTREADY)], [], false],
    ["a running container", [], [container("c", "a")], true],
    ["a created container", [], [container("c", "a", CONTAINER_CREATED)], false],
    ["an exited container", [], [container("c", "a", CONTAINER_EXITED)], false],
    ["a container of unknown state", [], [container("c", "a", CONTAINER_UNKNOWN)], false],
    [
      "one that runs among dead ones",
      [sandbox("s", "a", SANDBOX_NOTREADY)],
      [container("c", "a"), container("d", "a", CONTAINER_EXITED)],
      true,
    ],
  ];
  it.each(liveness)("running, for a pod with %s", (_what, sandboxes, containers, running) => {
    expect([...listingOf(sandboxes, containers).pods.values()].map((pod) => pod.running)).toEqual([running]);
  });

  it("omits sandboxes and containers without a pod UID, which are not the kubelet's", () => {
    const foreign = [PodSandbox.create({ id: "x" }), PodSandbox.create({ id: "y", labels: labelsOf("") })];
    expect(listingOf(foreign, [Container.create({ id: "z", state: CONTAINER_RUNNING })])).toEqual(emptyListing);
  });

  it.each([
    ["UID", { uid: ".." }],
    ["UID", { uid: "." }],
    ["UID", { uid: "a/../../b" }],
    ["UID", { uid: "x".repeat(256) }],
    ["name", { uid: "a", name: ".." }],
    ["namespace", { uid: "a", namespace: "../demo" }],
  ])("ignores and names a pod whose %s is not a path element: %j", (_what, parts) => {
    const labels = Object.fromEntries(Object.entries(parts).map(([key, text]) => [`io.kubernetes.pod.${key}`, text]));
    const listing = listingOf([PodSandbox.create({ id: "s", labels })], [Container.create({ id: "c", labels })]);
    expect(listing).toEqual({ ...emptyListing, ignored: ["s", "c"] });
  });

  it("identifies a pod by its UID even when name and namespace are missing", () => {
    const bare = PodSandbox.create({ id: "s", labels: { "io.kubernetes.pod.uid": "a" } });
    expect([...listingOf([bare], []).pods.values()]).toEqual([
      { podUid: "a", name: "", namespace: "", running: true, print: "s=0" },
    ]);
  });
});

describe("changedPods", () => {
  const before = listingOf([sandbox("s", "a"), sandbox("t", "b")], [container("c", "a")]);
  const table: readonly (readonly [string, ReturnType<typeof listingOf>, readonly string[]])[] = [
    ["nothing, in another order", listingOf([sandbox("t", "b"), sandbox("s", "a")], [container("c", "a")]), []],
    ["a state", listingOf([sandbox("s", "a"), sandbox("t", "b")], [container("c", "a", CONTAINER_EXITED)]), ["a"]],
    [
      "a container more",
      listingOf([sandbox("s", "a"), sandbox("t", "b")], [container("c", "a"), container("d", "b")]),
      ["b"],
    ],
    ["a container less", listingOf([sandbox("s", "a"), sandbox("t", "b")], []), ["a"]],
    ["a container replaced", listingOf([sandbox("s", "a"), sandbox("t", "b")], [container("d", "a")]), ["a"]],
    ["a pod that went", listingOf([sandbox("t", "b")], []), ["a"]],
    [
      "a pod that came",
      listingOf([sandbox("s", "a"), sandbox("t", "b"), sandbox("u", "n")], [container("c", "a")]),
      ["n"],
    ],
    ["all of them gone", emptyListing, ["a", "b"]],
  ];
  it.each(table)("%s", (_what, after, expected) => {
    expect(changedPods(before, after)).toEqual(expected);
  });
});

describe("inspectedPrints", () => {
  const stateWords = ["created", "running", "exited", "unknown"] as const;
  const numbers = [CONTAINER_CREATED, CONTAINER_RUNNING, CONTAINER_EXITED, CONTAINER_UNKNOWN];
  const inspected = statusOf(
    "a",
    [
      { id: "s1", ready: true },
      { id: "s2", ready: false },
    ],
    stateWords.map((state, index) => ({ id: `c${index}`, state })),
  );

  it("equals the print of a relist of the same sandboxes and containers", () => {
    const listing = listingOf(
      [sandbox("s2", "a", SANDBOX_NOTREADY), sandbox("s1", "a")],
      numbers.map((state, index) => container(`c${index}`, "a", state)),
    );
    expect(changedPods(inspectedPrints([inspected]), listing)).toEqual([]);
  });

  it("omits a pod without sandboxes and containers, as a relist does", () => {
    expect(inspectedPrints([statusOf("gone", [], [])])).toEqual({ pods: new Map() });
  });
});
