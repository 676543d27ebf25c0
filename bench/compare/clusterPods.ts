/** Pods of one node in a real cluster, as an administrator makes, watches and deletes them. */
import { CoreV1Api, type V1Container, type V1Pod, type V1PodSpec } from "@kubernetes/client-node";
import { PAUSE_IMAGE } from "../../test/support/images.ts";
import { waitFor } from "../../test/support/waitFor.ts";
import { wallMs } from "../figures.ts";
import { loadCluster, NAMESPACE, unlessThere } from "./cluster.ts";
import { followObjects } from "./followObjects.ts";

const WAIT_MS = 300_000;

/** A pod to make: by default one container that waits for a signal and leaves at once when it comes. */
export interface NewPod {
  readonly name: string;
  readonly hasToken: boolean;
  /** Fields of the container `main` other than the default ones. */
  readonly container?: Partial<V1Container>;
  readonly volumes?: V1PodSpec["volumes"];
}

/** The pods of one node. Times are wall times in milliseconds. */
export interface ClusterPods {
  /** Creates pods on the node; ends when all of them were Ready. Returns the time of each until then. */
  start(pods: readonly NewPod[]): Promise<readonly number[]>;
  /** Ends when a pod that somebody else made is Ready; returns the wall time. */
  ready(name: string): Promise<number>;
  /** Deletes pods; ends when all are gone. Returns the time of each until then. */
  remove(names: readonly string[]): Promise<readonly number[]>;
  /** Ends when a pod that somebody else removes is gone. */
  gone(name: string): Promise<number>;
  /** A pod as the API server has it, with its defaults. */
  pod(name: string): Promise<V1Pod>;
  /** Creates a ConfigMap with this text in its key `text`, or replaces it. */
  writeConfigMap(name: string, text: string): Promise<void>;
  /** Ends when the Node is Ready. */
  nodeReady(): Promise<void>;
  /** Removes the Node and ends the watch. */
  close(): Promise<void>;
}

/** Makes what pods need in a cluster without controllers: a namespace, its ServiceAccount, and the root certificate. */
async function makeNamespace(api: CoreV1Api, authority: string): Promise<void> {
  const metadata = (name: string) => ({ metadata: { name } });
  await api.createNamespace({ body: metadata(NAMESPACE) }).catch(unlessThere);
  const namespace = NAMESPACE;
  await api.createNamespacedServiceAccount({ namespace, body: metadata("default") }).catch(unlessThere);
  const root = { ...metadata("kube-root-ca.crt"), data: { "ca.crt": authority } };
  await api.createNamespacedConfigMap({ namespace, body: root }).catch(unlessThere);
}

const isReady = ({ status }: V1Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;

/** Follows the pods of the node `nodeName`; `kubeconfig` is an administrator's. */
export async function followClusterPods(kubeconfig: string, nodeName: string): Promise<ClusterPods> {
  const config = loadCluster(kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  const cluster = config.getCurrentCluster();
  await makeNamespace(api, Buffer.from(cluster?.caData ?? "", "base64").toString());
  /** Pods of a run that failed have no kubelet any more. */
  const removeLeftovers = (): Promise<unknown> =>
    api.deleteCollectionNamespacedPod({ namespace: NAMESPACE, gracePeriodSeconds: 0 });
  await removeLeftovers();
  const readyAt = new Map<string, number>();
  const goneAt = new Map<string, number>();
  const selector = { fieldSelector: `spec.nodeName=${nodeName}` };
  const unfollow = await followObjects<V1Pod>(config, {
    path: "/api/v1/pods",
    query: selector,
    list: () => api.listPodForAllNamespaces(selector),
    seen: (pod) => {
      const name = pod.metadata?.name ?? "";
      if (isReady(pod) && !readyAt.has(name)) readyAt.set(name, wallMs());
    },
    gone: (name) => void goneAt.set(name, wallMs()),
  });
  const timeOf = (times: ReadonlyMap<string, number>, name: string, what: string): Promise<number> =>
    waitFor(`pod ${name} to be ${what}`, () => times.get(name), WAIT_MS);
  const bodyOf = ({ name, hasToken, container, volumes }: NewPod): V1Pod => ({
    metadata: { name },
    spec: {
      nodeName,
      automountServiceAccountToken: hasToken,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: "main", image: PAUSE_IMAGE, ...container }],
      ...(volumes !== undefined && { volumes }),
    },
  });
  /** Acts on all at once; returns the time from the request for each until it is in `times`. */
  const timed = async (
    names: readonly string[],
    act: (name: string) => Promise<unknown>,
    times: ReadonlyMap<string, number>,
    what: string,
  ): Promise<readonly number[]> => {
    const begun = await Promise.all(
      names.map(async (name) => {
        const at = wallMs();
        await act(name);
        return at;
      }),
    );
    const ended = await Promise.all(names.map((name) => timeOf(times, name, what)));
    return ended.map((at, index) => at - (begun[index] ?? Number.NaN));
  };
  return {
    start: (pods) => {
      const bodies = new Map(pods.map((pod) => [pod.name, bodyOf(pod)]));
      const create = (name: string) => api.createNamespacedPod({ namespace: NAMESPACE, body: bodies.get(name) ?? {} });
      return timed([...bodies.keys()], create, readyAt, "Ready");
    },
    ready: (name) => timeOf(readyAt, name, "Ready"),
    remove: (names) => timed(names, (name) => api.deleteNamespacedPod({ namespace: NAMESPACE, name }), goneAt, "gone"),
    gone: (name) => timeOf(goneAt, name, "gone"),
    pod: (name) => api.readNamespacedPod({ namespace: NAMESPACE, name }),
    writeConfigMap: async (name, text) => {
      const body = { metadata: { name }, data: { text } };
      await api.createNamespacedConfigMap({ namespace: NAMESPACE, body }).catch(async (thrown: { code?: number }) => {
        unlessThere(thrown);
        await api.replaceNamespacedConfigMap({ namespace: NAMESPACE, name, body });
      });
    },
    nodeReady: async () => {
      await waitFor(
        `node ${nodeName} to be Ready`,
        async () => {
          const node = await api.readNode({ name: nodeName }).catch(() => undefined);
          return node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
        },
        WAIT_MS,
      );
    },
    close: async () => {
      unfollow();
      await removeLeftovers();
      await api.deleteNode({ name: nodeName }).catch(() => undefined);
    },
  };
}
