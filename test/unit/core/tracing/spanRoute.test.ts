import { expect, it } from "vitest";
import { spanRoute } from "../../../../src/core/tracing/spanRoute.ts";

it.each([
  ["/exec/:namespace/:pod/:container", "/exec/{podNamespace}/{podID}/{containerName}"],
  ["/exec/:namespace/:pod/:uid/:container", "/exec/{podNamespace}/{podID}/{uid}/{containerName}"],
  ["/pods/", "/pods"],
  ["/logs/*", "/logs/*"],
  ["/", "/"],
  ["*", undefined],
  ["/*", undefined],
])("the route %s is %s in spans", (route, expected) => {
  expect(spanRoute(route)).toBe(expected);
});
