/**
 * `/debug/rxlet/volumes` and `/debug/rxlet/pods/{namespace}/{name}/volumes`: JSON, or text with `?format=text`. Not in
 * upstream.
 */
import type { Hono } from "hono";
import { unknownPodMessage } from "../core/timeline/unknownPod.ts";
import { volumesText } from "../core/volume/volumesText.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import { onlyReads } from "./onlyMethods.ts";
import { textOrJson } from "./textOrJson.ts";

type VolumesSource = Pick<KubeletQueries, "volumes" | "podVolumes" | "pods" | "manifestProblems">;

/**
 * Adds the volumes of the node and of single pods. A 404 suggests similar pod names, a 400 names the supported formats.
 */
export function addVolumesRoutes(app: Hono, queries: VolumesSource): void {
  onlyReads(app, "/debug/rxlet/volumes", (context) => textOrJson(context, volumesText, () => queries.volumes()));
  onlyReads(app, "/debug/rxlet/pods/:namespace/:name/volumes", (context) => {
    const { namespace = "", name = "" } = context.req.param();
    const unknown = (): string => unknownPodMessage(namespace, name, podNames(queries), queries.manifestProblems());
    return textOrJson(context, volumesText, () => queries.podVolumes(namespace, name), unknown);
  });
}

const podNames = (queries: VolumesSource): readonly string[] =>
  queries.pods().map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);
