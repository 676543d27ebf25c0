import { describe, expect, it } from "vitest";
import type { Container } from "../../../../src/core/api.ts";
import {
  canRestart,
  isInitContainerFailed,
  restartsAfterExit,
  restartsAfterKill,
  shouldContainerBeRestarted,
} from "../../../../src/core/pod/restartRules.ts";
import { container, exited, instance, pod, runtime } from "../samples.ts";

const rule = (operator: "In" | "NotIn", values: readonly number[], action = "Restart") => ({
  action,
  exitCodes: { operator, values },
});
const web = (restartPolicy?: string, ...restartPolicyRules: readonly ReturnType<typeof rule>[]): Container =>
  container("web", {
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
    ...(restartPolicyRules.length === 0 ? {} : { restartPolicyRules }),
  });
const specOf = (restartPolicy: string) => pod({ restartPolicy }).spec;

describe("which exits make a container run again", () => {
  const CODES = [0, 1, 42];
  it.each<readonly [string, string, Container, readonly number[]]>([
    ["the pod's Always", "Always", web(), [0, 1, 42]],
    ["the pod's OnFailure", "OnFailure", web(), [1, 42]],
    ["the pod's Never", "Never", web(), []],
    ["its own policy before the pod's", "Never", web("Always"), [0, 1, 42]],
    ["its own policy before the pod's, the other way round", "Always", web("Never"), []],
    ["a rule before its own Never", "Always", web("Never", rule("In", [42])), [42]],
    ["a rule that restarts everything", "Never", web("Never", rule("In", [42], "RestartAllContainers")), [42]],
    ["a rule by what it leaves out", "Never", web("Never", rule("NotIn", [0])), [1, 42]],
    ["any of its rules", "Never", web("Never", rule("In", [1]), rule("In", [42])), [1, 42]],
    ["its own policy for what no rule is about", "Never", web("OnFailure", rule("In", [0])), [0, 1, 42]],
    ["rules without a policy of its own do not count", "Never", web(undefined, rule("In", [42])), []],
    ["an action nobody knows leaves it to the policy", "Always", web("Never", rule("In", [42], "Stay")), []],
  ])("%s", (_title, policy, main, codes) => {
    expect(CODES.filter((code) => restartsAfterExit(main, specOf(policy), code))).toEqual(codes);
    // What some exit can restart is not over before it has exited.
    expect(canRestart(main, specOf(policy))).toBe(codes.length > 0);
  });
});

describe("a container that is killed for its probes", () => {
  it.each<readonly [string, string, Container, boolean]>([
    ["runs again by the pod's policy", "OnFailure", web(), true],
    ["stays away by the pod's policy", "Never", web(), false],
    ["runs again by its own", "Never", web("Always"), true],
    ["stays away by its own, whatever its rules", "Always", web("Never", rule("In", [137])), false],
  ])("%s", (_title, policy, main, isRestarted) => {
    expect(restartsAfterKill(main, specOf(policy))).toBe(isRestarted);
  });
});

describe("what is started as things stand", () => {
  const deleted = pod({}, { metadata: { ...pod().metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
  it.each([
    ["one that never was", pod(), [], true],
    ["one that runs is not", pod(), [instance("web")], false],
    ["one that was made and never started", pod(), [instance("web", { state: "created" })], true],
    ["one that nobody knows of", pod(), [instance("web", { state: "unknown" })], true],
    ["one that ended, if its policy says so", pod(), [exited("web", 0)], true],
    ["one that ended is not, if its policy says so", pod({ restartPolicy: "Never" }), [exited("web", 1)], false],
    [
      "one whose earlier instance runs is not",
      pod(),
      [instance("web", { state: "created", restartCount: 1 }), instance("web")],
      false,
    ],
    ["nothing of a pod that is being deleted", deleted, [], false],
  ])("%s", (_title, of, containers, isStarted) => {
    expect(shouldContainerBeRestarted(web(), of, runtime(containers))).toBe(isStarted);
  });
});

describe("an init container has failed", () => {
  it.each([
    ["with an exit code", exited("setup", 1), true],
    ["when it was killed for memory, with exit code 0 too", exited("setup", 0, { reason: "OOMKilled" }), true],
    ["when nobody knows of it", instance("setup", { state: "unknown" }), true],
    ["not when it did its work", exited("setup", 0), false],
    ["not while it is at work", instance("setup"), false],
  ])("%s", (_title, init, isFailed) => {
    expect(isInitContainerFailed(init)).toBe(isFailed);
  });
});
