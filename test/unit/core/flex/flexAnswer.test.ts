import { describe, expect, it } from "vitest";
import { flexOutcome, type FlexOutput } from "../../../../src/core/flex/flexAnswer.ts";

const ALL = { attach: true, selinuxRelabel: true, supportsMetrics: false, fsGroup: true, requiresFSResize: true };
const said = (printed: string, failure?: string): FlexOutput => ({ printed, ...(failure && { failure }) });
const errorOf = (output: FlexOutput) => {
  const outcome = flexOutcome("mount", output);
  return outcome.kind === "failed" ? outcome.error.message : outcome.kind;
};

describe("the answer of a flexVolume driver", () => {
  it.each([
    ['{"status":"Success"}', "", ALL],
    ['{"status":"Success","device":"/dev/sdb","capabilities":{"attach":false}}', "/dev/sdb", { ...ALL, attach: false }],
    ['{"Status":"Success","DEVICE":"d","Capabilities":{"FSGroup":false}}', "d", { ...ALL, fsGroup: false }],
    ['{"status":"Success","capabilities":null,"message":null}', "", ALL],
  ])("%s succeeds", (printed, device, capabilities) => {
    expect(flexOutcome("mount", said(printed))).toEqual({ kind: "done", device, capabilities });
  });

  it.each([
    ["says that the call does not exist", said('{"status":"Not supported"}', "exit status 1"), "notSupported"],
    [
      "says why it failed",
      said('{"status":"Failure","message":"no disk"}', "exit status 1"),
      "mount command failed, status: Failure, reason: no disk",
    ],
    ["is not believed by a driver that fails", said('{"status":"Success"}', "exit status 3"), "exit status 3"],
    ["has a status", said("{}"), "mount command failed, status: , reason: "],
    ["is JSON", said("mounted!"), 'mount command failed, invalid output: "mounted!"'],
    [
      "is JSON, also of a driver that fails",
      said("", "signal: SIGKILL"),
      'mount command failed, invalid output: "", signal: SIGKILL',
    ],
    ["is an object", said("[]"), 'mount command failed, invalid output: "[]"'],
    ["has a text as status", said('{"status":1}'), 'mount command failed, invalid output: "{\\"status\\":1}"'],
    [
      "has flags as capabilities",
      said('{"status":"Success","capabilities":{"attach":"no"}}'),
      'mount command failed, invalid output: "{\\"status\\":\\"Success\\",\\"capabilities\\":{\\"attach\\":\\"no\\"}}"',
    ],
    [
      "has a device that is a path",
      said(JSON.stringify({ status: "Success", device: "a\0b" })),
      "mount command failed, invalid device in its answer",
    ],
    [
      "has a device no longer than a path",
      said(JSON.stringify({ status: "Success", device: "x".repeat(4097) })),
      "mount command failed, invalid device in its answer",
    ],
  ])("%s", (_rule, output, expected) => expect(errorOf(output)).toBe(expected));

  it("is shown up to 200 characters", () => {
    expect(errorOf(said("x".repeat(201)))).toBe(`mount command failed, invalid output: "${"x".repeat(200)}..."`);
    expect(errorOf(said("x".repeat(200)))).toBe(`mount command failed, invalid output: "${"x".repeat(200)}"`);
  });
});
