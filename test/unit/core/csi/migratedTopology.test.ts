import { describe, expect, it } from "vitest";
import type { Labels, Term } from "../../../../src/core/admission/nodeSelection.ts";
import { type DriverTopology, migratedTerms } from "../../../../src/core/csi/migratedTopology.ts";

const ZONE = "topology.kubernetes.io/zone";
const REGION = "topology.kubernetes.io/region";
const OLD_ZONE = "failure-domain.beta.kubernetes.io/zone";
const OLD_REGION = "failure-domain.beta.kubernetes.io/region";
const driver: DriverTopology = { zone: "d/zone" };
const term = (...requirements: readonly [key: string, ...values: string[]][]): Term => ({
  matchExpressions: requirements.map(([key, ...values]) => ({ key, operator: "In", values })),
});

describe("the nodes of a migrated volume", () => {
  it.each<[string, readonly Term[] | undefined, Labels, readonly Term[] | undefined, DriverTopology]>([
    ["have the driver's zones", [term([ZONE, "a"], ["x", "y"])], {}, [term(["d/zone", "a"], ["x", "y"])], driver],
    [
      "have the driver's zones instead of those of the beta, and today's regions",
      [term([OLD_ZONE, "a"], [OLD_REGION, "r"])],
      {},
      [term(["d/zone", "a"], [REGION, "r"])],
      driver,
    ],
    ["have the zones of its label", undefined, { [ZONE]: "b__a__b" }, [term(["d/zone", "a", "b"])], driver],
    ["have the zones of its old label", undefined, { [OLD_ZONE]: "a" }, [term(["d/zone", "a"])], driver],
    [
      "have the zones of its label in each term",
      [term(["x", "y"])],
      { [ZONE]: "a" },
      [term(["x", "y"], ["d/zone", "a"])],
      driver,
    ],
    ["are any without terms and labels", undefined, {}, undefined, driver],
    ["are any with an empty label", undefined, { [ZONE]: "" }, undefined, driver],
    ["prefer terms to labels", [term([ZONE, "a"])], { [ZONE]: "b" }, [term(["d/zone", "a"])], driver],
    [
      "have the driver's regions, if it has any",
      [term([ZONE, "a"], [REGION, "r"])],
      {},
      [term(["d/zone", "a"], ["d/region", "r"])],
      { ...driver, region: "d/region" },
    ],
    [
      "have zone and region of its labels, if the driver has regions",
      undefined,
      { [ZONE]: "a__b", [REGION]: "r" },
      [term(["d/zone", "a__b"], ["d/region", "r"])],
      { ...driver, region: "d/region" },
    ],
  ])("%s", (_rule, terms, labels, expected, topology) =>
    expect(migratedTerms(terms, labels, topology)).toEqual(expected),
  );
});
