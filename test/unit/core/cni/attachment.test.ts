import { describe, expect, it } from "vitest";
import {
  type Attachment,
  attachmentFile,
  formatAttachment,
  isLeft,
  mayBelongTo,
  parseAttachment,
} from "../../../../src/core/cni/attachment.ts";

const ATTACHMENT: Attachment = {
  network: "net",
  id: "abc",
  ifName: "eth0",
  config: '{"name":"net","comment":"Zürich"}',
  netns: "/proc/7/ns/net",
  args: [["IgnoreUnknown", "1"]],
  capabilityArgs: { portMappings: [] },
  result: { cniVersion: "1.0.0" },
};

/** File as libcni 1.1 writes it for the same attachment. */
const OF_LIBCNI =
  '{"kind":"cniCacheV1","containerId":"abc","config":"eyJuYW1lIjoibmV0IiwiY29tbWVudCI6IlrDvHJpY2gifQ==","ifName":"eth0",' +
  '"networkName":"net","netns":"/proc/7/ns/net","cniArgs":[["IgnoreUnknown","1"]],"capabilityArgs":{"portMappings":[]},' +
  '"result":{"cniVersion":"1.0.0"}}';

describe("an attachment on disk", () => {
  it("is as libcni writes and reads it", () => {
    expect(formatAttachment(ATTACHMENT)).toBe(OF_LIBCNI);
    expect(parseAttachment(OF_LIBCNI)).toEqual({ ok: true, value: ATTACHMENT });
    expect(attachmentFile(ATTACHMENT)).toBe("net-abc-eth0");
  });

  it("lacks what is empty, and a result before ADD has ended", () => {
    const { result: _, ...begun } = { ...ATTACHMENT, netns: "", args: [], capabilityArgs: {} };
    expect(Object.keys(JSON.parse(formatAttachment(begun)))).toEqual([
      "kind",
      "containerId",
      "config",
      "ifName",
      "networkName",
    ]);
    expect(parseAttachment(formatAttachment(begun))).toEqual({ ok: true, value: begun });
  });

  it.each([
    ["no JSON", OF_LIBCNI.slice(1), "it is not a JSON object"],
    ["another kind", OF_LIBCNI.replace("V1", "V9"), "its kind is not cniCacheV1"],
    ["no network", OF_LIBCNI.replace('"net"', '""'), "it lacks a part of its key"],
    ["config that is no base64", OF_LIBCNI.replace("eyJ", "*"), "its config is not base64 text"],
    ["arguments that are no pairs", OF_LIBCNI.replace('"IgnoreUnknown",', ""), "its cniArgs are not pairs of texts"],
  ])("cannot be read with %s", (_, text, message) => {
    expect(parseAttachment(text)).toMatchObject({ ok: false, error: { message } });
  });

  it("is looked for by the id in the name of its file", () => {
    expect(mayBelongTo("my-net-abc-eth0", "abc")).toBe(true);
    expect(mayBelongTo("net-abcd-eth0", "abc")).toBe(false);
    expect(mayBelongTo("-abc-eth0", "abc")).toBe(false);
    expect(mayBelongTo("net-abc-", "abc")).toBe(false);
  });
});

describe("an attachment is garbage", () => {
  const live = new Set(["live"]);
  it.each<[string, string, string, boolean, boolean]>([
    ["not while its sandbox exists", "live", "/proc/7/ns/net", false, false],
    ["once its sandbox and namespace are gone", "gone", "/var/run/netns/cni-1", false, true],
    ["even if the process of its namespace is another one now", "gone", "/proc/7/ns/net", true, true],
    ["even if Docker has left the namespace", "gone", "/var/run/docker/netns/1", true, true],
    ["not if its namespace is that of another runtime", "gone", "/var/run/netns/cni-1", true, false],
    ["if it names no namespace", "gone", "", false, true],
  ])("%s", (_, id, netns, exists, expected) => {
    expect(isLeft({ ...ATTACHMENT, id, netns }, live, exists)).toBe(expected);
  });
});
