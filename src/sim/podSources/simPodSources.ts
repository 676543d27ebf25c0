/**
 * The pod sources of a simulated node other than an API server: manifests and a page, through the production sources.
 */
import type { Observable } from "rxjs";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { SourceSnapshot } from "../../core/pod/sourceSnapshot.ts";
import { filePodSource } from "../../sources/filePodSource.ts";
import { httpPodSource } from "../../sources/httpPodSource.ts";
import { manifestDigest } from "../../sources/manifestDigest.ts";
import type { SimClock } from "../time/simClock.ts";
import type { SimManifestPage } from "./simManifestPage.ts";
import type { SimManifests } from "./simManifests.ts";

/** Directory of a simulated node's static pods. */
export const SIM_MANIFESTS = "/etc/kubernetes/manifests";
/** URL of a simulated node's static pods, with source `http`. */
const SIM_PAGE = "http://manifests.example/pods";

/** The defaults of `fileCheckFrequency` and `httpCheckFrequency`. */
const AUDIT_PERIOD_MS = 20_000;

/** Streams the pods of the manifest directory. */
export const staticPods = (
  { nodeName }: KubeletConfig,
  clock: SimClock,
  directory: SimManifests,
  standalone: boolean,
): Observable<SourceSnapshot> =>
  filePodSource({
    path: SIM_MANIFESTS,
    directory,
    nodeName,
    resyncPeriodMs: AUDIT_PERIOD_MS,
    clock,
    digest: manifestDigest,
    standalone,
  });

/** Streams the pods of the manifest page. */
export const pagePods = (
  { nodeName }: KubeletConfig,
  clock: SimClock,
  server: SimManifestPage,
): Observable<SourceSnapshot> =>
  httpPodSource({
    url: SIM_PAGE,
    server,
    nodeName,
    periodMs: AUDIT_PERIOD_MS,
    clock,
    digest: manifestDigest,
  });
