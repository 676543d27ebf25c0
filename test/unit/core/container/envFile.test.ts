import { describe, expect, it } from "vitest";
import { type EnvFile, envFileValue, fileKeyRefs, fileKeyValue } from "../../../../src/core/container/envFile.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { err, ok } from "../../../../src/core/result.ts";

describe("envFileValue", () => {
  it.each([
    ["a value", "K='v'", "v"],
    ["among others, blank lines and comments", "\n# K='no'\n  A='a'\r\n\t K='v' # why\nB='b'", "v"],
    ["nothing in quotes is special", "K='$(A) \\n \"x\" #'", '$(A) \\n "x" #'],
    ["lines within quotes stay", "K='one\n  # two\n\nthree'\n", "one\n  # two\n\nthree"],
    ["the first of two", "K='1'\nK='2'", "1"],
    ["what follows is not looked at", "K='1'\n???", "1"],
    ["a blank after the sign leaves it empty", "K= 'v'", ""],
    ["the first of two, which is empty", "K= 'v'\nK='2'", ""],
    ["the first of two, before one that is empty", "K='1'\nK= '2'", "1"],
    ["a value followed by a blank and a comment", "K='v' \t#'\n", "v"],
    ["a value on the last line of several", "A='a'\nK='one\ntwo'", "one\ntwo"],
    ["a comment that starts like a variable", "#K='no'\nK='v'", "v"],
    ["a key that is not there", "KK='v'\nA='K='", ""],
    ["nothing", "", ""],
  ])("reads %s", (_title, text, expected) => {
    expect(envFileValue(text, "K")).toEqual(ok(expected));
  });

  it.each([
    ["A='a'\nsecret", "line 2: missing '='"],
    ["='secret'", "line 1: empty variable name"],
    ["A ='secret'", "line 1: whitespace before '=' is not allowed"],
    ["A=secret", "line 1: value must be enclosed in single quotes"],
    ["A='secret\n\n", "line 1: unclosed single quote"],
    ["A='", "line 1: unclosed single quote"],
    ["A='a'x", "line 1: unexpected content after closing quote"],
    ["A='a''", "line 1: unexpected content after closing quote"],
    ["A='a'\nB='b\n'\n\nC='secret", "line 5: unclosed single quote"],
    ["A='x\ny' secret", "line 2: unexpected content after closing quote"],
  ])("rejects %j without quoting it", (text, why) => {
    const message = `invalid environment variable format at ${why}`;
    expect(envFileValue(text, "K")).toMatchObject({ ok: false, error: { message } });
  });
});

describe("fileKeyValue", () => {
  const ref = { volumeName: "v", path: "d/env", key: "K" };
  const file = (content: EnvFile["content"]) => new Map([["v/d/env", { path: "/pods/v/d/env", content }]]);
  const missing = err(kubeletError("NotFound", "cannot read /pods/v/d/env: ENOENT"));
  const denied = err(kubeletError("PermissionDenied", "cannot read /pods/v/d/env: EACCES"));
  it.each([
    ["the value", false, file(ok("K='v'")), "v"],
    ["no key", false, file(ok("")), 'environment variable key "K" not found in file "/pods/v/d/env"'],
    ["no key, optional", true, file(ok("")), undefined],
    ["an empty value, which counts as missing", true, file(ok("K=''")), undefined],
    ["no file", false, file(missing), "couldn't parse env file"],
    ["no file, optional", true, file(missing), undefined],
    ["a file not to be read, optional", true, file(denied), "couldn't parse env file"],
    ["no env file, optional", true, file(ok("?")), "couldn't parse env file"],
    ["no volume, optional", true, new Map(), 'cannot find the volume "v" referenced by FileKeyRef'],
  ])("%s", (_title, optional, files, expected) => {
    const value = fileKeyValue({ ...ref, optional }, files);
    expect(value.ok ? value.value : value.error.message).toBe(expected);
    if (!value.ok) expect(value.error.reason).toBe("CreateContainerConfigError");
  });

  it("applies when a variable has no value of its own", () => {
    const valueFrom = { fileKeyRef: ref };
    expect(
      fileKeyRefs({ env: [{ name: "A", value: "a", valueFrom }, { name: "B", valueFrom }, { name: "C" }] }),
    ).toEqual([ref]);
  });
});
