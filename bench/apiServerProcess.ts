/**
 * The double of the API server, in a process of its own: neither what it does nor its collections of garbage keep the
 * clock of the measuring process. Messages control it; `apiServer.ts` is its other side.
 */
import type { Pod, PodStatus } from "../src/core/api.ts";
import { startHttpsApiServer } from "../test/support/apiServer/httpsApiServer.ts";
import { writeNodeKubeconfig } from "../test/support/apiServer/nodeKubeconfig.ts";
import { NODE_NAME } from "../test/support/daemon.ts";
import { newPod } from "../test/support/simApi.ts";
import { waitFor } from "../test/support/waitFor.ts";
import { wallMs } from "./figures.ts";

const START_MS = 300_000;

const isReady = (status: PodStatus | undefined): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;

const api = await startHttpsApiServer();
const { sim, requests } = api;
const ready = new Map<string, number[]>();
sim.changes$.subscribe(({ resource, object, previous }) => {
  const [now, before] = [object, previous] as unknown as readonly [Pod, Pod | undefined];
  if (resource !== "pods" || isReady(now.status) === isReady(before?.status)) return;
  ready.set(now.metadata.name, [...(ready.get(now.metadata.name) ?? []), wallMs()]);
});

/** Commands of this process; arguments and answers travel as structured clones. */
const commands = {
  /** Writes the credentials of the node into `folder`; the path of its kubeconfig. */
  kubeconfig: (folder: string) => writeNodeKubeconfig(api, NODE_NAME, folder),
  /** The server's address, and the certificate of an administrator. */
  access: async () => ({
    url: api.url,
    authority: { certificate: api.authority.certificate },
    identity: await api.clientCertificate({ kind: "admin" }),
  }),
  /** Makes what tokens of pods need: the ServiceAccount, and the root certificate of the cluster. */
  putServiceAccount() {
    sim.put("serviceaccounts", { metadata: { namespace: "default", name: "default" } });
    const data = { "ca.crt": api.authority.certificate };
    sim.put("configmaps", { metadata: { namespace: "default", name: "kube-root-ca.crt" }, data });
  },
  putSecret(name: string, text: string) {
    sim.put("secrets", { metadata: { namespace: "default", name }, data: { text: btoa(text) } });
  },
  put(name: string, spec: Partial<Pod["spec"]>) {
    sim.put("pods", newPod(name, spec));
  },
  remove(names: readonly string[]) {
    for (const name of names) sim.delete("pods", { namespace: "default", name });
  },
  untilGone: (names: readonly string[]) =>
    waitFor(
      "the pods to be gone",
      () => names.every((name) => sim.object("pods", { namespace: "default", name }) === undefined),
      START_MS,
    ),
  untilReady: (names: readonly string[]) =>
    waitFor(`${names.length} pods to be Ready`, () => names.every((name) => ready.has(name)), START_MS),
  /** When it had each change of a pod's Ready condition; by name, in order. */
  readyChanges: (): ReadonlyMap<string, readonly number[]> => ready,
  /** Method and URL path of each request since that many. */
  requestsSince: (count: number): readonly string[] => requests.slice(count),
  /** How many events were created or counted so far. */
  eventWrites: () => requests.filter((line) => /^(?:POST|PATCH) .*\/events/.test(line)).length,
};

export type Commands = typeof commands;

/** `[id, command, arguments]`; answered by `[id, answer]`. */
type Reported = readonly [id: number, command: keyof Commands, args: readonly never[]];

process.on("message", ([id, command, args]: Reported) => {
  void (async () => process.send?.([id, await commands[command](...(args as unknown as [never, never]))]))();
});
process.on("disconnect", () => process.exit());
process.send?.("ready");
