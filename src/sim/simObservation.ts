/** What can be seen of a simulated node from outside, in the order in which it happens: food of trace and checkers. */
import type { ApiPod } from "../core/api/toldPods.ts";
import type { Pod, PodStatus } from "../core/api.ts";
import type { CriRpc } from "../core/criOperations.ts";
import type { KubeletEvent } from "../core/events.ts";
import type { PodSource } from "../core/pod/sourceSnapshot.ts";
import type { ProbeOutcome } from "../core/probe/probeTypes.ts";
import type { SimAction } from "./runtime/simCall.ts";
import type { SimChange } from "./runtime/simRecords.ts";

/** One thing seen, without its instant. */
export type SimSight =
  /** The kubelet asks the runtime for something; `subject` is `namespace/pod`, with a container `/name#attempt`. */
  | {
      readonly kind: "call";
      readonly rpc: CriRpc;
      readonly podUid: string;
      readonly subject: string;
      readonly fate: SimAction["kind"];
      /** Of a StopContainer: the grace period it asks for. */
      readonly graceSeconds?: number;
      /** Of an ExecSync: what is to run. */
      readonly command?: readonly string[];
      /** Of a CreateContainer: which writing of the pod's ConfigMap it is made from. */
      readonly configRevision?: number;
    }
  | { readonly kind: "change"; readonly change: SimChange }
  | { readonly kind: "event"; readonly event: KubeletEvent }
  /** The status the kubelet tells of a pod is new, or (`after` undefined) the pod has gone from the node. */
  | {
      readonly kind: "status";
      readonly podUid: string;
      readonly subject: string;
      readonly before: PodStatus | undefined;
      readonly after: PodStatus | undefined;
    }
  /** A source tells the kubelet which pods it wants. */
  | {
      readonly kind: "wanted";
      readonly source: PodSource;
      readonly podUids: ReadonlySet<string>;
      readonly pods: readonly Pod[];
      /** Those of them that are not as this source told this kubelet last. */
      readonly news: readonly Pod[];
    }
  /** A pod object of this node changed on the API server, whoever changed it. */
  | {
      readonly kind: "object";
      readonly what: "ADDED" | "MODIFIED" | "DELETED";
      /** `namespace/pod`. */
      readonly subject: string;
      readonly object: ApiPod;
      readonly before: ApiPod | undefined;
    }
  /** The kubelet asks the API server to change a pod object. */
  | {
      readonly kind: "request";
      readonly verb: "create" | "patch" | "delete";
      readonly subject: string;
      /** Of a delete: the UID it has to have. */
      readonly uid?: string | undefined;
    }
  /** The kubelet has removed a pod's directory, one of its volumes, a mount in it, or its cgroup. */
  | { readonly kind: "removed"; readonly what: "directory" | "volume" | "mount" | "cgroup"; readonly podUid: string }
  /** A probe of the kubelet was answered; one that could not be made says nothing and is not seen. */
  | {
      readonly kind: "probe";
      readonly podUid: string;
      /** Of a probe that runs inside. */
      readonly containerId?: string;
      /** What was asked, as `askedOf` spells it. */
      readonly asked: string;
      readonly result: ProbeOutcome["result"];
    }
  /** The kernel has logged it. */
  | { readonly kind: "kernel"; readonly text: string }
  /** The API server can be reached from now on, or not any more. Never seen of a node of no cluster. */
  | { readonly kind: "apiServer"; readonly isUp: boolean }
  /** The lease of the node was written. */
  | { readonly kind: "lease"; readonly durationSeconds: number }
  /** The Node says something else of its readiness than before; undefined: nothing. */
  | { readonly kind: "nodeReady"; readonly status: string | undefined; readonly message: string }
  /** What the runtime answers when asked for its status: all is ready, or not; undefined: it does not answer. */
  | { readonly kind: "runtimeSays"; readonly isReady: boolean | undefined }
  /** The wall clock was set, forth or back. */
  | { readonly kind: "clock"; readonly stepMs: number }
  | { readonly kind: "kubelet"; readonly what: "started" | "crashed" }
  | { readonly kind: "kubelet"; readonly what: "failed to start"; readonly reason: string }
  /** The simulation did something to the node: an accident, a heal, an edit. */
  | { readonly kind: "action"; readonly text: string };

/** One thing seen. `atMs` is virtual time in milliseconds. */
export type SimObservation = SimSight & { readonly atMs: number };

/** Whether what was removed goes only when the pod is over; a volume may be of no use before. */
export const isPodsLast = (removed: (SimSight & { readonly kind: "removed" })["what"]): boolean =>
  removed === "directory" || removed === "cgroup";
