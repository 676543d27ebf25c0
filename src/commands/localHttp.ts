/** The HTTP server behind the local socket: the routes of the node, with changes of its manifests. */
import path from "node:path";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { AppliedRef } from "../core/local/appliedManifests.ts";
import type { ManifestText } from "../core/pod/manifest/readManifest.ts";
import { readManifest } from "../core/pod/manifest/readManifest.ts";
import { isStreamPath } from "../core/server/streamOptions.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import type { Shedding } from "../ports/shedding.ts";
import { KUBELET_SERVER_LIMITS } from "../server/kubeletServer.ts";
import { localApp } from "../server/local/localApp.ts";
import type { LocalHttp } from "../server/local/localListener.ts";
import type { LocalApiOptions } from "../server/localApi/localApi.ts";
import { isPodStreamUrl } from "../server/localApi/podSubresources.ts";
import { boundedServer } from "../server/serve.ts";
import { createUpgrades } from "../server/upgrades.ts";
import { createAppliedManifests } from "../sinks/appliedManifests.ts";
import { createLocalPeers, type LocalPlace } from "../sinks/localPeers.ts";
import { manifestDigest } from "../sources/manifestDigest.ts";
import { MAX_MANIFEST_BYTES } from "../sources/manifestDirectory.ts";
import { parseManifest } from "../sources/parseManifest.ts";
import { systemRandom } from "../sources/systemRandom.ts";
import { forwardingOf } from "./forwarding.ts";
import { liveViewRoutes, type LiveViewSetup } from "./liveView.ts";
import { kubeletRoutes, type RoutesSetup } from "./kubeletRoutes.ts";

export interface LocalHttpSetup extends RoutesSetup {
  readonly kubelet: LiveViewSetup["kubelet"];
  readonly ports: RoutesSetup["ports"] & LiveViewSetup["ports"];
  readonly place: LocalPlace;
  readonly nodeName: KubeletConfig["nodeName"];
  readonly localApi: LocalApiOptions;
  readonly shedding: Shedding;
  /** Whether the node belongs to no cluster. */
  readonly isStandalone: boolean;
}

/** Creates the server. */
export function localHttp(setup: LocalHttpSetup): LocalHttp {
  const { localApi, place, ports, log, metrics, shedding, options } = setup;
  const { clock } = ports;
  const telemetry = { log, metrics };
  const app = localApp({
    ...kubeletRoutes({ ...setup, live: liveViewRoutes(setup) }),
    localApi,
    peers: createLocalPeers(place, { clock, rng: systemRandom }),
    rng: systemRandom,
    manifests: manifestsOf(setup),
  });
  const isStream = (url: string): boolean => isStreamPath(url) || isPodStreamUrl(url);
  const upgrades = createUpgrades(app, forwardingOf(options.config), telemetry, isStream);
  const { server } = boundedServer({ app, telemetry, clock, shedding, limits: KUBELET_SERVER_LIMITS, upgrades });
  return {
    server,
    close: () => {
      server.closeAllConnections();
      upgrades.close();
    },
  };
}

function manifestsOf({ options, nodeName, queries, ports: { clock }, isStandalone }: LocalHttpSetup) {
  const { staticPodPath } = options.config;
  const read = (text: ManifestText) =>
    readManifest(text, {
      source: "file",
      origin: "",
      nodeName,
      digest: manifestDigest,
      readAt: clock.wallTime(),
      preventApiReferences: options.featureGates.get("PreventStaticPodAPIReferences") ?? true,
      standalone: isStandalone,
    });
  return createAppliedManifests({
    directory: staticPodPath === "" ? "" : path.resolve(staticPodPath),
    nodeName,
    maxBytes: MAX_MANIFEST_BYTES,
    parse: parseManifest,
    read,
    otherSource: (ref) => otherSource(ref, queries),
  });
}

const SOURCES: ReadonlyMap<string | undefined, string> = new Map([
  ["api", "comes from the API server: delete it there"],
  ["http", "comes from the URL of staticPodURL: remove it there"],
  ["file", "is in no manifest any more and ends"],
]);

function otherSource({ kind, namespace, name }: AppliedRef, queries: KubeletQueries): string | undefined {
  if (kind !== "pod") return undefined;
  const pod = queries.shownPods().find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  const source = pod?.metadata.annotations?.["kubernetes.io/config.source"];
  return pod && (SOURCES.get(source) ?? SOURCES.get("api"));
}
