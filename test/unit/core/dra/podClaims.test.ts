/** Claims of a pod and of its containers. */
import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import {
  arePrepared,
  type ClaimInfo,
  type ClaimInfos,
  claimsUsedBy,
  NO_CLAIMS,
  type PreparedDevice,
  type ResourceClaim,
  usableClaim,
  withDevices,
  withoutUser,
  withPrepared,
  withUsedClaims,
} from "../../../../src/core/dra/claimInfo.ts";
import { containerCdiDevices } from "../../../../src/core/dra/containerDevices.ts";
import { hasClaims, type PodClaim, podClaims } from "../../../../src/core/dra/podClaims.ts";
import { valueOf } from "../../../../src/core/result.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const claiming = (resourceClaims: Pod["spec"]["resourceClaims"], status: Pod["status"] = {}): Pod => ({
  ...podOf({ spec: { containers: [containerOf()], ...(resourceClaims && { resourceClaims }) } }),
  status,
});
const byName = { name: "gpu", resourceClaimName: "gpu-1" };
const byTemplate = { name: "nic", resourceClaimTemplateName: "nics" };
const extendedResourceClaimStatus = {
  resourceClaimName: "plain-ext",
  requestMappings: [
    { containerName: "main", resourceName: "example.com/gpu", requestName: "c0-r0" },
    { containerName: "other", resourceName: "example.com/gpu", requestName: "c1-r0" },
    { containerName: "main", resourceName: "example.com/nic", requestName: "c0-r1" },
  ],
};

describe("the claims of a pod", () => {
  const named: PodClaim = { entry: "gpu", claimName: "gpu-1", mustBeOwned: false };

  it.each<[what: string, pod: Pod, expected: readonly PodClaim[] | string]>([
    ["none", claiming(undefined), []],
    ["by name", claiming([byName]), [named]],
    [
      "by template",
      claiming([byTemplate], { resourceClaimStatuses: [{ name: "nic", resourceClaimName: "plain-nic-x" }] }),
      [{ entry: "nic", claimName: "plain-nic-x", mustBeOwned: true }],
    ],
    ["a template that made no claim", claiming([byTemplate], { resourceClaimStatuses: [{ name: "nic" }] }), []],
    ["a template whose claim is missing", claiming([byTemplate]), 'pod "demo/plain": ResourceClaim not created yet'],
    [
      "an entry of a later API",
      claiming([{ name: "x" }]),
      'pod "demo/plain", spec.resourceClaim "x": none of the supported fields are set',
    ],
    [
      "of extended resources",
      claiming([byName], { extendedResourceClaimStatus }),
      [named, { entry: undefined, claimName: "plain-ext", mustBeOwned: false }],
    ],
  ])("%s", (_, pod, expected) => {
    const claims = podClaims(pod, true);
    expect(claims.ok ? claims.value : claims.error.message).toEqual(expected);
  });

  it("leaves out those of extended resources without the feature", () => {
    expect(podClaims(claiming([], { extendedResourceClaimStatus }), false)).toEqual({ ok: true, value: [] });
  });

  it("exist also while none is made", () => {
    const pods = [claiming([byTemplate]), claiming([], { extendedResourceClaimStatus }), claiming([]), podOf()];
    expect(pods.map(hasClaims)).toEqual([true, true, false, false]);
  });
});

const claimOf = (more: Partial<ResourceClaim> = {}): ResourceClaim => ({
  metadata: { namespace: "demo", name: "gpu-1", uid: "claim-1" },
  spec: {},
  status: {
    reservedFor: [{ resource: "pods", name: "plain", uid: "uid-1" }],
    allocation: { devices: { results: [result("b.example.com"), result("a.example.com"), result("b.example.com")] } },
  },
  ...more,
});
const result = (driver: string) => ({ driver, device: "d", pool: "p", request: "r" });

describe("the checks of a claim", () => {
  const pod = claiming([byName]);
  const named: PodClaim = { entry: "gpu", claimName: "gpu-1", mustBeOwned: false };
  const made: PodClaim = { ...named, mustBeOwned: true };
  const owner = { apiVersion: "v1", kind: "Pod", name: "plain", uid: "uid-1", controller: true };
  const notOwner = "ResourceClaim demo/gpu-1 was not created for Pod demo/plain (Pod is not owner)";
  const notReserved = "pod plain (uid-1) is not allowed to use ResourceClaim gpu-1 (claim-1)";

  it.each<[what: string, entry: PodClaim, claim: ResourceClaim, message: string | undefined]>([
    ["reserved and allocated", named, claimOf(), undefined],
    ["made for the pod", made, claimOf({ metadata: { ...claimOf().metadata, ownerReferences: [owner] } }), undefined],
    ["without owner", made, claimOf(), notOwner],
    [
      "of an earlier pod of that name",
      made,
      claimOf({ metadata: { ...claimOf().metadata, ownerReferences: [{ ...owner, uid: "uid-0" }] } }),
      notOwner,
    ],
    [
      "whose owner does not control it",
      made,
      claimOf({ metadata: { ...claimOf().metadata, ownerReferences: [{ ...owner, controller: false }] } }),
      notOwner,
    ],
    ["reserved for nobody", named, claimOf({ status: { allocation: {} } }), notReserved],
    [
      "reserved for an earlier pod of that name",
      named,
      claimOf({ status: { allocation: {}, reservedFor: [{ resource: "pods", name: "plain", uid: "uid-0" }] } }),
      notReserved,
    ],
    [
      "reserved but not allocated",
      named,
      claimOf({ status: { reservedFor: claimOf().status?.reservedFor ?? [] } }),
      "ResourceClaim gpu-1: not allocated",
    ],
  ])("%s", (_, entry, claim, message) => {
    const usable = usableClaim(pod, entry, claim);
    expect(usable.ok ? undefined : usable.error.message).toBe(message);
  });

  it("name each driver of the allocation once", () => {
    const usable = valueOf(usableClaim(pod, named, claimOf()));
    expect(usable).toEqual({
      namespace: "demo",
      name: "gpu-1",
      uid: "claim-1",
      podUids: new Set(["uid-1"]),
      drivers: new Map([
        ["b.example.com", []],
        ["a.example.com", []],
      ]),
      isPrepared: false,
    });
  });
});

const deviceOf = (id: string, ...requestNames: readonly string[]): PreparedDevice => ({
  poolName: "p",
  deviceName: id,
  requestNames,
  cdiDeviceIds: [`v/c=${id}`],
});
const infoOf = (name: string, podUids: readonly string[], more: Partial<ClaimInfo> = {}): ClaimInfo => ({
  namespace: "demo",
  name,
  uid: `uid of ${name}`,
  podUids: new Set(podUids),
  drivers: new Map([["d", []]]),
  isPrepared: false,
  ...more,
});
const table = (...infos: readonly ClaimInfo[]): ClaimInfos => new Map(infos.map((info) => [`demo/${info.name}`, info]));

describe("the table of claims", () => {
  it("shares a claim among pods, and keeps its devices", () => {
    const known = table(infoOf("c", ["p1"], { isPrepared: true, drivers: new Map([["d", [deviceOf("x")]]]) }));
    const shared = valueOf(withUsedClaims(known, [infoOf("c", ["p2"])]));
    expect(shared).toEqual(
      table(infoOf("c", ["p1", "p2"], { isPrepared: true, drivers: new Map([["d", [deviceOf("x")]]]) })),
    );
    expect([claimsUsedBy(shared, "p2"), claimsUsedBy(shared, "p3")]).toEqual([["demo/c"], []]);
    const left = withoutUser(shared, ["demo/c", "demo/unknown"], "p1");
    expect([...(left.get("demo/c")?.podUids ?? [])]).toEqual(["p2"]);
    expect(withoutUser(left, ["demo/c"], "p2")).toEqual(NO_CLAIMS);
  });

  it("refuses a new claim while an old one of that name is in use", () => {
    const added = withUsedClaims(table(infoOf("c", ["p1"])), [infoOf("c", ["p2"], { uid: "new" })]);
    expect(added.ok ? undefined : added.error.message).toBe(
      "old ResourceClaim with same name c and different UID uid of c still exists (previous pod force-deleted?!)",
    );
  });

  it("replaces the devices of a driver that is asked again", () => {
    const once = withDevices(table(infoOf("c", ["p1"])), "d", new Map([["demo/c", [deviceOf("x")]]]));
    const twice = withDevices(once, "d", new Map([["demo/c", [deviceOf("y")]]]));
    expect(twice.get("demo/c")?.drivers).toEqual(new Map([["d", [deviceOf("y")]]]));
  });

  it("is ready for a pod once each of its claims is prepared and knows it", () => {
    const prepared = withPrepared(table(infoOf("a", ["p1"]), infoOf("b", ["p2"])), ["demo/a", "demo/b", "demo/c"]);
    expect(arePrepared(prepared, ["demo/a"], "p1")).toBe(true);
    expect(arePrepared(prepared, ["demo/a", "demo/b"], "p1")).toBe(false);
    expect(arePrepared(table(infoOf("a", ["p1"])), ["demo/a"], "p1")).toBe(false);
  });
});

describe("the devices of a container", () => {
  const drivers = new Map([
    ["a", [deviceOf("all"), deviceOf("one", "r1"), deviceOf("two", "r2", "r3")]],
    ["b", [deviceOf("sub", "r4/fast")]],
  ]);
  const infos = table(infoOf("gpu-1", ["uid-1"], { drivers }), infoOf("other", ["uid-2"], { drivers }));

  it.each<[what: string, claims: readonly { name: string; request?: string }[], expected: readonly string[]]>([
    ["no claim", [], []],
    ["all requests", [{ name: "gpu" }], ["v/c=all", "v/c=one", "v/c=two", "v/c=sub"]],
    ["one request", [{ name: "gpu", request: "r1" }], ["v/c=all", "v/c=one"]],
    [
      "two requests, each device once",
      [
        { name: "gpu", request: "r2" },
        { name: "gpu", request: "r3" },
      ],
      ["v/c=all", "v/c=two"],
    ],
    ["a prioritized list", [{ name: "gpu", request: "r4" }], ["v/c=all", "v/c=sub"]],
    ["a request without devices of its own", [{ name: "gpu", request: "r9" }], ["v/c=all"]],
  ])("%s", (_, claims, expected) => {
    const devices = containerCdiDevices(claiming([byName]), containerOf({ resources: { claims } }), infos, true);
    expect(devices).toEqual({ ok: true, value: expected });
  });

  it("are those of its extended resources, if it asks for any", () => {
    const ext = infoOf("plain-ext", ["uid-1"], {
      drivers: new Map([["d", [deviceOf("g", "c0-r0"), deviceOf("n", "c0-r1")]]]),
    });
    const pod = claiming([], { extendedResourceClaimStatus });
    const asks = (requests: Record<string, string>) =>
      containerCdiDevices(pod, containerOf({ resources: { requests } }), table(ext), true);
    expect(asks({ "example.com/gpu": "1" })).toEqual({ ok: true, value: ["v/c=g"] });
    expect(asks({ "example.com/gpu": "0", "example.com/nic": "1" })).toEqual({ ok: true, value: ["v/c=n"] });
    expect(asks({ cpu: "1" })).toEqual({ ok: true, value: [] });
  });

  it.each([
    ["a claim that nobody prepared", "missing"],
    ["a claim prepared for other pods only", "other"],
  ])("are refused: %s", (_, resourceClaimName) => {
    const pod = claiming([{ name: "gpu", resourceClaimName }]);
    const devices = containerCdiDevices(pod, containerOf({ resources: { claims: [{ name: "gpu" }] } }), infos, true);
    expect(devices.ok ? undefined : devices.error.message).toBe(
      `unable to get claim info for ResourceClaim ${resourceClaimName} in namespace demo`,
    );
  });
});
