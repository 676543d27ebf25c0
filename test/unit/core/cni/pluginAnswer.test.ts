import { describe, expect, it } from "vitest";
import {
  isBeforeVersions,
  pluginFailure,
  quotedText,
  supportedVersions,
} from "../../../../src/core/cni/pluginAnswer.ts";

const failed = (stdout: string, stderr = "") => ({ how: "exit status 1", stdout, stderr });

describe("the failure of a plugin", () => {
  it.each([
    ["its own report", failed('{"code":7,"msg":"no range","details":"set one"}'), "Io", "no range; set one"],
    ["a report without details", failed('{"msg":"no range"}', "noise"), "Io", "no range"],
    ["a report that asks for another try", failed('{"code":11,"msg":"busy"}'), "Unavailable", "busy"],
    ["a plugin that is away", failed('{"code":50,"msg":"starting"}'), "Unavailable", "starting"],
    ["output that is no report", failed("panic: nil\n"), "Io", "exit status 1: panic: nil"],
    ["a report without words", failed('{"code":1}'), "Io", 'exit status 1: {"code":1}'],
    ["the error output alone", failed("", "cannot open\n"), "Io", "exit status 1: cannot open"],
    ["silence", failed(""), "Io", "exit status 1"],
    ["control characters", failed('{"msg":"a\\nb"}'), "Io", '"a\\nb"'],
  ])("is %s", (_, end, code, message) => {
    expect(pluginFailure(end)).toEqual({ code, message });
  });

  it("has at most 500 foreign characters", () => {
    expect(quotedText("x".repeat(500))).toHaveLength(500);
    expect(quotedText(`  ${"x".repeat(2_000)}`)).toHaveLength(500);
  });
});

describe("the versions of a plugin", () => {
  it.each([
    ["those it names", '{"cniVersion":"1.0.0","supportedVersions":["0.4.0",1,"1.0.0"]}', ["0.4.0", "1.0.0"]],
    ["two of 0.2.0, which had no list", '{"cniVersion":"0.2.0"}', ["0.1.0", "0.2.0"]],
  ])("are %s", (_, stdout, value) => {
    expect(supportedVersions(stdout)).toEqual({ ok: true, value });
  });

  it.each([
    ["garbage", "hello", "its answer is not a JSON object: hello"],
    ["no list", '{"cniVersion":"1.0.0"}', "its answer names no versions"],
    ["an empty list", '{"cniVersion":"1.0.0","supportedVersions":[]}', "its answer names no versions"],
  ])("cannot be read from %s", (_, stdout, message) => {
    expect(supportedVersions(stdout)).toMatchObject({ ok: false, error: { code: "Io", message } });
  });

  it("are unknown to a plugin older than the command", () => {
    expect(isBeforeVersions(failed('{"msg":"unknown CNI_COMMAND: VERSION"}'))).toBe(true);
    expect(isBeforeVersions(failed('{"msg":"other"}'))).toBe(false);
    expect(isBeforeVersions(failed(""))).toBe(false);
  });
});
