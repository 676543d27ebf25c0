import { describe, expect, test } from "vitest";
import type { ApiContainerStatus, Container } from "../../../../src/core/api.ts";
import {
  allContainers,
  allContainerStatuses,
  allRegularFirst,
  findContainer,
  lastingContainers,
  podContainers,
  podContainerStatuses,
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

describe("the statuses of a pod's containers in one list", () => {
  const named = (name: string): ApiContainerStatus => ({ name, image: "", imageID: "", ready: false, restartCount: 0 });
  const status = {
    containerStatuses: [named("web")],
    initContainerStatuses: [named("setup")],
    ephemeralContainerStatuses: [named("debug")],
  };

  test.each([
    ["podContainerStatuses", podContainerStatuses, "setup web"],
    ["allContainerStatuses", allContainerStatuses, "setup web debug"],
  ] as const)("%s: %s", (_name, join, names) => {
    expect(join(status).map(({ name }) => name)).toEqual(names.split(" "));
    expect([join({}), join(undefined)]).toEqual([[], []]);
  });
});
