/** Errors of volumes with a CSI driver, which is not supported, with details from its CSIDriver object. */
import { expect, it } from "vitest";
import { csiNotServed, type CsiDriver, type CsiOrigin } from "../../../../src/core/volume/csiVolume.ts";

const driver = (spec: CsiDriver["spec"]): CsiDriver => ({ metadata: { name: "d.example" }, spec });
const refused = "CSI driver d.example is not served";

it.each<[CsiOrigin["mode"], CsiOrigin["known"], string]>([
  ["Persistent", undefined, ""],
  ["Ephemeral", undefined, ""],
  ["Persistent", "absent", "; the cluster has no CSIDriver with this name"],
  ["Ephemeral", "absent", '; volume mode "Ephemeral" not supported by driver d.example (no CSIDriver object)'],
  ["Persistent", driver({}), "; its CSIDriver requires attachRequired"],
  [
    "Persistent",
    driver({ attachRequired: false, podInfoOnMount: false }),
    "; its CSIDriver requires nothing but mounts",
  ],
  [
    "Persistent",
    driver({
      podInfoOnMount: true,
      requiresRepublish: true,
      seLinuxMount: true,
      tokenRequests: [{ audience: "a" }],
      volumeLifecycleModes: ["Ephemeral", "Persistent"],
    }),
    "; its CSIDriver requires attachRequired, podInfoOnMount, requiresRepublish, seLinuxMount, tokenRequests",
  ],
  [
    "Ephemeral",
    driver({}),
    '; volume mode "Ephemeral" not supported by driver d.example (only supports ["Persistent"])',
  ],
  [
    "Persistent",
    driver({ volumeLifecycleModes: ["Ephemeral"] }),
    '; volume mode "Persistent" not supported by driver d.example (only supports ["Ephemeral"])',
  ],
])("a CSI volume of mode %s with the driver %j: %s", (mode, known, more) => {
  expect(csiNotServed({ driver: "d.example", mode, ...(known && { known }) })).toBe(`${refused}${more}`);
});
