/** `/pods` and `/runningpods/` as JSON, with and without a slash at the end. Upstream: getPods and getRunningPods. */
import type { Hono } from "hono";
import { podList, runningPodList } from "../core/pod/podList.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import { jsonFor, onlyReads, serviceRoute } from "./onlyMethods.ts";

/** Adds the pods bound to this node. */
export function addPodsRoute(app: Hono, queries: KubeletQueries): void {
  serviceRoute(app, ["GET"], "/pods", (context) => jsonFor(context, () => JSON.stringify(podList(queries.pods()))));
}

/** Adds the pods as an API server would show them: what `rxlet get pods` prints. Ours; upstream has none. */
export function addShownPodsRoute(app: Hono, queries: Pick<KubeletQueries, "shownPods">): void {
  onlyReads(app, "/debug/rxlet/pods", (context) =>
    jsonFor(context, () => JSON.stringify(podList(queries.shownPods()))),
  );
}

/** Adds the pods found in the runtime. */
export function addRunningPodsRoute(app: Hono, queries: KubeletQueries): void {
  serviceRoute(app, ["GET"], "/runningpods", (context) =>
    jsonFor(context, () => JSON.stringify(runningPodList(queries.runtimePods()))),
  );
}
