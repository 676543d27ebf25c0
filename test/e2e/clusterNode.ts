/** A node of a cluster, shared by the tests of a file: the daemon on a private containerd, bound to the HTTPS double. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { type HttpsApiServer, startHttpsApiServer } from "../support/apiServer/httpsApiServer.ts";
import { writeNodeKubeconfig } from "../support/apiServer/nodeKubeconfig.ts";
import type { ContainerdInstallation } from "../support/containerdInstallation.ts";
import { NODE_NAME } from "../support/daemon.ts";
import { newPod } from "../support/simApi.ts";
import { waitFor } from "../support/waitFor.ts";
import { type ContainerdNode, containerdNode, type NodeOptions } from "./containerdNode.ts";

/** A wait that takes longer, even on a busy machine, fails. */
const WAIT_MS = 90_000;

/** A node as its cluster sees it. */
export interface ClusterNode {
  readonly node: ContainerdNode;
  readonly server: HttpsApiServer;
  /** Creates pods that are bound to the node; they end within a second. */
  bind(name: string, spec: Partial<Pod["spec"]>, metadata?: Partial<Pod["metadata"]>): void;
  /** The pod as the API server has it. */
  reported(name: string): Pod | undefined;
  /** Waits for what the API server has of a pod. */
  untilTold(name: string, wanted: (pod: Pod) => boolean, what: string): Promise<Pod>;
  /** Waits until the API server has no object of that name. */
  untilGone(name: string): Promise<void>;
  /** Waits for anything else; a failure ends with the daemon's log. */
  until<T>(what: string, probe: () => T | undefined | false | Promise<T | undefined | false>): Promise<T>;
}

/** Options that a test may change. */
export interface ClusterNodeOptions extends Pick<NodeOptions, "config" | "containerd"> {
  /** Flags of the daemon. */
  readonly args?: readonly string[];
  /** How long the first client certificate is good; a day if absent. */
  readonly clientLifeMs?: number;
  /** Returns the directory of the daemon, which must be empty. Default: one on the disk of the tests. */
  readonly folder?: () => Promise<string>;
}

/** Registers the hooks; call it once in a describe. After each test all pods go, and nothing of any may stay. */
export function clusterNode(
  installation: ContainerdInstallation,
  { clientLifeMs, args: flags = [], ...options }: ClusterNodeOptions = {},
): ClusterNode {
  let server: HttpsApiServer | undefined;
  let folder = "";
  const up = (): HttpsApiServer => {
    if (server === undefined) throw new Error("used outside of a test: the hooks have not run");
    return server;
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rxlet-cluster-"));
    server = await startHttpsApiServer();
  });
  afterAll(async () => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });
  const args = async (): Promise<readonly string[]> => [
    "--kubeconfig",
    await writeNodeKubeconfig(up(), NODE_NAME, folder, clientLifeMs),
    "--cert-dir",
    join(folder, "pki"),
    ...flags,
  ];
  const node = containerdNode(installation, { ...options, args });
  // Runs before that of the node, which waits for all traces to go.
  afterEach(() => {
    for (const { metadata } of up().sim.objects("pods")) {
      const { name = "", namespace = "default" } = metadata ?? {};
      up().sim.delete("pods", { namespace, name }, { gracePeriodSeconds: 1 });
    }
  });
  const reported = (name: string) => up().sim.object("pods", { namespace: "default", name }) as Pod | undefined;
  const until: ClusterNode["until"] = (what, probe) =>
    waitFor(what, probe, WAIT_MS).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${(await node.daemon.log()).slice(-6000)}`);
    });
  return {
    node,
    get server() {
      return up();
    },
    bind: (name, spec, metadata) => {
      const bound = { nodeName: NODE_NAME, terminationGracePeriodSeconds: 1, dnsPolicy: "Default", ...spec };
      up().sim.put("pods", newPod(name, bound, metadata));
    },
    reported,
    untilTold: async (name, wanted, what) => {
      let last: Pod | undefined;
      const check = (): Pod | undefined => {
        last = reported(name);
        return last !== undefined && wanted(last) ? last : undefined;
      };
      return until(`pod ${name} to be told ${what}`, check).catch((error: unknown) => {
        throw new Error(`last told: ${JSON.stringify(last)}\n${String(error)}`);
      });
    },
    untilGone: async (name) => {
      await until(`the object ${name} to be gone`, () => reported(name) === undefined);
    },
    until,
  };
}

/** Whether a condition is there with this status. */
export const hasCondition = (
  { status }: { readonly status?: { readonly conditions?: readonly { type: string; status: string }[] } },
  type: string,
  is = "True",
): boolean => status?.conditions?.some((each) => each.type === type && each.status === is) === true;

/** Runs, and is ready. */
export const isReady = (pod: Pod): boolean => pod.status?.phase === "Running" && hasCondition(pod, "Ready");
