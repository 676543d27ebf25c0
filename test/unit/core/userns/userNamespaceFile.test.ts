import { describe, expect, it } from "vitest";
import { decodeUserNamespace, encodeUserNamespace } from "../../../../src/core/userns/userNamespaceFile.ts";

const mapping = { hostId: 131_072, containerId: 0, length: 65_536 };
const TEXT =
  '{"uidMappings":[{"hostId":131072,"containerId":0,"length":65536}],' +
  '"gidMappings":[{"hostId":131072,"containerId":0,"length":65536}]}';

describe("the file of a pod's user namespace", () => {
  it("is upstream's document, and parses back", () => {
    expect(encodeUserNamespace({ firstId: 131_072, length: 65_536 })).toBe(TEXT);
    expect(decodeUserNamespace(TEXT)).toEqual({ ok: true, value: { firstId: 131_072, length: 65_536 } });
  });

  it.each([
    [0, 2 ** 32 - 1],
    [2 ** 32 - 1, 0],
  ])("has IDs of 32 bits: %d, %d", (firstId, length) => {
    expect(decodeUserNamespace(encodeUserNamespace({ firstId, length }))).toEqual({
      ok: true,
      value: { firstId, length },
    });
  });

  const NO_FILE = "invalid user namespace mappings file";
  const MORE = "invalid user namespace configuration: no more than one mapping allowed.";
  const DIFFERENT = "invalid user namespace configuration: GID and UID mappings should be identical.";
  it.each<[unknown, string]>([
    ["not JSON", NO_FILE],
    [TEXT.slice(0, 40), NO_FILE],
    ["[]", NO_FILE],
    [{ uidMappings: [mapping] }, NO_FILE],
    [{ uidMappings: [{ ...mapping, hostId: "1" }], gidMappings: [mapping] }, NO_FILE],
    [{ uidMappings: [{ ...mapping, hostId: 2 ** 32 }], gidMappings: [mapping] }, NO_FILE],
    [{ uidMappings: [{ ...mapping, hostId: -1 }], gidMappings: [mapping] }, NO_FILE],
    [{ uidMappings: [mapping], gidMappings: [{ ...mapping, length: 0.5 }] }, NO_FILE],
    [{ uidMappings: [mapping, 1], gidMappings: [mapping] }, NO_FILE],
    [{ uidMappings: [mapping], gidMappings: {} }, NO_FILE],
    [{ uidMappings: [], gidMappings: [] }, MORE],
    [{ uidMappings: [mapping], gidMappings: [mapping, mapping] }, DIFFERENT],
    [{ uidMappings: [mapping], gidMappings: [{ ...mapping, length: 1 }] }, DIFFERENT],
    [{ uidMappings: [mapping, mapping], gidMappings: [mapping, mapping] }, MORE],
    [{ uidMappings: [mapping], gidMappings: [] }, DIFFERENT],
    [{ uidMappings: [mapping], gidMappings: [{ ...mapping, hostId: 0 }] }, DIFFERENT],
    [{ uidMappings: [mapping], gidMappings: [{ ...mapping, containerId: 1 }] }, DIFFERENT],
    [
      { uidMappings: [{ ...mapping, containerId: 1 }], gidMappings: [{ ...mapping, containerId: 1 }] },
      "invalid user namespace configuration: UID 0 must be mapped",
    ],
  ])("rejects %j", (content, message) => {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    expect(decodeUserNamespace(text)).toMatchObject({ ok: false, error: { code: "InvalidArgument", message } });
  });
});
