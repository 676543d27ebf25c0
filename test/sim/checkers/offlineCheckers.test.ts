/** Rules of boots without the API server. */
import { describe, expect, it } from "vitest";
import { noReturn } from "../../../src/sim/checkers/noReturn.ts";
import { openRestored } from "../../../src/sim/checkers/restoredConfirmed.ts";
import { podOf } from "../../support/pods.ts";
import { call, type Step, verdicts } from "./observations.ts";

type Case = readonly [what: string, steps: readonly Step[], found: readonly string[]];

const pod = podOf({ uid: "uid-1", name: "plain", annotations: { "kubernetes.io/config.source": "api" } });
const restored = podOf({
  uid: "uid-1",
  name: "plain",
  annotations: { "kubernetes.io/config.source": "api", "rxlet.dev/restored": "true" },
});
const wants = (source: "api" | "file", ...pods: readonly (typeof pod)[]): Step => ({
  kind: "wanted",
  source,
  podUids: new Set(pods.map(({ metadata }) => metadata.uid)),
  pods,
  news: pods,
});
const object = (phase: string, annotations = {}): Step => ({
  kind: "object",
  what: "MODIFIED",
  subject: "demo/plain",
  object: { metadata: { uid: "uid-1", annotations }, status: { phase } },
  before: undefined,
});
const crashed: Step = { kind: "kubelet", what: "crashed" };
const start = call("RunPodSandbox", "s0");

describe("noReturn", () => {
  it.each<Case>([
    ["accepts the start of a wanted pod", [wants("api", pod), start], []],
    ["accepts the start of a pod from disk", [wants("api", pod), crashed, wants("api", restored), start], []],
    [
      "reports the start of a pod whose end the server has",
      [wants("api", pod), object("Failed"), crashed, start],
      ["RunPodSandbox of demo/plain/s0, although the API server has the end of its pod"],
    ],
    [
      "does not mistake a mirror pod for a pod of the server",
      [object("Failed", { "kubernetes.io/config.mirror": "hash" }), start],
      [],
    ],
    [
      "reports the start of a pod that the kubelet knew to be dropped, also from disk",
      [wants("api", pod), [10, wants("api") as never], [30, crashed], wants("api", restored), [60, start]],
      ["RunPodSandbox of demo/plain/s0 50000 ms after the API server dropped its pod"],
    ],
    [
      "accepts a pod that was dropped just before the kubelet ended",
      [wants("api", pod), [10, wants("api") as never], [15, crashed], wants("api", restored), [60, start]],
      [],
    ],
    ["leaves pods of files alone", [wants("file", pod), wants("file"), [60, start]], []],
  ])("%s", (_, steps, found) => expect(verdicts(noReturn(), steps)).toEqual(found));
});

describe("restoredConfirmed", () => {
  it("lists the pods that still have the mark", () => {
    expect(openRestored({ pods: () => [pod, restored] })).toEqual(["demo/plain is still marked as restored from disk"]);
  });
});
