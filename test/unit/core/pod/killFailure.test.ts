import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { killFailure, killFailuresMessage } from "../../../../src/core/pod/killFailure.ts";

const no = kubeletError("Unknown", 'rpc error: code = Unknown desc = "a" is stuck');

describe("killFailure", () => {
  it("names the container that could not be stopped and the cause, and keeps the error's code", () => {
    expect(killFailure("KillContainer", "web", no)).toEqual({
      ...no,
      reason: "KillContainerError",
      message:
        'failed to "KillContainer" for "web" with KillContainerError: "rpc error: code = Unknown desc = \\"a\\" is stuck"',
    });
  });
});

describe("killFailuresMessage", () => {
  const [a, b] = [kubeletError("Io", "a"), kubeletError("Io", "b")];
  it.each([
    [[a], "error killing pod: a"],
    [[a, a], "error killing pod: a"],
    [[a, b], "error killing pod: [a, b]"],
  ])("case %#", (errors, message) => {
    expect(killFailuresMessage(errors)).toBe(message);
  });
});
