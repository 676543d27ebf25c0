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

describe("exit codes that restart a container", () => {
  const CODES = [0, 1, 42];
  it.each<readonly [string, string, Container, readonly number[]]>([
    ["the pod's Always", "Always", web(), [0, 1, 42]],
    ["the pod's OnFailure", "OnFailure", web(), [1, 42]],
    ["the pod's Never", "Never", web(), []],
    ["its own policy before the pod's", "Never", web("Always"), [0, 1, 42]],
    ["its own policy before the pod's, the other way round", "Always", web("Never"), []],
    ["a rule before its own Never", "Always", web("Never", rule("In", [42])), [42]],
    ["a rule that restarts everything", "Never", web("Never", rule("In", [42], "RestartAllContainers")), [42]],
    ["a NotIn rule", "Never", web("Never", rule("NotIn", [0])), [1, 42]],
    ["any of its rules", "Never", web("Never", rule("In", [1]), rule("In", [42])), [1, 42]],
    ["its own policy if no rule matches", "Never", web("OnFailure", rule("In", [0])), [0, 1, 42]],
    ["ignores rules without a container policy", "Never", web(undefined, rule("In", [42])), []],
    ["falls back to the policy for an unknown action", "Always", web("Never", rule("In", [42], "Stay")), []],
  ])("%s", (_title, policy, main, codes) => {
    expect(CODES.filter((code) => restartsAfterExit(main, specOf(policy), code))).toEqual(codes);
    // A container that some exit code restarts can restart as long as it has not exited.
    expect(canRestart(main, specOf(policy))).toBe(codes.length > 0);
  });
});

describe("a container killed for its probes", () => {
  it.each<readonly [string, string, Container, boolean]>([
    ["is restarted under the pod's policy", "OnFailure", web(), true],
    ["is not restarted under the pod's policy", "Never", web(), false],
    ["is restarted under its own policy", "Never", web("Always"), true],
    [
      "is not restarted under its own policy, regardless of its rules",
      "Always",
      web("Never", rule("In", [137])),
      false,
    ],
  ])("%s", (_title, policy, main, isRestarted) => {
    expect(restartsAfterKill(main, specOf(policy))).toBe(isRestarted);
  });
});

describe("shouldContainerBeRestarted", () => {
  const deleted = pod({}, { metadata: { ...pod().metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
  it.each([
    ["starts a container that never ran", pod(), [], true],
    ["does not start a running container", pod(), [instance("web")], false],
    ["starts a container that was created and never started", pod(), [instance("web", { state: "created" })], true],
    ["starts a container in unknown state", pod(), [instance("web", { state: "unknown" })], true],
    ["restarts an exited container if its policy allows it", pod(), [exited("web", 0)], true],
    [
      "does not restart an exited container if its policy forbids it",
      pod({ restartPolicy: "Never" }),
      [exited("web", 1)],
      false,
    ],
    [
      "does not start a container whose earlier instance is running",
      pod(),
      [instance("web", { state: "created", restartCount: 1 }), instance("web")],
      false,
    ],
    ["starts no container of a pod that is being deleted", deleted, [], false],
  ])("%s", (_title, of, containers, isStarted) => {
    expect(shouldContainerBeRestarted(web(), of, runtime(containers))).toBe(isStarted);
  });
});

describe("isInitContainerFailed", () => {
  it.each([
    ["is true for a non-zero exit code", exited("setup", 1), true],
    ["is true after an OOM kill, even with exit code 0", exited("setup", 0, { reason: "OOMKilled" }), true],
    ["is true in unknown state", instance("setup", { state: "unknown" }), true],
    ["is false after success", exited("setup", 0), false],
    ["is false while running", instance("setup"), false],
  ])("%s", (_title, init, isFailed) => {
    expect(isInitContainerFailed(init)).toBe(isFailed);
  });
});
