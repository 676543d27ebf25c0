import { describe, expect, test } from "vitest";
import type { Container } from "../../../../src/core/api.ts";
import {
  allContainers,
  allRegularFirst,
  findContainer,
  lastingContainers,
  podContainers,
  portContainers,
  regularFirst,
} from "../../../../src/core/pod/containers.ts";

const container = (name: string, restartPolicy?: "Always"): Container => ({
  name,
  ...(restartPolicy === undefined ? {} : { restartPolicy }),
});

const spec = {
  initContainers: [container("setup"), container("proxy", "Always")],
  containers: [container("web"), container("cache")],
  ephemeralContainers: [container("debug")],
};

describe("the containers of a pod in one list", () => {
  const orders = { podContainers, allContainers, regularFirst, allRegularFirst, lastingContainers, portContainers };

  test.each([
    ["podContainers", "setup proxy web cache"],
    ["allContainers", "setup proxy web cache debug"],
    ["regularFirst", "web cache setup proxy"],
    ["allRegularFirst", "web cache setup proxy debug"],
    ["lastingContainers", "proxy web cache"],
    ["portContainers", "web cache proxy"],
  ] as const)("%s: %s", (name, names) => {
    expect(orders[name](spec).map((each) => each.name)).toEqual(names.split(" "));
  });

  test.each(Object.keys(orders) as (keyof typeof orders)[])("%s: a pod with regular containers alone", (name) => {
    expect(orders[name]({ containers: spec.containers })).toEqual(spec.containers);
  });
});

describe("findContainer", () => {
  test.each([
    ["proxy", spec.initContainers[1]],
    ["cache", spec.containers[1]],
    ["debug", undefined],
    ["unknown", undefined],
  ])("%s", (name, found) => {
    expect(findContainer(spec, name)).toBe(found);
  });
});
