/** The pod sources a configuration asks for, as one stream. */
import { concat, defer, EMPTY, ignoreElements, merge, NEVER, type Observable, take } from "rxjs";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import type { KubeletError } from "../core/errors.ts";
import type { SourceSnapshot } from "../core/pod/sourceSnapshot.ts";
import type { ApiLanes } from "../ports/apiServer.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import { apiPodSource } from "../sources/apiPodSource.ts";
import { filePodSource } from "../sources/filePodSource.ts";
import { httpPodSource } from "../sources/httpPodSource.ts";
import { manifestDigest } from "../sources/manifestDigest.ts";
import { manifestDirectory } from "../sources/manifestDirectory.ts";
import { manifestServer } from "../sources/manifestServer.ts";
import { supervised } from "./supervised.ts";

type SourcePorts = Pick<KubeletPorts, "clock" | "rng" | "telemetry" | "api" | "cluster">;

/** Feature gate WatchListClient, on by default as upstream. */
export const usesStreams = ({ featureGates }: KubeletOptions): boolean => featureGates.get("WatchListClient") ?? true;

/** Neither errors nor completes. */
export function podSources(options: KubeletOptions, nodeName: string, ports: SourcePorts): Observable<SourceSnapshot> {
  const { config, featureGates } = options;
  const { staticPodPath, staticPodURL } = config;
  const shared = {
    nodeName,
    clock: ports.clock,
    digest: manifestDigest,
    preventApiReferences: featureGates.get("PreventStaticPodAPIReferences") ?? true,
    standalone: ports.api === undefined,
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
    ...(ports.api === undefined ? [] : [supervised("api", apiPods(ports.api, options, nodeName, ports), ports)]),
  );
}

/** Pods the API server placed here. It follows the server by itself; its health is told as a source's. */
function apiPods(
  api: ApiLanes,
  options: KubeletOptions,
  nodeName: string,
  { clock, rng, telemetry, cluster }: SourcePorts,
): Observable<SourceSnapshot> {
  const { log, metrics } = telemetry;
  const pods$ = defer(() => {
    let isWell = true;
    const onHealth = (problem: KubeletError | undefined) => {
      metrics.gauge("rxlet_source_up", problem === undefined ? 1 : 0, { source: "api" });
      if (isWell === (problem === undefined)) return;
      isWell = problem === undefined;
      if (isWell) log.info("The API server can be followed again", { source: "api" });
      else log.warn("The API server cannot be followed; what is known of it stays", { source: "api", error: problem });
    };
    return apiPodSource({ api: api.objects, nodeName, clock, rng, usesStreams: usesStreams(options), onHealth });
  });
  // They are admitted by labels and taints of the node, which has to be known first.
  return concat(cluster?.node$.pipe(take(1), ignoreElements()) ?? EMPTY, pods$);
}
