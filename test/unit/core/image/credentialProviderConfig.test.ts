import { describe, expect, it } from "vitest";
import { formatFieldPath } from "../../../../src/core/config/configProblem.ts";
import { readCredentialProviders } from "../../../../src/core/image/credentialProviderConfig.ts";

const API = "credentialprovider.kubelet.k8s.io/v1";
const PROVIDER = { name: "ecr", matchImages: ["*.example.com/team"], defaultCacheDuration: "10m", apiVersion: API };
const TOKENS = { serviceAccountTokenAudience: "registry", cacheType: "Token", requireServiceAccount: true };
const document = (...providers: readonly unknown[]) => ({
  apiVersion: "kubelet.config.k8s.io/v1",
  kind: "CredentialProviderConfig",
  providers,
});
const faults = (value: unknown, tokensAllowed = true): readonly string[] =>
  readCredentialProviders(value, tokensAllowed).problems.map(
    ({ path, reason }) => `${formatFieldPath(path)}: ${reason}`,
  );

describe("readCredentialProviders", () => {
  it("reads the configured plugins", () => {
    const full = {
      ...PROVIDER,
      args: ["get"],
      env: [{ name: "REGION", value: "eu" }],
      tokenAttributes: {
        ...TOKENS,
        requiredServiceAccountAnnotationKeys: ["example.com/role"],
        optionalServiceAccountAnnotationKeys: ["tenant"],
      },
    };
    const plain = { name: "gcr", matchImages: ["gcr.io"], defaultCacheDuration: "0s", apiVersion: `${API}beta1` };
    expect(readCredentialProviders(document(full, plain), true)).toEqual({
      problems: [],
      providers: [
        {
          name: "ecr",
          matchImages: ["*.example.com/team"],
          defaultCacheMs: 600_000,
          apiVersion: API,
          args: ["get"],
          env: { REGION: "eu" },
          tokenAttributes: {
            audience: "registry",
            cacheType: "Token",
            requireServiceAccount: true,
            requiredAnnotations: ["example.com/role"],
            optionalAnnotations: ["tenant"],
          },
        },
        {
          name: "gcr",
          matchImages: ["gcr.io"],
          defaultCacheMs: 0,
          apiVersion: `${API}beta1`,
          args: [],
          env: {},
          tokenAttributes: undefined,
        },
      ],
    });
  });

  const versions = "credentialprovider.kubelet.k8s.io/v1, credentialprovider.kubelet.k8s.io/v1alpha1, ";
  it.each([
    [{ name: "a/b" }, 'name: must be the name of a program, without / and spaces, got "a/b"'],
    [{ name: ".." }, 'name: must be the name of a program, without / and spaces, got ".."'],
    [{ name: undefined }, "name: is required: the name of the program"],
    [{ matchImages: [] }, "matchImages: must have at least one image"],
    [{ matchImages: "gcr.io" }, "matchImages: must be a list of strings"],
    [
      { matchImages: ["https://gcr.io"] },
      'matchImages: must be host, port and path without a scheme, got "https://gcr.io"',
    ],
    [{ defaultCacheDuration: undefined }, 'defaultCacheDuration: is required, such as "10m"'],
    [{ defaultCacheDuration: "soon" }, 'defaultCacheDuration: must be a duration such as "10m", got "soon"'],
    [{ defaultCacheDuration: "-1s" }, 'defaultCacheDuration: must not be negative, got "-1s"'],
    [{ apiVersion: "v1" }, `apiVersion: must be one of ${versions}credentialprovider.kubelet.k8s.io/v1beta1, got "v1"`],
    [{ args: "get" }, "args: must be a list of strings"],
    [{ env: [{ name: 1 }] }, "env[0].name: must be a string, got 1"],
    [{ matchImage: [] }, "matchImage: is an unknown field"],
    [{ apiVersion: `${API}beta1`, tokenAttributes: TOKENS }, `tokenAttributes: needs apiVersion ${API}`],
    [
      { tokenAttributes: { ...TOKENS, cacheType: "Pod" } },
      'tokenAttributes.cacheType: must be one of ServiceAccount, Token, got "Pod"',
    ],
    [
      { tokenAttributes: { ...TOKENS, cacheType: undefined } },
      "tokenAttributes.cacheType: is required: one of ServiceAccount, Token",
    ],
    [
      { tokenAttributes: { ...TOKENS, serviceAccountTokenAudience: "" } },
      "tokenAttributes.serviceAccountTokenAudience: is required",
    ],
    [
      { tokenAttributes: { ...TOKENS, requireServiceAccount: undefined } },
      "tokenAttributes.requireServiceAccount: is required",
    ],
    [
      { tokenAttributes: { ...TOKENS, requireServiceAccount: false, requiredServiceAccountAnnotationKeys: ["a"] } },
      "tokenAttributes.requiredServiceAccountAnnotationKeys: needs requireServiceAccount to be true",
    ],
    [
      {
        tokenAttributes: {
          ...TOKENS,
          requiredServiceAccountAnnotationKeys: ["a"],
          optionalServiceAccountAnnotationKeys: ["a"],
        },
      },
      'tokenAttributes.optionalServiceAccountAnnotationKeys: has "a", which is a required one',
    ],
    [
      { tokenAttributes: { ...TOKENS, optionalServiceAccountAnnotationKeys: ["A", "A"] } },
      'tokenAttributes.optionalServiceAccountAnnotationKeys: has "A" twice',
    ],
    [
      { tokenAttributes: { ...TOKENS, optionalServiceAccountAnnotationKeys: ["-a"] } },
      'tokenAttributes.optionalServiceAccountAnnotationKeys: "-a": an annotation key consists of letters, digits, - _ . ' +
        "and starts and ends with a letter or digit",
    ],
  ])("%j: %s", (change, fault) => {
    expect(faults(document({ ...PROVIDER, ...change }))).toEqual([`providers[0].${fault}`]);
  });

  it("rejects service account tokens while their gate is off", () => {
    const gate = "KubeletServiceAccountTokenForCredentialProviders";
    expect(faults(document({ ...PROVIDER, tokenAttributes: TOKENS }), false)).toEqual([
      `providers[0].tokenAttributes: must not be set while the feature gate ${gate} is off`,
    ]);
  });

  it.each([
    [document(), ["providers: must have at least one plugin"]],
    [{ ...document(PROVIDER), kind: "Pod" }, ['kind: must be CredentialProviderConfig, got "Pod"']],
    [{ ...document(PROVIDER), plugins: [] }, ["plugins: is an unknown field"]],
  ])("%#: rejects other documents", (value, expected) => expect(faults(value)).toEqual(expected));
});
