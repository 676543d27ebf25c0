/** The observations of a simulated node from outside, in order: input of trace and checkers. */
import type { ApiPod } from "../core/api/apiPodObjects.ts";
import type { Pod, PodStatus } from "../core/api.ts";
import type { CriRpc } from "../core/criOperations.ts";
import type { KubeletEvent } from "../core/events.ts";
import type { PodSource } from "../core/pod/sourceSnapshot.ts";
import type { ProbeOutcome } from "../core/probe/probeTypes.ts";
import type { SimCsiRpc } from "./hardware/pluginCall.ts";
import type { SimAction } from "./runtime/simCall.ts";
import type { SimChange, SimImage } from "./runtime/simRecords.ts";

/** A figure that the kubelet was given. */
export type SimMeasurement =
  | {
      readonly what: "disk";
      readonly path: string;
      readonly availableBytes: number;
      readonly capacityBytes: number;
      readonly inodesFree: number;
      readonly inodes: number;
    }
  | { readonly what: "memory"; readonly availableBytes: number; readonly capacityBytes: number }
  | { readonly what: "pids"; readonly available: number; readonly max: number }
  /** Working sets in bytes and numbers of threads of all pods with a running container, by pod UID. */
  | {
      readonly what: "pods";
      readonly memoryBytes: ReadonlyMap<string, number>;
      /** Empty in answers that lack the threads. */
      readonly tasks: ReadonlyMap<string, number>;
    };

/** An observation without its instant. */
export type UntimedObservation =
  /** The kubelet sends a request to the runtime; `subject` is `namespace/pod`, with a container `/name#attempt`. */
  | {
      readonly kind: "call";
      readonly rpc: CriRpc;
      readonly podUid: string;
      readonly subject: string;
      readonly fate: SimAction["kind"];
      /** Grace period of a StopContainer. */
      readonly graceSeconds?: number;
      /** Command of an ExecSync. */
      readonly command?: readonly string[];
      /** Image that a RemoveImage removes, if it is present. */
      readonly image?: SimImage;
      /** Revision of the pod's ConfigMap that a CreateContainer uses. */
      readonly configRevision?: number;
      /** CPUs that a CreateContainer or UpdateContainerResources names. */
      readonly cpus?: string;
    }
  | { readonly kind: "change"; readonly change: SimChange }
  | { readonly kind: "event"; readonly event: KubeletEvent }
  /** The kubelet reports a new status of a pod, or (`after` undefined) the pod was removed from the node. */
  | {
      readonly kind: "status";
      readonly podUid: string;
      readonly subject: string;
      readonly before: PodStatus | undefined;
      readonly after: PodStatus | undefined;
    }
  /** A source sends its desired pods to the kubelet. */
  | {
      readonly kind: "wanted";
      readonly source: PodSource;
      readonly podUids: ReadonlySet<string>;
      readonly pods: readonly Pod[];
      /** The pods that changed since this source last sent them to this kubelet. */
      readonly news: readonly Pod[];
    }
  /** A pod object of this node changed on the API server, by any client. */
  | {
      readonly kind: "object";
      readonly what: "ADDED" | "MODIFIED" | "DELETED";
      /** `namespace/pod`. */
      readonly subject: string;
      readonly object: ApiPod;
      readonly before: ApiPod | undefined;
    }
  /** The kubelet requests a change of a pod object from the API server. */
  | {
      readonly kind: "request";
      readonly verb: "create" | "patch" | "delete";
      readonly subject: string;
      /** UID precondition of a delete. */
      readonly uid?: string | undefined;
    }
  /** The kubelet has removed a pod's directory, one of its volumes, a mount in it, or its cgroup. */
  | { readonly kind: "removed"; readonly what: "directory" | "volume" | "mount" | "cgroup"; readonly podUid: string }
  /** A probe of the kubelet was answered. A probe that could not run is not observed. */
  | {
      readonly kind: "probe";
      readonly podUid: string;
      /** Container of an exec probe. */
      readonly containerId?: string;
      /** Target of the probe, as formatted by `askedOf`. */
      readonly asked: string;
      readonly result: ProbeOutcome["result"];
    }
  /** The kernel has logged a message. */
  | { readonly kind: "kernel"; readonly text: string }
  /** The API server became reachable or unreachable. Never observed on a standalone node. */
  | { readonly kind: "apiServer"; readonly isUp: boolean }
  /** The lease of the node was written. */
  | { readonly kind: "lease"; readonly durationSeconds: number }
  /** The Ready condition of the Node changed; undefined if it has none. */
  | { readonly kind: "nodeReady"; readonly status: string | undefined; readonly message: string }
  /** Answer of the runtime to a Status call: ready or not; undefined without an answer. */
  | { readonly kind: "runtimeSays"; readonly isReady: boolean | undefined }
  /** A shutdown of the machine was announced or cancelled, or it goes down now. */
  | { readonly kind: "shutdown"; readonly what: "begun" | "cancelled" | "done" }
  /** The machine booted. */
  | { readonly kind: "boot" }
  /** A device plugin lists the ids of its devices, or the kubelet asks it about some. */
  | {
      readonly kind: "plugin";
      readonly resource: string;
      readonly what: "lists" | "allocate" | "preStart";
      readonly ids: readonly string[];
    }
  /** The kubelet asks a driver to prepare or unprepare claims, or the driver has done so; claims by UID. */
  | {
      readonly kind: "driver";
      readonly driver: string;
      readonly rpc: "prepare" | "unprepare";
      readonly what: "asked" | "done";
      readonly claims: readonly string[];
    }
  /**
   * A call for a volume: the kubelet asks a CSI driver, the driver has done it, the kubelet has the answer or has left. `lost`:
   * the content of the mounted volume is gone. `provision` binds a claim, its path, `grow` makes its volume larger, and `detach` is
   * of the controller; `claimSize`: the status of the claim has this size. Volumes by their handles, calls by number.
   */
  | {
      readonly kind: "csi";
      readonly driver: string;
      readonly rpc: SimCsiRpc | "provision" | "detach" | "grow" | "claimSize";
      readonly what: "asked" | "done" | "lost" | "ended";
      readonly volume: string;
      readonly path: string;
      readonly call: number;
      /** Size of the volume; only for provision, growth and expansion. */
      readonly bytes?: bigint;
      /** SELinux context of the mount; only for stages and publications with one. */
      readonly context?: string;
    }
  /** The kubelet has bound the device of a block volume for a pod, keeps it with a loop device, or has released it. */
  | {
      readonly kind: "device";
      readonly what: "bound" | "kept" | "released";
      readonly podUid: string;
      readonly path: string;
    }
  /** The list `volumesInUse` of the Node was written. */
  | { readonly kind: "inUse"; readonly volumes: readonly string[] }
  /** The users and drivers of a ResourceClaim were written. */
  | {
      readonly kind: "claim";
      readonly name: string;
      readonly uid: string;
      readonly drivers: readonly string[];
      readonly podUids: readonly string[];
    }
  /** The kubelet was given a figure of the machine or of its pods. */
  | { readonly kind: "measured"; readonly measurement: SimMeasurement }
  /** The files that a program has written to a volume of its pod on the disk have a new size. The kubelet sees none of it. */
  | {
      readonly kind: "written";
      readonly podUid: string;
      readonly path: string;
      readonly bytes: number;
      readonly inodes: number;
    }
  /** The wall clock was set, forward or back. */
  | { readonly kind: "clock"; readonly stepMs: number }
  | { readonly kind: "kubelet"; readonly what: "started" | "crashed" }
  | { readonly kind: "kubelet"; readonly what: "failed to start"; readonly reason: string }
  /** The simulation acted on the node: an accident, a heal, an edit. */
  | { readonly kind: "action"; readonly text: string };

/** An observation. `atMs` is virtual time in milliseconds. */
export type SimObservation = UntimedObservation & { readonly atMs: number };

/** Returns whether the object is removed only after the pod is terminal; a volume may become unused earlier. */
export const isPodsLast = (removed: (UntimedObservation & { readonly kind: "removed" })["what"]): boolean =>
  removed === "directory" || removed === "cgroup";
