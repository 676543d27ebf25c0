/** A node that asks the metadata service of its cloud: its Node at the API server, with the service up and down. */
import { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import type { CloudInstance } from "../../src/core/cloud/cloudInstance.ts";
import { kubeletError } from "../../src/core/errors.ts";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { simKubeletConfig } from "../../src/sim/simKubeletConfig.ts";
import { simMachine } from "../../src/sim/host/simMachine.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { EC2_INSTANCE } from "../support/cloudInstances.ts";

const { node: defaults } = simKubeletConfig(simMachine());
const MOVED: CloudInstance = {
  ...EC2_INSTANCE,
  addresses: EC2_INSTANCE.addresses.map((each) =>
    each.type === "ExternalIP" ? { type: "ExternalIP", address: "203.0.113.9" } : each,
  ),
};

/** A node of a cluster in a cloud; `service.answer` is what its metadata service gives, undefined while it is down. */
function cloud(first: CloudInstance | undefined, settings: Partial<typeof defaults> = {}) {
  const scheduler = createHeapScheduler();
  const server = createSimApiServer({ clock: createSimClock(scheduler), latency: () => 2 });
  const service = { answer: first, isMute: false };
  const instance = () =>
    new Observable<CloudInstance>((subscriber) => {
      if (service.isMute) return;
      if (service.answer === undefined) subscriber.error(kubeletError("Unavailable", "no route"));
      else subscriber.next(service.answer);
      subscriber.complete();
    });
  const node = createSimNode({
    seed: "one",
    scheduler,
    api: server,
    cloudMetadata: { instance },
    config: { nodeName: "one", node: { ...defaults, hostname: "one", hasCloudMetadata: true, ...settings } },
  });
  const object = () => server.object("nodes", { name: "one" });
  const look = () => ({
    addresses: (object()?.status?.addresses ?? []).map(({ type, address }) => `${type} ${address}`),
    providerID: object()?.spec?.providerID,
    zone: object()?.metadata?.labels?.["topology.kubernetes.io/zone"],
    isReady: object()?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"),
  });
  return { server, node, service, look };
}

const shown = ({ addresses }: CloudInstance) => addresses.map(({ type, address }) => `${type} ${address}`);
const COMPLETE = {
  addresses: shown(EC2_INSTANCE),
  providerID: EC2_INSTANCE.providerId,
  zone: "eu-example-1a",
  isReady: true,
};

describe("a node in a cloud", () => {
  it("registers with addresses, provider id and labels of its instance", () => {
    const { node, look } = cloud(EC2_INSTANCE);
    node.runFor(5_000);
    expect([look(), node.violations]).toEqual([COMPLETE, []]);
  });

  it.each([
    ["refuses connections", false],
    ["never answers", true],
  ])("is Ready while its metadata service %s, and complete once it answers", (_, isMute) => {
    const { node, service, look } = cloud(undefined);
    service.isMute = isMute;
    node.runFor(20_000);
    const before = look();
    Object.assign(service, { answer: EC2_INSTANCE, isMute: false });
    node.runFor(60_000);
    expect([before, look(), node.violations]).toEqual([
      { addresses: ["Hostname one"], providerID: undefined, zone: undefined, isReady: true },
      COMPLETE,
      [],
    ]);
  });

  it("follows a change in the cloud, and keeps it over an outage and a restart of the kubelet", () => {
    const { node, service, look } = cloud(EC2_INSTANCE);
    node.runFor(5_000);
    service.answer = MOVED;
    node.runFor(70_000);
    const moved = look().addresses;
    service.answer = undefined;
    node.runFor(300_000);
    const during = look().addresses;
    node.crashKubelet();
    node.restartKubelet();
    node.runFor(30_000);
    expect([moved, during, look()]).toEqual([shown(MOVED), shown(MOVED), { ...COMPLETE, addresses: shown(MOVED) }]);
  });

  it("leaves a provider id of somebody else, and says so", () => {
    const { node, server, look } = cloud(EC2_INSTANCE, { register: false });
    server.put("nodes", { metadata: { name: "one" }, spec: { providerID: "other://1" } });
    node.runFor(10_000);
    expect(look().providerID).toBe("other://1");
    expect(node.telemetry.lines.filter(({ message }) => message.includes("provider id")).length).toBe(1);
  });

  it("gives a controller the provider id alone, and leaves it the addresses", () => {
    const { node, look } = cloud(EC2_INSTANCE, { hasExternalCloud: true });
    node.runFor(5_000);
    expect(look()).toEqual({
      addresses: ["Hostname one"],
      providerID: EC2_INSTANCE.providerId,
      zone: undefined,
      isReady: true,
    });
  });
});
