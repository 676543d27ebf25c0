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
    followClaim(podOf(), REFERENCE, { api, clock: m.clock } as unknown as VolumeClaimsDeps).pipe(
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
    "cannot be resolved without an API server",
    marbles((m) => {
      const unsub = "   100ms !";
      const expected = "e";

      const message = "error processing PVC demo/data: failed to fetch PVC from API server: there is no API server";
      m.expectObservable(
        followClaim(podOf(), REFERENCE, { api: undefined, clock: m.clock }).pipe(
          map((found) => (found.ok ? "" : found.error.message)),
        ),
        unsub,
      ).toBe(expected, { e: message });
    }),
  );
});
