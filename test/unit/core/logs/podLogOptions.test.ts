import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import { type Query, readPodLogOptions, wantedStream } from "../../../../src/core/logs/podLogOptions.ts";

const NOW = epochMs(1_767_225_600_250);
const DEFAULTS = {
  follow: false,
  previous: false,
  timestamps: false,
  since: undefined,
  tailLines: undefined,
  limitBytes: undefined,
  stream: "All",
};
const UNDECODABLE = { status: 400, message: '{"message": "Unable to decode query."}' };
const INVALID = { status: 422, message: '{"message": "Invalid request."}' };
const query = (text: string): Query => {
  const params = new URLSearchParams(text);
  return Object.fromEntries([...params.keys()].map((key) => [key, params.getAll(key)]));
};

describe("readPodLogOptions", () => {
  it.each<[string, object]>([
    ["", {}],
    ["follow=true&previous=1&timestamps=", { follow: true, previous: true, timestamps: true }],
    ["follow=false&previous=0&timestamps=FALSE", {}],
    ["follow=no", { follow: true }],
    ["tailLines=10&limitBytes=20", { tailLines: 10, limitBytes: 20 }],
    ["tailLines=10&tail=5", { tailLines: 5 }],
    ["tailLines=10&tail=all", {}],
    ["tailLines=%2B3&tailLines=x", { tailLines: 3 }],
    ["sinceSeconds=10", { since: { seconds: 1_767_225_590, nanos: 250_000_000 } }],
    ["sinceSeconds=9223372036854775807", { since: { seconds: 0, nanos: 250_000_000 } }],
    ["sinceTime=2026-01-01T00:00:00Z", { since: { seconds: 1_767_225_600, nanos: 0 } }],
    ["sinceTime=2026-01-01T01:00:00.000000001%2B01:00", { since: { seconds: 1_767_225_600, nanos: 1 } }],
    ["tailLines=0", { tailLines: 0 }],
    ["tailLines=9223372036854775807", { tailLines: 2 ** 63 }],
    ["tail=&tailLines=4", { tailLines: 4 }],
    ["limitBytes=1", { limitBytes: 1 }],
    ["sinceSeconds=1", { since: { seconds: 1_767_225_599, nanos: 250_000_000 } }],
    ["sinceTime=null", { since: { seconds: 0, nanos: 0 } }],
    ["stream=Stdout", { stream: "Stdout" }],
    ["sinceTime=", { since: { seconds: 0, nanos: 0 } }],
    ["stream=Stderr", { stream: "Stderr" }],
    ["unknown=1", {}],
  ])("%s", (text, expected) => {
    expect(readPodLogOptions(query(text), NOW)).toEqual({ ...DEFAULTS, ...expected });
  });

  it.each([
    ["tailLines=x", UNDECODABLE],
    ["tailLines=", UNDECODABLE],
    ["tail=x", UNDECODABLE],
    ["limitBytes=1.5", UNDECODABLE],
    ["sinceSeconds=9223372036854775808", UNDECODABLE],
    ["sinceTime=yesterday", UNDECODABLE],
    ["tailLines=-1", INVALID],
    ["tailLines=-9223372036854775808", INVALID],
    ["tailLines=-9223372036854775809", UNDECODABLE],
    ["tailLines=00000000000000000001", UNDECODABLE],
    ["limitBytes=0", INVALID],
    ["sinceSeconds=0", INVALID],
    ["sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z", INVALID],
    ["stream=stdout", INVALID],
    ["stream=Stdout&tailLines=1", INVALID],
  ])("rejects %s", (text, expected) => {
    expect(readPodLogOptions(query(text), NOW)).toEqual(expected);
  });
});

describe("wantedStream", () => {
  it("selects one stream behind its gate", () => {
    expect(["All", "Stdout", "Stderr"].map((stream) => wantedStream(stream, true))).toEqual([
      undefined,
      "stdout",
      "stderr",
    ]);
    expect(wantedStream("All", false)).toBeUndefined();
    expect(wantedStream("Stderr", false)).toEqual({
      status: 400,
      message:
        'unable to return the given log stream: "Stderr". Please enable PodLogsQuerySplitStreams feature gate in kubelet',
    });
  });
});
