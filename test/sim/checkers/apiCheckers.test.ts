/** Checkers of the kubelet's requests about pod objects, each on the observations it reads. */
import { describe, expect, it } from "vitest";
import type { ApiPod } from "../../../src/core/api/apiPodObjects.ts";
import type { PodStatus } from "../../../src/core/api.ts";
import { deletedOnceStopped } from "../../../src/sim/checkers/deletedOnceStopped.ts";
import { oneMirror } from "../../../src/sim/checkers/oneMirror.ts";
import { serverStatusGrows } from "../../../src/sim/checkers/serverStatusGrows.ts";
import { writesInBounds } from "../../../src/sim/checkers/writesInBounds.ts";
import type { UntimedObservation } from "../../../src/sim/simObservation.ts";
import { change, running, type Step, verdicts } from "./observations.ts";

type Case = readonly [what: string, steps: readonly Step[], found: readonly string[]];

const pod = (status: PodStatus, metadata: ApiPod["metadata"] = {}): ApiPod => ({
  metadata: { uid: "uid-1", ...metadata },
  status,
});
const mirrorOf = (hash: string, uid: string) => pod({}, { uid, annotations: { "kubernetes.io/config.mirror": hash } });
const object = (
  what: "ADDED" | "MODIFIED" | "DELETED",
  now: ApiPod,
  before?: ApiPod,
  subject = "demo/plain",
): UntimedObservation => ({ kind: "object", what, subject, object: now, before });
const asked = (uid: string | undefined): UntimedObservation => ({
  kind: "request",
  verb: "delete",
  subject: "demo/plain",
  uid,
});

describe("serverStatusGrows", () => {
  const [up, over] = [{ phase: "Running" }, { phase: "Failed" }];
  const turn = (before: ApiPod, after: ApiPod) => [object("MODIFIED", after, before)];
  it.each<Case>([
    ["accepts a pod that ends", turn(pod(up), pod(over)), []],
    [
      "reports a terminal pod that runs again",
      turn(pod(over), pod(up)),
      ["the server's demo/plain went from Failed to Running"],
    ],
    ["accepts a restart", turn(pod(running({})), pod(running({ restartCount: 1 }))), []],
    [
      "reports a restart count that falls",
      turn(pod(running({ restartCount: 2 })), pod(running({ restartCount: 1 }))),
      ["the server's demo/plain went from 2 restarts of main to 1"],
    ],
    ["ignores mirror pods", turn({ ...mirrorOf("h", "m"), status: over }, { ...mirrorOf("h", "m"), status: up }), []],
  ])("%s", (_, steps, found) => expect(verdicts(serverStatusGrows(), steps)).toEqual(found));
});

describe("deletedOnceStopped", () => {
  const there = object("ADDED", pod({}, { deletionTimestamp: "2026-01-01T00:00:00Z" }));
  const [begins, ends] = [change("container started"), change("container exited")];
  it.each<Case>([
    ["accepts a deletion after the containers have ended", [there, begins, ends, asked("uid-1")], []],
    [
      "reports a deletion while a container runs",
      [there, begins, asked("uid-1")],
      ["demo/plain is deleted while demo/plain/main#0 runs"],
    ],
    [
      "reports a deletion without a deletion timestamp",
      [object("ADDED", pod({})), asked("uid-1")],
      ["demo/plain is deleted without a deletion timestamp"],
    ],
    [
      "reports a deletion without a UID",
      [there, asked(undefined)],
      ["demo/plain is deleted without a UID precondition"],
    ],
    ["ignores mirror pods", [object("ADDED", mirrorOf("uid-1", "m")), begins, asked("m")], []],
    [
      "accepts a deletion of an object that is gone already",
      [there, begins, object("DELETED", pod({})), asked("uid-1")],
      [],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(deletedOnceStopped(), steps)).toEqual(found));
});

describe("oneMirror", () => {
  const [first, second] = [mirrorOf("hash", "m1"), mirrorOf("hash", "m2")];
  it.each<Case>([
    [
      "accepts a mirror pod after the previous one was deleted",
      [object("ADDED", first), object("DELETED", first), object("ADDED", second)],
      [],
    ],
    [
      "reports two mirror pods of one static pod",
      [object("ADDED", first), object("ADDED", second, undefined, "demo/other")],
      ["demo/other is a second mirror of pod hash"],
    ],
    [
      "accepts mirror pods of two static pods",
      [object("ADDED", first), object("ADDED", mirrorOf("another", "m2"))],
      [],
    ],
    [
      "reports a container of a mirror pod",
      [object("ADDED", first), change("sandbox created", "s0", "m1")],
      ["demo/plain is run for a mirror pod"],
    ],
  ])("%s", (_, steps, found) => expect(verdicts(oneMirror(), steps)).toEqual(found));
});

describe("writesInBounds", () => {
  const requests = (count: number, everyMs: number): readonly Step[] =>
    Array.from({ length: count }, (_, index) => [(index * everyMs) / 1000, asked("uid-1")]);
  it.each<readonly [string, readonly Step[], number]>([
    ["accepts a burst plus one unused turn", requests(101, 0), 0],
    ["reports more than a burst plus one unused turn", requests(102, 0), 1],
    ["accepts fifty requests a second", requests(500, 20), 0],
    ["reports a hundred requests a second once the burst is used", requests(202, 10), 1],
  ])("%s", (_, steps, found) => expect(verdicts(writesInBounds(), steps)).toHaveLength(found));
});
