/** `/debug/rxlet/pods/{namespace}/{name}/timeline`: JSON, or text with `?format=text`. Ours; upstream has none. */
import type { Hono } from "hono";
import { timelineText } from "../core/timeline/timelineText.ts";
import { unknownPodMessage } from "../core/timeline/unknownPod.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import { onlyReads } from "./onlyMethods.ts";
import { textOrJson } from "./textOrJson.ts";

type TimelineSource = Pick<KubeletQueries, "timeline" | "timelineNames" | "manifestProblems">;

/** Adds the timelines of pods. 404 says why the pod was refused or which pod may be meant, 400 which formats there are. */
export function addTimelineRoute(app: Hono, queries: TimelineSource): void {
  onlyReads(app, "/debug/rxlet/pods/:namespace/:name/timeline", (context) => {
    const { namespace = "", name = "" } = context.req.param();
    const unknown = (): string =>
      unknownPodMessage(namespace, name, queries.timelineNames(), queries.manifestProblems());
    return textOrJson(context, timelineText, () => queries.timeline(namespace, name), unknown);
  });
}
