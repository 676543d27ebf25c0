import { describe, expect, it } from "vitest";
import type { Secret } from "../../../../src/core/configObjects.ts";
import { readDockerConfig, type RegistryCredentials } from "../../../../src/core/image/dockerConfig.ts";
import { isAtPlace, keyringOf, lookUp } from "../../../../src/core/image/keyring.ts";
import { expectLinear } from "../../../support/expectLinear.ts";
import { allCredentialsOf } from "../../../../src/core/image/pullSecrets.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const ring = (...places: readonly string[]) =>
  keyringOf([new Map(places.map((place, index) => [place, { username: String(index), password: "" }]))]);

describe("lookUp", () => {
  const places = [
    ["registry.example", "registry.example/app", ["0"]],
    ["https://registry.example/v1/", "registry.example/app", ["0"]],
    ["http://registry.example/v2/team", "registry.example/team/app", ["0"]],
    ["registry.example/team", "registry.example/other/app", []],
    ["*.example", "registry.example/app", ["0"]],
    ["*.example", "deep.registry.example/app", []],
    ["r?gistry.example", "registry.example/app", ["0"]],
    ["registry.example:5000", "registry.example/app", []],
    ["registry.example:5000", "registry.example:5000/app", ["0"]],
    ["https://index.docker.io/v1/", "docker.io/library/busybox", ["0"]],
    ["docker.io", "docker.io/library/busybox", ["0"]],
    ["https://index.docker.io/v1/", "registry.example/app", []],
  ] as const;
  it.each(places)("%s for %s", (place, image, users) => {
    expect(lookUp(ring(place), image).map(({ username }) => username)).toEqual(users);
  });

  it("puts the longest location first, and keeps the order within one location", () => {
    const first = new Map([["registry.example", { username: "a", password: "" }]]);
    const second = new Map([
      ["registry.example/team", { username: "b", password: "" }],
      ["https://registry.example", { username: "c", password: "" }],
    ]);
    const found = lookUp(keyringOf([first, second]), "registry.example/team/app");
    expect(found.map(({ username }) => username)).toEqual(["b", "a", "c"]);
  });
});

describe("lookUp of malicious locations", () => {
  it("takes the same time for a host with many stars", () => {
    const image = `${"a".repeat(63)}.example/x`;
    expectLinear(
      (stars) => ring(`${"*a".repeat(stars)}*b.example`),
      (keyring) => Array.from({ length: 100 }, () => lookUp(keyring, image)),
      32,
    );
  });

  it("parses an image once, however many locations there are", () => {
    expectLinear(
      (size) => ({
        image: `${"a.".repeat(size)}example/x`,
        keyring: ring(...Array.from({ length: size / 8 }, (_, index) => `registry${index}.example`)),
      }),
      ({ image, keyring }) => lookUp(keyring, image),
      16 * 1024,
    );
  });

  it("collects the credentials of one location from many secrets in linear time", () => {
    expectLinear(
      (size) => new Array<RegistryCredentials>(size).fill(new Map([["r.example", { username: "", password: "" }]])),
      keyringOf,
    );
  });
});

describe("isAtPlace", () => {
  it.each([
    ["[unclosed.example", "u.example", false],
    ["*.*.example", "a.b.example", true],
    ["", "a.example", false],
    ["a.example", "a.exampleX", false],
    ["a+b.example", "aab.example", false],
  ])("%s of %s: %s", (place, image, expected) => expect(isAtPlace(place, image)).toBe(expected));
});

describe("readDockerConfig", () => {
  const read = (text: string, form: "config.json" | ".dockercfg" = "config.json") => {
    const result = readDockerConfig(form, text, "config.json");
    return result.ok ? Object.fromEntries(result.value) : result.error.message;
  };
  it.each([
    ['{"auths":{"r":{"username":"u","password":"p","email":"e"}}}', { r: { username: "u", password: "p" } }],
    [`{"auths":{"r":{"auth":"${base64("u:p:q")}"}}}`, { r: { username: "u", password: "p:q" } }],
    ['{"credHelpers":{}}', {}],
    ["nonsense", "config.json: is not a JSON object"],
    ['{"auths":{"r":{}}}', { r: { username: "", password: "" } }],
    ['{"auths":{"r":7}}', 'config.json: "r": must be an object'],
    ['{"auths":{"r":{"username":7}}}', 'config.json: "r": username, password and auth must be strings'],
    ['{"auths":{"r":{"auth":7}}}', 'config.json: "r": username, password and auth must be strings'],
    [`{"auths":{"r":{"username":"x","auth":"${base64(":p")}"}}}`, { r: { username: "", password: "p" } }],
    [
      `{"auths":{"r":{"auth":"${base64("up")}"}}}`,
      'config.json: "r": unable to parse auth field, must be formatted as base64(username:password)',
    ],
    ['{"auths":[]}', "config.json: auths must be an object"],
    [
      '{"auths":{"r":{"auth":"!"}}}',
      'config.json: "r": unable to parse auth field, must be formatted as base64(username:password)',
    ],
    ['{"auths":{"r":{"password":7}}}', 'config.json: "r": username, password and auth must be strings'],
  ])("%s", (text, expected) => expect(read(text)).toEqual(expected));

  it("reads the entries at the top level in the older format", () => {
    expect(read('{"r":{"username":"u","password":"p"}}', ".dockercfg")).toEqual({
      r: { username: "u", password: "p" },
    });
  });
});

describe("allCredentialsOf", () => {
  const secret = (name: string, type: string, data: Readonly<Record<string, string>>): Secret => ({
    kind: "Secret",
    type,
    metadata: { namespace: "demo", name },
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])),
  });
  const entry = '{"r":{"username":"u","password":"p"}}';
  it("reads both types and skips others", () => {
    const secrets = [
      secret("new", "kubernetes.io/dockerconfigjson", { ".dockerconfigjson": `{"auths":${entry}}` }),
      secret("old", "kubernetes.io/dockercfg", { ".dockercfg": entry }),
      secret("other", "Opaque", { ".dockerconfigjson": "x" }),
    ];
    const read = allCredentialsOf(secrets);
    expect(read.ok && read.value.map((config) => config.get("r")?.username)).toEqual(["u", "u"]);
  });

  it("skips secrets without their key, and records where credentials come from", () => {
    const found = secret("found", "kubernetes.io/dockercfg", { ".dockercfg": entry });
    const secrets = [
      secret("empty", "kubernetes.io/dockercfg", { ".dockercfg": "" }),
      secret("another", "kubernetes.io/dockercfg", { ".dockerconfigjson": entry }),
      { ...secret("bare", "kubernetes.io/dockerconfigjson", {}), data: undefined },
      { ...found, metadata: { ...found.metadata, uid: "uid-1" } },
      found,
    ] as readonly Secret[];
    const read = allCredentialsOf(secrets);
    const source = (uid: string) => ({ kind: "Secret", uid, namespace: "demo", name: "found" });
    expect(read.ok && read.value.map((config) => config.get("r")?.source)).toEqual([source("uid-1"), source("")]);
  });

  it("names a secret that cannot be read, without its content", () => {
    const read = allCredentialsOf([secret("bad", "kubernetes.io/dockercfg", { ".dockercfg": "s3cret" })]);
    expect(read.ok ? "" : read.error.message).toBe('secret "demo/bad": is not a JSON object');
  });
});
