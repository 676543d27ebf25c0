/** The files a container needs on the host before it is made: log directory, volumes, termination log, /etc/hosts. */
import { catchError, concat, defer, EMPTY, last, map, type Observable, of, switchMap } from "rxjs";
import type { Container, Pod } from "../core/api.ts";
import { podHostname } from "../core/container/hostname.ts";
import { hostNetworkHostsFile, podHostsFile } from "../core/container/hosts.ts";
import { needsHostsFile } from "../core/container/mounts.ts";
import { hostPathStep, planVolumes, type VolumePlan } from "../core/container/volumes.ts";
import { toKubeletError, withReason } from "../core/errors.ts";
import { etcHostsPath, podContainerDir, podLogDir } from "../core/paths.ts";
import { err, ok, type Result } from "../core/result.ts";
import { inSequence } from "../operators/inSequence.ts";
import type { Files } from "../ports/files.ts";
import type { PodContext } from "./podContext.ts";

/** What is to be prepared for. */
export interface ContainerFilesTask {
  readonly pod: Pod;
  readonly container: Container;
  readonly podIps: readonly string[];
  readonly terminationLog: string;
}

/** Anyone in the container may write its termination message. */
const TERMINATION_LOG_MODE = 0o666;
const HOSTS_MODE = 0o644;
const NODE_HOSTS_FILE = "/etc/hosts";
const MAX_HOSTS_BYTES = 1 << 20;

/** Makes them all; emits once, never errors. */
export function prepareContainerFiles(context: PodContext, task: ContainerFilesTask): Observable<Result<undefined>> {
  const { files } = context.ports;
  const { directories } = context.config;
  const { pod, container } = task;
  return concat(
    files.makeDirectory(`${podLogDir(directories, pod.metadata)}/${container.name}`, 0o755),
    files.makeDirectory(podContainerDir(directories, pod.metadata.uid, container.name), 0o750),
    files.writeFile(task.terminationLog, "", TERMINATION_LOG_MODE),
    defer(() => prepareVolumes(context, pod)),
    defer(() => writeHosts(context, task)),
  ).pipe(
    last(null, undefined),
    map(() => ok(undefined)),
    catchError((thrown: unknown) => of(err(withReason(toKubeletError(thrown), "CreateContainerConfigError")))),
  );
}

function prepareVolumes({ ports, config }: PodContext, pod: Pod): Observable<void> {
  const plans = planVolumes(pod, config.directories);
  if (!plans.ok) throw plans.error;
  const prepare = (plan: VolumePlan): Observable<void> => {
    if (plan.kind === "emptyDir") return ports.files.makeDirectory(plan.path, plan.mode);
    return plan.type === "" ? EMPTY : prepareHostPath(ports.files, pod, plan);
  };
  return inSequence(plans.value, prepare);
}

function prepareHostPath(files: Files, pod: Pod, plan: VolumePlan & { readonly kind: "hostPath" }): Observable<void> {
  return files.kindOf(plan.path).pipe(
    switchMap((found) => {
      const step = hostPathStep(pod, plan, found);
      if (!step.ok) throw step.error;
      switch (step.value) {
        case "nothing":
          return EMPTY;
        case "makeDirectory":
          return files.makeDirectory(plan.path, 0o755);
        case "makeFile":
          return files.writeFile(plan.path, "", 0o644);
      }
    }),
  );
}

function writeHosts({ ports, config, node }: PodContext, { pod, podIps }: ContainerFilesTask): Observable<void> {
  if (!needsHostsFile(pod, podIps)) return EMPTY;
  const path = etcHostsPath(config.directories, pod.metadata.uid);
  const write = (text: string): Observable<void> => ports.files.writeFile(path, text, HOSTS_MODE);
  if (pod.spec.hostNetwork === true) {
    return ports.files
      .readTail(NODE_HOSTS_FILE, MAX_HOSTS_BYTES)
      .pipe(switchMap((text) => write(hostNetworkHostsFile(pod, text))));
  }
  const hostname = podHostname(pod, node.clusterDomain);
  if (!hostname.ok) throw hostname.error;
  return write(podHostsFile(pod, podIps, hostname.value));
}
