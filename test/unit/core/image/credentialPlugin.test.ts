import { describe, expect, it } from "vitest";
import {
  keepKey,
  lookUpKeys,
  type PluginAccount,
  pluginAnnotations,
  pluginRequest,
  type PluginResponse,
  readPluginResponse,
} from "../../../../src/core/image/credentialPlugin.ts";
import type { CredentialProvider, TokenAttributes } from "../../../../src/core/image/credentialProviderConfig.ts";

const API = "credentialprovider.kubelet.k8s.io/v1";
const TOKENS: TokenAttributes = {
  audience: "registry",
  cacheType: "ServiceAccount",
  requireServiceAccount: true,
  requiredAnnotations: ["role"],
  optionalAnnotations: ["tenant"],
};
const provider: CredentialProvider = {
  name: "ecr",
  matchImages: ["registry.example"],
  defaultCacheMs: 60_000,
  apiVersion: API,
  args: [],
  env: {},
  tokenAttributes: TOKENS,
};
const account: PluginAccount = {
  namespace: "demo",
  name: "builder",
  uid: "uid-1",
  annotations: { role: "reader" },
  token: "t1",
};
const IMAGE = "registry.example/team/app";

describe("pluginRequest", () => {
  it("contains the image, and the service account when there is one", () => {
    const head = { kind: "CredentialProviderRequest", apiVersion: API, image: IMAGE };
    expect(
      [pluginRequest(provider, IMAGE), pluginRequest(provider, IMAGE, account)].map((it) => JSON.parse(it)),
    ).toEqual([head, { ...head, serviceAccountToken: "t1", serviceAccountAnnotations: { role: "reader" } }]);
  });
});

describe("pluginAnnotations", () => {
  it.each([
    [{ role: "reader", other: "x" }, { role: "reader" }],
    [
      { role: "reader", tenant: "a" },
      { role: "reader", tenant: "a" },
    ],
    [{ tenant: "a" }, undefined],
    [undefined, undefined],
  ])("of %j: %j", (annotations, expected) => expect(pluginAnnotations(TOKENS, annotations)).toEqual(expected));
});

describe("readPluginResponse", () => {
  const head = { kind: "CredentialProviderResponse", apiVersion: API };
  const read = (response: unknown) => {
    const result = readPluginResponse(provider, typeof response === "string" ? response : JSON.stringify(response));
    return result.ok ? result.value : result.error.message;
  };
  const auth = { "registry.example": { username: "u", password: "p" } };
  const unreadable = "error decoding credential provider plugin response from stdout";
  it.each([
    [
      { ...head, cacheKeyType: "Registry", cacheDuration: "5m0s", auth },
      { keptFor: "Registry", cacheMs: 300_000, credentials: new Map(Object.entries(auth)) },
    ],
    [
      { ...head, cacheKeyType: "Image" },
      { keptFor: "Image", cacheMs: undefined, credentials: new Map() },
    ],
    [
      { ...head, cacheKeyType: "Global", cacheDuration: "0s" },
      { keptFor: "Global", cacheMs: 0, credentials: new Map() },
    ],
    [{ ...head, auth }, 'credential provider plugin did not return a valid cacheKeyType: ""'],
    [
      { ...head, apiVersion: `${API}beta1` },
      "apiVersion from credential plugin response did not match expected " +
        `apiVersion:${API}, actual apiVersion:${API}beta1`,
    ],
    [{ ...head, kind: "Secret" }, unreadable],
    [{ ...head, cacheKeyType: "Image", auth: { r: { username: 1 } } }, unreadable],
    [{ ...head, cacheKeyType: "Image", cacheDuration: "soon" }, unreadable],
    [{ ...head, cacheKeyType: "Image", credentials: {} }, unreadable],
    ["hello", "error reading GVK from response: it is not a JSON object"],
  ])("%j", (response, expected) => expect(read(response)).toEqual(expected));
});

describe("caching of responses", () => {
  const answer = (keptFor: PluginResponse["keptFor"]): PluginResponse => ({
    keptFor,
    cacheMs: undefined,
    credentials: new Map(),
  });
  const finds = (
    keptFor: PluginResponse["keptFor"],
    image: string,
    by: PluginAccount | undefined,
    cacheType = TOKENS.cacheType,
  ): boolean => {
    const plugin = { ...provider, tokenAttributes: { ...TOKENS, cacheType } };
    return lookUpKeys(plugin, image, by).includes(keepKey(plugin, answer(keptFor), IMAGE, account));
  };
  const sibling = "registry.example/team/other";
  it.each([
    ["Image", IMAGE, account, true],
    ["Image", sibling, account, false],
    ["Registry", sibling, account, true],
    ["Registry", "other.example/app", account, false],
    ["Global", "other.example/app", account, true],
    ["Global", IMAGE, { ...account, name: "other" }, false],
    ["Global", IMAGE, { ...account, uid: "uid-2" }, false],
    ["Global", IMAGE, { ...account, annotations: { role: "writer" } }, false],
    ["Global", IMAGE, { ...account, token: "t2" }, true],
    ["Global", IMAGE, undefined, false],
  ] as const)("for %s, as far as %s %j: %s", (keptFor, image, by, expected) =>
    expect(finds(keptFor, image, by)).toBe(expected),
  );

  it("for one token when the plugin is configured so", () => {
    expect([
      finds("Image", IMAGE, account, "Token"),
      finds("Image", IMAGE, { ...account, token: "t2" }, "Token"),
    ]).toEqual([true, false]);
  });
});
