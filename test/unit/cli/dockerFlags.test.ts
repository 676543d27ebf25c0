import { describe, expect, it } from "vitest";
import { cniBinDirs, DOCKER_FLAGS, dockerFaults, type DockerOptions } from "../../../src/cli/dockerFlags.ts";
import { KUBELET_FLAGS } from "../../../src/cli/flags.ts";
import { loadKubeletOptions } from "../../../src/cli/loadKubeletOptions.ts";
import { ownFlagValues, parseFlags } from "../../../src/cli/parseKubeletFlags.ts";
import { memoryReaders } from "./memoryReaders.ts";

const DEFAULTS = ownFlagValues([], DOCKER_FLAGS) as unknown as DockerOptions;

const load = (words: readonly string[], files: Readonly<Record<string, string>> = {}) =>
  loadKubeletOptions(parseFlags(words, KUBELET_FLAGS), memoryReaders(files));

describe("--container-runtime", () => {
  const CHOICE =
    "--container-runtime: must be remote (containerd, CRI-O or any other CRI server at --container-runtime-endpoint) " +
    "or docker (at --docker-endpoint), got";

  it.each([
    ["remote", "remote"],
    ["docker", "docker"],
  ])("may be %s", async (value, expected) => {
    expect(await load([`--container-runtime=${value}`])).toMatchObject({
      ok: true,
      options: { flags: { containerRuntime: expected } },
    });
  });

  it("is a CRI endpoint by default", async () => {
    expect(await load([])).toMatchObject({ options: { flags: { containerRuntime: "remote" } } });
  });

  it("is not rkt any more, whose end is named", async () => {
    expect(await load(["--container-runtime=rkt"])).toEqual({
      ok: false,
      errors: [
        `${CHOICE} "rkt"; rkt was archived in 2020, and rktlet, its CRI server, before it: no kubelet can run pods with it ` +
          "any more. Install containerd, CRI-O or Docker",
      ],
    });
  });

  it.each(["cri-o", "", "Docker"])("is not %j", async (value) => {
    expect(await load([`--container-runtime=${value}`])).toEqual({
      ok: false,
      errors: [`${CHOICE} ${JSON.stringify(value)}`],
    });
  });

  it("docker ignores the endpoints of CRI servers, which kubeadm writes into every file", async () => {
    const text =
      "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncontainerRuntimeEndpoint: unix:///c\n";
    const loaded = await load(
      ["--container-runtime=docker", "--image-service-endpoint=unix:///i", "--config=/c.yaml"],
      {
        "/c.yaml": text,
      },
    );
    expect(loaded).toMatchObject({
      ok: true,
      options: {
        warnings: expect.arrayContaining([
          "ignored with --container-runtime=docker: containerRuntimeEndpoint, imageServiceEndpoint",
        ]) as readonly string[],
      },
    });
  });

  it("remote ignores the flags of Docker", async () => {
    expect(await load(["--docker-endpoint=tcp://x", "--cni-bin-dir=/b"])).toMatchObject({
      ok: true,
      options: { warnings: ["ignored without --container-runtime=docker: --docker-endpoint, --cni-bin-dir"] },
    });
  });
});

describe("flags of Docker", () => {
  it("have the defaults of upstream's dockershim", () => {
    expect(DEFAULTS).toEqual({
      dockerEndpoint: "unix:///var/run/docker.sock",
      networkPlugin: "",
      cniConfDir: "/etc/cni/net.d",
      cniBinDir: "/opt/cni/bin,/usr/lib/cni",
      cniCacheDir: "/var/lib/cni/cache",
      podInfraContainerImage: "registry.k8s.io/pause:3.10",
    });
    expect(dockerFaults(DEFAULTS)).toEqual([]);
    expect(cniBinDirs({ cniBinDir: " /a ,,/b" })).toEqual(["/a", "/b"]);
  });

  it.each<[object, string]>([
    [
      { dockerEndpoint: "tcp://1.2.3.4:2375" },
      '--docker-endpoint: must be unix:// and an absolute path, got "tcp://1.2.3.4:2375"',
    ],
    [
      { dockerEndpoint: "unix://docker.sock" },
      '--docker-endpoint: must be unix:// and an absolute path, got "unix://docker.sock"',
    ],
    [{ networkPlugin: "calico" }, '--network-plugin: must be cni, bridge or empty, got "calico"'],
    [
      { networkPlugin: "kubenet" },
      '--network-plugin: must be cni, bridge or empty, got "kubenet"; kubenet left Kubernetes with the dockershim in 1.24',
    ],
    [{ cniConfDir: "net.d" }, '--cni-conf-dir: must be an absolute path, got "net.d"'],
    [{ cniCacheDir: "" }, '--cni-cache-dir: must be an absolute path, got ""'],
    [{ cniBinDir: "/a,b" }, '--cni-bin-dir: must be an absolute path, got "b"'],
    [{ cniBinDir: " ," }, "--cni-bin-dir: must name a directory"],
    [{ podInfraContainerImage: " " }, "--pod-infra-container-image: must name an image"],
  ])("%j is refused", async (wrong, fault) => {
    expect(dockerFaults({ ...DEFAULTS, ...wrong })).toEqual([fault]);
  });
});
