/** Settings of the Node from the machine, flags and configuration file. */
import { describe, expect, it } from "vitest";
import { KUBELET_FLAGS } from "../../../src/cli/flags.ts";
import { loadKubeletOptions } from "../../../src/cli/loadKubeletOptions.ts";
import { parseFlags } from "../../../src/cli/parseKubeletFlags.ts";
import { kubeletConfigOf } from "../../../src/commands/kubeletConfigOf.ts";
import { simMachine } from "../../../src/sim/host/simMachine.ts";
import { HEADER, memoryReaders } from "../cli/memoryReaders.ts";

async function configOf(argv: readonly string[], file = "") {
  const readers = memoryReaders({ "/k.yaml": HEADER + file });
  const loaded = await loadKubeletOptions(parseFlags([...argv, "--config=/k.yaml"], KUBELET_FLAGS), readers);
  if (!loaded.ok) throw new Error(loaded.errors.join("\n"));
  return kubeletConfigOf(loaded.options, { ...simMachine(), hostname: "Host.Example" }, "1.2.3");
}
const node = async (argv: readonly string[], file?: string) => (await configOf(argv, file)).node;

describe("the settings of a node", () => {
  it("are upstream's where nobody says anything", async () => {
    expect(await node([])).toMatchObject({
      register: true,
      labels: {},
      taints: [],
      providerId: "",
      hasExternalCloud: false,
      hostname: "host.example",
      ips: [],
      attachDetachByController: true,
      hasEphemeralStorage: true,
      kubeletVersion: "v1.2.3",
      port: 10250,
      maxImages: 50,
      statusUpdatePeriodMs: 10_000,
      statusReportPeriodMs: 300_000,
      leaseDurationSeconds: 40,
    });
  });

  it("are those of the flags: a name in small letters, addresses without spaces, labels, a cloud", async () => {
    const flags = ["--hostname-override= Node.Example ", "--node-ip=192.0.2.1, 2001:db8::1", "--node-labels=a=b,c="];
    expect(await node([...flags, "--cloud-provider=external"])).toMatchObject({
      hostname: "node.example",
      ips: ["192.0.2.1", "2001:db8::1"],
      labels: { a: "b", c: "" },
      hasExternalCloud: true,
    });
  });

  it("are those of the file", async () => {
    const file = [
      "registerNode: false",
      "registerWithTaints: [{ key: k, value: v, effect: NoSchedule }, { key: bare, effect: NoExecute }]",
      "providerID: cloud://1",
      "enableControllerAttachDetach: false",
      "localStorageCapacityIsolation: false",
      "nodeStatusMaxImages: -1",
      "nodeStatusUpdateFrequency: 5s",
      "nodeLeaseDurationSeconds: 20",
    ].join("\n");
    expect(await node([], `${file}\n`)).toMatchObject({
      register: false,
      taints: [
        { key: "k", value: "v", effect: "NoSchedule" },
        { key: "bare", effect: "NoExecute" },
      ],
      providerId: "cloud://1",
      attachDetachByController: false,
      hasEphemeralStorage: false,
      maxImages: -1,
      statusUpdatePeriodMs: 5_000,
      // Upstream's rule: an unchanged status is reported as often as one is computed, where only that is set.
      statusReportPeriodMs: 5_000,
      leaseDurationSeconds: 20,
    });
  });

  it("declare the features whose gates are on, and none where declaring is off", async () => {
    const gates = [
      "ExtendWebSocketsToKubelet",
      "InPlacePodLevelResourcesVerticalScaling",
      "InPlacePodVerticalScalingInitContainers",
      "RestartAllContainersOnContainerExits",
    ];
    const none = [...gates, "NodeDeclaredFeatures"].map((gate) => `${gate}: false`).join(", ");
    const [on, one, off] = await Promise.all([
      node([]),
      node([], `featureGates: { ${gates[0]}: false }\n`),
      node([], `featureGates: { ${none} }\n`),
    ]);
    expect([on, one, off].map(({ declaredFeatures }) => declaredFeatures)).toEqual([gates, gates.slice(1), undefined]);
  });

  it("pass on to pods what the gates of their fields say", async () => {
    const of = async (gates: string) => {
      const config = await configOf([], `featureGates: { ${gates} }\n`);
      const { stopSignals, envFiles } = config.podFieldGates;
      return [stopSignals, envFiles, config.allowsPodLevelResources, config.reportsReadyToStart];
    };
    const off = "EnvFiles: false, PodReadyToStartContainersCondition: false, ContainerStopSignals: true";
    const noPodLevel = "PodLevelResources: false, InPlacePodLevelResourcesVerticalScaling: false";
    expect([await of(""), await of(`${off}, ${noPodLevel}`)]).toEqual([
      [false, true, true, true],
      [true, false, false, false],
    ]);
  });

  it("leave pods as they are where what they need is declared: admission refuses them for what is not", async () => {
    const rules = async (gates: string) =>
      (await configOf([], `featureGates: { ${gates} }\n`)).podFieldGates.restartAllContainers;
    const without = "RestartAllContainersOnContainerExits: false";
    const silent = ["ExtendWebSocketsToKubelet", "InPlacePodLevelResourcesVerticalScaling", "NodeDeclaredFeatures"]
      .concat("InPlacePodVerticalScalingInitContainers")
      .map((gate) => `${gate}: false`);
    expect([await rules(without), await rules([without, ...silent].join(", "))]).toEqual([true, false]);
  });
});
