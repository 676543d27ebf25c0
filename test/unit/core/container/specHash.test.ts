import { describe, expect, it } from "vitest";
import { containerSpecHash } from "../../../../src/core/container/specHash.ts";
import { goJson, goQuote } from "../../../../src/core/container/goJson.ts";

const BUSYBOX = "registry.k8s.io/e2e-test-images/busybox:1.37.0-1";

describe("containerSpecHash", () => {
  it.each([
    ["main", BUSYBOX, "a785d335"],
    ["init", BUSYBOX, "6908ec1b"],
    ["sidecar", BUSYBOX, "d0d51fe3"],
    ["web", "registry.k8s.io/e2e-test-images/agnhost:2.63.0", "c57b0f17"],
  ])("equals upstream's for %s of %s", (name, image, hash) => {
    expect(containerSpecHash({ name, image })).toBe(hash);
  });
});

describe("goJson", () => {
  it("is compact, omits undefined members and escapes HTML characters", () => {
    expect(goJson({ b: "<a&b>", a: undefined, c: ["\u2028", 1] })).toBe(
      String.raw`{"b":"\u003ca\u0026b\u003e","c":["\u2028",1]}`,
    );
  });
});

describe("goQuote", () => {
  it.each([
    ["plain", '"plain"'],
    ['a"b\\c', String.raw`"a\"b\\c"`],
    ["line\nand\ttab", String.raw`"line\nand\ttab"`],
    ["\x07\x0b\x01\x7f", String.raw`"\a\v\x01\x7f"`],
    ["\\u0007", String.raw`"\\u0007"`],
  ])("quotes %j like upstream", (text, quoted) => {
    expect(goQuote(text)).toBe(quoted);
  });
});
