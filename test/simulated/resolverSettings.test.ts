/** The node's resolver file: read for each pod, so pods made later follow it; unreadable, it keeps pods from starting. */
import { expect, it } from "vitest";
import { MAX_RESOLV_CONF_BYTES } from "../../src/pipelines/resolverSettings.ts";
import { podNode } from "../support/podNode.ts";
import { podOf } from "../support/pods.ts";

const FILE = "/etc/resolv.conf";
const pod = (name: string) => podOf({ name, uid: `uid-${name}`, spec: { dnsPolicy: "Default" } });

/** A node, and the name servers of its sandboxes by pod. */
function world(config: { readonly resolvConfPath?: string } = {}) {
  const place = podNode({ config });
  const servers = () =>
    Object.fromEntries(
      place.node.runtime.sandboxes().map(({ config: made }) => [made.metadata?.name, made.dnsConfig?.servers]),
    );
  return { ...place, servers };
}

it("gives each pod the settings of the time it is made", () => {
  const { node, servers, check } = world();
  node.putPod(pod("early"));
  node.runFor(5_000);
  node.files.put(FILE, "nameserver 192.0.2.77\nsearch new.example\n");
  node.putPod(pod("late"));
  node.runFor(5_000);
  expect(servers()).toEqual({ early: ["192.0.2.53"], late: ["192.0.2.77"] });
  check();
});

it("makes no sandbox while the file cannot be read, says why, and makes it once the file is back", () => {
  const { node, servers, events, check } = world();
  node.files.drop(FILE);
  node.putPod(pod("web"));
  node.runFor(5_000);
  expect([servers(), events.map(({ what }) => what)]).toEqual([{}, ["FailedCreatePodSandBox web"]]);
  const view = node.kubelet?.queries.timeline("demo", "web");
  expect(JSON.stringify(view)).toContain("cannot read the resolver settings of the node (resolvConf): ");
  node.files.put(FILE, "nameserver 192.0.2.53\n");
  node.runFor(60_000);
  expect(servers()).toEqual({ web: ["192.0.2.53"] });
  check();
});

it("reads no more than a MiB of it", () => {
  const { node, servers, check } = world();
  const line = "nameserver 192.0.2.53\n";
  node.files.put(FILE, line.padEnd(MAX_RESOLV_CONF_BYTES, "#"));
  node.putPod(pod("fits"));
  node.runFor(5_000);
  node.files.put(FILE, line.padEnd(MAX_RESOLV_CONF_BYTES + 1, "#"));
  node.putPod(pod("exceeds"));
  node.runFor(5_000);
  expect(Object.keys(servers())).toEqual(["fits"]);
  const view = node.kubelet?.queries.timeline("demo", "exceeds");
  expect(JSON.stringify(view)).toContain(`resolver settings ${FILE}: more than ${MAX_RESOLV_CONF_BYTES} bytes`);
  check();
});

it("reads none where pods get none of the node's settings", () => {
  const { node, servers, check } = world({ resolvConfPath: "" });
  node.files.drop(FILE);
  node.putPod(pod("web"));
  node.runFor(5_000);
  expect(servers()).toEqual({ web: ["127.0.0.1"] });
  check();
});
