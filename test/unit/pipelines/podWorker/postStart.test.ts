import { expect, it } from "vitest";
import { monotonicMs } from "../../../../src/core/ids.ts";
import { createPodMemories } from "../../../../src/pipelines/podMemories.ts";
import { forgetPostStart, notePostStart } from "../../../../src/pipelines/podWorker/postStart.ts";
import type { PodContext } from "../../../../src/pipelines/podContext.ts";
import { containerOf } from "../../../support/pods.ts";

const hook = { postStart: { exec: { command: ["true"] } } };
const hooked = (name: string) => containerOf({ name, lifecycle: hook });

it("only the container whose hook succeeded counts as started", () => {
  const memory = createPodMemories(monotonicMs(0));
  const context = { memory } as unknown as PodContext;
  const starting = () => [...memory.hooks.postStarting.value];
  for (const name of ["a", "b"]) notePostStart(context, hooked(name), `id-${name}`);
  notePostStart(context, containerOf({ name: "plain" }), "id-plain");
  expect(starting()).toEqual([
    ["a", "id-a"],
    ["b", "id-b"],
  ]);
  forgetPostStart(context, hooked("a"));
  expect(starting()).toEqual([["b", "id-b"]]);
});
