/** `@kubernetes/client-node`, the client that users of the API have, against the simulated API server behind HTTPS. */
import {
  ApiException,
  CoreV1Api,
  KubeConfig,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1Pod,
  type V1Status,
  Watch,
} from "@kubernetes/client-node";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ADMIN } from "../../src/sim/apiServer/identity.ts";
import { type HttpsApiServer, startHttpsApiServer } from "../support/apiServer/httpsApiServer.ts";
import { waitFor } from "../support/waitFor.ts";

const NAMESPACE = "default";
const nameOf = ({ metadata }: V1Pod): string => metadata?.name ?? "";
const podOf = (name: string, labels: Record<string, string> = {}): V1Pod => ({
  metadata: { name, labels },
  spec: { containers: [{ name: "main", image: "registry.example/app:1" }] },
});
const MERGE = setHeaderOptions("Content-Type", PatchStrategy.StrategicMergePatch);

describe("the JavaScript client against the simulated API server", () => {
  let server: HttpsApiServer;
  const config = new KubeConfig();
  let core: CoreV1Api;
  const named = (name: string) => ({ name, namespace: NAMESPACE });
  const create = (name: string, labels?: Record<string, string>): Promise<V1Pod> =>
    core.createNamespacedPod({ namespace: NAMESPACE, body: podOf(name, labels) });
  /** The code of a refusal. */
  const codeOf = async (request: Promise<unknown>): Promise<number | undefined> =>
    request.then(
      () => undefined,
      (thrown: unknown) => (thrown as ApiException<V1Status>).code,
    );

  beforeAll(async () => {
    server = await startHttpsApiServer();
    server.tokens.set("admins-token", ADMIN);
    const cluster = { server: server.url, "certificate-authority-data": btoa(server.authority.certificate) };
    config.loadFromString(
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        "current-context": "here",
        contexts: [{ name: "here", context: { cluster: "test", user: "admin" } }],
        clusters: [{ name: "test", cluster }],
        users: [{ name: "admin", user: { token: "admins-token" } }],
      }),
    );
    core = config.makeApiClient(CoreV1Api);
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    const { items } = await core.listNamespacedPod({ namespace: NAMESPACE });
    for (const { metadata } of items) {
      await core.deleteNamespacedPod({ ...named(metadata?.name ?? ""), gracePeriodSeconds: 0 });
    }
  });

  it("creates, reads, lists, patches and deletes pods", async () => {
    const created = await create("a", { app: "web" });
    await create("b");
    const read = await core.readNamespacedPod(named("a"));
    const selected = await core.listPodForAllNamespaces({ labelSelector: "app=web" });
    const body = { metadata: { labels: { app: "api" } } };
    const patched = await core.patchNamespacedPod({ ...named("a"), body }, MERGE);
    await core.deleteNamespacedPod({ ...named("b"), gracePeriodSeconds: 0 });
    const left = await core.listNamespacedPod({ namespace: NAMESPACE });
    expect([
      read.metadata?.uid === created.metadata?.uid,
      selected.items.map(nameOf),
      patched.metadata?.labels,
      left.items.map(nameOf),
    ]).toEqual([true, ["a"], { app: "api" }, ["a"]]);
  });

  it("has refusals as exceptions with the server's Status", async () => {
    await create("a");
    const thrown: unknown = await create("a").catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(ApiException);
    const { code, body } = thrown as ApiException<string>;
    expect([code, (JSON.parse(body) as V1Status).reason]).toEqual([409, "AlreadyExists"]);
    expect(await codeOf(core.readNamespacedPod(named("none")))).toBe(404);
    expect(await codeOf(core.createNamespacedPod({ namespace: NAMESPACE, body: { metadata: { name: "A" } } }))).toBe(
      422,
    );
  });

  it("is refused without credentials", async () => {
    const anonymous = new KubeConfig();
    const cluster = config.getCurrentCluster();
    if (cluster === null) throw new Error("no cluster");
    anonymous.loadFromClusterAndUser(cluster, { name: "nobody" });
    expect(await codeOf(anonymous.makeApiClient(CoreV1Api).listPodForAllNamespaces())).toBe(401);
  });

  it("watches pods", async () => {
    const seen: string[] = [];
    const abort = await new Watch(config).watch(
      `/api/v1/namespaces/${NAMESPACE}/pods`,
      {},
      (phase, pod: V1Pod) => seen.push(`${phase} ${nameOf(pod)}`),
      () => {},
    );
    await create("a");
    await core.patchNamespacedPod({ ...named("a"), body: { metadata: { labels: { x: "y" } } } }, MERGE);
    await core.deleteNamespacedPod({ ...named("a"), gracePeriodSeconds: 0 });
    await waitFor("the deletion", () => seen.includes("DELETED a"));
    abort.abort();
    // A deletion without grace is a modification first, as on a real server.
    expect(seen).toEqual(["ADDED a", "MODIFIED a", "MODIFIED a", "DELETED a"]);
  });

  it("keeps an informer current after the server has ended its watch", async () => {
    const list = () => core.listNamespacedPod({ namespace: NAMESPACE });
    const informer = makeInformer(config, `/api/v1/namespaces/${NAMESPACE}/pods`, list);
    const known = new Set<string>();
    informer.on("add", (pod) => known.add(nameOf(pod)));
    informer.on("delete", (pod) => known.delete(nameOf(pod)));
    informer.on("error", () => void setTimeout(() => void informer.start(), 50));
    await create("early");
    await informer.start();
    await waitFor("the first pod", () => known.has("early"));
    server.network.cut();
    await create("late");
    await core.deleteNamespacedPod({ ...named("early"), gracePeriodSeconds: 0 });
    await waitFor("the changes", () => known.has("late") && !known.has("early"));
    await informer.stop();
    expect([...known]).toEqual(["late"]);
  });

  it("evicts a pod and deletes it with a grace period", async () => {
    await create("evicted");
    await create("leaving");
    for (const name of ["evicted", "leaving"]) server.sim.schedule(named(name), "n1");
    await core.createNamespacedPodEviction({ ...named("evicted"), body: { metadata: { name: "evicted" } } });
    await core.deleteNamespacedPod({ ...named("leaving"), gracePeriodSeconds: 7 });
    const { items } = await core.listNamespacedPod({ namespace: NAMESPACE });
    expect(items.map(({ metadata }) => [metadata?.name, metadata?.deletionGracePeriodSeconds])).toEqual([
      ["evicted", 30],
      ["leaving", 7],
    ]);
  });
});
