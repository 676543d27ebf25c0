import { expect, it } from "vitest";
import type { PodSpec } from "../../../../src/core/api.ts";
import { fsUserOf } from "../../../../src/core/volume/fsUser.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const user = (runAsUser: number) => ({ securityContext: { runAsUser } });
const running = (name: string, runAsUser?: number) =>
  containerOf({ name, ...(runAsUser === undefined ? {} : user(runAsUser)) });

it.each<[string, Partial<PodSpec>, number | undefined]>([
  ["no user", { containers: [running("a")] }, undefined],
  ["the pod's user", { ...user(0), containers: [running("a")] }, 0],
  ["the container's own user", { ...user(1), containers: [running("a", 2)] }, 2],
  ["the same user twice", { containers: [running("a", 2), running("b", 2)] }, 2],
  ["different users", { containers: [running("a", 2), running("b", 3)] }, undefined],
  ["a user of one container only", { containers: [running("a", 2), running("b")] }, undefined],
  [
    "another user in an init container",
    { containers: [running("a", 2)], initContainers: [running("i", 3)] },
    undefined,
  ],
])("files of a pod with %s", (_, spec, expected) => {
  expect(fsUserOf(podOf({ spec }))).toBe(expected);
});
