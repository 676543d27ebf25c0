/** `/pods` and `/runningpods/` as JSON, with and without a slash at the end. Upstream: getPods and getRunningPods. */
import type { Hono } from "hono";
import { podList, runningPodList } from "../core/pod/podList.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import { onlyReads } from "./onlyMethods.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** Adds the pods bound to this node. */
export function addPodsRoute(app: Hono, queries: KubeletQueries): void {
  for (const path of ["/pods", "/pods/"]) {
    onlyReads(app, path, (context) => context.body(JSON.stringify(podList(queries.pods())), 200, JSON_TYPE));
  }
}

/** Adds the pods found in the runtime. */
export function addRunningPodsRoute(app: Hono, queries: KubeletQueries): void {
  for (const path of ["/runningpods", "/runningpods/"]) {
    onlyReads(app, path, (context) =>
      context.body(JSON.stringify(runningPodList(queries.runtimePods())), 200, JSON_TYPE),
    );
  }
}
