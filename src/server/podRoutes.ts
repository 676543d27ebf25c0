/**
 * `/pods` and `/runningpods/` as JSON, with and without a trailing slash.
 * Upstream: getPods and getRunningPods.
 */
import type { Hono } from "hono";
import { podList, runningPodList } from "../core/pod/podList.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import { jsonFor, onlyReads, serviceRoute } from "./onlyMethods.ts";

/** Adds the route for the pods bound to this node. */
export function addPodsRoute(app: Hono, queries: KubeletQueries): void {
  serviceRoute(app, ["GET"], "/pods", (context) => jsonFor(context, () => JSON.stringify(podList(queries.pods()))));
}

/** Adds the route for the pods as an API server would show them, which `rxlet get pods` prints. Not in upstream. */
export function addShownPodsRoute(app: Hono, queries: Pick<KubeletQueries, "shownPods">): void {
  onlyReads(app, "/debug/rxlet/pods", (context) =>
    jsonFor(context, () => JSON.stringify(podList(queries.shownPods()))),
  );
}

/** Adds the route for the pods in the runtime. */
export function addRunningPodsRoute(app: Hono, queries: KubeletQueries): void {
  serviceRoute(app, ["GET"], "/runningpods", (context) =>
    jsonFor(context, () => JSON.stringify(runningPodList(queries.runtimePods()))),
  );
}
