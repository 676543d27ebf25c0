import { describe, expect, it } from "vitest";
import type { RegistryCredential } from "../../../../src/core/image/dockerConfig.ts";
import {
  credentialsUsed,
  decodePulledRecord,
  decodePullIntent,
  encodePulledRecord,
  encodePullIntent,
  type ImagePullCredentials,
  type ImagePulledRecord,
  isPullFile,
  pullFileName,
  shownBy,
  withCredentials,
} from "../../../../src/core/image/pulledRecord.ts";

const secret = (name: string, password = "p"): RegistryCredential => ({
  username: "u",
  password,
  source: { kind: "Secret", uid: `uid of ${name}`, namespace: "demo", name },
});
const account: RegistryCredential = {
  username: "u",
  password: "p",
  source: { kind: "ServiceAccount", uid: "uid-1", namespace: "demo", name: "builder" },
};
/** `printf '{"username":"u","password":"p"}' | sha256sum` */
const HASH_UP = "edbd57ca9372e64eb1c9070ecf3a049ac553596b0529acf034c7a71d4e618e88";
const hashes = ({ kubernetesSecrets = [] }: ImagePullCredentials) => kubernetesSecrets.map((it) => it.credentialHash);

describe("record files", () => {
  it("have upstream's names", () => {
    // Same as the test data of pkg/kubelet/images/pullmanager.
    expect(pullFileName("repo.repo/test/test:latest")).toBe(
      "sha256-7d8c031e2f1aeaa71649ca3e0b64c9902370ed460ef57fb07582a87a5a1e1c02",
    );
    expect([pullFileName("a"), `${pullFileName("a")}.tmp`, `${pullFileName("a")}.corrupt`].map(isPullFile)).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("parse as they were written", () => {
    const record: ImagePulledRecord = {
      lastUpdatedTime: "2026-01-01T00:00:00Z",
      imageRef: "sha256:1",
      credentialMapping: {
        "registry.example/a": credentialsUsed(secret("login")),
        "registry.example/b": credentialsUsed(account),
        "registry.example/c": credentialsUsed(undefined),
      },
    };
    expect(decodePulledRecord(encodePulledRecord(record))).toEqual(record);
    expect(encodePulledRecord({ ...record, credentialMapping: {} })).toBe(
      '{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1",' +
        '"lastUpdatedTime":"2026-01-01T00:00:00Z","imageRef":"sha256:1"}\n',
    );
    expect(encodePullIntent("a:1")).toBe(
      '{"kind":"ImagePullIntent","apiVersion":"kubelet.config.k8s.io/v1beta1","image":"a:1"}\n',
    );
    expect(decodePullIntent(encodePullIntent("a:1"))).toBe("a:1");
  });

  const head = { kind: "ImagePulledRecord", apiVersion: "kubelet.config.k8s.io/v1alpha1", lastUpdatedTime: "t" };
  it.each([
    [{ ...head, imageRef: "i" }, true],
    [{ ...head }, false],
    [{ ...head, imageRef: "i", kind: "ImagePullIntent" }, false],
    [{ ...head, imageRef: "i", apiVersion: "v2" }, false],
    [{ ...head, imageRef: "i", credentialMapping: { a: { nodePodsAccessible: true } } }, true],
    [{ ...head, imageRef: "i", credentialMapping: { a: { nodePodsAccessible: "yes" } } }, false],
    [{ ...head, imageRef: "i", credentialMapping: { a: { everybody: true } } }, false],
    [{ ...head, imageRef: "i", credentialMapping: { a: { kubernetesSecrets: [{ uid: "u" }] } } }, false],
    ["", false],
  ])("%j is readable: %s", (value, readable) => {
    expect(decodePulledRecord(JSON.stringify(value)) !== undefined).toBe(readable);
  });
});

describe("withCredentials", () => {
  const now = "2026-01-01T00:00:00Z";
  const repository = "registry.example/a";
  const add = (record: ImagePulledRecord | undefined, credentials: ImagePullCredentials | undefined) =>
    withCredentials(record, { imageRef: "sha256:1", repository, credentials, now });
  const of = (...all: readonly (ImagePullCredentials | undefined)[]) =>
    all.reduce<ImagePulledRecord | undefined>((record, credentials) => add(record, credentials), undefined);

  it("adds secrets and accounts in order, each once, and a secret with its current content", () => {
    const [b, a, changed] = [secret("b"), secret("a"), secret("b", "other")].map(credentialsUsed);
    const found = of(b, a, changed, credentialsUsed(account), credentialsUsed(account))?.credentialMapping[repository];
    expect(found?.kubernetesSecrets?.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(hashes(found ?? {})).toEqual([...hashes(a ?? {}), ...hashes(changed ?? {})]);
    expect(found?.kubernetesServiceAccounts?.map(({ name }) => name)).toEqual(["builder"]);
  });

  it("returns the same record when nothing changes", () => {
    const record = of(credentialsUsed(secret("a")));
    expect(add(record, credentialsUsed(secret("a")))).toBe(record);
    expect(add(record, undefined)).toBe(record);
  });

  it("allows all pods after a pull without credentials", () => {
    const everybody = { [repository]: { nodePodsAccessible: true } };
    expect(of(credentialsUsed(secret("a")), credentialsUsed(undefined))?.credentialMapping).toEqual(everybody);
    expect(of(credentialsUsed(undefined), credentialsUsed(secret("a")))?.credentialMapping).toEqual(everybody);
  });

  it("allows no pod after a pull with unknown credentials", () => expect(of(undefined)?.credentialMapping).toEqual({}));
});

describe("shownBy", () => {
  it("ignores the credentials of the node", () => {
    const { secrets, account: shown } = shownBy([{ username: "u", password: "p" }, secret("a"), account]);
    expect([secrets.map(({ name }) => name), shown?.name]).toEqual([["a"], "builder"]);
  });

  it("hashes credentials as upstream does", () => {
    expect(shownBy([secret("a")]).secrets[0]?.credentialHash).toBe(HASH_UP);
  });
});
