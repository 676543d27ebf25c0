import { describe, expect, it } from "vitest";
import { bearerToken, withoutToken } from "../../../../src/core/auth/bearerToken.ts";
import { ANONYMOUS, certificateUser, reviewedUser } from "../../../../src/core/auth/requestUser.ts";

const inProtocol = (token: string) =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString("base64url")}`;

describe("bearer tokens", () => {
  it.each([
    ["Bearer abc", "abc"],
    ["bearer abc", "abc"],
    [" Bearer abc ", "abc"],
    ["Bearer abc def", "abc"],
    ["Bearer  abc", undefined],
    ["Bearer", undefined],
    ["Basic abc", undefined],
    ["", undefined],
  ])("reads %j as %j", (authorization, token) => {
    expect(bearerToken({ authorization })).toBe(token);
  });

  it.each([
    [inProtocol("a+/b?"), "a+/b?"],
    [`v4.channel.k8s.io, ${inProtocol("abc")}`, "abc"],
    [`${inProtocol("abc")},${inProtocol("def")}`, undefined],
    ["base64url.bearer.authorization.k8s.io.", undefined],
    ["base64url.bearer.authorization.k8s.io.a=b", undefined],
    ["v4.channel.k8s.io", undefined],
  ])("reads the protocols %j as %j", (webSocketProtocols, token) => {
    expect(bearerToken({ webSocketProtocols })).toBe(token);
  });

  it("removes the token from the forwarded protocols", () => {
    expect(withoutToken(`v5.channel.k8s.io, ${inProtocol("abc")},v4.channel.k8s.io`)).toBe(
      "v5.channel.k8s.io, v4.channel.k8s.io",
    );
  });
});

describe("users", () => {
  it("are named by the certificate, and are authenticated once", () => {
    const subject = { commonName: "jane", organizations: ["dev", "system:authenticated"], fingerprint: "0f" };
    expect(certificateUser(subject)).toEqual({
      name: "jane",
      groups: ["dev", "system:authenticated"],
      extra: { "authentication.kubernetes.io/credential-id": ["X509SHA256=0f"] },
    });
    expect(certificateUser({ ...subject, commonName: "" })).toBeUndefined();
  });

  it("are read from a positive token review", () => {
    const user = { username: "jane", uid: "u1", groups: ["dev"], extra: { scope: ["a"] } };
    expect(reviewedUser({ authenticated: true, user })).toEqual({
      name: "jane",
      uid: "u1",
      groups: ["dev", "system:authenticated"],
      extra: { scope: ["a"] },
    });
    expect([
      reviewedUser({ authenticated: false, user }),
      reviewedUser({ authenticated: true }),
      reviewedUser(undefined),
    ]).toEqual([undefined, undefined, undefined]);
  });

  it("have no UID, groups or extra fields that the review lacks", () => {
    const bare = { name: "", groups: ["system:authenticated"], extra: {} };
    expect([
      reviewedUser({ authenticated: true, user: {} }),
      reviewedUser({ authenticated: true, user: { uid: "", groups: ["system:authenticated"] } }),
    ]).toEqual([bare, bare]);
    expect(ANONYMOUS).toEqual({ name: "system:anonymous", groups: ["system:unauthenticated"], extra: {} });
  });
});
