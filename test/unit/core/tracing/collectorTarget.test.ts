import { expect, it } from "vitest";
import { collectorTarget } from "../../../../src/core/tracing/collectorTarget.ts";

it.each<[string | undefined, object]>([
  [undefined, { host: "localhost:4317" }],
  ["collector:80", { host: "collector:80" }],
  ["[::1]:4317", { host: "[::1]:4317" }],
  ["dns:collector:4317", { host: "collector:4317" }],
  ["dns:///collector:4317", { host: "collector:4317" }],
  ["dns://8.8.8.8/collector:4317", { host: "collector:4317" }],
  ["unix:/run/o.sock", { socket: "/run/o.sock" }],
  ["unix:///run/o.sock", { socket: "/run/o.sock" }],
  ["unix:o.sock", { socket: "o.sock" }],
  ["unix-abstract:o", { socket: "\0o" }],
  ["unix-abstract://o", { socket: "\0o" }],
])("the endpoint %s leads to %j", (endpoint, expected) => {
  expect(collectorTarget(endpoint)).toEqual(expected);
});
