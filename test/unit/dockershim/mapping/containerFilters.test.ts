/** Filters of CRI as those of Docker. */
import { describe, expect, it } from "vitest";
import { dockerFilters, isWhole } from "../../../../src/dockershim/mapping/containerFilters.ts";
import { ContainerFilter, ContainerState } from "../../../../src/gen/cri.ts";

const TYPE = { "io.kubernetes.docker.type": "container" };
const ID = "ab".repeat(32);
const filtersOf = (filter: Parameters<typeof ContainerFilter.create>[0]) =>
  dockerFilters(ContainerFilter.create(filter));
const stateOf = (state: ContainerState) => ({ state: { state } });

describe("filters of Docker", () => {
  it.each<[string, Parameters<typeof ContainerFilter.create>[0], object]>([
    ["nothing", {}, { labels: TYPE }],
    [
      "labels",
      { labelSelector: { app: "web=1", "io.kubernetes.docker.type": "x" } },
      { labels: { app: "web=1", ...TYPE } },
    ],
    ["a key with a sign of equality", { labelSelector: { "a=b": "c" } }, { labels: TYPE }],
    [
      "a long label",
      { labelSelector: { a: "x".repeat(1_024), b: "x".repeat(1_023) } },
      { labels: { b: "x".repeat(1_023), ...TYPE } },
    ],
    ["a sandbox", { podSandboxId: ID }, { labels: { "io.kubernetes.sandbox.id": ID, ...TYPE } }],
    ["a part of the id of a sandbox", { podSandboxId: "ab" }, { labels: TYPE }],
    ["an id", { id: ID }, { labels: TYPE, id: ID }],
    ["the beginning of an id", { id: "ab" }, { labels: TYPE }],
    ["created", stateOf(ContainerState.CONTAINER_CREATED), { labels: TYPE, states: ["created"] }],
    ["running", stateOf(ContainerState.CONTAINER_RUNNING), { labels: TYPE, states: ["running", "paused"] }],
    ["exited", stateOf(ContainerState.CONTAINER_EXITED), { labels: TYPE, states: ["exited", "dead", "created"] }],
    ["unknown", stateOf(ContainerState.CONTAINER_UNKNOWN), { labels: TYPE }],
  ])("for %s", (_what, filter, expected) => expect(filtersOf(filter)).toEqual(expected));

  it("name 32 labels at most", () => {
    const labelSelector = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, "v"]));
    expect(Object.keys(filtersOf({ labelSelector }).labels)).toHaveLength(33);
  });
});

it.each([
  [{}, true],
  [{ id: "a" }, false],
  [{ podSandboxId: "a" }, false],
  [stateOf(ContainerState.CONTAINER_CREATED), false],
  [{ labelSelector: { a: "" } }, false],
])("the filter %j lets all pass: %s", (filter, expected) =>
  expect(isWhole(ContainerFilter.create(filter))).toBe(expected),
);
