/**
 * The files a container needs on the host before its creation: log directory, termination log, bind mounts of subPaths
 * (port `mounts`), /etc/hosts.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  ignoreElements,
  last,
  map,
  merge,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  switchMap,
  throwError,
} from "rxjs";
import type { Container, Pod } from "../../core/api.ts";
import { podHostname } from "../../core/container/hostname.ts";
import { hostNetworkHostsFile, podHostsFile } from "../../core/container/hosts.ts";
import { needsHostsFile } from "../../core/container/mounts.ts";
import { subPathBinds } from "../../core/container/subPaths.ts";
import { kubeletError, toKubeletError, withReason } from "../../core/errors.ts";
import { etcHostsPath, podContainerDir, podLogDir } from "../../core/paths.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { type PodContext, volumesOf } from "../podContext.ts";

/** The container whose files are prepared. */
export interface ContainerFilesTask {
  readonly pod: Pod;
  readonly container: Container;
  readonly podIps: readonly string[];
  readonly terminationLog: string;
  /** Environment of the container config. */
  readonly environment: ReadonlyMap<string, string>;
}

/** Every user in the container may write its termination message. */
const TERMINATION_LOG_MODE = 0o666;
const HOSTS_MODE = 0o644;
const NODE_HOSTS_FILE = "/etc/hosts";
const MAX_HOSTS_BYTES = 1 << 20;

/** Creates the directories of a container and of its logs; emits once, never errors. */
export function makeContainerDirectories(
  context: PodContext,
  { pod, container }: Pick<ContainerFilesTask, "pod" | "container">,
): Observable<Result<undefined>> {
  const { files } = context.ports;
  const { directories } = context.config;
  return merge(
    files.makeDirectory(`${podLogDir(directories, pod.metadata)}/${container.name}`, 0o755),
    files.makeDirectory(podContainerDir(directories, pod.metadata.uid, container.name), 0o750),
  ).pipe(asPrepared);
}

/** Creates all files, for which the directories must be there; emits once, never errors. */
export function prepareContainerFiles(context: PodContext, task: ContainerFilesTask): Observable<Result<undefined>> {
  return merge(
    context.ports.files.writeFile(task.terminationLog, "", TERMINATION_LOG_MODE),
    defer(() => bindSubPaths(context, task)),
    defer(() => writeHosts(context, task)),
  ).pipe(asPrepared);
}

const asPrepared = (made$: Observable<unknown>): Observable<Result<undefined>> =>
  made$.pipe(
    last(null, undefined),
    map(() => ok(undefined)),
    catchError((thrown: unknown) => of(err(withReason(toKubeletError(thrown), "CreateContainerConfigError")))),
  );

/** Binds subPaths. The bind mounts belong to the volume and are removed with it. */
function bindSubPaths(context: PodContext, task: ContainerFilesTask): Observable<never> {
  const { mounts } = context.ports;
  const { container } = task;
  const binds = subPathBinds({ ...task, ...context.config, volumes: volumesOf(context) });
  if (!binds.ok) throw binds.error;
  return inSequence(binds.value, ({ volume, volumeRoot, subPath, target, isMade }) => {
    if (mounts === undefined) throw kubeletError("PermissionDenied", "subPath: the kubelet may not mount file systems");
    const place = { volumeRoot, subPath };
    const about = `for volumeMount "${volume}" of container "${container.name}"`;
    return concat(
      isMade ? mounts.makeInside(place).pipe(reported(`failed to create subPath directory ${about}`)) : EMPTY,
      mounts.bindInside({ ...place, target }).pipe(reported(`failed to prepare subPath ${about}`)),
    );
  }).pipe(ignoreElements());
}

/** Passes on the failure with upstream's message. */
const reported = <T>(what: string): MonoTypeOperatorFunction<T> =>
  catchError((thrown: unknown) => {
    const error = toKubeletError(thrown);
    return throwError(() => ({ ...error, message: `${what}: ${error.message}` }));
  });

function writeHosts({ ports, config, node }: PodContext, { pod, podIps }: ContainerFilesTask): Observable<void> {
  if (!needsHostsFile(pod, podIps)) return EMPTY;
  const path = etcHostsPath(config.directories, pod.metadata.uid);
  const write = (text: string): Observable<void> => ports.files.writeFile(path, text, HOSTS_MODE);
  if (pod.spec.hostNetwork === true) {
    return ports.files
      .readTail(NODE_HOSTS_FILE, MAX_HOSTS_BYTES, "followed")
      .pipe(switchMap((text) => write(hostNetworkHostsFile(pod, text))));
  }
  const hostname = podHostname(pod, node.clusterDomain);
  if (!hostname.ok) throw hostname.error;
  return write(podHostsFile(pod, podIps, hostname.value));
}
