/**
 * An API server in virtual time: the ApiServer port with the semantics a kubelet meets, one client per identity. Owns
 * its store. Time and randomness are injected, so that a seed repeats a run exactly.
 */
import type { Observable } from "rxjs";
import type { ApiObjects, ApiResourceName } from "../../core/api/apiResources.ts";
import type { PodSpec, PodStatus } from "../../core/api.ts";
import { jsonMergePatch } from "./patches/jsonMergePatch.ts";
import type { ApiDeleteOptions, ApiServer, ObjectRef } from "../../ports/apiServer.ts";
import type { Clock } from "../../ports/clock.ts";
import { createPrng, type Prng } from "../prng.ts";
import type { SimApiIntercept, SimApiLatency } from "./apiCall.ts";
import { createApiWorld } from "./apiWorld.ts";
import { type ClientSettings, createApiClient } from "./apiClient.ts";
import { deleteObject } from "./deletion.ts";
import { ADMIN, type ApiIdentity } from "./identity.ts";
import { createNetwork, type NetworkState } from "./network.ts";
import { notFound } from "../../core/apiObjects/refusals.ts";
import { bindPod } from "./subresources.ts";
import { mayUsually, type SimAccess } from "./tokenRestriction.ts";
import type { StoreChange } from "../../core/apiObjects/store.ts";
import { keyOf, refOf, typed, untyped } from "../../core/apiObjects/storedObject.ts";
import type { WatchLine } from "../../core/apiObjects/watchLines.ts";
import type { OpenWatch, SimEventAction } from "./watchStream.ts";
import { createObject, updateObject } from "./writes.ts";

/** Options of a simulated API server. All but the clock have a default. */
export interface SimApiServerOptions {
  /** Timers and the server's wall clock. */
  readonly clock: Clock;
  readonly prng?: Prng;
  /** Default: see `usualApiLatency`. */
  readonly latency?: SimApiLatency;
  /** Default: every request proceeds. */
  readonly intercept?: SimApiIntercept;
  /** Called for each change a watch is about to send; default: it is delivered. */
  readonly interceptEvent?: (resource: ApiResourceName, event: WatchLine) => SimEventAction;
  /** Maximum number of changes that a watch may start behind, for each resource. */
  readonly windowSize?: number | undefined;
  /** Maximum number of undelivered events of a watch. */
  readonly watchBuffer?: number;
  /** Maximum number of open watches; more are answered 429. */
  readonly maxWatches?: number;
  readonly bookmarkPeriodMs?: number;
  readonly defaultDeadlineMs?: number;
  /**
   * Decides SubjectAccessReviews, and token requests of nodes for audiences that the pod does not request. Default:
   * `mayUsually`.
   */
  readonly mayAccess?: SimAccess;
}

/** Objects whose status clients other than their own kubelet write. */
export type ControlledResource =
  | "nodes"
  | "persistentvolumeclaims"
  | "persistentvolumes"
  | "resourceclaims"
  | "volumeattachments";

/**
 * A simulated API server: its ports, its state for checkers, and operations of other clients of a cluster, which take
 * effect at once.
 */
export interface SimApiServer {
  /** Returns the port of an identity; default: an administrator. */
  client(identity?: ApiIdentity): ApiServer;
  /** Emits every write as it happens; never completes. */
  readonly changes$: Observable<StoreChange>;
  readonly revision: number;
  /** Number of open watches. */
  readonly watchCount: number;
  object<R extends ApiResourceName>(resource: R, ref: ObjectRef): ApiObjects[R] | undefined;
  /** Returns all objects in the order of their creation. */
  objects<R extends ApiResourceName>(resource: R): readonly ApiObjects[R][];
  /** Creates an object, or merges it into the one of its name (JSON merge patch: null removes). */
  put<R extends ApiResourceName>(resource: R, object: ApiObjects[R]): ApiObjects[R];
  delete(resource: ApiResourceName, ref: ObjectRef, options?: ApiDeleteOptions): void;
  /** Replaces the status of a pod, as its kubelet does. */
  setStatus(pod: ObjectRef, status: PodStatus): void;
  /** Replaces the status of another object, as the scheduler and controllers do. */
  setStatusOf<R extends ControlledResource>(resource: R, ref: ObjectRef, status: ApiObjects[R]["status"]): void;
  /** Resizes a pod to the container sizes of this spec, by the resize subresource. */
  resize(pod: ObjectRef, spec: PodSpec): void;
  /** Adds an ephemeral container to a pod, as `kubectl debug` does. */
  debug(pod: ObjectRef, container: NonNullable<PodSpec["ephemeralContainers"]>[number]): void;
  /** Binds a pod to a node, as the scheduler does. */
  schedule(pod: ObjectRef, nodeName: string): void;
  /** Approves a certificate signing request and issues the certificate, as the signer does; PEM as base64. */
  signCertificate(name: string, certificate: string): void;
  /** Breaks open watches. */
  cutWatches(resource?: ApiResourceName): void;
  /** Ends open watches with 410 and forgets the history: clients have to list again. */
  expireWatches(): void;
  /** Forgets the history; open watches continue. */
  compact(): void;
  /** Breaks all connections and forgets the history, as a restart of the server does. */
  restart(): void;
  setNetwork(state: NetworkState): void;
  /** Emits the state of the network at once and after each change; never completes. */
  readonly network$: Observable<NetworkState>;
}

const WRITES_MS: readonly [number, number] = [4, 15];
const READS_MS: readonly [number, number] = [2, 8];

/** Returns latencies like those of a small control plane, drawn from `prng`. */
export const usualApiLatency =
  (prng: Prng): SimApiLatency =>
  (verb) =>
    prng.int(...(verb === "get" || verb === "list" || verb === "watch" ? READS_MS : WRITES_MS));

const DEFAULT_WINDOW = 1_000;
const DEFAULT_WATCH_BUFFER = 1_000;
const DEFAULT_MAX_WATCHES = 100_000;

/** Creates a server with the namespaces of a new cluster and nothing else. */
export function createSimApiServer(options: SimApiServerOptions): SimApiServer {
  const { clock, prng = createPrng("apiserver"), windowSize = DEFAULT_WINDOW } = options;
  const world = createApiWorld(clock, prng.fork("ids"), windowSize);
  const network = createNetwork();
  const open = new Set<OpenWatch>();
  const settings = clientSettings(options, prng, network, open);
  const endWatches = (how: Parameters<OpenWatch["end"]>[0], resource?: ApiResourceName) => {
    for (const watch of [...open]) if (resource === undefined || watch.resource === resource) watch.end(how);
  };
  return {
    client: (identity = ADMIN) => createApiClient(world, settings, identity),
    changes$: world.changes$.asObservable(),
    get revision() {
      return world.store.revision;
    },
    get watchCount() {
      return open.size;
    },
    object: (resource, ref) => {
      const found = world.store.get(resource, keyOf(ref));
      return found === undefined ? undefined : typed(found);
    },
    objects: <R extends ApiResourceName>(resource: R) =>
      [...world.store.all(resource).values()].map((object) => typed<R>(object)),
    put: <R extends ApiResourceName>(resource: R, object: ApiObjects[R]) => {
      const request = { resource, identity: ADMIN };
      const given = untyped(object);
      const old = world.store.get(resource, keyOf(refOf(given)));
      if (old === undefined) return typed<R>(createObject(world, request, given));
      return typed<R>(updateObject(world, request, jsonMergePatch(old, given)));
    },
    delete: (resource, ref, how = {}) => void deleteObject(world, resource, ref, how),
    setStatus: (pod, status) => updateObjectOf(world, ["pods", "status"], pod, { status }),
    setStatusOf: (resource, ref, status) => updateObjectOf(world, [resource, "status"], ref, { status }),
    resize: (pod, spec) => updateObjectOf(world, ["pods", "resize"], pod, { spec }),
    debug: (pod, container) =>
      updateObjectOf(world, ["pods", "ephemeralcontainers"], pod, {
        spec: { containers: [], ephemeralContainers: [container] },
      }),
    schedule: (pod, nodeName) => void bindPod(world, pod, nodeName),
    signCertificate: (name, certificate) => signCertificate(world, name, certificate),
    cutWatches: (resource) => endWatches("broken", resource),
    expireWatches() {
      world.forgetHistory();
      endWatches("expired");
    },
    compact: () => world.forgetHistory(),
    restart() {
      world.forgetHistory();
      endWatches("broken");
    },
    setNetwork: (state) => network.set(state),
    network$: network.state$,
  };
}

/** Returns the settings that all clients of a server share; `open` receives their watches. */
function clientSettings(
  options: SimApiServerOptions,
  prng: Prng,
  network: ReturnType<typeof createNetwork>,
  open: Set<OpenWatch>,
): ClientSettings {
  const latency = options.latency ?? usualApiLatency(prng.fork("latency"));
  return {
    calls: {
      clock: options.clock,
      network,
      latency,
      intercept: options.intercept ?? (() => ({ kind: "proceed" }) as const),
      defaultDeadlineMs: options.defaultDeadlineMs ?? 30_000,
    },
    watches: {
      network,
      rng: prng.fork("watches"),
      latencyMs: () => Math.ceil(latency("watch", "pods") / 2),
      interceptEvent: options.interceptEvent ?? (() => ({ kind: "deliver" }) as const),
      buffer: options.watchBuffer ?? DEFAULT_WATCH_BUFFER,
      bookmarkPeriodMs: options.bookmarkPeriodMs ?? 60_000,
      open,
    },
    maxWatches: options.maxWatches ?? DEFAULT_MAX_WATCHES,
    mayAccess: options.mayAccess ?? mayUsually,
  };
}

function updateObjectOf(
  world: ReturnType<typeof createApiWorld>,
  [resource, subresource]: readonly ["pods" | ControlledResource, "status" | "resize" | "ephemeralcontainers"],
  ref: ObjectRef,
  change: { readonly status: unknown } | { readonly spec: PodSpec },
): void {
  const old = world.store.get(resource, keyOf(ref));
  if (old === undefined) throw notFound(resource, ref.name);
  updateObject(world, { resource, identity: ADMIN, subresource }, { ...old, ...change });
}

function signCertificate(world: ReturnType<typeof createApiWorld>, name: string, certificate: string): void {
  const request = world.store.get("certificatesigningrequests", name);
  if (request === undefined) throw new Error(`there is no certificate signing request ${name}`);
  const conditions = [
    { type: "Approved", status: "True", reason: "AutoApproved", message: "", lastUpdateTime: world.now() },
  ];
  world.store.put("certificatesigningrequests", { ...request, status: { conditions, certificate } });
}
