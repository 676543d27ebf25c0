/** Files that kubeadm writes on a node, unchanged: configuration, flags of kubeadm-flags.env, kubeconfigs. */
import { describe, expect, it } from "vitest";
import { KUBELET_FLAGS } from "../../../src/cli/flags.ts";
import { loadKubeletOptions } from "../../../src/cli/loadKubeletOptions.ts";
import { parseFlags } from "../../../src/cli/parseKubeletFlags.ts";
import { createTestAuthority } from "../../support/apiServer/certificates.ts";
import { memoryReaders } from "./memoryReaders.ts";

/** Since 1.36 kubeadm writes it into the configuration: instance-config.yaml, merged into config.yaml. */
const SOCKET = "unix:///var/run/containerd/containerd.sock";
/** /var/lib/kubelet/config.yaml of a cluster with the defaults, on a machine with systemd-resolved. */
const CONFIG = `apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  anonymous:
    enabled: false
  webhook:
    cacheTTL: 0s
    enabled: true
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
authorization:
  mode: Webhook
  webhook:
    cacheAuthorizedTTL: 0s
    cacheUnauthorizedTTL: 0s
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
containerRuntimeEndpoint: ${SOCKET}
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
kind: KubeletConfiguration
logging:
  flushFrequency: 0
  options:
    json:
      infoBufferSize: "0"
    text:
      infoBufferSize: "0"
  verbosity: 0
memorySwap: {}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
resolvConf: /run/systemd/resolve/resolv.conf
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
`;
/** The kubelet's systemd drop-in of kubeadm, without the words of kubeadm-flags.env. */
const FLAGS = [
  "--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf",
  "--kubeconfig=/etc/kubernetes/kubelet.conf",
  "--config=/var/lib/kubelet/config.yaml",
];

const kubeconfig = (authority: string, user: string): string => `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${btoa(authority)}
    server: https://10.0.0.1:6443
  name: kubernetes
contexts:
- context:
    cluster: kubernetes
    user: tls-bootstrap-token-user
  name: tls-bootstrap-token-user@kubernetes
current-context: tls-bootstrap-token-user@kubernetes
kind: Config
preferences: {}
users:
- name: tls-bootstrap-token-user
  user:
    ${user}
`;

describe("the files of kubeadm", () => {
  const load = async (words: readonly string[], joined: boolean) => {
    const { certificate, client } = await createTestAuthority();
    const node = await client({ commonName: "system:node:worker-1", organization: "system:nodes" });
    const pem = "/var/lib/kubelet/pki/kubelet-client-current.pem";
    const files = joined
      ? {
          "/etc/kubernetes/kubelet.conf": kubeconfig(certificate, `client-certificate: ${pem}\n    client-key: ${pem}`),
          [pem]: `${node.certificate}\n${node.key}`,
        }
      : { "/etc/kubernetes/bootstrap-kubelet.conf": kubeconfig(certificate, "token: abcdef.0123456789abcdef") };
    const readers = memoryReaders({ "/var/lib/kubelet/config.yaml": CONFIG, ...files });
    const loaded = await loadKubeletOptions(parseFlags([...FLAGS, ...words], KUBELET_FLAGS), readers);
    if (!loaded.ok) throw new Error(loaded.errors.join("\n"));
    return loaded.options;
  };

  it("are accepted on a control-plane node that has joined, with zeros as the defaults they stand for", async () => {
    const words = [
      "--hostname-override=worker-1",
      "--register-with-taints=node-role.kubernetes.io/control-plane:NoSchedule",
      "--node-ip=10.0.0.5",
      "--node-labels=a=b",
    ];
    const { config, client, bootstrap } = await load(words, true);
    expect([
      config.containerRuntimeEndpoint,
      config.clusterDNS,
      config.syncFrequency,
      config.evictionPressureTransitionPeriod,
      config.rotateCertificates,
    ]).toEqual([SOCKET, ["10.96.0.10"], 60_000, 300_000, true]);
    expect([client?.endpoint.server, client?.identity !== undefined, bootstrap]).toEqual([
      "https://10.0.0.1:6443",
      true,
      undefined,
    ]);
  });

  it("are accepted on a node that joins, which asks for its certificate with the bootstrap token", async () => {
    const { client, bootstrap, warnings } = await load(["--hostname-override=worker-1"], false);
    expect([client?.identity, bootstrap?.proof]).toEqual([
      undefined,
      { kind: "token", token: "abcdef.0123456789abcdef" },
    ]);
    expect(warnings).toContainEqual(expect.stringContaining("requested with the bootstrap kubeconfig"));
  });

  it("may have flags of an earlier version, which are ignored with a warning", async () => {
    const old = ["--network-plugin=cni", "--container-runtime=remote", "--pod-infra-container-image", "pause:3.10"];
    const socket = "unix:///run/other.sock";
    const { config, warnings } = await load([`--container-runtime-endpoint=${socket}`, ...old], true);
    expect(config.containerRuntimeEndpoint).toBe(socket);
    expect(warnings).toContain(
      "ignored without --container-runtime=docker: --network-plugin, --pod-infra-container-image",
    );
  });
});
