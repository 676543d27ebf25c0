/**
 * The CRI behaviour that the kubelet relies on: one suite for every runtime. `makePort` starts one for the
 * whole suite; each test makes its own pods on it and removes them.
 */
import { firstValueFrom } from "rxjs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import * as cri from "../../src/gen/cri.ts";
import { containerConformance } from "./containerConformance.ts";
import { eventConformance } from "./eventConformance.ts";
import { imageConformance } from "./imageConformance.ts";
import { insideConformance } from "./insideConformance.ts";
import { RuntimeUnderTest, ending } from "./runtimeFixture.ts";
import type { RuntimeFeatures, RuntimeFixture } from "./runtimeFixture.ts";
import { sandboxConformance } from "./sandboxConformance.ts";

/** Declares the suite; `features` has to equal what `makePort` gives, since tests are declared before it runs. */
export function runtimeServiceConformance(
  name: string,
  features: RuntimeFeatures,
  makePort: () => Promise<RuntimeFixture>,
): void {
  describe(`CRI conformance: ${name}`, () => {
    let current: RuntimeUnderTest | undefined;
    const under = (): RuntimeUnderTest => {
      if (current === undefined) throw new Error("the runtime did not start");
      return current;
    };
    beforeAll(async () => {
      current = new RuntimeUnderTest(await makePort());
    });
    afterEach(() => current?.cleanUp());
    afterAll(() => current?.fixture.close());

    describe("runtime", () => aboutTheRuntime(under, features));
    describe("sandboxes", () => sandboxConformance(under));
    describe("containers", () => containerConformance(under));
    describe("inside containers", () => insideConformance(under, features));
    describe("images", () => imageConformance(under));
    describe("events", () => eventConformance(under, features));
  });
}

function aboutTheRuntime(under: () => RuntimeUnderTest, features: RuntimeFeatures): void {
  it("says its name and version and speaks v1", async () => {
    const version = await firstValueFrom(under().runtime.version(cri.VersionRequest.create()));
    expect(version.runtimeApiVersion).toBe("v1");
    expect([version.runtimeName !== "", version.runtimeVersion !== ""]).toEqual([true, true]);
  });

  it("is ready, and so is its network", async () => {
    const { status } = await firstValueFrom(under().runtime.status(cri.StatusRequest.create()));
    const conditions = new Map(status?.conditions.map((condition) => [condition.type, condition.status]));
    expect([conditions.get("RuntimeReady"), conditions.get("NetworkReady")]).toEqual([true, true]);
  });

  it(features.runtimeConfig ? "names its cgroup driver" : "answers Unimplemented to RuntimeConfig", async () => {
    const answer = await ending(under().runtime.runtimeConfig(cri.RuntimeConfigRequest.create()));
    if (features.runtimeConfig) expect(answer).toHaveProperty("value.linux.cgroupDriver");
    else expect(answer).toEqual({ error: "Unimplemented" });
  });
}
