/** Removes the log files of dead containers. */
import { concat, EMPTY, ignoreElements, type Observable } from "rxjs";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { containerLogLinkPath, isContainerLog } from "../core/paths.ts";
import type { PodIdentity } from "../core/pod/podRegistry.ts";
import { orElse } from "../operators/orElse.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";

/** Removes the logs of one attempt and their link. On failure the removal of the pod's log directory removes them. */
export function removeContainerLogs(
  { files, logFiles }: Pick<KubeletPorts, "files" | "logFiles">,
  { directories }: Pick<KubeletConfig, "directories">,
  identity: PodIdentity,
  { id, name, logPath }: { readonly id: string; readonly name: string; readonly logPath: string },
): Observable<never> {
  const { name: podName, namespace } = identity;
  const link = containerLogLinkPath(directories.containerLogsDir, {
    podName,
    namespace,
    container: name,
    containerId: id,
  });
  // The runtime reports the path, and removal is recursive.
  const isOurs = isContainerLog(logPath, identity, name);
  const logs$ = isOurs ? concat(files.remove(logPath), logFiles.removeRotated(logPath)) : EMPTY;
  return concat(files.remove(link), logs$).pipe(
    ignoreElements(),
    orElse(() => EMPTY),
  );
}
