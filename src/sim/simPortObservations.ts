/** Observations of a simulated node's ports: requests, probes, and removed directories and cgroups. Stateless. */
import { defer, filter, map, type Observable, tap } from "rxjs";
import type { ApiPod } from "../core/api/apiPodObjects.ts";
import type { CriRpc } from "../core/criOperations.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { podsDir } from "../core/paths.ts";
import { parsePodCgroupName } from "../core/resources/podCgroup.ts";
import type {
  CreateContainerRequest,
  ExecSyncRequest,
  LinuxContainerResources,
  RemoveImageRequest,
  StopContainerRequest,
  UpdateContainerResourcesRequest,
} from "../gen/cri.ts";
import type { ApiServer, ObjectRef } from "../ports/apiServer.ts";
import type { SimApiServer } from "./apiServer/simApiServer.ts";
import { type StoredObject, typed } from "../core/apiObjects/storedObject.ts";
import type { SimCgroups } from "./host/simCgroups.ts";
import type { SimFiles } from "./host/simFiles.ts";
import type { SimMounts } from "./host/simMounts.ts";
import type { UntimedObservation } from "./simObservation.ts";
import type { SimProbeAnswer } from "./simProbers.ts";
import type { SimImage } from "./runtime/simRecords.ts";
import type { SimRuntime } from "./runtime/simRuntime.ts";
import { REVISION_VARIABLE } from "./workload/workloadConfig.ts";
import type { createSimSubjects } from "./simSubjects.ts";

type See = (observation: UntimedObservation) => void;

/** Observes an answered probe with its pod. Without UID, because pods on the host's network are indistinguishable. */
export function probeObservation(
  { host, ...answer }: SimProbeAnswer,
  subjects: ReturnType<typeof createSimSubjects>,
  runtime: Pick<SimRuntime, "sandboxes">,
): UntimedObservation {
  const { containerId } = answer;
  const pod = runtime.sandboxes().find(({ ip }) => ip !== "" && ip === host)?.config.metadata;
  const podUid = containerId === undefined ? (pod?.uid ?? "") : subjects.of({ containerId }).podUid;
  return { kind: "probe", podUid, ...answer };
}

type RequestDetails = Pick<
  UntimedObservation & { readonly kind: "call" },
  "graceSeconds" | "command" | "configRevision" | "image" | "cpus"
>;

const cpusOf = (resources: LinuxContainerResources | undefined): RequestDetails =>
  resources === undefined || resources.cpusetCpus === "" ? {} : { cpus: resources.cpusetCpus };

/** Returns the observed fields of a request other than its subject. */
export function requestDetails(
  rpc: CriRpc,
  request: unknown,
  imageOf: (reference: string) => SimImage | undefined,
): RequestDetails {
  if (rpc === "StopContainer") return { graceSeconds: Number((request as StopContainerRequest).timeout) };
  if (rpc === "CreateContainer") {
    const create = request as CreateContainerRequest;
    return { ...configRevisionOf(create), ...cpusOf(create.config?.linux?.resources) };
  }
  if (rpc === "UpdateContainerResources") return cpusOf((request as UpdateContainerResourcesRequest).linux);
  if (rpc === "RemoveImage") {
    const image = imageOf((request as RemoveImageRequest).image?.image ?? "");
    return image === undefined ? {} : { image };
  }
  return rpc === "ExecSync" ? { command: (request as ExecSyncRequest).cmd } : {};
}

/** Observes the pod requests of the kubelet to an API server. */
export function seenPodWrites(api: ApiServer, see: See): ApiServer {
  const reported = (
    verb: "create" | "patch" | "delete",
    resource: string,
    ref: Partial<ObjectRef>,
    uid?: string,
  ): void => {
    if (resource === "pods") see({ kind: "request", verb, subject: `${ref.namespace}/${ref.name}`, uid });
  };
  return {
    ...api,
    create: (resource, object, options) =>
      defer(() => {
        reported("create", resource, object.metadata ?? {});
        return api.create(resource, object, options);
      }),
    patch: (resource, ref, patch, options) =>
      defer(() => {
        reported("patch", resource, ref);
        return api.patch(resource, ref, patch, options);
      }),
    delete: (resource, ref, options) =>
      defer(() => {
        reported("delete", resource, ref, options?.preconditions?.uid);
        return api.delete(resource, ref, options);
      }),
  };
}

/** Observes the changes of a node's pod objects. */
export const podObjects = (server: SimApiServer, nodeName: string): Observable<UntimedObservation> =>
  server.changes$.pipe(
    filter(({ resource, object }) => resource === "pods" && podOf(object).spec?.nodeName === nodeName),
    map(({ type, object, previous }) => ({
      kind: "object",
      what: type,
      subject: `${object.metadata.namespace}/${object.metadata.name}`,
      object: podOf(object),
      before: previous && podOf(previous),
    })),
  );

const podOf = (object: StoredObject): ApiPod => typed<"pods">(object);

function configRevisionOf({ config }: CreateContainerRequest): { readonly configRevision?: number } {
  const variable = config?.envs.find(({ key }) => key === REVISION_VARIABLE);
  return variable === undefined ? {} : { configRevision: Number(new TextDecoder().decode(variable.value)) };
}

/** Returns the pod of a path below the directory of all pods, and the rest of the path. */
function placeInPod(path: string, { directories }: KubeletConfig): readonly [podUid: string, rest: string] | undefined {
  const prefix = `${podsDir(directories)}/`;
  if (!path.startsWith(prefix)) return undefined;
  const [podUid = "", ...rest] = path.slice(prefix.length).split("/");
  return [podUid, rest.join("/")];
}

/** Returns the pod of the place at which the device of a block volume is bound for it. */
const podOfDevice = (path: string): string | undefined => /\/volumeDevices\/[^/]+\/dev\/([^/]+)$/.exec(path)?.[1];

/** Observes the removal of a pod's directory, or of one of its volumes. */
export const seenFiles = (files: SimFiles, config: KubeletConfig, see: See): SimFiles => ({
  ...files,
  remove(path) {
    const [podUid = "", rest = ""] = placeInPod(path, config) ?? [];
    const what = rest === "" ? "directory" : rest.startsWith("volumes/") ? "volume" : undefined;
    if (podUid === "" || what === undefined) return files.remove(path);
    return files.remove(path).pipe(tap({ complete: () => see({ kind: "removed", what, podUid }) }));
  },
});

const EMPTY_DIRS = "volumes/kubernetes.io~empty-dir/";

/** Returns a function by which programs write files; observes those on the disk of a volume. */
export const seenWrites =
  (files: SimFiles, config: KubeletConfig, see: See): SimFiles["put"] =>
  (path, content, extent = {}) => {
    files.put(path, content, extent);
    const place = files.tree.resolve(path);
    const [podUid = "", rest = ""] = placeInPod(place, config) ?? [];
    if (!rest.startsWith(EMPTY_DIRS)) return;
    const { moreBytes = 0, moreInodes = 0 } = extent;
    see({ kind: "written", podUid, path: place, bytes: content.length + moreBytes, inodes: 1 + moreInodes });
  };

/** Observes the removal of a pod's mounts. */
export const seenMounts = (mounts: SimMounts, config: KubeletConfig, see: See): SimMounts => {
  const released = <T>(done$: Observable<T>, podUid: string, path: string): Observable<T> =>
    done$.pipe(tap({ complete: () => see({ kind: "device", what: "released", podUid, path }) }));
  return {
    ...mounts,
    unmount(target, options) {
      const [podUid = ""] = placeInPod(target, config) ?? [];
      const complete = (): void => {
        if (podUid !== "") see({ kind: "removed", what: "mount", podUid });
      };
      const device = podOfDevice(target);
      if (device !== undefined) return released(mounts.unmount(target, options), device, target);
      return mounts.unmount(target, options).pipe(tap({ complete }));
    },
    bind(request, options) {
      const device = podOfDevice(request.target);
      const bound$ = mounts.bind(request, options);
      if (device === undefined) return bound$;
      const complete = (): void => see({ kind: "device", what: "bound", podUid: device, path: request.target });
      return bound$.pipe(tap({ complete }));
    },
    attachLoop(path, options) {
      const complete = (): void => see({ kind: "device", what: "kept", podUid: podOfDevice(path) ?? "", path });
      return mounts.attachLoop(path, options).pipe(tap({ complete }));
    },
    detachLoops: (path, options) => released(mounts.detachLoops(path, options), podOfDevice(path) ?? "", path),
  };
};

/** Observes the removal of a pod's cgroup. */
export const seenCgroups = (cgroups: SimCgroups, see: See): SimCgroups => ({
  ...cgroups,
  destroy(name) {
    const podUid = parsePodCgroupName(name.slice(name.lastIndexOf("/") + 1));
    const complete = (): void => {
      if (podUid !== undefined) see({ kind: "removed", what: "cgroup", podUid });
    };
    return cgroups.destroy(name).pipe(tap({ complete }));
  },
});
