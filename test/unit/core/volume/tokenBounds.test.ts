import { describe, expect, it } from "vitest";
import { MAX_AUDIENCE_CHARS, MAX_POD_TOKENS, tokenFault } from "../../../../src/core/volume/tokenBounds.ts";
import type { Volume } from "../../../../src/core/volume/volumeLayout.ts";
import { podOf } from "../../../support/pods.ts";

const CA = { configMap: { name: "ca" } };
const token = (audience?: string) => ({
  serviceAccountToken: { path: "t", ...(audience === undefined ? {} : { audience }) },
});
const volumeOf = (name: string, sources: NonNullable<Volume["projected"]>["sources"]): Volume => ({
  name,
  projected: { sources: sources ?? [] },
});
const tokens = (count: number) => Array.from({ length: count }, () => token());
/** The fault of the last volume of a pod with these. */
const faultOf = (...volumes: readonly Volume[]): string | undefined => {
  const pod = podOf({
    name: "web",
    namespace: "demo",
    spec: { volumes: [{ name: "cache", emptyDir: {} }, ...volumes] },
  });
  return tokenFault(pod, volumes.at(-1) ?? { name: "none" })?.message;
};

describe("an audience", () => {
  it.each([undefined, "", "vault", "x".repeat(MAX_AUDIENCE_CHARS)])("is allowed up to the bound", (audience) => {
    expect(faultOf(volumeOf("v", [CA, token(audience)]))).toBeUndefined();
  });

  it("is refused beyond it, with pod, volume and field", () => {
    const long = "x".repeat(MAX_AUDIENCE_CHARS + 1);
    expect(faultOf(volumeOf("v", [CA, token(long)]))).toBe(
      'pod "demo/web": volume "v": projected.sources[1].serviceAccountToken.audience: must be at most 1024 characters, and has 1025',
    );
  });

  it("that is too long does not concern other volumes", () => {
    expect(faultOf(volumeOf("bad", [token("x".repeat(5_000))]), volumeOf("v", [token()]))).toBeUndefined();
  });
});

describe("the tokens of a pod", () => {
  it("are allowed up to the bound, over all its volumes", () => {
    expect(faultOf(volumeOf("a", tokens(MAX_POD_TOKENS)))).toBeUndefined();
    expect(faultOf(volumeOf("a", tokens(MAX_POD_TOKENS - 1)), volumeOf("b", [CA, token()]))).toBeUndefined();
    expect(faultOf(volumeOf("a", tokens(MAX_POD_TOKENS)), volumeOf("b", [CA]))).toBeUndefined();
  });

  it("are refused from the first one beyond it", () => {
    expect(faultOf(volumeOf("a", tokens(MAX_POD_TOKENS)), volumeOf("b", [CA, token()]))).toBe(
      'pod "demo/web": volume "b": projected.sources[1].serviceAccountToken: a pod has at most 64 tokens',
    );
  });
});
