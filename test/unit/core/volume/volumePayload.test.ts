import { NO_POD_CERTIFICATES } from "../../../../src/core/cert/podCertificate.ts";
import { NO_TRUST_BUNDLES } from "../../../../src/core/cert/trustAnchors.ts";
import { epochMs } from "../../../../src/core/ids.ts";
import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../../src/core/api.ts";
import { type ConfigObject, configObjectsOf } from "../../../../src/core/configObjects.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { err, ok, type Result } from "../../../../src/core/result.ts";
import { contentInputs } from "../../../../src/core/volume/contentInputs.ts";
import type { Volume } from "../../../../src/core/volume/volumeLayout.ts";
import { MAX_VOLUME_BYTES } from "../../../../src/core/volume/volumeBudget.ts";
import { tokenWishes } from "../../../../src/core/volume/identityFiles.ts";
import { type PayloadSources, volumePayload } from "../../../../src/core/volume/volumePayload.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const CERTIFICATE = { signerName: "example.com/s", keyType: "ED25519", credentialBundlePath: "pair.pem" };

const resourceFile = (resource: string, containerName: string) => ({
  downwardAPI: { items: [{ path: "p", resourceFieldRef: { resource, containerName } }] },
});
const metadata = (name: string) => ({ name, namespace: "demo", uid: `uid-${name}` });
const settings: ConfigObject = {
  kind: "ConfigMap",
  metadata: metadata("settings"),
  data: { color: "blue", size: "1" },
  binaryData: { logo: "AAH/" },
};
const password: ConfigObject = { kind: "Secret", metadata: metadata("password"), data: { word: "b3Blbg==" } };
const root: ConfigObject = { kind: "ConfigMap", metadata: metadata("kube-root-ca.crt"), data: { "ca.crt": "PEM" } };

const sources = (more: Partial<PayloadSources> = {}): PayloadSources => ({
  objects: configObjectsOf([settings, password, root]),
  token: () => ok("token-1"),
  anchors: () => NO_TRUST_BUNDLES,
  credentials: () => NO_POD_CERTIFICATES,
  allocatable: { cpu: "2", memory: "1Gi" },
  ...more,
});

/** Files as text, with their modes; what is no text as its bytes. */
function files(volume: Omit<Volume, "name">, spec: Partial<PodSpec> = {}, from = sources()): unknown {
  const pod = podOf({
    labels: { app: "web", tier: "a" },
    spec: {
      serviceAccountName: "runner",
      containers: [containerOf({ resources: { limits: { cpu: "250m" } } })],
      ...spec,
    },
  });
  const payload = volumePayload(pod, { name: "v", ...volume }, from);
  if (!payload.ok) return payload.error.message;
  return Object.fromEntries(
    [...payload.value].map(([path, { content, mode, uid }]) => {
      const text = new TextDecoder().decode(content);
      return [path, [text.includes("�") ? [...content] : text, mode.toString(8), ...(uid === undefined ? [] : [uid])]];
    }),
  );
}

const defaultProjection: Omit<Volume, "name"> = {
  projected: {
    defaultMode: 0o644,
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      { downwardAPI: { items: [{ path: "namespace", fieldRef: { fieldPath: "metadata.namespace" } }] } },
    ],
  },
};

describe("volumePayload", () => {
  it("contains all keys of a ConfigMap, also binary ones", () => {
    expect(files({ configMap: { name: "settings", defaultMode: 0o400 } })).toEqual({
      color: ["blue", "400"],
      size: ["1", "400"],
      logo: [[0, 1, 255], "400"],
    });
  });

  it("contains the selected items, with their paths and modes", () => {
    const items = [
      { key: "word", path: "deep/word", mode: 0o600 },
      { key: "word", path: "again" },
    ];
    expect(files({ secret: { secretName: "password", items } })).toEqual({
      "deep/word": ["open", "600"],
      again: ["open", "644"],
    });
  });

  it("equals the default projected volume of pods", () => {
    expect(files(defaultProjection)).toEqual({
      token: ["token-1", "644"],
      "ca.crt": ["PEM", "644"],
      namespace: ["demo", "644"],
    });
  });

  it.each<[string, Partial<PodSpec>, readonly unknown[]]>([
    ["of fsGroup only it and root may read it", { securityContext: { fsGroup: 7 } }, ["token-1", "600"]],
    ["the one user of all containers owns it", { securityContext: { runAsUser: 5 } }, ["token-1", "600", 5]],
    [
      "two users share it with mode 0644",
      {
        securityContext: { runAsUser: 5 },
        containers: [containerOf(), containerOf({ name: "b", securityContext: { runAsUser: 6 } })],
      },
      ["token-1", "644"],
    ],
  ])("sets the ownership of the token: %s", (_who, spec, token) => {
    expect(files(defaultProjection, spec)).toMatchObject({ token });
  });

  it("contains fields of the pod and resources of its containers", () => {
    const items = [
      { path: "labels", fieldRef: { fieldPath: "metadata.labels" }, mode: 0o640 },
      { path: "cpu", resourceFieldRef: { containerName: "main", resource: "limits.cpu", divisor: "1m" } },
      { path: "memory", resourceFieldRef: { containerName: "main", resource: "limits.memory" } },
    ];
    expect(files({ downwardAPI: { items } })).toEqual({
      labels: ['app="web"\ntier="a"', "640"],
      cpu: ["250", "644"],
      memory: [String(2 ** 30), "644"],
    });
  });

  it.each<[Omit<Volume, "name">, string]>([
    [{ configMap: { name: "gone" } }, 'configmap "gone" not found'],
    [{ secret: { secretName: "gone" } }, 'secret "gone" not found'],
    [
      { configMap: { name: "settings", items: [{ key: "k", path: "p" }] } },
      "configmap references non-existent config key: k",
    ],
    [{ secret: { secretName: "password", items: [{ key: "k", path: "p" }] } }, "references non-existent secret key: k"],
    [
      { configMap: { name: "settings", items: [{ key: "constructor", path: "p" }] } },
      "configmap references non-existent config key: constructor",
    ],
    [{ downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath: "spec.x" } }] } }, "unsupported fieldPath: spec.x"],
    [resourceFile("limits.cpu", "gone"), "container gone not found"],
    [resourceFile("limits.gpu", "main"), "unsupported container resource : limits.gpu"],
    [
      { projected: { sources: [{ configMap: { name: "gone" } }, { secret: { name: "lost" } }] } },
      '[configmap "gone" not found, secret "lost" not found]',
    ],
    [
      { projected: { sources: [{ clusterTrustBundle: { name: "b", path: "p" } }] } },
      "ClusterTrustBundle projection is not supported in static kubelet mode",
    ],
    [{ projected: { sources: [{ podCertificate: CERTIFICATE }] } }, "unimplemented"],
    [{ projected: { sources: [{}] } }, "projected source without a source is not served"],
  ])("fails for %j: %s", (volume, message) => {
    expect(files(volume)).toBe(message);
  });

  it("contains key and certificate of the pod in the named files, and the trust anchors", () => {
    const wishes: unknown[] = [];
    const issued = { key: "KEY\n", chain: "CHAIN\n", beginRefreshAt: epochMs(0), notAfter: epochMs(0) };
    const from = sources({
      anchors: () => ok("ANCHORS\n"),
      credentials: ({ volume, index, serviceAccount }) => {
        wishes.push([volume, index, serviceAccount]);
        return ok({ kind: "issued", ...issued });
      },
    });
    const paths = { keyPath: "tls/key.pem", certificateChainPath: "tls/chain.pem" };
    const projected = {
      sources: [
        { clusterTrustBundle: { name: "b", path: "ca.pem" } },
        { podCertificate: { ...CERTIFICATE, ...paths } },
      ],
    };
    const expected = (mode: string) => ({
      "ca.pem": ["ANCHORS\n", mode],
      "pair.pem": ["KEY\nCHAIN\n", mode],
      "tls/key.pem": ["KEY\n", mode],
      "tls/chain.pem": ["CHAIN\n", mode],
    });
    expect(files({ projected }, {}, from)).toEqual(expected("644"));
    expect(files({ projected }, { securityContext: { fsGroup: 5 } }, from)).toEqual(expected("600"));
    expect(wishes[0]).toEqual(["v", 1, "runner"]);
  });

  it("omits optional missing objects", () => {
    const items = [
      { key: "color", path: "color" },
      { key: "k", path: "p" },
    ];
    expect(files({ configMap: { name: "settings", optional: true, items } })).toEqual({ color: ["blue", "644"] });
    expect(files({ secret: { secretName: "gone", optional: true } })).toEqual({});
  });

  it("reports why an object is unknown, even an optional one, and why there is no token", () => {
    const message = "failed to sync configmap cache: timed out waiting for the condition";
    const problems = new Map([["ConfigMap demo/x" as const, kubeletError("DeadlineExceeded", message)]]);
    const unknown = sources({ objects: configObjectsOf([], [], problems) });
    expect(files({ configMap: { name: "x", optional: true } }, {}, unknown)).toBe(message);
    const token = (): Result<string> => err(kubeletError("Unavailable", "failed to fetch token: away"));
    expect(files(defaultProjection, {}, sources({ token }))).toBe("failed to fetch token: away");
  });
});

describe("the budget of a volume's files", () => {
  const MEBIBYTE = 1024 * 1024;
  const FITTING = MAX_VOLUME_BYTES / MEBIBYTE;
  const text = "x".repeat(MEBIBYTE);
  const big: ConfigObject = { kind: "ConfigMap", metadata: metadata("big"), data: { text } };
  const bigSecret: ConfigObject = {
    kind: "Secret",
    metadata: metadata("big"),
    data: { text: Buffer.from(text).toString("base64") },
  };
  const item = (index: number) => ({ key: "text", path: `f${index}` });
  const annotation = (index: number) => ({
    path: `f${index}`,
    fieldRef: { fieldPath: "metadata.annotations['text']" },
  });
  const from = sources({ objects: configObjectsOf([big, bigSecret]), anchors: () => ok(text) });
  const plain = podOf({});
  const pod = { ...plain, metadata: { ...plain.metadata, annotations: { text } } };
  const counted = <T>(count: number, each: (index: number) => T): readonly T[] =>
    Array.from({ length: count }, (_, index) => each(index));

  it.each<[string, (count: number) => Omit<Volume, "name">, string]>([
    [
      "items of a ConfigMap",
      (count) => ({ configMap: { name: "big", items: counted(count, item) } }),
      'configmap "big": key "text"',
    ],
    [
      "items of a Secret",
      (count) => ({ secret: { secretName: "big", items: counted(count, item) } }),
      'secret "big": key "text"',
    ],
    [
      "annotations",
      (count) => ({ downwardAPI: { items: counted(count, annotation) } }),
      `downwardAPI: file "f${FITTING}"`,
    ],
    [
      "projected ConfigMaps",
      (count) => ({
        projected: { sources: counted(count, (index) => ({ configMap: { name: "big", items: [item(index)] } })) },
      }),
      'configmap "big": key "text"',
    ],
    [
      "trust anchors",
      (count) => ({
        projected: {
          sources: counted(count, (index) => ({ clusterTrustBundle: { name: "b", path: `f${index}` } })),
        },
      }),
      `projected.sources[${FITTING}]`,
    ],
  ])("allows %s up to the limit, and names the first file beyond it", (_, volumeOf, place) => {
    const filled = volumePayload(pod, { name: "v", ...volumeOf(FITTING) }, from);
    expect(filled.ok && filled.value.size).toBe(FITTING);
    const refused = volumePayload(pod, { name: "v", ...volumeOf(FITTING + 2) }, from);
    expect(refused.ok ? undefined : refused.error).toMatchObject({
      reason: "FailedMount",
      message: `volume "v": ${place}: the files of a volume must be at most ${MAX_VOLUME_BYTES} bytes in all`,
    });
  });
});

describe("tokenWishes", () => {
  it("returns tokens of the pod's service account, for the named audience", () => {
    const pod = podOf({ spec: { serviceAccountName: "runner" } });
    const projected = { sources: [{ serviceAccountToken: { audience: "vault", path: "t" } }] };
    expect(tokenWishes(pod, { name: "v", projected })).toEqual([
      {
        namespace: "demo",
        serviceAccount: "runner",
        audiences: ["vault"],
        expirationSeconds: 3600,
        pod: { name: "plain", uid: "uid-1" },
      },
    ]);
  });
});

describe("contentInputs", () => {
  const volume: Volume = { name: "v", ...defaultProjection };
  const pod = podOf({});

  it("returns the objects, tokens and texts of the files, by identity", () => {
    expect(contentInputs(pod, volume, sources())).toEqual([root, "token-1", "demo"]);
    expect(contentInputs(pod, volume, sources())[0]).toBe(root);
  });

  it("returns a downward API text once for all files with the same reference", () => {
    const ref = (path: string, fieldPath: string) => ({ path, fieldRef: { fieldPath } });
    const cpu = (path: string, divisor: string) => ({
      path,
      resourceFieldRef: { containerName: "main", resource: "limits.cpu", divisor },
    });
    const items = [
      ref("a", "metadata.name"),
      cpu("b", "1"),
      ref("c", "metadata.name"),
      cpu("d", "1m"),
      cpu("e", "1"),
      ref("f", "metadata.namespace"),
    ];
    expect(contentInputs(pod, { name: "v", downwardAPI: { items } }, sources())).toEqual([
      "plain",
      "2",
      "2000",
      "demo",
    ]);
  });

  it("returns the version of an object that has one, whichever copy it is", () => {
    const versioned = { ...root, metadata: { ...root.metadata, resourceVersion: "7" } };
    const inputs = contentInputs(pod, volume, sources({ objects: configObjectsOf([{ ...versioned }]) }));
    expect(inputs[0]).toBe("uid-kube-root-ca.crt 7");
  });

  it("reports that an object is missing, or why it is unknown", () => {
    const problems = new Map([["ConfigMap demo/kube-root-ca.crt" as const, kubeletError("Unavailable", "away")]]);
    const token = (): Result<string> => err(kubeletError("Unavailable", "no token"));
    const objects = configObjectsOf([], [], problems);
    expect(contentInputs(pod, volume, sources({ objects: configObjectsOf([]) }))).toEqual([
      undefined,
      "token-1",
      "demo",
    ]);
    expect(contentInputs(pod, volume, sources({ objects, token }))).toEqual(["away", "no token", "demo"]);
  });
});
