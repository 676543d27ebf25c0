/** URL patterns of pods and containers, with and without the pod UID. */
import type { Context } from "hono";
import type { PodPath } from "../core/server/podTargets.ts";

/** `/{namespace}/{pod}` and `/{namespace}/{pod}/{uid}`. */
export const POD_PATHS: readonly string[] = ["/:namespace/:pod", "/:namespace/:pod/:uid"];

/** `/{namespace}/{pod}/{container}` and `/{namespace}/{pod}/{uid}/{container}`. */
export const POD_AND_CONTAINER: readonly string[] = ["/:namespace/:pod/:container", "/:namespace/:pod/:uid/:container"];

/** Returns the pod and container named by the URL. */
export function podPathOf(context: Context): PodPath {
  const { namespace = "", pod = "", uid, container } = context.req.param() as Readonly<Record<string, string>>;
  return {
    namespace,
    pod,
    ...(uid === undefined ? {} : { uid }),
    ...(container === undefined ? {} : { container }),
  };
}
