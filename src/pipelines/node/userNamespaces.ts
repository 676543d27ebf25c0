/**
 * Assigns user and group IDs to pods with `hostUsers: false` and keeps the assignment on disk, so that no two pods
 * ever share an ID, even over restarts. Owner of the idRanges cell. Upstream: pkg/kubelet/userns.
 */
import { catchError, concat, defer, EMPTY, ignoreElements, map, type Observable, of, switchMap, tap } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { NODE_USER_NAMESPACE, podUserNamespace } from "../../core/container/namespaces.ts";
import { kubeletError, type KubeletError, toKubeletError } from "../../core/errors.ts";
import { type PodUid, podUid } from "../../core/ids.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { podDir, podsDir } from "../../core/paths.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { userNamespacesFault } from "../../core/runtime/runtimeHandler.ts";
import {
  allocateRange,
  type IdPool,
  type IdRange,
  type IdRanges,
  recordRange,
  releaseRange,
  withUnknown,
} from "../../core/userns/idRanges.ts";
import {
  decodeUserNamespace,
  encodeUserNamespace,
  MAX_USER_NAMESPACE_FILE_BYTES,
} from "../../core/userns/userNamespaceFile.ts";
import type { UserNamespace } from "../../gen/cri.ts";
import { deadline } from "../../operators/deadline.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { Call } from "../../ports/call.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell } from "../../state/cell.ts";
import type { NodeView } from "../../state/nodeState.ts";

const FILE_MODE = 0o600;
/** Deadline for each pod directory, so that a hanging disk delays the start only by this. */
const READ_DEADLINE_MS = 5_000;

/** The user namespaces of all pods. */
export interface UserNamespaces {
  /** Loads the assignments of earlier kubelets; completes before the first assignment. Never errors. */
  load(): Observable<never>;
  /** Returns the user namespace of the pod, after it is in the pod's directory on disk. Never errors. */
  provide(pod: Pod, runtimeHandler: string): Observable<Result<UserNamespace>>;
  /** Releases the IDs of a pod without running containers, on disk first. Errors if that fails. */
  release(uid: PodUid): Call<void>;
}

/** Dependencies of the assignment of user IDs. */
interface Registrar {
  readonly ports: Pick<KubeletPorts, "files" | "clock" | "telemetry">;
  readonly config: Pick<KubeletConfig, "directories" | "idPool">;
  readonly state: Pick<NodeView, "listing" | "runtimeState">;
  readonly idRanges: Cell<IdRanges>;
  /** Pods whose IDs are known to be on disk. */
  readonly written: Set<PodUid>;
}

/** Creates the only owner of IDs; `load` has to complete before any other call. */
export function createUserNamespaces(
  ports: Registrar["ports"],
  config: Registrar["config"],
  state: Registrar["state"],
  idRanges: Cell<IdRanges>,
): UserNamespaces {
  const registrar: Registrar = { ports, config, state, idRanges, written: new Set() };
  return {
    load: () => defer(() => loadAll(registrar)),
    provide: (pod, runtimeHandler) => defer(() => provide(registrar, pod, runtimeHandler)),
    release: (uid) => defer(() => release(registrar, uid)),
  };
}

const pathOf = ({ config }: Registrar, uid: PodUid): string => `${podDir(config.directories, uid)}/userns`;

function loadAll(registrar: Registrar): Observable<never> {
  const { ports, config, state } = registrar;
  const { log } = ports.telemetry;
  if (!config.idPool.ok) {
    log.error("Pods cannot have user namespaces", { error: config.idPool.error });
    return EMPTY;
  }
  const pool = config.idPool.value;
  return ports.files.list(podsDir(config.directories)).pipe(
    deadline(READ_DEADLINE_MS, ports.clock),
    switchMap((uids) => inSequence(uids, (uid) => loadOne(registrar, pool, podUid(uid)))),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      for (const uid of state.listing.value?.pods.keys() ?? []) unusable(registrar, uid, error);
      return EMPTY;
    }),
  );
}

function loadOne(registrar: Registrar, pool: IdPool, uid: PodUid): Observable<never> {
  const { files, clock } = registrar.ports;
  return files.readTail(pathOf(registrar, uid), MAX_USER_NAMESPACE_FILE_BYTES).pipe(
    deadline(READ_DEADLINE_MS, clock),
    map((content) => record(registrar, pool, uid, content)),
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      return of(error.code === "NotFound" ? ok(undefined) : err(error));
    }),
    tap((recorded) => {
      if (!recorded.ok) unusable(registrar, uid, recorded.error);
    }),
    ignoreElements(),
  );
}

function record({ idRanges, written }: Registrar, pool: IdPool, uid: PodUid, content: string): Result<undefined> {
  // The file was cut off before the runtime used the IDs.
  if (content === "") return ok(undefined);
  const range = decodeUserNamespace(content);
  const recorded = range.ok ? recordRange(idRanges.value, pool, uid, range.value) : range;
  if (!recorded.ok) return recorded;
  idRanges.set(recorded.value);
  written.add(uid);
  return ok(undefined);
}

/** Records a running pod whose IDs are unknown, since it may use any. Ignores the file of a pod that does not run. */
function unusable(registrar: Registrar, uid: PodUid, error: KubeletError): void {
  const { ports, state, idRanges } = registrar;
  const { log } = ports.telemetry;
  const fields = { podUid: uid, path: pathOf(registrar, uid), error };
  if (state.listing.value?.pods.has(uid) !== true) {
    log.warn("Ignoring the unreadable user IDs of a pod that is not in the runtime", fields);
    return;
  }
  log.error("Cannot read the user IDs of a running pod; no user IDs are assigned until it is removed", fields);
  idRanges.set(withUnknown(idRanges.value, uid, error.message));
}

function provide(registrar: Registrar, pod: Pod, runtimeHandler: string): Observable<Result<UserNamespace>> {
  const { idRanges } = registrar;
  const { runtimeState } = registrar.state;
  const { idPool } = registrar.config;
  if (pod.spec.hostUsers !== false) return of(ok(NODE_USER_NAMESPACE));
  const fault = userNamespacesFault(runtimeState.value, runtimeHandler);
  if (fault !== undefined) return of(refusal(fault, "Unimplemented"));
  if (!idPool.ok) return of(refusal(`kubelet mappings: ${idPool.error.message}`, idPool.error.code));
  const uid = podUid(pod.metadata.uid);
  const unknown = idRanges.value.unknown.get(uid);
  if (unknown !== undefined) return of(refusal(`user namespace: ${unknown}`, "InvalidArgument"));
  const allocated = allocateRange(idRanges.value, idPool.value, uid);
  if (!allocated.ok) return of(refusal(`create user namespace: ${allocated.error.message}`, allocated.error.code));
  const { ranges, firstId } = allocated.value;
  idRanges.set(ranges);
  return write(registrar, uid, { firstId, length: idPool.value.idsPerPod });
}

function write(registrar: Registrar, uid: PodUid, range: IdRange): Observable<Result<UserNamespace>> {
  const { ports, written } = registrar;
  const assigned$ = of(ok(podUserNamespace(range)));
  if (written.has(uid)) return assigned$;
  const written$ = ports.files
    .writeFile(pathOf(registrar, uid), encodeUserNamespace(range), FILE_MODE)
    .pipe(tap({ complete: () => written.add(uid) }), ignoreElements());
  return concat(written$, assigned$).pipe(
    // The IDs stay assigned to the pod: the file may exist nevertheless.
    catchError((thrown: unknown) => of(refusal(`create user namespace: ${toKubeletError(thrown).message}`, "Io"))),
  );
}

function release(registrar: Registrar, uid: PodUid): Call<void> {
  const { ports, idRanges, written } = registrar;
  const { usedBy, unknown } = idRanges.value;
  if (!usedBy.has(uid) && !unknown.has(uid)) return EMPTY;
  return ports.files.remove(pathOf(registrar, uid)).pipe(
    tap({
      complete: () => {
        written.delete(uid);
        idRanges.set(releaseRange(idRanges.value, uid));
      },
    }),
  );
}

const refusal = (message: string, code: KubeletError["code"]): Result<never> =>
  err(kubeletError(code, message, { reason: "CreatePodSandboxError" }));
