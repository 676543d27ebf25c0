/**
 * `POST /debug/rxlet/pods/{namespace}/{name}/retry`: resets the backoffs of a pod, so it retries at once. Not in
 * upstream.
 */
import type { Hono } from "hono";
import { unknownPodMessage } from "../core/timeline/unknownPod.ts";
import type { KubeletCommands } from "../ports/kubeletCommands.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import { onlyMethods } from "./onlyMethods.ts";

/** Adds the retry route. */
export function addRetryRoute(
  app: Hono,
  commands: KubeletCommands,
  queries: Pick<KubeletQueries, "timelineNames" | "manifestProblems">,
): void {
  const path = "/debug/rxlet/pods/:namespace/:name/retry";
  onlyMethods(app, ["POST"], path, (context) => {
    const { namespace = "", name = "" } = context.req.param();
    if (commands.retry(namespace, name)) return context.text(`${namespace}/${name}: backoffs are reset\n`);
    const unknown = unknownPodMessage(namespace, name, queries.timelineNames(), queries.manifestProblems());
    return context.text(`${unknown}\n`, 404);
  });
}
