import { describe, expect, it } from "vitest";
import {
  containerGraceSeconds,
  MINIMUM_POD_GRACE_SECONDS,
  remainingGraceSeconds,
  secondsUntil,
  stopDeadline,
} from "../../../../src/core/pod/gracePeriod.ts";
import type { ContainerKill } from "../../../../src/core/pod/podActionsTypes.ts";
import { container, mono, pod } from "../samples.ts";

const probe = (terminationGracePeriodSeconds: number) => ({ terminationGracePeriodSeconds });
const probed = container("web", { livenessProbe: probe(5), startupProbe: probe(7) });
const spec = pod({ terminationGracePeriodSeconds: 40 });
const deleted = { ...spec, metadata: { ...spec.metadata, deletionGracePeriodSeconds: 20 } };

describe("containerGraceSeconds", () => {
  it.each<[string, Parameters<typeof containerGraceSeconds>, number]>([
    ["the override first", [deleted, probed, "LivenessProbe", 3], 3],
    ["an override of 0", [deleted, probed, undefined, 0], 0],
    ["never less than 0 by override", [deleted, probed, undefined, -3], 0],
    ["the pod's deletion next", [deleted, probed, "LivenessProbe", undefined], 20],
    ["that of the failed liveness probe", [spec, probed, "LivenessProbe", undefined], 5],
    ["that of the failed startup probe", [spec, probed, "StartupProbe", undefined], 7],
    ["that of the spec if no probe failed", [spec, probed, "Unknown", undefined], 40],
    ["that of the spec if the probe sets none", [spec, container("web"), "LivenessProbe", undefined], 40],
    ["the API's default without any", [pod(), undefined, undefined, undefined], 30],
    ["the API's default of an orphan", [undefined, undefined, undefined, undefined], 30],
    ["a spec of 0", [pod({ terminationGracePeriodSeconds: 0 }), undefined, undefined, undefined], 0],
    ["never less than 0 by spec", [pod({ terminationGracePeriodSeconds: -1 }), undefined, undefined, undefined], 0],
  ] as [
    string,
    [typeof spec | undefined, typeof probed | undefined, ContainerKill["reason"], number | undefined],
    number,
  ][])("is %s", (_, input, expected) => {
    expect(containerGraceSeconds(...input)).toBe(expected);
  });
});

describe("remainingGraceSeconds", () => {
  it.each([
    [30, 0, 30],
    [30, 10.9, 20],
    [30, 27, 3],
    [30, 28, 2],
    [30, 29, 2],
    [0, 0, 2],
  ])("of %i s after %s s of preStop hook are %i s, at least two", (grace, elapsed, expected) => {
    expect(remainingGraceSeconds(grace, elapsed)).toBe(expected);
  });
});

describe("deadlines of a stop", () => {
  it.each([
    ["begins the grace period", undefined, 30, 130],
    ["does not extend an earlier deadline", 110, 30, 110],
    ["shortens an earlier deadline", 200, 5, 105],
  ])("a stop %s", (_, before, grace, expected) => {
    expect(stopDeadline(before === undefined ? undefined : mono(before), grace, mono(100))).toBe(mono(expected));
  });

  it.each([
    [100, 99, 1],
    [100, 99.5, 1],
    [100, 98.999, 2],
    // Noise below a millisecond.
    [100, 98.999_9, 1],
    [100, 100, 0],
    [100, 160, 0],
    [1_100, 100, 1_000],
  ])("from %s s seen at %s s are %i whole seconds away", (deadline, now, expected) => {
    expect(secondsUntil(mono(deadline), mono(now))).toBe(expected);
  });

  it("leave a pod at least a second, as upstream's", () => {
    expect(MINIMUM_POD_GRACE_SECONDS).toBe(1);
  });
});
