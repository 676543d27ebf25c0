/** Gauges of the claims in use. */
import { expect, it } from "vitest";
import type { ClaimInfo } from "../../../../src/core/dra/claimInfo.ts";
import { gaugeClaims } from "../../../../src/pipelines/stats/gaugeClaims.ts";

const claimOf = (name: string, ...drivers: readonly string[]): readonly [string, ClaimInfo] => [
  `demo/${name}`,
  {
    namespace: "demo",
    name,
    uid: name,
    podUids: new Set(["p"]),
    drivers: new Map(drivers.map((driver) => [driver, []])),
    isPrepared: true,
  },
];

it("counts claims by driver and of all drivers, and drops the series of a driver without claims", () => {
  const series = new Map<string, number>();
  const metrics = {
    count: () => {},
    drop: () => {},
    observe: () => {},
    gauge: (_: string, value: number, labels: { readonly driver_name?: string } = {}) =>
      void series.set(labels.driver_name ?? "", value),
    dropGauge: (_: string, { driver_name = "" }: { readonly driver_name?: string }) => void series.delete(driver_name),
  };
  const known = new Set<string>();
  gaugeClaims(new Map([claimOf("x", "a", "b"), claimOf("y", "a")]), known, metrics);
  expect([...series]).toEqual([
    ["<any>", 2],
    ["a", 2],
    ["b", 1],
  ]);
  gaugeClaims(new Map([claimOf("y", "a")]), known, metrics);
  expect([...series]).toEqual([
    ["<any>", 1],
    ["a", 1],
  ]);
  gaugeClaims(new Map(), known, metrics);
  expect([...series]).toEqual([["<any>", 0]]);
});
