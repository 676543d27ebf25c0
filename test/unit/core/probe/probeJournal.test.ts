import { describe, expect, it } from "vitest";
import { containerId } from "../../../../src/core/ids.ts";
import { decodeProbeJournal, encodeProbeJournal } from "../../../../src/core/probe/probeJournal.ts";

const verdict = { started: true, ready: false, live: false, containerId: containerId("c1") };

describe("probe journal", () => {
  it("restores what was written, except liveness, which is probed again", () => {
    const text = encodeProbeJournal(new Map([["web", verdict]]));
    expect(text).toMatch(
      /^\{"version":1,"containers":\[\{"name":"web","id":"c1","started":true,"ready":false\}\]\} *\n$/,
    );
    expect(decodeProbeJournal(text)).toEqual(new Map([["web", { ...verdict, live: true }]]));
  });

  it("writes no verdict without an instance", () => {
    const text = encodeProbeJournal(new Map([["web", { started: true, ready: true, live: true }]]));
    expect(text.trimEnd()).toBe('{"version":1,"containers":[]}');
  });

  it("has the same length for different verdicts, so that the file can be overwritten", () => {
    const lengths = [true, false].map((ready) => encodeProbeJournal(new Map([["web", { ...verdict, ready }]])).length);
    expect(lengths).toEqual([128, 128]);
  });

  it.each([
    "",
    "{",
    "null",
    "[]",
    '{"version":2,"containers":[]}',
    '{"version":1}',
    '{"version":1,"containers":[null]}',
    '{"version":1,"containers":[{"name":"web","id":"c1","started":true}]}',
    '{"version":1,"containers":[{"name":"web","id":7,"started":true,"ready":true}]}',
    '{"version":1,"containers":[{"name":"web","id":"c1","started":true,"rea',
  ])("rejects %j", (text) => {
    expect(decodeProbeJournal(text)).toBeUndefined();
  });
});
