/** `/debug/rxlet/pods/{namespace}/{name}/timeline`: JSON, or text with `?format=text`. Not in upstream. */
import type { Hono } from "hono";
import { timelineText } from "../core/timeline/timelineText.ts";
import { unknownPodMessage } from "../core/timeline/unknownPod.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import { onlyReads } from "./onlyMethods.ts";
import { textOrJson } from "./textOrJson.ts";

type TimelineSource = Pick<KubeletQueries, "timeline" | "timelineNames" | "manifestProblems">;

/**
 * Adds the timeline route. A 404 names the reason for a rejected manifest or a similar pod name, a 400 the supported
 * formats.
 */
export function addTimelineRoute(app: Hono, queries: TimelineSource): void {
  onlyReads(app, "/debug/rxlet/pods/:namespace/:name/timeline", (context) => {
    const { namespace = "", name = "" } = context.req.param();
    const unknown = (): string =>
      unknownPodMessage(namespace, name, queries.timelineNames(), queries.manifestProblems());
    return textOrJson(context, timelineText, () => queries.timeline(namespace, name), unknown);
  });
}
