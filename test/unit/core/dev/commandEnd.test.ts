import { describe, expect, it } from "vitest";
import { commandEnd } from "../../../../src/core/dev/commandEnd.ts";

const failed = (reason: string, cause: object) =>
  JSON.stringify({ status: "Failure", reason, message: "why", details: { causes: [cause] } });

describe("commandEnd", () => {
  it.each([
    ["", { kind: "exited", exitCode: 0 }],
    ['{"status":"Success"}', { kind: "exited", exitCode: 0 }],
    [failed("NonZeroExitCode", { reason: "ExitCode", message: "3" }), { kind: "exited", exitCode: 3 }],
    [failed("NonZeroExitCode", { reason: "ExitCode", message: "999" }), { kind: "failed", message: "why" }],
    [failed("NonZeroExitCode", { reason: "Other", message: "3" }), { kind: "failed", message: "why" }],
    [failed("InternalError", { message: "3" }), { kind: "failed", message: "why" }],
    ["not a status\n", { kind: "failed", message: "not a status" }],
    ["[1]", { kind: "failed", message: "[1]" }],
  ])("parses %s", (text, end) => {
    expect(commandEnd(text)).toEqual(end);
  });
});
