/** The pod sources a configuration asks for, as one stream. */
import { defer, merge, NEVER, type Observable } from "rxjs";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import type { SourceSnapshot } from "../core/pod/sourceSnapshot.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import { filePodSource } from "../sources/filePodSource.ts";
import { httpPodSource } from "../sources/httpPodSource.ts";
import { manifestDigest } from "../sources/manifestDigest.ts";
import { manifestDirectory } from "../sources/manifestDirectory.ts";
import { manifestServer } from "../sources/manifestServer.ts";
import { supervised } from "./supervised.ts";

/** Neither errors nor completes. */
export function podSources(
  { config, featureGates }: KubeletOptions,
  nodeName: string,
  ports: Pick<KubeletPorts, "clock" | "rng" | "telemetry">,
): Observable<SourceSnapshot> {
  const { staticPodPath, staticPodURL } = config;
  const shared = {
    nodeName,
    clock: ports.clock,
    digest: manifestDigest,
    preventApiReferences: featureGates.get("PreventStaticPodAPIReferences") ?? true,
    standalone: true,
  };
  const file$ = filePodSource({
    ...shared,
    path: staticPodPath,
    directory: manifestDirectory(staticPodPath),
    auditPeriodMs: config.fileCheckFrequency,
  });
  const http$ = defer(() =>
    httpPodSource({
      ...shared,
      url: staticPodURL,
      server: manifestServer({ url: staticPodURL, headers: config.staticPodURLHeader }),
      periodMs: config.httpCheckFrequency,
    }),
  );
  return merge(
    NEVER,
    ...(staticPodPath === "" ? [] : [supervised("file", file$, ports)]),
    ...(staticPodURL === "" ? [] : [supervised("http", http$, ports)]),
  );
}
