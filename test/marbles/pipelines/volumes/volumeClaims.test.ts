import { defer, map, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { followClaim, type VolumeClaimsDeps } from "../../../../src/pipelines/volumes/volumeClaims.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { podOf } from "../../../support/pods.ts";

const REFERENCE: Parameters<typeof followClaim>[1] = { claimName: "data", isEphemeral: false, readOnly: true };
const CLAIM = { metadata: { name: "data", uid: "c" }, status: { phase: "Bound" }, spec: { volumeName: "pv" } };
const VOLUME = { metadata: { name: "pv" }, spec: { claimRef: { uid: "c" }, hostPath: { path: "/x" } } };

/** An API server with these objects; `asked` has its requests with their times. */
function server(m: Marbles, objects: { claim?: object; volume?: object }) {
  const asked: string[] = [];
  const get = (resource: string, ref: { namespace?: string; name: string }) =>
    defer(() => {
      asked.push(`${m.clock.monotonicMs()} ${resource} ${ref.namespace ?? ""}/${ref.name}`);
      const found = resource === "persistentvolumes" ? objects.volume : objects.claim;
      return found === undefined ? throwError(() => kubeletError("NotFound", "not found")) : of(found);
    });
  const follow = (api: object | undefined = { get }) =>
    followClaim(podOf(), REFERENCE, { api, clock: m.clock, syncPeriodMs: 60_000 } as unknown as VolumeClaimsDeps).pipe(
      map((found) => (found.ok ? found.value : found.error.message)),
    );
  return { objects, asked, follow };
}

describe("the claim of a volume", () => {
  it(
    "returns the volume that it is bound to",
    marbles((m) => {
      const expected = "(v|)";

      const { follow, asked } = server(m, { claim: CLAIM, volume: VOLUME });
      m.expectObservable(follow()).toBe(expected, {
        v: { name: "pv", hostPath: { path: "/x" }, mountOptions: [], readOnly: true },
      });
      m.flush();
      expect(asked).toEqual(["0 persistentvolumeclaims demo/data", "0 persistentvolumes /pv"]);
    }),
  );

  it(
    "is read again after half a second, doubling, until it is bound",
    marbles((m) => {
      const expected = "e 499ms e 999ms e 1999ms (v|)";

      const { follow, asked, objects } = server(m, {
        claim: { ...CLAIM, status: { phase: "Pending" } },
        volume: VOLUME,
      });
      const pending = "error processing PVC demo/data: PVC is not bound";
      m.expectObservable(follow()).toBe(expected, { e: pending, v: expect.anything() });
      m.at(3000, () => (objects.claim = CLAIM));
      m.flush();
      expect(asked.map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual([
        "0 persistentvolumeclaims",
        "500 persistentvolumeclaims",
        "1500 persistentvolumeclaims",
        "3500 persistentvolumeclaims",
        "3500 persistentvolumes",
      ]);
    }),
  );

  it.each([
    ["claim", { volume: VOLUME }, "failed to fetch PVC from API server: not found"],
    ["volume", { claim: CLAIM }, "failed to fetch PV pv from API server: not found"],
  ])("names the %s that cannot be read", (_, objects, why) =>
    marbles((m) => {
      const unsub = "   100ms !";
      const expected = "e";

      const message = `error processing PVC demo/data: ${why}`;
      m.expectObservable(server(m, objects).follow(), unsub).toBe(expected, { e: message });
    })(),
  );

  it(
    "is read again each minute for the size of a volume that nodes expand, whatever else happens to it",
    marbles((m) => {
      const unsub = "   300s !";
      const expected = "a 119999ms b";

      const sized = (storage: string) => ({
        ...VOLUME,
        spec: { claimRef: { uid: "c" }, local: { path: "/d" }, capacity: { storage } },
      });
      const claim = { ...CLAIM, status: { phase: "Bound", capacity: { storage: "1Gi" } } };
      const { follow, asked, objects } = server(m, { claim, volume: sized("1Gi") });
      const capacity = { claim: { namespace: "", name: "data" }, size: "1Gi", claimed: "1Gi" };
      const a = { name: "pv", local: { path: "/d" }, capacity, mountOptions: [], readOnly: true };
      m.expectObservable(follow(), unsub).toBe(expected, { a, b: { ...a, capacity: { ...capacity, size: "2Gi" } } });
      m.at(61_000, () => (objects.volume = sized("2Gi")));
      m.at(130_000, () => delete objects.claim);
      m.flush();
      expect(asked.filter((line) => line.includes("claims")).map((line) => line.split(" ")[0])).toEqual([
        ...["0", "60000", "120000", "180000", "240000"],
      ]);
    }),
  );

  it(
    "cannot be resolved without an API server",
    marbles((m) => {
      const unsub = "   100ms !";
      const expected = "e";

      const message = "error processing PVC demo/data: failed to fetch PVC from API server: there is no API server";
      m.expectObservable(
        followClaim(podOf(), REFERENCE, { api: undefined, clock: m.clock, syncPeriodMs: 60_000 }).pipe(
          map((found) => (found.ok ? "" : found.error.message)),
        ),
        unsub,
      ).toBe(expected, { e: message });
    }),
  );
});
