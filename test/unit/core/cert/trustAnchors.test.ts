import { describe, expect, it } from "vitest";
import { certificateBlock, pemContents } from "../../../../src/core/cert/pemBlocks.ts";
import { type AnchorsWish, trustAnchors, type TrustBundle } from "../../../../src/core/cert/trustAnchors.ts";

const block = (content: string, label = "CERTIFICATE"): string =>
  `-----BEGIN ${label}-----\n${btoa(content)}\n-----END ${label}-----\n`;

describe("the blocks of a PEM text", () => {
  it.each<[string, string, readonly string[]]>([
    ["no text", "", []],
    ["text without blocks", "hello\n", []],
    ["blocks and what is between them", `a\n${block("one")}\nb\n${block("two")}c`, [btoa("one"), btoa("two")]],
    ["line breaks of Windows", block("one").replaceAll("\n", "\r\n"), [btoa("one")]],
    ["headers", `-----BEGIN X-----\nProc-Type: 4\n\n${btoa("one")}\n-----END X-----\n`, [btoa("one")]],
    ["no line break at the end", block("one").trimEnd(), [btoa("one")]],
    ["another end than beginning", `-----BEGIN A-----\n${btoa("one")}\n-----END B-----\n`, []],
    ["invalid base64", "-----BEGIN A-----\n!!!!\n-----END A-----\n", []],
    ["base64 cut short", "-----BEGIN A-----\nQUJ\n-----END A-----\n", []],
    ["a block that is not ended before a whole one", `-----BEGIN A-----\nQUJD\n${block("one")}`, [btoa("one")]],
  ])("are found in %s", (_what, text, contents) => {
    expect(pemContents(text)).toEqual(contents);
  });

  it("are written with lines of 64 characters", () => {
    const content = btoa("x".repeat(60));
    expect(
      certificateBlock(content)
        .split("\n")
        .map((line) => line.length),
    ).toEqual([27, 64, 16, 25, 0]);
    expect(pemContents(certificateBlock(content))).toEqual([content]);
  });
});

const bundle = (name: string, trustBundle: string, labels = {}, signerName?: string): [string, TrustBundle] => [
  name,
  { metadata: { name, labels }, spec: { trustBundle, ...(signerName === undefined ? {} : { signerName }) } },
];
const BUNDLES = new Map([
  bundle("plain", block("b") + block("a") + block("b")),
  bundle("one", block("c"), { tier: "a", live: "" }, "s"),
  bundle("two", block("d", "X509 CERTIFICATE"), { tier: "b" }, "s"),
  bundle("other", block("e"), { tier: "a" }, "t"),
]);

describe("trustAnchors", () => {
  it.each<[string, AnchorsWish, string]>([
    ["a name", { name: "plain" }, block("a") + block("b")],
    ["a name that is not there, optional", { name: "gone", optional: true }, ""],
    ["all of a signer", { signerName: "s", labelSelector: {} }, block("c") + block("d")],
    ["a label", { signerName: "s", labelSelector: { matchLabels: { tier: "a" } } }, block("c")],
    [
      "expressions",
      {
        signerName: "s",
        labelSelector: {
          matchExpressions: [
            { key: "tier", operator: "In", values: ["a", "b"] },
            { key: "tier", operator: "NotIn", values: ["c"] },
            { key: "live", operator: "DoesNotExist" },
          ],
        },
      },
      block("d"),
    ],
    [
      "a label that has to be there",
      { signerName: "s", labelSelector: { matchExpressions: [{ key: "live", operator: "Exists" }] } },
      block("c"),
    ],
    ["no selector, which matches nothing, optional", { signerName: "s", optional: true }, ""],
  ])("by %s", (_how, wish, text) => {
    expect(trustAnchors(wish, BUNDLES)).toEqual({ ok: true, value: text });
  });

  it.each<[AnchorsWish, string]>([
    [{ name: "gone" }, 'while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "gone" not found'],
    [{ signerName: "s" }, "combination of signerName and labelSelector matched zero ClusterTrustBundles"],
    [
      { signerName: "u", labelSelector: {} },
      "combination of signerName and labelSelector matched zero ClusterTrustBundles",
    ],
    [{}, "ClusterTrustBundle projection requires either name or signerName to be set"],
    [
      { signerName: "s", labelSelector: { matchExpressions: [{ key: "tier", operator: "Near" }] } },
      'while parsing label selector: "Near" is not a valid label selector operator',
    ],
  ])("of %j returns: %s", (wish, message) => {
    expect(trustAnchors(wish, BUNDLES)).toMatchObject({ ok: false, error: { message } });
  });
});
