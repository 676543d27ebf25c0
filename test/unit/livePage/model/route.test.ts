import { expect, it } from "vitest";
import { hashOf, type Route, routeOf } from "../../../../src/livePage/model/route.ts";

it.each<Route>([
  { view: "marbles" },
  { view: "pipeline" },
  { view: "node" },
  { view: "pod", namespace: "kube-system", name: "a/b?<i>#%" },
])("is the same after a way through the address: %j", (route) => {
  expect(routeOf(hashOf(route))).toEqual(route);
});
it.each(["", "#", "#/", "#/other", "#/pod", "#/pod/only", "#/pod//x", "#/pod/a/%E0%A4%A"])(
  "shows the marbles for %j",
  (hash) => {
    expect(routeOf(hash)).toEqual({ view: "marbles" });
  },
);
