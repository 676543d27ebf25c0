import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { loadCredentialProviders } from "../../../src/cli/loadCredentialProviders.ts";
import { memoryReaders } from "./memoryReaders.ts";

const HEAD = "apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\nproviders:\n";
const plugin = (name: string): string => `- name: ${name}
  matchImages: ["${name}.example"]
  defaultCacheDuration: 10m
  apiVersion: credentialprovider.kubelet.k8s.io/v1
`;
const FILE = "/etc/kubernetes/credentials.yaml";
const BIN = "/opt/plugins";

const load = async (files: Readonly<Record<string, string>>, config = FILE, directory = BIN) => {
  const flags = { imageCredentialProviderConfig: config, imageCredentialProviderBinDir: directory };
  const loaded = await loadCredentialProviders(flags, memoryReaders(files), true);
  return loaded.ok ? (loaded.plugins?.providers.map(({ name }) => name) ?? "none") : loaded.errors;
};

describe("loadCredentialProviders", () => {
  it("reads a file, or those of a directory that are meant, in order", async () => {
    const programs = { [`${BIN}/a`]: "#!", [`${BIN}/b`]: "#!" };
    expect(await load({ [FILE]: HEAD + plugin("a"), ...programs })).toEqual(["a"]);
    const files = {
      "/etc/plugins/1.yaml": HEAD + plugin("b"),
      "/etc/plugins/2.json": JSON.stringify({
        apiVersion: "kubelet.config.k8s.io/v1beta1",
        kind: "CredentialProviderConfig",
        providers: [
          {
            name: "a",
            matchImages: ["a.example"],
            defaultCacheDuration: "1s",
            apiVersion: "credentialprovider.kubelet.k8s.io/v1",
          },
        ],
      }),
      "/etc/plugins/README": "nothing",
      "/etc/plugins/old/3.yaml": "nothing",
    };
    expect(await load({ ...files, ...programs }, "/etc/plugins")).toEqual(["b", "a"]);
  });

  it("has none where no flag asks for any", async () => expect(await load({}, "", "")).toBe("none"));

  it("tells the hash of what it read, each file with its length in front", async () => {
    const text = HEAD + plugin("a");
    const flags = { imageCredentialProviderConfig: FILE, imageCredentialProviderBinDir: BIN };
    const loaded = await loadCredentialProviders(flags, memoryReaders({ [FILE]: text, [`${BIN}/a`]: "#!" }), true);
    const length = Buffer.from([0, 0, 0, 0, 0, 0, 0, text.length]);
    const expected = createHash("sha256").update(length).update(text).digest("hex");
    expect(loaded.ok && loaded.plugins?.hash).toBe(`sha256:${expected}`);
  });

  it.each([
    [{}, FILE, "", ["--image-credential-provider-config: needs --image-credential-provider-bin-dir"]],
    [{}, "", BIN, ["--image-credential-provider-bin-dir: needs --image-credential-provider-config"]],
    [{}, FILE, BIN, [`--image-credential-provider-config: ${FILE}: cannot be read: no such file or directory`]],
    [
      { "/etc/plugins/README": "" },
      "/etc/plugins",
      BIN,
      ["--image-credential-provider-config: /etc/plugins: has no file that ends in .json, .yaml, .yml"],
    ],
    [{ [FILE]: "a: [" }, FILE, BIN, [expect.stringContaining(`${FILE}:1: not valid YAML`)]],
    [
      { [FILE]: HEAD + plugin("a").replace("10m", "soon") },
      FILE,
      BIN,
      [`${FILE}:6: providers[0].defaultCacheDuration: must be a duration such as "10m", got "soon"`],
    ],
    [{ [FILE]: HEAD + plugin("a") + plugin("a") }, FILE, BIN, [`${FILE}: providers[1].name: "a" is a duplicate`]],
    [{ [FILE]: HEAD + plugin("a") }, FILE, BIN, [`--image-credential-provider-bin-dir: ${BIN} is not a directory`]],
    [
      { [FILE]: HEAD + plugin("a") + plugin("b"), [`${BIN}/b`]: "data" },
      FILE,
      BIN,
      [
        `--image-credential-provider-bin-dir: plugin binary executable ${BIN}/a did not exist`,
        `--image-credential-provider-bin-dir: ${BIN}/b is not an executable file`,
      ],
    ],
  ])("%#: says what is wrong", async (files, config, directory, errors) => {
    expect(await load(files as Readonly<Record<string, string>>, config, directory)).toEqual(errors);
  });
});
