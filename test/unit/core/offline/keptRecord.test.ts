import { describe, expect, it } from "vitest";
import { decodeRecord, encodeRecord, isRecordName, recordName } from "../../../../src/core/offline/keptRecord.ts";

const record = { kind: "object", key: "Secret default/login", value: { a: 1 } } as const;
const name = recordName(record.kind, record.key);
const refusal = (text: string, of = name): string => {
  const decoded = decodeRecord(of, text);
  return decoded.ok ? "no refusal" : `${decoded.error.code}: ${decoded.error.message}`;
};

describe("a record", () => {
  it("is read as it was written, from the file of its name", () => {
    expect(decodeRecord(name, encodeRecord(record))).toEqual({ ok: true, value: record });
  });

  it("has a name of its kind and a digest, whatever its key has in it", () => {
    const hostile = recordName("token", `../../etc/passwd\0${"x".repeat(10_000)}`);
    expect([hostile.length, isRecordName(hostile), isRecordName("token-1"), isRecordName(`x${hostile}`)]).toEqual([
      46,
      true,
      false,
      false,
    ]);
  });

  it.each([
    ["no JSON", "{", "InvalidArgument: it is not a JSON object"],
    ["a list", "[]", "InvalidArgument: it is not a JSON object"],
    ["deep nesting", "[".repeat(10_000), "InvalidArgument: it is not a JSON object"],
    ["another version", JSON.stringify({ ...record, version: 2 }), "InvalidArgument: version 2 is not 1"],
    ["no version", JSON.stringify(record), "InvalidArgument: version undefined is not 1"],
    [
      "an unknown kind",
      JSON.stringify({ ...record, version: 1, kind: "node" }),
      "InvalidArgument: it has no kind and key of a record",
    ],
    [
      "the key of another record",
      JSON.stringify({ ...record, version: 1, key: "Secret default/other" }),
      "InvalidArgument: it is the record of another file",
    ],
  ])("with %s is refused", (_, text, expected) => expect(refusal(text)).toBe(expected));
});
