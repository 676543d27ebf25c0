/** Merges the configured pod sources (manifest directory, URL, API server), each supervised. */
import { defer, merge, NEVER, type Observable } from "rxjs";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import type { SourceSnapshot } from "../core/pod/sourceSnapshot.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import { filePodSource } from "../sources/filePodSource.ts";
import { httpPodSource } from "../sources/httpPodSource.ts";
import { manifestDigest } from "../sources/manifestDigest.ts";
import { manifestDirectory } from "../sources/manifestDirectory.ts";
import { manifestServer } from "../sources/manifestServer.ts";
import { superviseSource } from "./superviseSource.ts";

type SourcePorts = Pick<KubeletPorts, "clock" | "rng" | "telemetry">;

/** Feature gate WatchListClient, on by default as upstream. */
export const usesStreams = ({ featureGates }: KubeletOptions): boolean => featureGates.get("WatchListClient") ?? true;

/**
 * Never errors or completes. `apiPods$`: the pods of the API server for this node; undefined on a standalone node.
 */
export function podSources(
  options: KubeletOptions,
  nodeName: string,
  apiPods$: Observable<SourceSnapshot> | undefined,
  ports: SourcePorts,
): Observable<SourceSnapshot> {
  const { config, featureGates } = options;
  const { staticPodPath, staticPodURL } = config;
  const shared = {
    nodeName,
    clock: ports.clock,
    digest: manifestDigest,
    preventApiReferences: featureGates.get("PreventStaticPodAPIReferences") ?? true,
    standalone: apiPods$ === undefined,
  };
  const file$ = filePodSource({
    ...shared,
    path: staticPodPath,
    directory: manifestDirectory(staticPodPath, ports.clock),
    resyncPeriodMs: config.fileCheckFrequency,
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
    ...(staticPodPath === "" ? [] : [superviseSource("file", file$, ports)]),
    ...(staticPodURL === "" ? [] : [superviseSource("http", http$, ports)]),
    ...(apiPods$ === undefined ? [] : [superviseSource("api", apiPods$, ports)]),
  );
}
