import { describe, expect, it } from "vitest";
import type { ImagePullCredentials, ImagePullSecret } from "../../../../src/core/image/pulledRecord.ts";
import {
  checkWithoutCredentials,
  type ImageVerification,
  matchCredentials,
  needsCredentials,
} from "../../../../src/core/image/pullVerification.ts";

const REPOSITORY = "registry.example/team/app";
const allow = (...allowlist: readonly string[]): ImageVerification => ({
  policy: "NeverVerifyAllowlistedImages",
  allowlist,
});

describe("needsCredentials", () => {
  it.each([
    [{ policy: "NeverVerify" }, true, false],
    [{ policy: "NeverVerifyPreloadedImages" }, true, true],
    [{ policy: "NeverVerifyPreloadedImages" }, false, false],
    [{ policy: "AlwaysVerify" }, false, true],
    [allow(REPOSITORY), true, false],
    [allow("registry.example/team/*"), true, false],
    [allow("registry.example/*"), true, false],
    [allow("registry.example/team/ap"), true, true],
    [allow("registry.example/tea/*"), false, true],
    [allow(), false, true],
  ] as const)("%j, pulled by a kubelet: %s: %s", (verification, isPulled, expected) =>
    expect(needsCredentials(verification, REPOSITORY, isPulled)).toBe(expected),
  );
});

describe("checkWithoutCredentials", () => {
  const policy = { policy: "NeverVerifyPreloadedImages" } as const;
  const check = (credentials: ImagePullCredentials | undefined, name = REPOSITORY) =>
    checkWithoutCredentials(policy, REPOSITORY, {
      record: {
        lastUpdatedTime: "",
        imageRef: "",
        credentialMapping: credentials === undefined ? {} : { [name]: credentials },
      },
      isPulled: true,
    });
  const secrets = { kubernetesSecrets: [{ uid: "u", namespace: "n", name: "a", credentialHash: "h" }] };
  it("uses the record of that name", () => {
    expect([
      check({ nodePodsAccessible: true }),
      check({ nodePodsAccessible: true }, "other.example/app"),
      check({}),
      check(undefined),
      check(secrets),
    ]).toEqual(["credentialRecordFound", "mustAuthenticate", "mustAuthenticate", "mustAuthenticate", secrets]);
  });

  it("allows a preloaded image, and no image whose pull was started", () => {
    const known = { record: undefined, isPulled: false };
    expect(
      [known, { ...known, isPulled: true }].map((each) => checkWithoutCredentials(policy, REPOSITORY, each)),
    ).toEqual(["credentialPolicyAllowed", "mustAuthenticate"]);
  });
});

describe("matchCredentials", () => {
  const secret = (name: string, credentialHash: string): ImagePullSecret => ({
    uid: `uid of ${name}`,
    namespace: "demo",
    name,
    credentialHash,
  });
  const account = (uid: string) => ({ uid, namespace: "demo", name: "builder" });
  const known = { kubernetesSecrets: [secret("a", "h1")], kubernetesServiceAccounts: [account("1")] };
  it.each([
    [[secret("a", "h1")], undefined, { mayUse: true }],
    [[secret("b", "h1")], undefined, { mayUse: true, learned: secret("b", "h1") }],
    [[secret("a", "h2")], undefined, { mayUse: true, learned: secret("a", "h2") }],
    [[secret("b", "h2")], undefined, { mayUse: false }],
    [[], undefined, { mayUse: false }],
    [[], account("1"), { mayUse: true }],
    [[], account("2"), { mayUse: false }],
  ])("%j %j: %j", (secrets, shown, expected) =>
    expect(matchCredentials(known, { secrets, account: shown })).toEqual(expected),
  );

  it("never matches a secret without a hash", () => {
    const nameless = { kubernetesSecrets: [secret("a", "")] };
    expect(matchCredentials(nameless, { secrets: [secret("b", "")], account: undefined })).toEqual({ mayUse: false });
  });

  it("learns at most a hundred secrets", () => {
    const many = { kubernetesSecrets: Array.from({ length: 100 }, (_, index) => secret(`s${index}`, `h${index}`)) };
    const match = (shown: ImagePullSecret) => matchCredentials(many, { secrets: [shown], account: undefined });
    expect([match(secret("b", "h1")), match(secret("s1", "new"))]).toEqual([{ mayUse: true }, { mayUse: false }]);
  });
});
