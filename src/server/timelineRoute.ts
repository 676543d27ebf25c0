/** `/debug/rxlet/pods/{namespace}/{name}/timeline`: JSON, or text with `?format=text`. Ours; upstream has none. */
import type { Hono } from "hono";
import { timelineText } from "../core/timeline/timelineText.ts";
import { unknownPodMessage } from "../core/timeline/unknownPod.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import { onlyReads } from "./onlyMethods.ts";

/** Adds the timelines of pods. 404 says which pod may have been meant, 400 which formats there are. */
export function addTimelineRoute(app: Hono, queries: KubeletQueries): void {
  onlyReads(app, "/debug/rxlet/pods/:namespace/:name/timeline", (context) => {
    const { namespace = "", name = "" } = context.req.param();
    const format = context.req.query("format") ?? "json";
    if (format !== "json" && format !== "text") {
      return context.text(`format must be json or text, got ${JSON.stringify(format)}\n`, 400);
    }
    const view = queries.timeline(namespace, name);
    if (view === undefined) {
      return context.text(`${unknownPodMessage(namespace, name, queries.timelineNames())}\n`, 404);
    }
    return format === "text" ? context.text(timelineText(view)) : context.json(view);
  });
}
