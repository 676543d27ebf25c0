import { describe, expect, it } from "vitest";
import { configLookupOf, isImmutable, notRegistered, notSynced } from "../../../../src/core/api/configLookup.ts";

const metadata = { namespace: "demo", name: "settings" };
const lookedUp = (kind: "ConfigMap" | "Secret", object: object) => {
  const lookup = configLookupOf(kind, object);
  return lookup.kind === "unknown" ? `${lookup.error.code} ${lookup.error.message}` : lookup;
};

describe("an object of the API server", () => {
  it("is found with its kind, which the server omits", () => {
    expect(lookedUp("ConfigMap", { metadata, data: { a: "1" } })).toEqual({
      kind: "found",
      object: { kind: "ConfigMap", metadata, data: { a: "1" } },
    });
  });

  it.each([
    [
      "ConfigMap",
      'InvalidArgument configmap "settings": data[a]: must be a string (put it in quotes), not the number 7',
    ],
    ["Secret", 'InvalidArgument secret "settings": data[a]: must be base64 text, not a number'],
  ] as const)("with a value of another type is unknown; values of a Secret stay hidden: %s", (kind, message) => {
    expect(lookedUp(kind, { metadata, data: { a: 7 } })).toBe(message);
  });

  it.each([
    [{ kind: "missing" }, false],
    [configLookupOf("ConfigMap", { metadata }), false],
    [configLookupOf("ConfigMap", { metadata, immutable: false }), false],
    [configLookupOf("ConfigMap", { metadata, immutable: true }), true],
  ] as const)("%j never changes: %s", (lookup, expected) => {
    expect(isImmutable(lookup)).toBe(expected);
  });

  it("has upstream's errors while it is unknown", () => {
    expect(
      [notSynced("ConfigMap"), notRegistered("demo", "a")].map(({ code, message }) => `${code} ${message}`),
    ).toEqual([
      "DeadlineExceeded failed to sync configmap cache: timed out waiting for the condition",
      'NotFound object "demo"/"a" not registered',
    ]);
  });
});
